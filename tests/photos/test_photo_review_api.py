"""The API behind the review page: what it lets in, what it decides, what it refuses."""

from __future__ import annotations

import csv
import http.client
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra review: pip install 'candidly[review]'")
pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")

from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos import Audit, Choices, Project, ProjectProblem, Text
from candidly.photos.explaining import explain
from candidly.photos.geometry import Box
from candidly.photos.ingesting import store_choices
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.store import draw_face, keep_faces
from candidly.photos.records import Face
from candidly.photos.review.questions import QueueFilter, next_photos
from candidly.photos.review.server import ReviewServer
from candidly.photos.review.unnamed import grouped, unnamed_groups
from candidly.photos.solving import solve
from made_up import Album, fill
from review_running import client_of

SFACE = "made up; sface made up"
HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A solved project: 30 photos, some with a stranger, and four of a guest nobody named."""
    path = tmp_path_factory.mktemp("solved") / "a.candidly"
    album = Album(path, model=SFACE)
    fill(album, photos=30, people=8)
    album.add("holiday/pair.jpg", ["Ida Ray", "Jon Lee"], ["Ida Ray", "Jon Lee"])
    for at in range(4):
        album.add(f"party/{at}.jpg", ["a guest"], [], text="At the party.")
    solve(album.project)
    album.project.close()
    return path


@pytest.fixture
def project(solved, tmp_path):
    return Path(shutil.copy(solved, tmp_path / "a.candidly"))


@pytest.fixture
def client(project):
    with client_of(project) as (made, _):
        yield made


def first_face(client):
    photo = client.get("api/queue").json()["photos"][0]
    view = client.get(f"api/photos/{photo['photo']}").json()
    return next(face for face in view["faces"] if face["face"] == photo["faces"][0])


def decide(client, what, face, name=None, **more):
    body = {"what": what, "faces": [{"face": face["face"], "seen": face["seen"]}], **more}
    return client.post("api/decisions", json=body | ({} if name is None else {"name": name}))


def history(project):
    with Project.open(project) as opened:
        return opened.history()


# What is let in


def raw(server, method="GET", path=None, headers=(), body=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path or f"/{server.token}/api/status", skip_host=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders(body)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_requests_of_the_page_itself_are_let_in(project):
    with client_of(project) as (client, server):
        host = ("Host", f"127.0.0.1:{server.port}")
        assert raw(server, headers=[host]) == 200
        assert raw(server, headers=[("Host", f"localhost:{server.port}")]) == 200
        assert raw(server, headers=[host, ("Origin", f"http://127.0.0.1:{server.port}")]) == 200
        for others in (
            [("Host", "evil.example")],
            [("Host", f"127.0.0.1.evil.example:{server.port}")],
            [host, ("Host", "evil.example")],
            [],
            [host, ("Origin", "http://evil.example")],
            [host, ("Origin", "null")],
            [host, ("Origin", f"http://127.0.0.1:{server.port + 1}")],
        ):
            assert raw(server, headers=others) in (400, 403)
        for path in ("/", "/api/status", "/x/api/status", f"/{server.token[:-1]}/api/status"):
            assert raw(server, path=path, headers=[host]) == 403
        body = json.dumps({"numbers": []}).encode()
        form = [host, ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
        assert raw(server, "POST", f"/{server.token}/api/undo", form, body) == 415
        huge = [host, ("Content-Type", "application/json"), ("Content-Length", "9999999999")]
        assert raw(server, "POST", f"/{server.token}/api/undo", huge) == 413
        assert client.get("api/status").status_code == 200
    assert history(project) == []


def test_the_server_listens_on_this_machine_only_and_tokens_differ(project, tmp_path):
    server = ReviewServer(project)
    try:
        assert server.socket.getsockname()[0] == "127.0.0.1"
        assert len(server.token) >= 32
        with pytest.raises(ProjectProblem, match=r"is being written to .* end candidly review"):
            ReviewServer(project)
        with pytest.raises(ProjectProblem, match="--port"):
            ReviewServer(tmp_path / "other.candidly", server.port)
    finally:
        server.close()
    again = ReviewServer(project)
    again.close()
    assert again.token != server.token


def test_a_strict_policy_is_on_every_answer_and_names_no_outside_host(client):
    for path in ("", "api/status", "api/photos/99999", "page/main.js", "pictures/faces/1"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "//" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
    page = Path(__file__).parents[2] / "src" / "candidly" / "photos" / "review" / "page"
    for file in page.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text, file.name
        assert "innerHTML" not in text, file.name


def test_files_are_reached_by_numbers_of_the_project_only(client, project):
    for path in ("page/../api.py", "page/..%2fapi.py", "pictures/photos/..%2f..%2fa.candidly"):
        assert client.get(path).status_code in (403, 404, 422)
    assert client.get("pictures/photos/1").status_code == 404  # a made-up photo has no file


def test_a_name_with_markup_comes_back_as_it_is(client, project):
    face = first_face(client)
    assert decide(client, "is", face, HOSTILE).status_code == 200
    found = client.get("api/person", params={"name": HOSTILE})
    assert found.json()["name"] == HOSTILE
    assert found.headers["content-type"] == "application/json"


# Decisions


def test_decisions_are_those_of_the_project(client, project):
    face = first_face(client)
    made = decide(client, "is", face, "Ida Ray", even_so=True).json()
    (own,) = [one for one in made["photo"]["faces"] if one["face"] == face["face"]]
    assert (own["name"], own["decided"], own["seen"]) == ("Ida Ray", "is", made["numbers"][0])
    face["seen"] = own["seen"]
    for what in ("nobody", "ignore"):
        face["seen"] = decide(client, what, face).json()["numbers"][0]
    face["seen"] = decide(client, "not", face, "Jon Lee").json()["numbers"][0]
    assert [one.what for one in history(project)] == ["is", "nobody", "ignore", "not"]
    with Project.open(project) as opened:
        assert decision_on(opened.connection, face["face"]).refused == {"Jon Lee"}


def test_the_second_of_two_tabs_is_told_and_changes_nothing(client, project):
    face = first_face(client)
    assert decide(client, "is", face, "Ida Ray").status_code == 200
    late = decide(client, "nobody", face)
    assert late.status_code == 409
    (happened,) = late.json()["happened"]
    assert (happened["what"], happened["name"]) == ("is", "Ida Ray")
    assert len(history(project)) == 1
    client.post("api/undo", json={"numbers": [1]})
    told = decide(client, "nobody", {**face, "seen": 1})
    assert [one["what"] for one in told.json()["happened"]] == ["undo"]  # an undo counts, too
    assert decide(client, "nobody", {**face, "seen": 2}).status_code == 200


def test_a_name_that_is_in_the_photo_already_is_told_before(client, project):
    with Project.open(project) as opened:
        rows = opened.connection.execute(
            "SELECT faces.id FROM faces JOIN files USING (photo) WHERE path = 'holiday/pair.jpg'"
        ).fetchall()
    one, other = ({"face": face, "seen": 0} for (face,) in rows)
    assert decide(client, "is", one, "Ida Ray").status_code == 200
    told = decide(client, "is", other, "ida ray")
    assert (told.status_code, told.json()["taken"]) == (409, [1])
    assert len(history(project)) == 1
    assert decide(client, "is", other, "Ida Ray", even_so=True).status_code == 200
    both = {"what": "is", "name": "Kim Nu", "faces": [{**one, "seen": 1}, {**other, "seen": 2}]}
    assert client.post("api/decisions", json=both).status_code == 409


def test_undo_and_redo_of_a_batch_keep_what_came_later(client, project):
    groups = client.get("api/unnamed").json()["groups"]
    faces = [{"face": one["face"], "seen": one["seen"]} for one in groups[0]["faces"]]
    assert len(faces) >= 4
    body = {"what": "is", "name": "Gus New", "faces": faces}
    numbers = client.post("api/decisions", json=body).json()["numbers"]
    assert len({one.batch for one in history(project)}) == 1
    later = decide(client, "nobody", first_face(client)).json()["numbers"]
    undone = client.post("api/undo", json={"numbers": numbers}).json()["numbers"]
    stands = {one.number for one in history(project) if one.stands and one.what != "undo"}
    assert stands == set(later)
    client.post("api/undo", json={"numbers": undone})
    stands = {one.number for one in history(project) if one.stands and one.what != "undo"}
    assert stands == {*numbers, *later}
    assert client.post("api/undo", json={"numbers": [10**6]}).status_code == 409


def test_people_are_renamed_merged_and_split(client, project):
    person = client.get("api/person", params={"name": "Person A"}).json()
    body = {"name": "Person A", "new": "Ann Ray", "seen": person["seen"]}
    assert client.post("api/rename", json=body).status_code == 200
    late = client.post("api/rename", json={**body, "new": "Ann Lee"})
    assert (late.status_code, late.json()["happened"][0]["what"]) == (409, "rename")
    person = client.get("api/person", params={"name": "Person A"}).json()
    assert person["name"] == "Ann Ray"
    merged = client.post(
        "api/merge", json={"name": "Person B", "new": "Ann Ray", "seen": person["seen"]}
    )
    assert merged.status_code == 200
    person = client.get("api/person", params={"name": "Ann Ray"}).json()
    assert len(person["groups"]) == 2  # two people under one name
    assert person["cosine"] < 0.25
    apart = [{"face": one["face"], "seen": one["seen"]} for one in person["groups"][1]]
    split = client.post("api/split", json={"name": "Ann Ray", "new": "Bob Own", "faces": apart})
    assert split.status_code == 200
    assert len(client.get("api/person", params={"name": "Bob Own"}).json()["groups"][0]) == len(
        apart
    )
    assert client.get("api/person", params={"name": "No One"}).status_code == 404
    found = client.get("api/people", params={"find": "bob"}).json()
    assert [one["name"] for one in found["people"]] == ["Bob Own"]
    assert client.get("api/names", params={"find": "ow bo"}).json()["names"] == ["Bob Own"]
    about = client.get("api/history", params={"person": "Bob Own"}).json()["decisions"]
    assert {one["what"] for one in about} == {"is"}


def test_filters_leave_the_faces_that_they_say(project):
    with Project.open(project) as opened, opened.snapshot() as sql:

        def photos(**chosen):
            return set(next_photos(sql, QueueFilter(**chosen), None, 1000))

        everything = photos()
        folder = {
            photo for (photo,) in sql.execute("SELECT photo FROM files WHERE path LIKE 'holiday/%'")
        }
        assert photos(folder="holiday") == folder & everything
        assert photos(folder="holi") == set()
        assert photos(week=True) == set()  # made-up files are of 1970
        sure = {
            photo
            for (photo,) in sql.execute(
                "SELECT photo FROM labels JOIN faces ON faces.id = face"
                " WHERE confidence >= 0.95 AND person IS NOT NULL"
            )
        }
        assert photos(only="sure") == sure
        of = {
            photo
            for (photo,) in sql.execute(
                "SELECT photo FROM mentions JOIN captions ON captions.id = caption"
                " JOIN files ON files.id = file JOIN people ON people.id = person"
                " WHERE people.name = 'Person A'"
            )
        }
        assert photos(person="Person A") <= of
        assert photos(person="Person A")
    with Project.open(project, write=True) as opened:
        with opened.transaction() as sql:
            sql.execute("UPDATE faces SET quality = 0.1")
        with opened.snapshot() as sql:
            assert next_photos(sql, QueueFilter(), None, 9) == {}
            assert set(next_photos(sql, QueueFilter(poor=True), None, 1000)) == everything


def test_groups_of_faces_are_people(project):
    rng = np.random.default_rng(0)
    who = rng.integers(40, size=400)
    X = rng.normal(size=(40, 128))[who] + 0.7 * rng.normal(size=(400, 128))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    groups = grouped(X)
    assert sorted(row for group in groups for row in group) == list(range(400))
    assert all(len(set(who[group])) == 1 for group in groups)
    assert len(groups) <= 44
    with Project.open(project) as opened:
        found = unnamed_groups(opened, 0.0)
        photo = dict(opened.connection.execute("SELECT id, photo FROM faces"))
    assert [len(group) for group in found] == sorted(map(len, found), reverse=True)
    assert all(len({photo[face] for face in group}) == len(group) for group in found)


def test_a_name_given_to_a_group_is_proposed_for_a_face_like_it(client, project):
    group = client.get("api/unnamed").json()["groups"][0]["faces"]
    faces = [{"face": one["face"], "seen": one["seen"]} for one in group]
    client.post("api/decisions", json={"what": "is", "name": "Gus New", "faces": faces[:-1]})
    view = client.get(f"api/photos/{group[-1]['photo']}").json()
    (last,) = [one for one in view["faces"] if one["face"] == group[-1]["face"]]
    proposed = {one["name"]: one["cosine"] for one in last["candidates"]}
    assert proposed["Gus New"] > 0.5


def test_nobody_is_proposed_in_a_folder_where_nobody_is_to_be_named(project):
    with Project.open(project, write=True) as opened:
        groups = unnamed_groups(opened, 0.0)
        (guest,) = find_faces(opened, "party/0.jpg")
        (known, _) = find_faces(opened, "holiday/pair.jpg")
        opened.confirm(find_faces(opened, "party/1.jpg")[0], "Gus New")
        assert any(guest in group for group in groups)
        store_choices(opened, Choices(never=Text("party/\nholiday/\n", "never.txt")))
        assert not any(guest in group for group in unnamed_groups(opened, 0.0))
        assert "--never" in explain(opened, guest).source
        photos = dict(opened.connection.execute("SELECT id, photo FROM faces"))
    with client_of(project) as (client, _):
        asked = {one["photo"] for one in client.get("api/queue?most=1000").json()["photos"]}
        assert photos[known] not in asked
        for face in (guest, known):
            view = client.get(f"api/photos/{photos[face]}").json()
            assert [one["candidates"] for one in view["faces"]] == [[]] * len(view["faces"])


def find_faces(project, file):
    query = "SELECT faces.id FROM faces JOIN files USING (photo) WHERE path = ? ORDER BY x"
    return [face for (face,) in project.connection.execute(query, (file,))]


def test_solving_again_keeps_what_was_decided_and_lists_what_changed(client, project):
    face = first_face(client)
    decide(client, "is", face, "Somebody Else")
    assert client.post("api/solve", json={}).status_code == 200
    end = time.monotonic() + 60
    while (state := client.get("api/solve").json())["running"] and time.monotonic() < end:
        time.sleep(0.05)
    assert (state["failure"], state["times"]) == ("", 1)
    changed = {one["face"]: one["after"] for one in state["changes"]}
    assert changed[face["face"]] == "Somebody Else"
    with Project.open(project) as opened:
        assert name_and_confidence(opened.connection, face["face"]) == ("Somebody Else", 1.0)
    effort = client.get("api/status").json()["effort"]
    assert (effort["decisions"], effort["decided"]) == (1, 1)
    assert 0.5 < effort["accuracy"] <= 1


@pytest.mark.slow
def test_a_large_project_is_solved_in_a_process_beside_the_page(project, monkeypatch):
    monkeypatch.setattr("candidly.photos.review.api.SMALL", 0)
    with client_of(project) as (client, server):
        face = first_face(client)
        decide(client, "is", face, "Somebody Else")
        client.post("api/solve", json={})
        meanwhile = decide(client, "nobody", first_face(client))
        assert meanwhile.status_code == 200  # the page goes on
        server.review.solving.wait()
        assert client.get("api/solve").json()["failure"] == ""
        server.review.ordering.wait()
        assert client.get("api/queue").json()["settled"]
        assert not client.get("api/unnamed").json()["ready"]
        server.review.grouping.wait()
        assert client.get("api/unnamed").json()["ready"]
    assert [one.what for one in history(project)] == ["is", "nobody"]


# The audit


def answer(client, said, asked, **more):
    body = {"face": asked["face"], "seen": asked["seen"], "answer": said, **more}
    return client.post("api/audit/answers", json=body)


def test_answers_on_the_page_are_those_of_the_command_line(project, tmp_path):
    with client_of(project) as (client, _):
        assert client.get("api/audit").json()["result"] is None
        assert answer(client, "right", {"face": 1, "seen": 0}).status_code == 409  # nothing drawn
        assert client.get("api/audit").json()["result"] is None  # reading draws nothing
        asked = [client.post("api/audit", json={}).json()["question"]]
        assert client.post("api/audit", json={}).json()["question"] == asked[0]  # drawn once
        for said in ("right", "wrong", "unsure"):
            assert answer(client, said, asked[-1]).status_code == 200
            found = client.get("api/audit").json()
            asked.append(found["question"])
        assert len({one["face"] for one in asked}) == 4
        overall = found["result"]["overall"]
        assert (overall["asked"], overall["wrong"], found["most"]) == (3, 2, 300)
        assert overall["low"] < 2 / 3 < overall["high"] <= 1
    made = [(one.what, one.face, one.name) for one in history(project)]
    assert made == [
        ("is", asked[0]["face"], asked[0]["name"]),
        ("not", asked[1]["face"], asked[1]["name"]),
    ]
    words = ["audit", "--project", str(project)]
    told = CliRunner().invoke(app, [*words, "--json"])
    assert json.loads(told.stdout) == found["result"]
    CliRunner().invoke(app, [*words, "--write-questions", str(tmp_path / "ask.csv")])
    with (tmp_path / "ask.csv").open(newline="") as file:
        left = [int(row["face"]) for row in csv.DictReader(file)]
    assert left[0] == asked[3]["face"]
    assert len(left) == overall["names"] - 3
    (tmp_path / "answers.csv").write_text(f"face,answer\n{left[0]},yes\n")
    CliRunner().invoke(app, [*words, "--answers", str(tmp_path / "answers.csv")])
    with client_of(project) as (client, _):
        found = client.get("api/audit").json()
        assert found["result"]["overall"]["asked"] == 4
        assert found["question"]["face"] == left[1]
    with Project.open(project, write=True) as opened:
        assert Audit(opened).promise(0.5).asked == 4


def test_an_audit_ends_when_enough_was_asked_and_unsure_is_taken_back(client, project):
    asked = client.post("api/audit", json={}).json()["question"]
    while (found := client.get("api/audit").json())["question"] is not None:
        assert answer(client, "unsure", found["question"]).status_code == 200
    overall = found["result"]["overall"]
    assert 0.9 < overall["high"] - 0.05 <= overall["low"]  # who cannot tell counts as wrong
    assert answer(client, "open", asked).json()["numbers"] == []
    assert client.get("api/audit").json()["question"] == asked
    assert history(project) == []


def test_an_answer_to_what_changed_meanwhile_is_refused(client, project):
    asked = client.post("api/audit", json={}).json()["question"]
    decide(client, "nobody", asked)
    for said in ("right", "wrong", "unsure", "open"):
        late = answer(client, said, asked)
        assert (late.status_code, late.json()["happened"][0]["what"]) == (409, "nobody")
    asked = client.get("api/audit").json()["question"]
    person = {"name": asked["name"], "new": "Zoe Renamed", "seen": asked["seen"]}
    assert client.post("api/rename", json=person).status_code == 200
    late = answer(client, "right", asked)
    assert (late.status_code, late.json()["happened"][0]["what"]) == (409, "rename")
    asked = client.get("api/audit").json()["question"]
    assert asked["name"] == "Zoe Renamed"
    assert answer(client, "right", asked).status_code == 200
    assert [one.what for one in history(project)] == ["nobody", "rename", "is"]


def test_an_answer_names_nobody_twice_in_a_photo_and_only_faces_that_were_drawn(client, project):
    asked = client.post("api/audit", json={}).json()["question"]
    while len(faces := client.get(f"api/photos/{asked['photo']}").json()["faces"]) == 1:
        answer(client, "right", asked)
        asked = client.get("api/audit").json()["question"]
    other = next(one for one in faces if one["face"] != asked["face"])
    decide(client, "is", other, asked["name"], even_so=True)
    asked = client.get("api/audit").json()["question"]
    told = answer(client, "right", asked)
    assert (told.status_code, told.json()["taken"]) == (409, [other["place"]])
    assert answer(client, "right", asked, even_so=True).status_code == 200
    with Project.open(project) as opened:
        (guess,) = opened.connection.execute(
            "SELECT id FROM faces WHERE id NOT IN (SELECT face FROM audited)"
        ).fetchone()
    before = history(project)
    for face, status in ((guess, 409), (10**9, 404), (-1, 422)):
        assert answer(client, "right", {"face": face, "seen": 99}).status_code == status
    assert answer(client, "perhaps", asked).status_code == 422
    assert history(project) == before


# Faces that are drawn, and those that are none


def test_a_face_that_was_drawn_survives_another_scan_and_an_ignored_one_stays_ignored(tmp_path):
    album = Album(tmp_path / "a.candidly", model=SFACE)
    (dog,) = album.add("dog.jpg", ["dog"], [])
    with album.project.transaction() as sql:
        (photo,) = sql.execute("SELECT photo FROM faces").fetchone()
        marks, vector = np.zeros((5, 2), np.float32), np.ones(24, np.float32)
        box = Box(300, 300, 50, 50)
        made = draw_face(sql, photo, Face(box, 0, marks, 0.5, vector), SFACE, "me")
    album.project.ignore(dog)
    with album.project.transaction() as sql:
        keep_faces(sql, photo, [], SFACE)  # this time nothing is found
        left = dict(sql.execute("SELECT id, (SELECT 1 FROM embeddings WHERE face = id) FROM faces"))
        assert left == {dog: None, made: 1}
        keep_faces(sql, photo, [], "another; model")
        left = dict(sql.execute("SELECT id, (SELECT 1 FROM embeddings WHERE face = id) FROM faces"))
        assert left == {dog: None, made: None}  # of two models embeddings are never compared
    assert decision_on(album.project.connection, dog).ignored
    album.project.close()


# Killed at any moment


@pytest.mark.slow
def test_no_decision_that_was_answered_is_lost_when_the_server_is_killed(project):
    rng = random.Random(0)
    answered: list[int] = []
    for _ in range(4):
        server = subprocess.Popen(
            [sys.executable, "-m", "candidly", "review", "--no-open", "--project", str(project)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            address = server.stdout.readline().strip()
            stop = time.monotonic() + rng.uniform(0.05, 0.6)
            with httpx.Client(base_url=address, timeout=10) as client:
                faces = itertools.cycle(range(1, 40))
                while time.monotonic() < stop:
                    seen = max((one.number for one in history(project)), default=0)
                    body = {"what": "nobody", "faces": [{"face": next(faces), "seen": seen}]}
                    answered += client.post("api/decisions", json=body).json()["numbers"]
        finally:
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            server.stdout.close()
    assert len(answered) >= 5
    assert set(answered) <= {one.number for one in history(project)}
    with Project.open(project) as opened:
        assert opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# The command


def test_the_command_says_what_is_missing(project, monkeypatch):
    runner = CliRunner()
    refused = runner.invoke(app, ["review", "--project", str(project), "--photo", "none.jpg"])
    assert refused.exit_code == 1
    assert "there is no photo 'none.jpg'" in refused.output
    missing = runner.invoke(app, ["review", "--project", str(project.parent / "no.candidly")])
    assert "there is no project file" in missing.output
    monkeypatch.setitem(sys.modules, "fastapi", None)
    without = runner.invoke(app, ["review", "--project", str(project)])
    assert "pip install 'candidly[review]'" in without.output
