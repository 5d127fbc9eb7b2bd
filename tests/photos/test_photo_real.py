"""Ingest with the parts that come with Candidly, on real files, as a user runs it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image

from benchmarks.album.face_drawing import portrait
from candidly.photos.captions import CaptionReader
from candidly.photos.faces import WeightsProblem
from candidly.photos.faces.model_files import find_model
from candidly.photos.ingesting import Choices, default_parts, ingest_folder
from candidly.photos.names import Text
from candidly.photos.pictures import PIXEL_LIMIT
from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings, faces, photos, proposals
from candidly.photos.records import Proposal
from candidly.photos.solving import solve
from stand_ins import draw, parts

LIMIT = PIXEL_LIMIT // 1_000_000


def candidly(*words, **settings):
    command = [sys.executable, "-m", "candidly", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


def album(root, count=4):
    """Photos of the same two drawn people side by side, each a little darker, with captions."""
    root.mkdir(exist_ok=True)
    rows = [("file", "caption")]
    both = np.hstack([portrait(180, 0), portrait(180, 1)])
    for number in range(count):
        Image.fromarray(both - number * (both // 100)).save(root / f"{number}.jpg", quality=92)
        rows.append((f"{number}.jpg", f"Nora Quist (L) with Pavel Ondra on day {number}."))
    with (root / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def project(tmp_path):
    with Project.open(tmp_path / "a.candidly", write=True) as opened:
        yield opened


# Names, with pictures that need no detector


def with_captions(root, captions, **choices):
    """Parts with the real names, over drawn squares; lists are files."""
    lists = {kind: Text.of(path) for kind, path in choices.items()}
    for seed, name in enumerate(captions):
        draw(root / name, ((4, 8, 10, 1),), seed=seed)
    with (root / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("file", "caption", "names"), *captions.values()])
    return parts(names=default_parts(Choices(**lists)).names, captions=CaptionReader)


def named(project):
    return {photo.file: photo.candidates for photo in photos(project)}


def test_short_forms_are_resolved_and_likely_spellings_proposed(tmp_path, project):
    captions = {
        f"{file}.png": (f"{file}.png", text, "")
        for file, text in enumerate(
            [
                "Tony Blair arrives in Rome.",
                "Tony Blair speaks to reporters.",
                "Prime Minister Blair (R) waves.",
                "Toni Blair and Jutta Kleinschmidt at dinner.",
                "Jutta Kleinschmidt in her car.",
            ]
        )
    }
    ingest_folder(project, tmp_path, with_captions(tmp_path, captions))
    assert named(project) == {
        "0.png": ("Tony Blair",),
        "1.png": ("Tony Blair",),
        "2.png": ("Tony Blair",),
        "3.png": ("Toni Blair", "Jutta Kleinschmidt"),
        "4.png": ("Jutta Kleinschmidt",),
    }
    assert list(proposals(project)) == [Proposal("Toni Blair", "Tony Blair", "letters")]
    spoken = project.connection.execute("SELECT name, start FROM mentions WHERE side = 'right'")
    assert spoken.fetchall() == [("Blair", 15)]  # the evidence is as it stands there


def test_aliases_allow_and_never_lists_decide_who_is_named(tmp_path, project):
    captions = {
        "a.png": ("a.png", "Anthony Blair meets Nora Quist and Pavel Ondra.", "Ida Falk"),
        "school/b.png": ("school/b.png", "Nora Quist with pupils.", "Nora Quist"),
    }
    lists = {name: tmp_path / f"{name}.txt" for name in ("aliases", "allow", "never")}
    lists["aliases"].write_text("Tony Blair = Anthony Blair\n")
    lists["never"].write_text("Pavel Ondra\nIda Falk\nschool/\n")
    chosen = {"aliases": lists["aliases"], "never": lists["never"]}
    ingest_folder(project, tmp_path, with_captions(tmp_path, captions, **chosen))
    assert named(project) == {"a.png": ("Tony Blair", "Nora Quist"), "school/b.png": ()}
    lists["allow"].write_text("Nora Quist\nIda Falk\n")
    ingest_folder(project, tmp_path, with_captions(tmp_path, captions, allow=lists["allow"]))
    assert named(project) == {
        "a.png": ("Ida Falk", "Nora Quist"),  # one was given explicitly
        "school/b.png": ("Nora Quist",),
    }


def test_who_is_never_to_be_named_is_not_while_a_run_goes_on(tmp_path, project):
    never = tmp_path / "never.txt"
    never.write_text("Nora Quist\nschool/\n")
    captions = {
        "a.png": ("a.png", "Nora Quist with Pavel Ondra.", "Nora Quist"),
        "school/b.png": ("school/b.png", "Ida Falk at play.", "Ida Falk"),
    }
    seen = []
    parts = with_captions(tmp_path, captions, never=never)
    ingest_folder(project, tmp_path, parts, on_progress=lambda _: seen.append(named(project)))
    assert seen[-1] == {"a.png": ("Pavel Ondra",), "school/b.png": ()}


def test_a_name_that_only_the_collection_tells_is_kept_and_goes_with_its_reason(tmp_path, project):
    captions = {
        "a.png": ("a.png", "Tommy Franks in Tampa.", ""),
        "b.png": ("b.png", "TommyF ranks (L) at a briefing.", ""),
    }
    ingest_folder(project, tmp_path, with_captions(tmp_path, captions))
    assert named(project)["b.png"] == ("TommyF ranks",)
    assert list(proposals(project)) == [Proposal("TommyF ranks", "Tommy Franks", "letters")]
    captions["a.png"] = ("a.png", "A general in Tampa.", "")
    ingest_folder(project, tmp_path, with_captions(tmp_path, captions))
    assert "TommyF ranks" not in named(project)["b.png"]
    assert list(proposals(project)) == []


@pytest.mark.slow
def test_a_broken_list_is_refused_and_names_the_line(tmp_path):
    album(tmp_path / "photos", 1)
    (tmp_path / "aliases.txt").write_text("Tony Blair: Anthony\n")
    path = tmp_path / "a.candidly"
    words = ["--aliases", tmp_path / "aliases.txt", "--project", path]
    ran = candidly("ingest", tmp_path / "photos", *words)
    assert ran.returncode == 1
    assert "line 1" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not path.exists()


# Models of one's own


@pytest.mark.slow
def test_a_model_file_of_ones_own_is_checked_and_used(tmp_path, project):
    album(tmp_path / "photos", 1)
    weights = find_model("sface")
    own = tmp_path / "my-sface.onnx"
    own.write_bytes(weights.path.read_bytes())
    wrong = f"{own}#sha256={'0' * 64}"
    with pytest.raises(WeightsProblem, match="not the file it should be"):
        default_parts(Choices(embedder=wrong)).embedder()
    ran = candidly("ingest", tmp_path / "photos", "--project", tmp_path / "b", "--embedder", wrong)
    assert ran.returncode == 1
    assert "not the file it should be" in ran.stderr
    chosen = Choices(embedder=f"{own}#sha256={weights.sha256}")
    ingest_folder(project, tmp_path / "photos", default_parts(chosen))
    (models,) = project.connection.execute("SELECT DISTINCT model FROM faces").fetchall()
    assert "my-sface" in models[0]


def test_embeddings_of_two_models_are_never_compared(tmp_path, project):
    for name, numbers in (("a", 4), ("b", 6)):
        draw(tmp_path / name / "x.png", ((4, 8, 10, 1),), seed=numbers)
        (tmp_path / name / "x.txt").write_text("Nora Quist waves.")
        ingest_folder(project, tmp_path / name, parts(embedder=lambda n=numbers: Long(n)))
    (rows,) = [vectors for _, vectors in embeddings(project)]
    assert rows.shape == (1, 6)
    assert solve(project).faces == 1


class Long:
    """An embedder of as many numbers as asked."""

    def __init__(self, numbers):
        self.numbers, self.identity = numbers, f"long {numbers}"

    def embed(self, pixels, faces):
        return np.ones((len(faces), self.numbers), dtype=np.float32)


# All of it


@pytest.mark.parametrize(("orientation", "middle"), [(2, (230, 96)), (6, (96, 90))])
def test_a_photo_turned_since_is_looked_at_again_and_keeps_decisions(
    tmp_path, project, orientation, middle
):
    picture = Image.fromarray(np.hstack([portrait(180), np.full((180, 140, 3), 120, np.uint8)]))
    root = tmp_path / "photos"
    root.mkdir()
    picture.save(root / "a.jpg", quality=92)
    chosen = default_parts(Choices())
    ingest_folder(project, root, chosen)
    (face,) = faces(project)
    project.confirm(face.id, "Nora Quist")
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture.save(root / "a.jpg", quality=92, exif=exif)  # the same image data
    done = ingest_folder(project, root, chosen)
    assert (done.new, done.recognised) == (0, 1)
    (kept,) = [shown for shown in faces(project) if shown.id == face.id]
    assert kept.name == "Nora Quist"
    x, y, w, h = kept.box
    assert (x + w / 2, y + h / 2) == pytest.approx(middle, abs=12)
    (photo,) = photos(project)
    assert (photo.width, photo.height) == ((320, 180) if orientation < 5 else (180, 320))
    assert ingest_folder(project, root, chosen).unchanged == 1


@pytest.mark.slow
def test_faces_of_a_folder_are_listed_with_their_candidates(tmp_path):
    album(tmp_path / "photos")
    before = {path: path.read_bytes() for path in (tmp_path / "photos").iterdir()}
    project = tmp_path / "a.candidly"
    ran = candidly("ingest", tmp_path / "photos", "--project", project)
    assert ran.returncode == 0, ran.stderr
    assert "4 new" in ran.stderr
    listed = json.loads(candidly("faces", "--json", "--project", project).stdout)
    assert [face["file"] for face in listed] == [f"{n // 2}.jpg" for n in range(8)]
    for face, middle in zip(listed, [90, 270] * 4, strict=True):
        x, _, w, _ = face["box"]
        assert abs(x + w / 2 - middle) < 15
        assert face["candidates"] == ["Nora Quist", "Pavel Ondra"]
        assert face["name"] is None
    with Project.open(project) as opened:
        rows = "SELECT side, count(*) FROM mentions GROUP BY side ORDER BY side"
        assert opened.connection.execute(rows).fetchall() == [(None, 4), ("left", 4)]
    assert {path: path.read_bytes() for path in (tmp_path / "photos").iterdir()} == before


def bad_files(root):
    """One file of each kind that is wrong, and what is said of it."""
    whole = (root / "0.jpg").read_bytes()
    (root / "empty.jpg").touch()
    (root / "cut.jpg").write_bytes(whole[: len(whole) // 3])
    (root / "page.jpg").write_text("<html></html>")
    bomb = Image.new("1", (30_000, (PIXEL_LIMIT // 30_000) + 1))
    bomb.save(root / "bomb.png")
    return {
        "empty.jpg": "empty",
        "cut.jpg": "ends before the picture does",
        "page.jpg": "web page",
        "bomb.png": f"{LIMIT}",
    }


def odd_files(root):
    """Files that are unusual, and come in."""
    face = Image.fromarray(portrait(200, 1))
    face.save(root / "a png.jpg", format="PNG")
    face.convert("CMYK").save(root / "cmyk.jpg")
    Image.fromarray(np.asarray(face.convert("L")).astype(np.uint16) * 257).save(root / "16.png")
    face.save(root / "moving.webp", save_all=True, append_images=[face.rotate(20)], duration=80)
    Image.new("RGB", (1, 1)).save(root / "dot.png")
    Image.fromarray(portrait(200, 2)).save(root / "line\nbreak <b>&.png")
    (root / "again").symlink_to(root, target_is_directory=True)
    return ["a png.jpg", "cmyk.jpg", "16.png", "moving.webp", "dot.png", "line\nbreak <b>&.png"]


@pytest.mark.slow
def test_bad_input_is_listed_with_the_reason_and_the_rest_comes_in(tmp_path):
    root, project = tmp_path / "photos", tmp_path / "a.candidly"
    album(root, 2)
    bad, odd = bad_files(root), odd_files(root)
    with (root / "captions.csv").open("a", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("../outside.jpg", "Nobody sees this."))
        writer.writerow(("cmyk.jpg", "<script>Nora Quist</script>"))
        writer.writerow(("16.png", "Nora Quist and Pavel Ondra. " * 2000 + "and so on " * 100_000))
    ran = candidly("ingest", root, "--project", project)
    assert ran.returncode == 3, ran.stderr
    said = {line.split(": ")[1]: line for line in ran.stderr.splitlines() if "failed: " in line}
    assert set(said) == set(bad)
    for name, words in bad.items():
        assert words in said[name].lower(), said[name]
    assert "../outside.jpg" in ran.stderr
    listed = json.loads(candidly("photos", "--json", "--project", project).stdout)
    found = {photo["file"]: photo for photo in listed}
    assert set(found) == {"0.jpg", "1.jpg", *odd, *bad}
    for name in odd:
        assert found[name]["faces"] == (0 if name == "dot.png" else 1), name
    assert found["16.png"]["candidates"] == ["Nora Quist", "Pavel Ondra"]
    assert len(found["16.png"]["caption"]) > 1_000_000
    again = candidly("ingest", root, "--project", project)
    assert again.returncode == 3  # what is wrong is said until it is mended
    assert "0 new" in again.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes the POSIX way")
def test_a_real_run_that_is_killed_continues_and_finds_the_same(tmp_path):
    root, killed, whole = tmp_path / "photos", tmp_path / "k.candidly", tmp_path / "w.candidly"
    album(root, 60)
    counts = [0]
    for _ in range(3):
        command = [sys.executable, "-m", "candidly", "ingest", str(root), "--project", str(killed)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while count(killed) <= counts[-1] and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        counts.append(count(killed))
    assert counts == sorted(set(counts)), counts  # each went further
    assert counts[-1] < 60
    for path in (killed, whole):
        assert candidly("ingest", root, "--project", path).returncode == 0
    first, second = (_everything(path) for path in (killed, whole))
    assert first == second
    assert len(first) == 120


def count(path):
    if not path.exists():
        return 0
    try:
        with Project.open(path) as project:
            return project.count("photos")
    except Exception:  # it is being made
        return 0


def _everything(path):
    with Project.open(path) as project:
        return [(face.file, face.box, face.score, face.candidates) for face in faces(project)]


@pytest.mark.slow
def test_name_says_who_is_who_and_the_second_time_what_changed(tmp_path):
    album(tmp_path / "photos")
    file = tmp_path / "a.candidly"
    first = candidly("name", tmp_path / "photos", "--project", file)
    assert first.returncode == 0, first.stderr
    assert "8 of 8 faces named" in first.stderr
    listed = json.loads(candidly("faces", "--json", "--project", file).stdout)
    names = [face["name"] for face in listed]  # by file, from left to right
    assert names == ["Nora Quist", "Pavel Ondra"] * 4
    table = tmp_path / "photos" / "captions.csv"
    table.write_text(table.read_text().replace("(L) with", "(R) with"))
    again = candidly("name", tmp_path / "photos", "--full", "--project", file)
    assert "8 names changed since the last run" in again.stderr
    rows = json.loads(candidly("changes", "--json", "--project", file).stdout)
    assert {row["why"] for row in rows} == {"what is read about the photo changed"}
