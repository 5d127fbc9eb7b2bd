"""Why a face has its name, who is in a project, and the page of it all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.explaining import explain, find_face
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, store_choices
from candidly.photos.names import Text
from candidly.photos.project import ProjectProblem
from candidly.photos.project.known_names import apply_lists
from candidly.photos.records import Cue, Region
from candidly.photos.reporting import people
from candidly.photos.solving import solve
from made_up import Album, fill

EXTRA = "needs the extra photos: pip install 'candidly[photos]'"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VOID = {"meta", "img", "br", "input", "link", "hr"}


@pytest.fixture
def album(tmp_path):
    made = Album(tmp_path / "photos" / "a.candidly")
    yield made
    made.project.close()


@pytest.fixture
def three(album):
    """Ann and Bob are known from several photos; in the last there is somebody else, too."""
    for number in range(4):
        album.add(f"ann-{number}.jpg", ["Ann Ash"], ["Ann Ash"])
        album.add(f"bob-{number}.jpg", ["Bob Bay"], ["Bob Bay"])
    for number in range(8):
        album.add(f"other-{number}.jpg", [f"Other {number}"], [f"Other {number}"])
    album.last = album.add(
        "day/all.jpg",
        ["Ann Ash", "Bob Bay"],
        ["Bob Bay", "Ann Ash", "Cas Cod"],
        text="Bob Bay with Ann Ash and Cas Cod in Rome",
    )
    solve(album.project)
    return album


# Which face


def test_a_face_is_found_by_number_and_by_file_and_place(three):
    left, right = three.last
    assert find_face(three.project, str(right)) == right
    assert find_face(three.project, "day/all.jpg#1") == left
    assert find_face(three.project, "all.jpg#2") == right
    assert find_face(three.project, str(three.root.path / "day/all.jpg") + "#2") == right
    assert find_face(three.project, "ann-0.jpg") == 1


def test_a_hash_in_the_name_of_a_file_is_no_place(album):
    (number,) = album.add("roll#2", ["Ann Ash"], ["Ann Ash"])
    assert find_face(album.project, "roll#2") == number
    assert find_face(album.project, "roll#2#1") == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("999", "no face and no photo '999'"),
        ("99999999999999999999", "no face and no photo"),
        ("none.jpg", "candidly faces"),
        ("all.jpg", "all.jpg#1 to day/all.jpg#2"),
        ("all.jpg#3", "has 2 faces"),
        ("all.jpg#0", "has 2 faces"),
        ("", "no face and no photo"),
    ],
)
def test_a_face_that_is_not_meant_clearly_is_refused_with_a_way_out(three, text, message):
    with pytest.raises(ProjectProblem, match=message):
        find_face(three.project, text)


def test_two_photos_of_one_name_are_told_apart_by_folder(three):
    three.add("night/all.jpg", ["Ann Ash"], ["Ann Ash"])
    with pytest.raises(ProjectProblem, match="2 photos are called"):
        find_face(three.project, "all.jpg#1")
    assert find_face(three.project, "day/all.jpg#1") == three.last[0]


# Why


def test_why_shows_the_words_the_likeness_and_who_lost(three):
    found = explain(three.project, three.last[0])
    assert found.name == "Ann Ash"
    (passage,) = found.passages
    (evidence,) = [span for span in passage.spans if span.evidence]
    assert passage.text[evidence.start : evidence.end] == "Ann Ash"
    assert {near.file for near in found.alike} <= {f"ann-{number}.jpg" for number in range(4)}
    assert len(found.alike) == 3
    assert found.alike[0].cosine >= found.alike[1].cosine > 0.5
    assert found.alike[0].caption == "Ann Ash"
    because = {other.name: other.because for other in found.others}
    assert f"taken: face {three.last[1]} is Bob Bay" in because["Bob Bay"]
    assert "dissimilar" in because["Bob Bay"]
    assert "no other face of Cas Cod" in because["Cas Cod"]
    assert because[None] == "Ann Ash is likelier"
    known = [other.probability for other in found.others]
    assert sum(known) + found.confidence == pytest.approx(1)
    assert found.run["solve"] == "full"
    assert found.model == "made up"


def test_cosines_are_those_of_the_embeddings(three):
    found = explain(three.project, three.last[0])
    rows = dict(three.project.connection.execute("SELECT face, vector FROM embeddings"))
    own, other = (np.frombuffer(rows[n], "<f4") for n in (three.last[0], found.alike[0].face))
    cosine = own @ other / np.linalg.norm(own) / np.linalg.norm(other)
    assert found.alike[0].cosine == pytest.approx(float(cosine), abs=1e-6)


def test_somebody_elsewhere_in_the_picture_is_told_so(album):
    numbers = album.add(
        "two.jpg", ["x", "y"], [("Ann Ash", Cue("left", 1, 2)), ("Bob Bay", Cue("left", 2, 2))]
    )
    solve(album.project)
    found = explain(album.project, numbers[0])
    assert found.name == "Ann Ash"
    assert "its place or size in the picture speaks for it" in found.reasons
    (bob,) = [other for other in found.others if other.name == "Bob Bay"]
    assert "elsewhere" in bob.because
    (evidence,) = [span for span in found.passages[0].spans if span.evidence]
    assert evidence.cue == "1 from left of 2"


def test_decisions_are_the_reason_where_there_are_some(three):
    left, right = three.last
    three.project.reject(left, "Ann Ash", by="me")
    three.project.confirm(left, "Cas Cod", by="me")
    found = explain(three.project, left)
    assert (found.name, found.certainty) == ("Cas Cod", "sure")
    assert found.source == f"me decided it on {found.decisions[-1].at[:10]}"
    assert [(said.what, said.name, said.by) for said in found.decisions] == [
        ("not", "Ann Ash", "me"),
        ("is", "Cas Cod", "me"),
    ]
    because = {other.name: other.because for other in found.others}
    assert because["Ann Ash"] == "me decided that it is not Ann Ash"
    solve(three.project)
    because = {other.name: other.because for other in explain(three.project, right).others}
    assert because["Cas Cod"] == f"taken: face {left} is Cas Cod, as me decided"


def test_a_misspelt_name_is_evidence_for_the_likely_spelling(album):
    fill(album)
    (number,) = album.add("typo.jpg", ["Person A"], ["Persno A"])
    with album.project.transaction() as sql:
        ids = dict(sql.execute("SELECT name, id FROM people"))
        sql.execute(
            "INSERT INTO proposals VALUES (?, ?, 'x', 0)", (ids["Persno A"], ids["Person A"])
        )
    solve(album.project)
    found = explain(album.project, number)
    assert found.name == "Person A"
    assert [span.evidence for span in found.passages[0].spans] == [True]


def test_a_region_and_a_face_without_words_are_told_as_such(album):
    region = Region("Ann Ash", 0, 0, 0.06, 0.06)
    (drawn,) = album.add("a.jpg", ["x"], [], regions=[region])
    (silent,) = album.add("b.jpg", ["y"], [])
    solve(album.project)
    assert explain(album.project, drawn).source.startswith("the metadata")
    assert explain(album.project, drawn).given == ("Ann Ash",)
    found = explain(album.project, silent)
    assert (found.name, found.confidence, found.run) == (None, None, None)
    assert found.source.startswith("nothing is written about the photo: candidly name --no-capt")


def test_the_command_marks_the_words_and_reads_no_markup_in_them(three):
    (number,) = three.add("m.jpg", ["Ann Ash"], ["Ann Ash"], text="[red]Ann Ash[/red] \x1b[31m!")
    three.project.confirm(number, "Ann Ash")
    path = str(three.project.path)
    three.project.close()
    shown = CliRunner().invoke(app, ["why", str(number), "--project", path])
    assert shown.exit_code == 0, shown.output
    assert "[red][Ann Ash][/red]" in shown.output
    assert "\x1b" not in shown.output
    found = json.loads(
        CliRunner().invoke(app, ["why", "m.jpg", "--project", path, "--json"]).stdout
    )
    assert (found["face"], found["name"]) == (number, "Ann Ash")
    refused = CliRunner().invoke(app, ["why", "nowhere.jpg", "--project", path])
    assert refused.exit_code == 1


# People


def test_people_are_counted(three):
    three.project.confirm(three.last[0], "Ann Ash")
    found = {person.name: person for person in people(three.project)}
    ann = found["Ann Ash"]
    assert (ann.faces, ann.confirmed, ann.photos) == (5, 1, 5)
    assert 1 <= ann.sure <= 5
    assert (found["Cas Cod"].faces, found["Cas Cod"].photos) == (0, 1)


def test_people_as_csv_and_json_have_likely_names(three):
    three.add("typo.jpg", ["Ann Ash"], ["Ann Ahs"])
    with three.project.transaction() as sql:
        ids = dict(sql.execute("SELECT name, id FROM people"))
        sql.execute("INSERT INTO proposals VALUES (?, ?, 'x', 0)", (ids["Ann Ahs"], ids["Ann Ash"]))
    path = str(three.project.path)
    three.project.close()
    rows = json.loads(CliRunner().invoke(app, ["people", "--project", path, "--json"]).stdout)
    likely = {row["name"]: row["likely"] for row in rows}
    assert likely["Ann Ash"] == ["Ann Ahs"]
    assert likely["Ann Ahs"] == ["Ann Ash"]
    lines = CliRunner().invoke(app, ["people", "--project", path, "--csv"]).stdout.splitlines()
    assert lines[0] == "name,faces,confirmed,sure,likely_faces,photos,likely,doubt"
    read = CliRunner().invoke(app, ["people", "--project", path])
    assert "likely also Ann Ahs" in read.stdout


# The page


class Page(HTMLParser):
    """Reads a page strictly: what is opened is closed, and what is text is kept."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert len(found) == len(attributes), f"{tag} has an attribute twice"
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not set(self.open) & {"script", "style"}:
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def paint(album, file, turned=False):
    """A picture file for a photo: red on the left half, blue on the right."""
    Image = pytest.importorskip("PIL.Image", reason=EXTRA)
    from candidly.photos.pictures import identify

    pixels = np.zeros((1000, 1000, 3), np.uint8)
    pixels[:, :100] = (255, 0, 0)
    pixels[:, 100:] = (0, 0, 255)
    picture, exif = Image.fromarray(pixels), Image.Exif()
    if turned:
        picture, exif[0x0112] = picture.transpose(Image.Transpose.ROTATE_90), 6
    path = album.root.path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, "PNG", exif=exif)
    with album.project.transaction() as sql:
        sql.execute("UPDATE photos SET identity = ? WHERE identity = ?", (identify(path), file))


