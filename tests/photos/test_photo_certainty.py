"""What is sure, likely and unknown, and that it is said: summaries, lists, page and reasons."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from candidly import extras, photos
from candidly.cli import app
from candidly.cli.photo_run import RunDisplay
from candidly.datasets.store import data_folder
from candidly.photos.certainty import NamedFaces, certainty
from candidly.photos.explaining import explain
from candidly.photos.project.caption_counts import CaptionCounts, caption_counts
from candidly.photos.project.queries import faces
from candidly.photos.records import Region
from candidly.photos.reporting import people
from candidly.photos.reporting.contents import read_contents
from candidly.photos.reporting.page import PER_PERSON, faces_on_page
from candidly.photos.solving import SolveSummary, solve
from candidly.photos.solving.likeness import two_groups
from made_up import DIMENSIONS, MODEL, Album, fill
from stand_ins import draw, parts

SFACE = "made up; sface:0"
AXES = np.eye(DIMENSIONS) * 5


@pytest.fixture
def album(tmp_path):
    """An album by an embedder whose cosines are known; its people are not alike at all."""
    made = Album(tmp_path / "photos" / "a.candidly", model=SFACE)
    made.people = {name: AXES[at] for at, name in enumerate(("Ann Ash", "Zed Zay", "Bob Bay"))}
    yield made
    made.project.close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three photos of one face each, and stand-ins for the parts that ingest them."""
    monkeypatch.setattr("candidly.photos.application.default_parts", lambda _: parts())
    monkeypatch.setitem(extras.EXTRAS, "photos", ("PIL", "photos"))
    top = tmp_path / "photos"
    for number in range(3):
        draw(top / f"{number}.png", [(4, 8, 10, 40 + number)], seed=number)
    return top


def label(album, face, name, confidence, *weighed):
    """Give a face a label, and its candidates: name, probability and likeness."""
    with album.project.transaction() as sql:
        ids = {None: None, **dict(sql.execute("SELECT name, id FROM people"))}
        sql.execute("DELETE FROM weighed WHERE face = ?", (face,))
        sql.execute(
            "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, NULL)", (face, ids[name], confidence)
        )
        for other, probability, likeness in weighed:
            sql.execute(
                "INSERT INTO weighed VALUES (?, ?, ?, ?, 0)",
                (face, ids[other], probability, likeness),
            )


def decided(album, person, name, number):
    """Photos of a person whom somebody decided to have a name."""
    found = []
    for _ in range(number):
        file = f"{person}-{len(album.project.connection.execute('SELECT 1 FROM files').fetchall())}"
        (face,) = album.add(f"{file}.jpg", [person], [name])
        album.project.confirm(face, name, by="Eva")
        found.append(face)
    return found


def command(album, *words):
    done = CliRunner().invoke(app, [*words, "--project", str(album.project.path)])
    assert done.exit_code == 0, done.output
    return done


# The words


