"""How wrong names are, and which can be promised, by asking about a few of them."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, hypergeom
from typer.testing import CliRunner

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from candidly.cli import app
from candidly.estimators.error_bound import ErrorBound
from candidly.photos.auditing import Audit
from candidly.photos.auditing.result import audit_result
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.schema import person_id

runner = CliRunner()
BOB = "Bob Bay"


@pytest.fixture
def hundred(album):
    """A hundred photos of two people each: 200 names, of which every tenth is wrong."""
    album.truth = {}
    rng = np.random.default_rng(0)
    album.project.connection.execute("PRAGMA synchronous = OFF")
    labels = []
    for number in range(100):
        who = [f"Person {number % 7}", f"Guest {number}"]
        faces = album.add(f"day/{number:03}.jpg", who, who)
        for face, name in zip(faces, who, strict=True):
            wrong = rng.random() < 0.1
            album.truth[face] = "Somebody else" if wrong else name
            labels.append((face, name, 0.6 if wrong else rng.uniform(0.9, 1)))
    label(album, *labels)
    return album


def label(album, *labels):
    with album.project.transaction() as sql:
        for face, name, confidence in labels:
            sql.execute(
                "INSERT OR REPLACE INTO labels (face, person, confidence) VALUES (?, ?, ?)",
                (face, person_id(sql, name), confidence),
            )


def answer(album, audit, face):
    """Answer as somebody who knows the truth."""
    question = audit.question(face)
    right = album.truth[face] == question.name
    audit.answer(face, right=right, name=None if right else album.truth[face])


def call(album, *words):
    """Run a command on the project of an album, which is open for writing in between."""
    album.project.close()
    result = runner.invoke(app, [*map(str, words), "--project", str(album.project.path)])
    album.project = Project.open(album.project.path, write=True)
    return result


# The bound


@settings(max_examples=30)
@given(st.integers(1, 60), st.data())
def test_the_interval_is_what_the_definition_says(size, data):
    checked = data.draw(st.integers(0, size))
    found = data.draw(st.integers(0, checked))
    bound = ErrorBound(size, 0.05, data.draw(st.floats(0.01, 0.5)))
    low, high = bound.interval(checked, found)
    rate = min(max(bound.expected, 0.1 / size), 0.5)
    D = np.arange(size + 1)
    prior = betabinom(size, 1.0, 1 / rate - 1).pmf(D)
    chance = hypergeom(size, D, checked).pmf(found)
    kept = D[(chance > 0) & ((prior * chance).sum() < chance / 0.05)]
    assert (low, high) == (kept[0], kept[-1])
    assert found <= low <= high <= size - checked + found


def test_intervals_hold_at_all_times_at_once_overall_and_in_parts():
    rng = np.random.default_rng(0)
    mentions = rng.choice([1, 3, 9], size=150)
    truth = rng.random(150) < np.where(mentions == 1, 0.25, 0.03)
    confidence, draws = np.full(150, 0.9), 200
    missed = dict.fromkeys(("overall", "often", "rarely", "once"), 0)
    part = {"often": mentions == 9, "rarely": mentions == 3, "once": mentions == 1}
    for _ in range(draws):
        order = rng.permutation(150)
        out = set()
        for asked in range(0, 151, 15):
            known = np.where(np.arange(150) < asked, truth[order], -1).astype(np.int8)
            found = audit_result(known, confidence, mentions[order])
            if not found.overall.low <= truth.mean() <= found.overall.high:
                out.add("overall")
            for word, one in found.groups.items():
                if not one.low <= truth[part[word]].mean() <= one.high:
                    out.add(word)
        for word in out:
            missed[word] += 1
    assert max(missed.values()) <= 0.05 * draws


# Questions and answers


def test_questions_come_in_an_order_that_the_seed_decides(hundred):
    audit = Audit(hundred.project, seed=3)
    first = [one.face for one in audit.questions(20)]
    assert [one.face for one in Audit(hundred.project, seed=9).questions(20)] == first  # drawn once
    audit.draw(9)
    assert [one.face for one in audit.questions(20)] != first
    audit.draw(3)
    assert [one.face for one in audit.questions(20)] == first
    one = audit.next_question()
    assert one.label == f"{one.file}#{1 + (one.box.x > 0)}"
    assert one.name in one.caption


def test_guesses_and_confirmed_names_are_not_asked_about(album):
    (guess,) = album.add("a.jpg", [BOB], [BOB])
    (sure,) = album.add("b.jpg", [BOB], [BOB])
    (known,) = album.add("c.jpg", [BOB], [BOB])
    label(album, (guess, BOB, 0.4), (sure, BOB, 0.99), (known, BOB, 0.99))
    album.project.confirm(known, BOB)
    assert [one.face for one in Audit(album.project).questions(9)] == [sure]


def test_answers_are_decisions_wherever_they_are_made(hundred):
    audit = Audit(hundred.project)
    first, second, third, fourth = (one.face for one in audit.questions(4))
    name = audit.question(first).name
    assert audit.answer(first, right=True) == 1
    assert [one.what for one in hundred.project.history()] == ["is"]
    hundred.project.nobody(second)  # as the review page would
    audit.answer(third, right=False, name="Zoë Ray")
    assert hundred.names([first, second, third]) == [name, None, "Zoë Ray"]
    assert audit.answer(fourth, right=None) is None
    audit.ask_again(fourth)
    assert audit.next_question().face == fourth
    audit.answer(fourth, right=None)
    overall = audit.result().overall
    assert (overall.asked, overall.wrong) == (4, 3)  # who cannot tell counts as wrong
    assert hundred.names([fourth]) == [audit.question(fourth).name]
    hundred.project.undo()
    assert audit.next_question().face == third  # asked again
    with pytest.raises(ProjectProblem, match="not among the names"):
        audit.answer(10**6, right=True)


def test_names_that_were_merged_or_renamed_are_the_same(hundred):
    audit = Audit(hundred.project)
    face = audit.next_question().face
    name = audit.question(face).name
    hundred.project.rename(name, "Zoë Ray")
    assert audit.question(face).name == "Zoë Ray"
    audit.answer(face, right=True)
    assert audit.result().overall.wrong == 0


def test_an_audit_stops_when_it_is_precise_enough_or_at_the_end(hundred):
    audit = Audit(hundred.project, questions=60)
    asked = 0
    while not audit.precise(0.5):
        answer(hundred, audit, audit.next_question().face)
        asked += 1
    assert 2 < asked < 30
    while not audit.precise(0.01):
        answer(hundred, audit, audit.next_question().face)
        asked += 1
    assert asked == 60
    result = audit.result()
    truth = np.mean([hundred.truth[face] == "Somebody else" for face in hundred.truth])
    assert result.overall.low <= truth <= result.overall.high
    assert set(result.groups) == {"often", "once"}
    assert sum(part.asked for part in result.groups.values()) == 60


# Promises


def promised(album, audit, max_error, most=200):
    found = audit.promise(max_error)
    while found.ask and found.asked < most:
        for face in found.ask:
            answer(album, audit, face)
        found = audit.promise(max_error)
    return found


def test_a_promise_holds_and_confirmed_names_are_inside(hundred):
    audit = Audit(hundred.project, questions=150)
    before = audit.promise(0.05)
    assert not before.holds
    assert 0 < before.more <= 200
    found = promised(hundred, audit, 0.05)
    assert found.holds
    assert found.asked < 200
    assert found.faces
    wrong = sum(hundred.truth[face] == "Somebody else" for face in found.faces)
    assert wrong <= found.left <= 0.05 * found.kept


def test_answers_of_an_audit_count_for_a_promise(hundred):
    audit = Audit(hundred.project, questions=150)
    for _ in range(120):
        answer(hundred, audit, audit.next_question().face)
    after = audit.promise(0.05)
    fresh = Audit(hundred.project, questions=150)
    assert after.asked == fresh.promise(0.05).asked == 120
    assert after.holds or after.more < 60


def test_names_that_changed_since_they_were_drawn_are_not_promised(hundred):
    audit = Audit(hundred.project, questions=150)
    found = promised(hundred, audit, 0.05)
    assert found.holds
    free = next(face for face in sorted(found.faces) if not decided(hundred, face))
    label(hundred, (free, "Zoë Ray", 0.99))
    again = audit.promise(0.05)
    assert free not in again.faces
    assert again.changed == 1
    assert again.kept == found.kept - 1


def decided(album, face):
    rows = album.project.connection.execute("SELECT 1 FROM standing WHERE face = ?", (face,))
    return rows.fetchone() is not None


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_a_share_that_is_none_is_refused(hundred, share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Audit(hundred.project).promise(share)


# The command line


def test_audit_asks_by_files(hundred, tmp_path):
    ask = tmp_path / "ask.csv"
    result = call(hundred, "audit", "--questions", 40, "--write-questions", ask)
    assert result.exit_code == 0, result.output
    with ask.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    for row in rows[:30]:
        truth = hundred.truth[int(row["face"])]
        row["answer"] = "yes" if truth == row["name"] else "no"
        row["who"] = "" if truth == row["name"] else truth
    rows[30]["answer"] = "Unsure"
    answers = tmp_path / "answers.csv"
    with answers.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    result = call(hundred, "audit", "--answers", answers)
    assert result.exit_code == 0, result.output
    assert "31 answers read" in result.stderr
    assert "31 asked about" in result.stdout
    assert "of people mentioned once" in result.stdout
    found = json.loads(call(hundred, "audit", "--json").stdout)
    assert found["overall"]["asked"] == 31
    assert found["overall"]["low"] <= 0.1 <= found["overall"]["high"]
    assert call(hundred, "audit", "--write-questions", ask).exit_code == 1  # it is there already


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("face,answer\n{face},perhaps\n", "'perhaps' is no answer"),
        ("face,answer\nx,yes\n", "'x' is no number"),
        ("face,answer\n999999,yes\n", "not among the names"),
        ("file,answer\na.jpg,yes\n", "no column 'face'"),
        ("face,name,answer\n{face},Nobody Known,yes\n", "is asked about as"),
        ("face,answer,who\n{face},yes,Zoë Ray\n", "the answer is yes, but who"),
        ("face,answer,who\n{face},no,Zoë Ray\n{face},no,???\n", "'???' has none"),
    ],
)
def test_a_file_of_answers_that_is_wrong_changes_nothing(hundred, tmp_path, text, why):
    faces = [one.face for one in Audit(hundred.project).questions(2)]
    good = f"{faces[1]},yes\n" if text.startswith("face,answer\n") else ""
    head, _, rest = text.format(face=faces[0]).partition("\n")
    (tmp_path / "a.csv").write_text(f"{head}\n{good}{rest}")
    result = call(hundred, "audit", "--answers", tmp_path / "a.csv")
    assert result.exit_code == 1
    assert why in " ".join(result.stderr.split())
    assert hundred.project.history() == []


def test_one_answer_is_not_counted_as_several(hundred, tmp_path):
    (tmp_path / "a.csv").write_text(
        f"face,answer\n{Audit(hundred.project).next_question().face},yes\n"
    )
    told = call(hundred, "audit", "--answers", tmp_path / "a.csv").stderr
    told += call(hundred, "audit", "--write-questions", tmp_path / "b.csv", "--questions", 2).stderr
    told += call(hundred, "export", tmp_path / "out", "--max-error", "1%").stderr
    assert "1 answer read" in told
    assert "1 question in" in told
    assert "promised by 1 answer:" in told


def test_audit_asks_on_the_terminal_and_goes_on_later(hundred, monkeypatch):
    monkeypatch.setattr(sys.modules["candidly.cli.audit"], "is_terminal", lambda: True)
    first, second, third = (one.face for one in Audit(hundred.project).questions(3))
    said = ["maybe", "yes", "no", "Zoë Ray", "unsure", "quit"]
    album, path = hundred, str(hundred.project.path)
    album.project.close()
    result = runner.invoke(app, ["audit", "--project", path], input="\n".join(said) + "\n")
    album.project = Project.open(path, write=True)
    assert result.exit_code == 0, result.output
    assert "'maybe' is no answer" in result.stderr
    assert "caption:" in result.stderr
    assert "3 asked about, 2 of these wrong" in result.stdout
    history = [(one.what, one.face) for one in album.project.history()]
    assert history == [("is", first), ("is", second)]
    assert Audit(album.project).next_question().face not in (first, second, third)


def test_export_asks_until_its_promise_holds(hundred, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("out")  # not among the photos
    ask = ["export", "--max-error", "5%", "--questions", 150, "--json", folder / "n.json"]
    result = call(hundred, *ask, "--dry-run")
    assert result.exit_code == 3
    assert "5% wrong cannot be promised by 0 answers" in result.stderr
    monkeypatch.setattr(sys.modules["candidly.cli.export"], "is_terminal", lambda: True)
    hundred.project.close()
    command = [*map(str, ask), "--project", str(hundred.project.path), "--dry-run"]
    result = runner.invoke(app, command, input="yes\n" * 200)
    hundred.project = Project.open(hundred.project.path, write=True)
    asked = len(hundred.project.history())
    assert 30 < asked < 150
    said = " ".join(result.stderr.split())
    assert f"promised by {asked} answers: with 95% confidence at most 5% of" in said
    assert "skipped: day/000.jpg: it is not there any more" in said


def test_export_asks_by_files(hundred, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    words = ["export", "--csv", folder / "n.csv", "--max-error", "10%", "--dry-run"]
    result = call(hundred, *words, "--write-questions", folder / "ask.csv")
    assert "37 questions" in result.stderr  # the pilot
    text = (folder / "ask.csv").read_text().replace(",,\n", ",yes,\n").replace("\r\n", "\n")
    (folder / "answers.csv").write_text(text.replace(",,\n", ",yes,\n"))
    result = call(hundred, *words, "--answers", folder / "answers.csv")
    assert "37 answers read" in result.stderr
    result = call(hundred, "export", "--csv", folder / "n.csv", "--answers", folder / "answers.csv")
    assert result.exit_code == 1
    assert "need --max-error" in result.stderr


@pytest.mark.parametrize("share", ["0", "100%", "a lot", "1%%"])
def test_shares_that_are_none_are_refused(album, share):
    result = call(album, "export", "--csv", "n.csv", "--max-error", share)
    assert result.exit_code == 2
    assert "is no share" in " ".join(result.stderr.split())