def write(album, path, **options):
    pytest.importorskip("PIL.Image", reason=EXTRA)
    from candidly.photos import report

    done = report(album.project, path, **options)
    return done, Page(path.read_text(encoding="utf-8"))


def colour(image):
    Image = pytest.importorskip("PIL.Image", reason=EXTRA)
    head, data = image["src"].split(",")
    assert head == "data:image/jpeg;base64"
    return np.asarray(Image.open(BytesIO(b64decode(data)))).mean(axis=(0, 1))


def test_the_page_has_all_parts_and_fetches_nothing(three, tmp_path):
    three.caption("ann-0.jpg", ["Cas Cod"])
    with three.project.transaction() as sql:
        sql.execute(
            "INSERT INTO files (root, path, size, mtime_ns, failure)"
            " VALUES (1, 'bad.jpg', 1, 1, 'it is truncated')"
        )
        ids = dict(sql.execute("SELECT name, id FROM people"))
        sql.execute("INSERT INTO proposals VALUES (?, ?, 'x', 0)", (ids["Cas Cod"], ids["Bob Bay"]))
    solve(three.project, full=True)
    three.add("crowd.jpg", ["u", "v", "w"], ["Dee Dun", "Eve Elm"])
    solve(three.project, full=True)
    done, page = write(three, tmp_path / "report.html")
    assert {"people", "conflicts", "absent", "spellings", "nobody", "failed"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    for link in page.all("a"):
        assert link["href"][0] == "#"
        assert link["href"][1:] in page.ids
    for attributes in [found for _, found in page.tags]:
        for name in ("src", "srcset", "action", "data", "poster"):
            assert attributes.get(name, "data:").startswith("data:")
    assert not page.all("link")
    assert "it is truncated" in page.text
    assert "http:" not in (tmp_path / "report.html").read_text().replace("http-equiv", "")
    assert f"{max(done.size / 1e6, 0.1):.1f} MB" in page.text


def test_a_change_of_the_last_run_is_on_the_page(three, tmp_path):
    three.caption("other-0.jpg", ["Zoe New"])
    solve(three.project, full=True)
    _, page = write(three, tmp_path / "report.html")
    assert "changes" in page.ids
    assert "Other 0 Zoe New" in page.text


def test_who_is_never_to_be_named_is_not_on_the_page(three, tmp_path):
    store_choices(three.project, Choices(never=Text("Ann Ash", "never")))
    for number in range(4):
        three.caption(f"ann-{number}.jpg", ["Somebody Else"])
    three.caption("day/all.jpg", ["Bob Bay", "Cas Cod"])
    assert "Ann Ash" in [one.before for one in solve(three.project).changes]
    _, page = write(three, tmp_path / "report.html")
    assert "Somebody Else" in page.text
    assert "Ann Ash" not in page.text


def test_whole_photos_have_their_caption_without_people_who_may_not_be_named(album, tmp_path):
    text = "Ann Ash, Bob Bay and Cas Cod; Ash left early."
    album.add("a b/doubt.jpg", ["x", "y"], ["Ann Ash", "Bob Bay", "Cas Cod"], text=text)
    solve(album.project)
    made, page = write(album, tmp_path / "report.html")
    assert made.doubtful == "a b/doubt.jpg"
    assert "Ann Ash" in page.text
    assert "left early" in page.text
    assert "candidly review --photo 'a b/doubt.jpg'" in page.text
    with album.project.transaction() as sql:
        sql.execute("INSERT OR REPLACE INTO lists VALUES ('never', 'Ann Ash')")
        apply_lists(sql)
    _, page = write(album, tmp_path / "report.html")
    caption = page.text.rpartition("Photos to look at")[2]
    assert "somebody who is not to be named" in caption
    assert "Cas Cod" in caption
    assert "Ann Ash" not in caption


def test_the_likeliest_people_and_faces_come_first(album, tmp_path):
    fill(album)
    solve(album.project)
    _, page = write(album, tmp_path / "report.html")
    from candidly.photos.reporting.contents import read_contents

    contents = read_contents(album.project)
    most = [(person.sure, person.likely_faces) for person, _ in contents.people]
    assert most == sorted(most, reverse=True)
    for _, faces in contents.people:
        sure = [face.confidence for face in faces]
        assert sure == sorted(sure, reverse=True)
    names = [attributes["data-name"] for attributes in page.all("details")]
    assert names == [person.name.casefold() for person, _ in contents.people]


def test_of_many_faces_the_likeliest_and_the_least_sure_are_shown(album, tmp_path):
    faces = [face for n in range(20) for face in album.add(f"{n}.jpg", ["x"], ["Ann Ash"])]
    solve(album.project)
    with album.project.transaction() as sql:
        for at, face in enumerate(faces):
            sql.execute(
                "UPDATE labels SET confidence = ?, person = (SELECT id FROM people) WHERE face = ?",
                (0.3 + 0.03 * at, face),
            )
    _, page = write(album, tmp_path / "report.html")
    shown = [int(number) for number in re.findall(r"face (\d+)", page.text)]
    assert shown == faces[:-7:-1] + faces[5::-1]


def test_whatever_is_written_stays_text(album, tmp_path):
    nasty = '<script>alert("x")</script>'
    album.add("<b>&amp;.jpg", ["x", "y", "z"], [nasty, "Ann </details> Ash"], text=None)
    album.add("bad\ud800'\".jpg".encode("utf-8", "replace").decode(), ["x"], [nasty])
    solve(album.project)
    _, page = write(album, tmp_path / "report.html")
    assert len(page.all("script")) == 1
    assert nasty in page.text
    assert "Ann </details> Ash" in page.text
    assert any(found.get("title") == "<b>&amp;.jpg" for found in page.all("span"))


@pytest.mark.parametrize("turned", [False, True])
def test_faces_are_cut_upright_from_the_originals_which_stay_as_they_are(album, tmp_path, turned):
    boxes = [Box(20, 400, 40, 40), Box(600, 400, 60, 60)]
    album.add("two.png", ["x", "y"], ["Ann Ash", "Bob Bay"], boxes=boxes)
    paint(album, "two.png", turned)
    solve(album.project)
    before = (album.root.path / "two.png").read_bytes()
    done, page = write(album, tmp_path / "report.html")
    assert (done.faces, done.missing) == (2, 0)
    names = {image["alt"]: colour(image) for image in page.all("img") if "face" not in image["alt"]}
    left = album.names([1])[0]
    assert names[left][0] > 200 > 60 > names[left][2]  # red is left
    assert (album.root.path / "two.png").read_bytes() == before
    assert sorted(p.name for p in album.root.path.iterdir() if "candidly" not in p.name) == [
        "two.png"
    ]


def test_photos_that_are_gone_or_others_now_leave_grey_squares(album, tmp_path):
    album.add("gone.png", ["x"], ["Ann Ash"])
    album.add("other.png", ["y"], ["Bob Bay"])
    paint(album, "other.png")
    solve(album.project)
    with album.project.transaction() as sql:
        sql.execute("UPDATE photos SET identity = 'as it was' WHERE id = 2")
    (album.root.path / "broken.png").write_bytes(b"no picture")
    done, page = write(album, tmp_path / "report.html")
    assert (done.faces, done.missing) == (2, 2)
    assert not page.all("img")
    assert len([s for s in page.all("span") if s.get("class") == "none"]) == 2


def test_many_faces_of_one_person_are_counted_not_all_shown(album, tmp_path):
    for number in range(20):
        album.add(f"{number}.jpg", ["x"], ["Ann Ash"])
    solve(album.project)
    done, page = write(album, tmp_path / "report.html")
    assert done.faces == 12
    assert "and 8 more" in page.text


def test_thousands_of_people_fit_on_a_page(monkeypatch, album, tmp_path):
    from candidly.photos.reporting import page as parts

    monkeypatch.setattr(parts, "MOST", 10)
    for number in range(15):
        for copy in range(2):
            album.add(f"{number}-{copy}.jpg", [f"P {number}"], [f"P {number}"])
    solve(album.project)
    done, page = write(album, tmp_path / "report.html")
    assert done.faces == 10
    assert len(page.all("details")) == 15
    assert "and 2 more" in page.text


def test_nothing_is_written_among_photos_nor_over_other_files(three, tmp_path):
    with pytest.raises(ProjectProblem, match="among the photos"):
        write(three, three.root.path / "report.html")
    with pytest.raises(ProjectProblem, match="no folder"):
        write(three, tmp_path / "none" / "report.html")
    mine = tmp_path / "mine.html"
    mine.write_text("my own")
    with pytest.raises(ProjectProblem, match="--force"):
        write(three, mine)
    assert mine.read_text() == "my own"
    write(three, mine, force=True)
    write(three, mine)  # a report of ours is replaced
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.html", "photos"]


def test_an_empty_project_has_a_page(album, tmp_path):
    _, page = write(album, tmp_path / "report.html")
    assert "Nothing is solved yet" in page.text


def test_the_command_writes_the_page_and_says_how_large(three, tmp_path):
    pytest.importorskip("cv2", reason=EXTRA)
    path = str(three.project.path)
    three.project.close()
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", "--project", path, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "MB" in done.output
    assert out.exists()


def test_a_browser_shows_the_page(three, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("needs a browser: install the package chromium")
    write(three, tmp_path / "report.html")
    shown = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--dump-dom", str(tmp_path / "report.html")],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    assert '<p class="find">' in shown.stdout  # the script ran and made the search visible
