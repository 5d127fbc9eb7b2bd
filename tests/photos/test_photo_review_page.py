"""The review page in a real browser, by keyboard alone."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("fastapi", reason="needs the extra review: pip install 'candidly[review]'")
pytest.importorskip("playwright", reason="needs the package playwright")


import httpx
from axe_playwright_python.sync_playwright import Axe
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
    fourth = asked_face(page)
    keys.press("i")
    said(page, "not asked about")
    page.wait_for_selector(f".box[aria-current]:not([data-face='{fourth}'])")
    skipped = asked_face(page)
    keys.press("s")
    page.wait_for_selector(f".box[aria-current]:not([data-face='{skipped}'])")
    made = decisions(server)
    assert [one.what for one in made] == ["is", "nobody", "undo", "undo", "is", "ignore"]
    assert made[4].face == third

    page.locator("#solve").focus()
    keys.press("Enter")
    # The new name changes at least its own face; solving takes its time on a busy machine.
    page.wait_for_selector("#dialog[open] #changes", timeout=6 * WAIT)
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


@contextmanager
def held(page, address):
    """Hold back what the server answers at an address until the block is done."""
    waiting = []
    page.route(address, lambda route: waiting.append(route))
    yield
    while not waiting:
        page.wait_for_timeout(20)
    page.unroute(address)  # which lets the held requests go on


def test_a_slow_answer_takes_no_key_and_no_focus(page, server):
    first = asked_face(page)
    with held(page, "**/api/photos/*"):
        page.keyboard.press("s")
        page.keyboard.press("1")  # too early: it is no answer about the face that was skipped
        page.locator("#solve").focus()
    page.wait_for_selector(f".box[aria-current]:not([data-face='{first}'])")
    assert page.evaluate("document.activeElement.id") == "solve"
    assert decisions(server) == []

    second = asked_face(page)
    with held(page, "**/api/decisions"):
        page.keyboard.press("b")
        page.keyboard.press("b")
    said(page, "nobody to name")
    page.wait_for_selector(f".box[aria-current]:not([data-face='{second}'])")
    assert [(one.what, one.face) for one in decisions(server)] == [("nobody", second)]
    page.get_by_role("link", name="Questions").press("Enter")
    # A key goes to where the focus is: it leaves the bar once the page has changed.
    sync_api.expect(page.locator("#top :focus")).to_have_count(0, timeout=WAIT)
    page.get_by_role("link", name="People").press("Enter")
    page.wait_for_selector(".grid a")
    assert page.evaluate("document.activeElement.id") == "main"  # not in the bar any more


def test_a_second_tab_is_told_and_a_conflict_is_shown_first(page, server):
    face = asked_face(page)
    other = page.context.new_page()
    other.goto(server.address)
    other.wait_for_selector(f".box[aria-current][data-face='{face}']")
    other.keyboard.press("b")
    said(other, "nobody to name")
    page.keyboard.press("1")
    page.wait_for_selector("#dialog[open]")
    assert "nobody to name" in page.locator("#dialog").inner_text()
    page.keyboard.press("Enter")
    assert [one.what for one in decisions(server)] == ["nobody"]
    page.wait_for_selector(f".box[aria-current]:not([data-face='{face}'])")

    second = asked_face(page)
    page.keyboard.press("o")
    page.keyboard.type("Ada Twice")
    page.keyboard.press("Enter")
    said(page, "is Ada Twice")
    page.locator(f".box[data-face='{face}']").click()  # another face of the same photo
    page.wait_for_selector(f".box[aria-current][data-face='{face}']")
    page.keyboard.press("o")
    page.keyboard.type("Ada Twice")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog[open]")
    assert "Nobody is in a photo twice" in page.locator("#dialog").inner_text()
    page.keyboard.press("Enter")  # the first button leaves it
    names = [(one.face, one.name) for one in decisions(server) if one.what == "is"]
    assert names == [(second, "Ada Twice")]


def test_names_are_shown_as_text(page, server):
    hostile = "<b id=planted>Eve</b>"
    page.keyboard.press("o")
    page.keyboard.type(hostile)
    page.keyboard.press("Enter")
    said(page, hostile)
    page.goto(server.address + "#people")
    page.get_by_text(hostile, exact=True).wait_for()
    page.goto(server.address + "#history")
    page.wait_for_selector(".log button")
    assert page.locator("#planted").count() == 0


def test_a_group_is_named_at_once_and_taken_back_at_once(page, server):
    page.goto(server.address + "#unnamed")
    page.wait_for_selector(".group")
    group = page.locator(".group").first
    size = group.locator("input[type=checkbox]").count()
    assert size >= 3
    group.locator("input[type=checkbox]").first.press("Space")  # one is another
    field = group.locator("form input")
    field.focus()
    page.keyboard.type("Gus Guest")
    page.keyboard.press("Enter")
    said(page, "is Gus Guest")
    made = decisions(server)
    assert len(made) == size - 1
    assert {(one.what, one.name, one.batch) for one in made} == {("is", "Gus Guest", 1)}
    page.locator("h1").click()
    page.keyboard.press("u")
    said(page, "Taken back")
    assert not any(one.stands for one in decisions(server) if one.what == "is")
    page.keyboard.press("Shift+U")
    said(page, "Brought back")
    assert all(one.stands for one in decisions(server) if one.what == "is")


def test_people_are_renamed_and_merged_after_a_question(page, server):
    page.goto(server.address + "#people")
    link = page.locator(".grid a").first
    name = link.inner_text()
    link.press("Enter")
    page.get_by_label("New name").fill("Zoe Renamed")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Zoe Renamed')")
    page.get_by_label("Who is the same person?").fill("Hannah Pellworth")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog[open]")
    page.keyboard.press("Escape")
    assert [one.what for one in decisions(server)] == ["rename"]
    page.get_by_label("Who is the same person?").press("Enter")
    page.wait_for_selector("#dialog[open]")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Hannah Pellworth')")
    first = decisions(server)[0]
    assert (first.what, first.name) == ("rename", name)
    tick = page.locator(".grid input[type=checkbox]").first
    tick.press("Space")
    page.get_by_role("button", name="Ticked are not Hannah Pellworth").press("Enter")
    said(page, "is not Hannah Pellworth")
    assert [one.what for one in decisions(server)] == ["rename", "merge", "not"]


def test_an_audit_by_keyboard_alone_goes_on_later(page, server):
    keys = page.keyboard

    def answered(count):
        words = f"{count} question{'' if count == 1 else 's'} answered"
        sync_api.expect(page.locator("#asked")).to_contain_text(words)

    def asked():
        return page.wait_for_selector(".panel h2").inner_text()

    keys.press("g")
    keys.press("a")
    page.locator("#begin").press("Enter")
    answered(0)
    assert asked().startswith("Is it ")
    assert page.locator(".box").count() == 1
    first = asked_face(page)
    keys.press("y")
    keys.press("y")  # pressed too often: the next name is not answered unseen
    answered(1)
    keys.press("n")
    answered(2)
    third, name = asked_face(page), asked()
    keys.press("u")
    answered(3)
    said(page, "cannot tell")
    keys.press("z")
    answered(2)
    assert (asked_face(page), asked()) == (third, name)
    keys.press("Shift+U")
    answered(3)
    keys.press("z")
    answered(2)
    keys.press("z")
    answered(1)
    made = decisions(server)
    assert [one.what for one in made] == ["is", "not", "undo"]
    assert made[0].face == first
    face = asked_face(page)
    page.reload()
    answered(1)
    assert asked_face(page) == face
    assert page.locator("section li", has_text="wrong").count() >= 2


def test_a_missed_face_is_drawn_by_keys_or_pointer_and_a_false_one_is_hidden(page, server):
    page.goto(server.address + "#photo/1")
    page.wait_for_selector(".box")
    before = page.locator(".box").count()
    page.locator("#draw").press("Enter")
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowLeft", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    said(page, "The box is added")
    assert page.locator(".box").count() == before + 1
    with Project.open(server.review.path) as opened:
        ((face, model, vector),) = opened.connection.execute(
            "SELECT drawn.face, model, length(vector) FROM drawn"
            " JOIN faces ON faces.id = drawn.face JOIN comparable ON comparable.face = drawn.face"
        )
        assert vector == 4 * 128
        assert "sface" in model
    page.keyboard.press("u")
    said(page, "Taken back")
    page.wait_for_selector(f".box[data-face='{face}']", state="detached")
    page.keyboard.press("Shift+U")
    page.wait_for_selector(f".box[data-face='{face}']")

    page.locator("#draw").click()
    area = page.locator(".picture img").bounding_box()
    page.mouse.move(area["x"] + 20, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + 120, area["y"] + 140)
    page.mouse.up()
    sync_api.expect(page.locator(".box")).to_have_count(before + 2, timeout=WAIT)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_and_nothing_is_wider_than_a_phone(browser, server, scheme):
    context = browser.new_context(
        viewport={"width": 375, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.set_default_timeout(WAIT)
    httpx.post(server.address + "api/audit", json={})
    for place, there in {
        "": ".candidates button",
        "#unnamed": ".group",
        "#people": ".grid a",
        "#person/Hannah%20Pellworth": ".grid input",
        "#photos": ".grid img",
        "#photo/1": ".box",
        "#audit": ".box",
        "#history": ".log li",
    }.items():
        page.goto(server.address + place)
        page.wait_for_selector(there)
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], [(one["id"], one["nodes"][0]["html"]) for one in serious]
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, place
    context.close()