@pytest.mark.parametrize(
    ("name", "confidence", "word"),
    [
        ("Ann", 1.0, "sure"),
        ("Ann", 0.95, "sure"),
        ("Ann", 0.9499, "likely"),
        ("Ann", 0.5, "likely"),
        ("Ann", 0.4999, "unknown"),
        (None, 1.0, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_one_word_says_how_sure_a_name_is(name, confidence, word):
    assert certainty(name, confidence) == word


def test_nobody_is_sure_only_where_somebody_decided_it(album):
    first, second = album.add("a.jpg", ["x", "y"], ["Ann Ash"])
    album.project.nobody(first)
    label(album, second, None, 0.999)
    assert [face.certainty for face in faces(album.project)] == ["sure", "unknown"]
    listed = json.loads(command(album, "faces", "--json").stdout)
    assert [(row["certainty"], row["confidence"]) for row in listed] == [
        ("sure", 1.0),
        ("unknown", 0.999),
    ]


def test_faces_are_listed_with_the_word(album):
    numbers = album.add("a.jpg", ["x", "y", "z"], ["Ann Ash", "Bob Bay"])
    label(album, numbers[0], "Ann Ash", 0.96)
    label(album, numbers[1], "Bob Bay", 0.3)
    label(album, numbers[2], None, 0.7)
    lines = command(album, "faces").stdout.splitlines()
    assert "Ann Ash  0.96  sure" in lines[0]
    assert "Bob Bay  0.3  unknown" in lines[1]
    assert "nobody  0.7  unknown" in lines[2]
    assert command(album, "faces", "--csv").stdout.startswith("file,box,name,confidence,certainty,")


def test_that_no_name_is_sure_is_said_only_where_it_is_true():
    assert "all are guesses" in NamedFaces(4, 2, 0, 0).warning()
    assert NamedFaces(4, 2, 0, 1).warning().startswith("no name is sure: 1 of 2 are likely")
    assert NamedFaces(4, 2, 1, 1).warning() is None
    assert NamedFaces(4, 0, 0, 0).warning() is None


# Summaries


def test_a_solve_counts_sure_and_likely_names_and_stores_them(album):
    fill(album)
    done = solve(album.project)
    labels = album.project.connection.execute(
        "SELECT confidence FROM labels WHERE person IS NOT NULL"
    ).fetchall()
    sure = sum(confidence >= 0.95 for (confidence,) in labels)
    likely = sum(0.5 <= confidence < 0.95 for (confidence,) in labels)
    assert (done.named, done.sure, done.likely) == (len(labels), sure, likely)
    assert sure > 0
    (stored,) = album.project.connection.execute(
        "SELECT counts FROM runs WHERE id = ?", (done.run,)
    ).fetchone()
    assert json.loads(stored) == done.counts
    assert (done.counts["sure"], done.counts["likely"]) == (sure, likely)


@pytest.mark.parametrize(("sure", "said"), [(0, True), (2, False)])
def test_the_summary_says_how_many_names_are_sure_and_where_none_is(capsys, sure, said):
    done = SolveSummary(1, True, 9, 41, 22, sure, 15, doubts=["too many are nobody"])
    done.captions = CaptionCounts(9)
    RunDisplay().result(done)
    lines = capsys.readouterr().err.splitlines()
    told = f"22 of 41 faces named: {sure} sure, 15 likely, {7 - sure} a guess; 19 nobody"
    assert lines[0].startswith("no name is sure: 15 of 22 are likely") == said
    assert lines[said].endswith(told)
    assert lines[-1] == "too many are nobody"


def test_recognised_names_are_counted_like_others(capsys):
    RunDisplay().result(photos.RecognitionSummary(3, 2, 5, 6, 4, 0, 1))
    said = capsys.readouterr().err
    assert "4 of 6 faces named: 0 sure, 1 likely, 3 a guess; 2 nobody" in said
    assert "no name is sure" in said


def test_doubts_are_on_the_page_until_everything_is_solved_again(album):
    fill(album, photos=8)
    run = solve(album.project).run
    album.project.end_run(run, {}, ["a problem"], ["far more nobody than captions allow"])
    found = read_contents(album.project)
    assert found.problems == ["a problem"]
    assert "a problem" not in found.notes
    solve(album.project)  # nothing is new
    assert "far more nobody than captions allow" in read_contents(album.project).notes
    solve(album.project, full=True)
    assert "far more nobody than captions allow" not in read_contents(album.project).notes


def test_the_page_says_where_nothing_is_sure_and_counts_the_words(album, tmp_path):
    numbers = album.add("a.jpg", ["x", "y", "z"], ["Ann Ash", "Bob Bay"])
    label(album, numbers[0], "Ann Ash", 0.8)
    label(album, numbers[1], "Bob Bay", 0.4)
    label(album, numbers[2], None, 0.9)
    found = read_contents(album.project)
    words = ("faces", "named", "sure", "likely", "unknown")
    assert [found.figures[word] for word in words] == [3, 2, 0, 1, 2]
    photos.report(album.project, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<p>2 of 3 faces named: 0 sure, 1 likely, 1 a guess; 1 nobody.</p>" in page
    assert "<p>No name is sure: 1 of 2 are likely;" in page
    assert "<b>likely, 80%</b>" in page
    assert "<b>a guess, 40%</b>" in page
    label(album, numbers[0], "Ann Ash", 0.99)
    assert not any("no name is sure" in note for note in read_contents(album.project).notes)


# People whose faces do not look alike


def test_two_people_are_two_groups_and_one_odd_face_is_not():
    rng = np.random.default_rng(0)

    def near(axis, number):
        return AXES[axis] + rng.normal(size=(number, DIMENSIONS)) * 0.7

    side, cosine = two_groups(np.concatenate([near(0, 5), near(1, 3)]))
    assert set(side[:5].tolist()) != set(side[5:].tolist())
    assert side[:5].all() or not side[:5].any()
    assert abs(cosine) < 0.2
    strangers = np.concatenate([near(0, 4), *(near(axis, 1) for axis in range(1, 9))])
    assert two_groups(strangers) is not None
    assert two_groups(near(0, 30)) is None
    assert two_groups(np.concatenate([near(0, 5), near(1, 1)])) is None
    assert two_groups(np.concatenate([near(0, 2), near(1, 1)])) is None


@pytest.mark.real_data
def test_mixed_people_are_flagged_and_real_ones_hardly_ever():
    stored = np.load(data_folder() / "lfw_news" / "sface128.npz")
    own = defaultdict(list)
    for at, name in enumerate(stored["name"].tolist()):
        own[name].append(at)
    X, rng = stored["X"].astype(float), np.random.default_rng(0)
    often = [rng.permutation(rows) for rows in own.values() if len(rows) >= 4]
    assert len(often) > 300
    few = [rows[:4] for rows in often]
    assert np.mean([two_groups(X[rows]) is not None for rows in often + few]) <= 0.005
    once = np.array([rows[0] for rows in own.values() if len(rows) == 1])
    flagged = defaultdict(list)
    for _ in range(300):
        one, other = (often[at] for at in rng.choice(len(often), 2, replace=False))
        pair = np.concatenate([one[:4], other[:2]])
        half = np.concatenate([one[:20], other[:20]])
        strangers = np.concatenate([one[:4], rng.choice(once, 8, replace=False)])
        for kind, rows in (("pair", pair), ("half", half), ("strangers", strangers)):
            flagged[kind].append(two_groups(X[rows]) is not None)
    assert all(np.mean(found) >= 0.95 for found in flagged.values())


def test_a_name_on_two_people_is_flagged_everywhere(album, tmp_path):
    own, wrong = decided(album, "Ann Ash", "Ann Ash", 5), decided(album, "Zed Zay", "Ann Ash", 3)
    decided(album, "Bob Bay", "Bob Bay", 6)
    (found,) = solve(album.project).unlike
    assert (found.name, found.larger, found.smaller) == ("Ann Ash", tuple(own), tuple(wrong))
    assert abs(found.cosine) < 0.25
    flags = {one.name: one.unlike for one in people(album.project)}
    assert flags == {"Ann Ash": found, "Bob Bay": None}
    assert found.sentence in read_contents(album.project).notes
    photos.report(album.project, tmp_path / "report.html")
    assert '<p class="doubt">The faces of Ann Ash' in (tmp_path / "report.html").read_text()
    lines = command(album, "people").stdout.splitlines()
    assert [found.sentence in line for line in lines] == [True, False]
    assert "8 sure" in lines[0]
    rows = json.loads(command(album, "people", "--json").stdout)
    assert [row["doubt"] for row in rows] == [found.sentence, None]


def test_the_page_shows_both_looks_of_a_name_with_many_faces(album):
    decided(album, "Ann Ash", "Ann Ash", 4)
    wrong = decided(album, "Zed Zay", "Ann Ash", 2)
    decided(album, "Ann Ash", "Ann Ash", 16)
    contents = read_contents(album.project)
    shown = faces_on_page(contents)
    assert len(shown) == PER_PERSON
    assert shown >= set(wrong)


def test_guesses_and_other_embedders_are_not_flagged(album, tmp_path):
    decided(album, "Ann Ash", "Ann Ash", 5)
    for number in range(3):
        (face,) = album.add(f"guess-{number}.jpg", ["Zed Zay"], ["Ann Ash"])
        label(album, face, "Ann Ash", 0.4)
    assert [one.unlike for one in people(album.project)] == [None]
    other = Album(tmp_path / "other.candidly", model=MODEL)
    other.people = album.people
    decided(other, "Ann Ash", "Ann Ash", 5)
    decided(other, "Zed Zay", "Ann Ash", 3)
    assert solve(other.project).unlike == []
    other.project.close()


# Reasons


def unmentioned(album, *, name=None, look="Zed Zay"):
    """Zed is known from elsewhere; a face that looks so is in a photo that mentions Ann."""
    known = decided(album, "Zed Zay", "Zed Zay", 3)
    (face,) = album.add("party.jpg", [look], ["Ann Ash"])
    weighed = [(None, 0.8, 2.0), ("Ann Ash", 0.2, -1.0)]
    label(album, face, name, 0.8, *weighed)
    return face, known


def test_why_names_the_lookalike_who_is_not_mentioned(album):
    face, known = unmentioned(album)
    found = explain(album.project, face)
    assert (found.name, found.certainty) == (None, "unknown")
    assert found.lookalike.name == "Zed Zay"
    assert found.lookalike.face in known
    said = f"it looks like Zed Zay, who is not mentioned: {found.lookalike.cosine:.2f} (cosine) to "
    assert found.reasons[-1].startswith(f"{said}face {found.lookalike.face} in Zed Zay-")
    assert said in command(album, "why", str(face)).stdout


def test_why_names_a_rival_where_a_name_was_given(album):
    decided(album, "Ann Ash", "Ann Ash", 3)
    face, known = unmentioned(album, name="Ann Ash")
    found = explain(album.project, face)
    assert (found.name, found.certainty) == ("Ann Ash", "likely")
    assert found.lookalike.face in known
    assert not any(reason.startswith("it looks like other") for reason in found.reasons)
    assert "only" in found.reasons[0]
    assert "less than the 0.36 from which faces count as alike" in found.reasons[0]
    (other,) = album.add("ann.jpg", ["Ann Ash"], ["Ann Ash"])
    label(album, other, "Ann Ash", 0.9, ("Ann Ash", 0.9, 3.0), (None, 0.1, 0.0))
    found = explain(album.project, other)
    assert found.reasons[0].startswith("it looks like other faces of Ann Ash, up to 0.")
    assert found.lookalike is None


def test_why_claims_no_likeness_below_the_stated_one(album):
    face, _ = unmentioned(album, look="Bob Bay")
    found = explain(album.project, face)
    assert found.lookalike.cosine < 0.363
    assert "looks like" not in " ".join(found.reasons)
    assert "the most similar sure face, of Zed Zay" in found.reasons[-1]
    assert "less than the 0.36" in found.reasons[-1]


def test_why_claims_no_cosine_of_another_embedder(tmp_path):
    album = Album(tmp_path / "a.candidly", model=MODEL)
    face, _ = unmentioned(album)
    found = explain(album.project, face)
    album.project.close()
    said = " ".join(found.reasons)
    assert "most similar is Zed Zay, who is not mentioned" in said
    assert "cosine" not in said
    assert "looks like" not in said


def test_why_says_who_decided_exported_or_wrote_it(album):
    (face,) = decided(album, "Ann Ash", "Ann Ash", 1)
    today = explain(album.project, face).decisions[0].at[:10]
    assert explain(album.project, face).source == f"Eva decided it on {today}"
    album.project.ignore(face, by="Tom")
    assert explain(album.project, face).source.startswith(f"Tom decided on {today} that it is not")
    region = Region("Ann Ash", 0, 0, 0.06, 0.06)
    (drawn,) = album.add("drawn.jpg", ["x"], [], regions=[region])
    assert explain(album.project, drawn).source == (
        "the metadata of drawn.jpg (txt) names this face"
    )
    assert explain(album.project, drawn).certainty == "sure"
    with album.project.transaction() as sql:
        (person,) = sql.execute("SELECT id FROM people WHERE name = 'Ann Ash'").fetchone()
        sql.execute("INSERT INTO exported VALUES (?, ?, '2026-01-02T03:04')", (drawn, person))
    assert "given out of the project on 2026-01-02" in explain(album.project, drawn).source


@pytest.mark.parametrize(
    ("confidence", "word"), [(0.97, "97%: sure"), (0.9496, "94%: likely"), (0.3, "30%: a guess")]
)
def test_why_says_sure_likely_or_a_guess(album, confidence, word):
    (face,) = album.add("a.jpg", ["x"], ["Ann Ash"])
    label(album, face, "Ann Ash", confidence, ("Ann Ash", confidence, 0.0))
    first = command(album, "why", str(face)).stdout.splitlines()[0]
    assert first == f"Ann Ash, {word}"


# Captions that are missing


def name_folder(folder, tmp_path, *words):
    project = str(tmp_path / "a.candidly")
    done = CliRunner().invoke(
        app, ["name", str(folder), "--project", project, "--no-report", *words]
    )
    assert done.exit_code == 0, done.output
    return done.output


def test_a_folder_without_captions_is_told_so(folder, tmp_path):
    for _ in range(2):
        said = name_folder(folder, tmp_path)
        assert "none of 3 photos has a caption: nothing tells who may be in them" in said
        assert "captions.csv" in said
        assert "--no-captions" in said
        assert "nothing is new" not in said


def test_missing_captions_and_captions_without_names_are_counted(folder, tmp_path):
    (folder / "0.txt").write_text("Ann Lee in Rome")
    (folder / "1.txt").write_text("in Rome")
    said = name_folder(folder, tmp_path)
    assert "1 of 3 photos has no caption" in said
    assert "1 of 3 photos has a caption in which no name was found" in said
    (folder / "1.txt").write_text("Bob Ray in Rome")
    (folder / "2.txt").write_text("Cas Cod in Rome")
    said = name_folder(folder, tmp_path)
    assert "caption in which" not in said
    assert "no caption" not in said


def test_where_people_are_recognised_a_missing_caption_is_no_lack(capsys):
    display = RunDisplay()
    display.expect(photos.Choices(), uncaptioned=True)
    display.result(SolveSummary(1, True, 2, captions=CaptionCounts(3, 1)))
    assert "caption" not in capsys.readouterr().err


def test_names_that_are_listed_or_drawn_count_as_captions(album):
    album.add("given.jpg", ["x"], [], given=["Ann Ash"])
    album.add("drawn.jpg", ["y"], [], regions=[Region("Ann Ash", 0, 0, 0.06, 0.06)])
    album.add("silent.jpg", ["z"], [])
    with album.project.snapshot() as sql:
        assert caption_counts(sql) == CaptionCounts(3, 1, 0)
