"""The review page in a real browser, by keyboard alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("fastapi", reason="needs the extra review: pip install 'candidly[review]'")
pytest.importorskip("playwright", reason="needs the package playwright")


from playwright import sync_api

from candidly.photos import Project
from candidly.photos.project.face_names import decision_on
from review_running import named_album, running

CHROMIUM = shutil.which("chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT = 10_000  # milliseconds until something has to be there

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install the package chromium"),
]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    return named_album(tmp_path_factory.mktemp("album"))


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def project(named, tmp_path):
    """A copy of the named album's project; the photos stay where they are."""
    return Path(shutil.copy(named, tmp_path / "album.candidly"))


@pytest.fixture
def server(project):
    with running(project) as made:
        yield made


@pytest.fixture
def page(browser, server):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(WAIT)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    outside: list[str] = []
    opened.on(
        "request",
        lambda asked: None if asked.url.startswith(server.address) else outside.append(asked.url),
    )
    opened.goto(server.address)
    opened.wait_for_selector(".candidates button, #nothing")
    yield opened
    context.close()
    assert [one for one in faults if "409" not in one] == []
    assert outside == []  # not even a font or an icon


def decisions(server):
    with Project.open(server.review.path) as project:
        return project.history()


def said(page, words):
    sync_api.expect(page.locator("#said")).to_contain_text(words, timeout=WAIT)


def asked_face(page):
    return int(page.locator(".box[aria-current]").get_attribute("data-face"))


def test_the_whole_loop_by_keyboard_alone(page, server):
    keys = page.keyboard
    first = asked_face(page)
    name = page.locator(".candidates bdi").first.inner_text()
    keys.press("1")
    said(page, f"is {name}")
    assert [(one.what, one.face, one.name) for one in decisions(server)] == [("is", first, name)]

    page.wait_for_selector(f".box[aria-current]:not([data-face='{first}'])")
    second = asked_face(page)
    keys.press("b")
    said(page, "nobody to name")
    keys.press("u")
    said(page, "Taken back")
    page.wait_for_selector(f".box[aria-current][data-face='{second}']")
    keys.press("Shift+U")
    said(page, "Brought back")
    page.wait_for_selector(f".box[aria-current]:not([data-face='{second}'])")
    third = asked_face(page)
    keys.press("w")
    page.wait_for_selector(".why ul li")
    keys.press("o")
    page.wait_for_selector(".panel form input")
    keys.type("Ada Newcomer")
    keys.press("Enter")
    said(page, "is Ada Newcomer")
    page.wait_for_selector(f".box[aria-current]:not([data-face='{third}'])")
    keys.press("i")
    said(page, "not asked about")
    keys.press("s")
    page.wait_for_selector(".candidates button")
    made = decisions(server)
    assert [one.what for one in made] == ["is", "nobody", "undo", "undo", "is", "ignore"]
    assert made[4].face == third

    page.locator("#solve").focus()
    keys.press("Enter")
    page.wait_for_selector("#dialog[open] #changes")  # the new name changes at least its own face
    keys.press("Escape")
    sync_api.expect(page.locator("#solve")).to_be_enabled(timeout=WAIT)
    with Project.open(server.review.path) as opened:
        assert decision_on(opened.connection, first).name == name

    keys.press("g")
    keys.press("h")
    page.wait_for_selector(".log button")
    page.locator("[data-number='1'] button").first.focus()
    keys.press("Enter")
    said(page, "Taken back")
    page.wait_for_selector("[data-number='1'] .gone")
    stands = {one.number: one.stands for one in decisions(server)}
    assert not stands[1]
    assert stands[2]
    assert stands[5]  # later ones stay
