"""How faces of an embedder vary: what comes with Candidly, a user's own, and who keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image, ImageOps

from candidly import demo, extras, photos
from candidly.cli import app
from candidly.demo.album import read_truth
from candidly.photos.faces import population_file
from candidly.photos.faces.model_files import MODELS
from candidly.photos.faces.population_file import (
    SHIPPED,
    EmbedderPopulation,
    PopulationProblem,
    population_from_bytes,
    population_of,
    population_to_bytes,
    read_population,
    write_population,
)
from candidly.photos.solving.statistics import UNKNOWN, keep_population, project_population
from candidly.solvers.population import Population
from stand_ins import draw, parts

OWN = "yunet:49f000ec501f threshold=0.6 smallest=30; sface_2021dec:fb143eea0783 mean=0 scale=1"
SQUARES = "squares; places"


@dataclass
class Places:
    """An embedder that varies in every number: shade, place and side of a square."""

    identity: str = "places"

    def embed(self, pixels, faces):
        shades = [float(pixels[int(f.box.y), int(f.box.x), 1]) for f in faces]
        rows = [
            [shade / 8, f.box.x, f.box.y, f.box.w] for shade, f in zip(shades, faces, strict=True)
        ]
        return np.array(rows, dtype=np.float32)


def small(model=SQUARES, **changes):
    made = Population(np.zeros(3), np.eye(3), 3 * np.eye(3), -0.5, 30, 70)
    return EmbedderPopulation(model, replace(made, **changes), {"people are": "made up"})


@pytest.fixture
def look(monkeypatch):
    """Stand-ins for the parts, whose embeddings vary."""
    monkeypatch.setattr(
        "candidly.photos.application.default_parts", lambda _: parts(embedder=Places)
    )
    monkeypatch.setitem(extras.EXTRAS, "photos", ("PIL", "photos"))


def draw_people(folder, count, each=3):
    """Photos of people, a shade each; a smaller square beside them is somebody else."""
    rng = np.random.default_rng(0)
    for person in range(count):
        for number in range(each):
            x, y, side = rng.integers((1, 1, 10), (5, 5, 14))
            seed = 100 * person + number + 1
            squares = [(x, y, side, 8 * person), (50, 30, 6, 255)]
            draw(folder / f"person {person}" / f"{number}.png", squares, seed=seed)
    return folder


# What comes with Candidly


def test_the_shipped_population_is_that_of_the_default_models():
    from candidly.photos.faces import SFace, YuNet

    found = population_of(f"{YuNet().identity}; {SFace().identity}")
    assert found.mean.shape == (128,)
    assert np.linalg.eigvalsh(found.within)[0] > 0
    assert (found.within == found.within.T).all()
    assert np.trace(found.within) < 0.5 * np.trace(found.total)
    assert SHIPPED.stat().st_size < 80_000
    weights = read_population(SHIPPED).made["for weights by SHA-256"]
    assert weights == {"detector": MODELS["yunet"].sha256, "embedder": MODELS["sface"].sha256}


def test_weights_are_known_by_their_checksum_whatever_their_file_is_called():
    assert population_of(OWN) is not None
    assert population_of(OWN.replace("threshold=0.6", "threshold=0.9")) is not None
    for other in (
        OWN.replace("49f0", "59f0"),
        OWN.replace("fb14", "ab14"),
        OWN.replace("mean=0", "mean=127.5"),
        OWN.partition("; ")[2],
        "squares; shades",
        "",
    ):
        assert population_of(other) is None


def test_a_tampered_shipped_file_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "sface_population.npz"
    write_population(other, small(OWN))
    monkeypatch.setattr(population_file, "SHIPPED", other)
    population_file._shipped.cache_clear()
    try:
        with pytest.raises(PopulationProblem, match=r"sface_population.*SHA-256.*install Candidly"):
            population_of(OWN)
    finally:
        population_file._shipped.cache_clear()


def test_the_card_has_the_figures_of_the_file():
    from benchmarks.photos.embedder_population import CARD, described, table

    root = Path(__file__).parents[2]
    stored = json.loads((root / "results" / "population.json").read_text())
    assert stored["population"] == described(read_population(SHIPPED))
    text = (root / CARD).read_text()
    assert table(stored) in text
    for model in MODELS.values():
        assert model.sha256 in text
    assert stored["population"]["SHA-256"] in text
    assert f"{stored['population']['people with several faces']} of them" in text
    assert f"{stored['population']['bytes']:,} bytes" in text
    computed = stored["collections"]["newsroom, one photo in 5, as computed"]
    assert f"median cosine of {computed['cosine with those stored, median']}" in text


@pytest.mark.real_data
def test_the_shipped_population_is_made_again():
    from benchmarks.photos.embedder_population import PEOPLE, made
    from candidly.datasets.store import data_folder

    if not (data_folder() / PEOPLE).is_file():
        pytest.skip(f"{PEOPLE} is not there")
    with np.load(data_folder() / PEOPLE) as people:
        again = made(people["X"], people["person"])
        assert population_to_bytes(again) == population_to_bytes(
            made(people["X"], people["person"])
        )
    shipped = read_population(SHIPPED)
    for part in ("mean", "within", "total"):
        np.testing.assert_allclose(
            getattr(again.population, part), getattr(shipped.population, part), atol=1e-6
        )
    assert again.population.even == pytest.approx(shipped.population.even, abs=1e-3)


# Files


def test_what_is_written_is_read_again(tmp_path):
    write_population(tmp_path / "a.npz", small())
    found = read_population(tmp_path / "a.npz")
    assert (found.model, found.made) == (SQUARES, {"people are": "made up"})
    for part in ("mean", "within", "total", "even", "people", "instances"):
        np.testing.assert_array_equal(
            getattr(found.population, part), getattr(small().population, part)
        )
    assert population_to_bytes(found) == (tmp_path / "a.npz").read_bytes()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mean": np.array([0, np.nan, 0])}, "not finite"),
        ({"mean": np.zeros(4)}, "a triangle of 4 x 4 numbers has not the shape"),
        ({"within": np.diag([1.0, 1.0, -0.1])}, "one person is negative"),
        ({"total": np.diag([9.0, 9.0, -0.1])}, "everybody is negative in some direction"),
        ({"within": 4 * np.eye(3)}, "varies as much as everybody"),
        ({"people": 90}, "70 faces of 90 people"),
    ],
)
def test_numbers_that_cannot_be_a_population_are_refused(tmp_path, changes, why):
    write_population(tmp_path / "a.npz", small(**changes))
    with pytest.raises(PopulationProblem, match=rf"a\.npz is no population.*{why}"):
        read_population(tmp_path / "a.npz")


def test_files_that_are_something_else_are_refused(tmp_path):
    whole = population_to_bytes(small())
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", X=np.zeros(3))
    others = [(tmp_path / name).read_bytes() for name in ("array.npy", "others.npz")]
    newer = whole.replace(b"f\0\0\0o\0\0\0r\0\0\0m", b"g\0\0\0o\0\0\0r\0\0\0m")
    for data in (b"", b"text", whole[:-30], whole[30:], newer, *others):
        with pytest.raises(PopulationProblem, match="it is no population"):
            population_from_bytes(data, "it")
    with pytest.raises(PopulationProblem, match="cannot be read: No such file"):
        read_population(tmp_path / "nowhere.npz")
    with pytest.raises(PopulationProblem, match="cannot be written: No such file"):
        write_population(tmp_path / "no folder" / "a.npz", small())


def test_a_damaged_byte_is_noticed_or_changes_nothing():
    whole = population_to_bytes(small())
    rng = np.random.default_rng(0)
    for at in rng.choice(len(whole), 150, replace=False):
        damaged = bytearray(whole)
        damaged[at] ^= 0x41
        try:
            found = population_from_bytes(bytes(damaged), "it")
        except PopulationProblem:
            continue
        assert population_to_bytes(found) == whole


# A project


def test_a_project_has_its_own_population_else_the_shipped_one_else_none(tmp_path):
    with photos.Project.open(tmp_path / "a.candidly", write=True) as project:
        sql = project.connection
        assert project_population(sql) == (None, "")  # there are no faces
        assert project_population(sql, SQUARES) == (None, UNKNOWN)
        assert project_population(sql, OWN) == (population_of(OWN), "")
        with project.transaction():
            keep_population(sql, small())
            keep_population(sql, small(OWN, even=-1.0))
            keep_population(sql, small(OWN.replace("0.6", "0.7"), even=-2.0))
        assert project_population(sql, OWN)[0].even == -2.0
        assert project_population(sql, SQUARES)[0].even == -0.5
        assert project.count("populations") == 2
        with project.transaction():
            sql.execute("UPDATE populations SET data = x'00'")
        with pytest.raises(PopulationProblem, match="the population kept in the project"):
            project_population(sql, OWN)


def test_name_keeps_a_population_and_later_runs_have_it(look, tmp_path):
    folder, given = draw_people(tmp_path / "people", 25), tmp_path / "p.npz"
    photos.learn_population(folder, out=given)
    (folder / "person 0" / "0.txt").write_text("Ann Lee in Rome")
    path = tmp_path / "a.candidly"
    photos.name(folder, path)
    with photos.Project.open(path) as project:
        assert project_population(project.connection) == (None, UNKNOWN)
    named = photos.name(folder, path, choices=photos.Choices(population=given))
    assert named.solved.full
    assert not photos.name(folder, path).solved.full
    with photos.Project.open(path) as project:
        found, said = project_population(project.connection)
        (settings,) = project.connection.execute(
            "SELECT json_extract(settings, '$.population') FROM runs"
            " WHERE json_extract(settings, '$.population') IS NOT NULL"
        ).fetchone()
    np.testing.assert_array_equal(found.within, read_population(given).population.within)
    assert (said, settings) == ("", str(given))


def test_a_population_of_other_models_is_refused_before_a_project_is_made(look, tmp_path):
    draw(tmp_path / "photos" / "a.png")
    write_population(tmp_path / "p.npz", small(OWN))
    choices = photos.Choices(population=tmp_path / "p.npz")
    with pytest.raises(PopulationProblem, match=r"p\.npz is about faces of yunet.*squares; places"):
        photos.name(tmp_path / "photos", tmp_path / "a.candidly", choices=choices)
    assert not (tmp_path / "a.candidly").exists()


# Learning


def test_a_folder_per_person_is_learnt_by_the_largest_face(look, tmp_path):
    folder = draw_people(tmp_path / "people", 25)
    draw(folder / "person 3" / "copy.png", [(4, 4, 10, 24)], seed=7)
    draw(folder / "person 3" / "copy of it.png", [(4, 4, 10, 24)], seed=7)
    draw(folder / "nobody.png", [(4, 4, 10, 24)], seed=8)
    draw(folder / "person 4" / "no face.png", seed=9)
    for person in (5, 6):
        draw(folder / f"person {person}" / "both.png", [(4, 4, 10, 40)], seed=10)
    (folder / "person 7" / "torn.png").write_bytes(b"no picture")
    news = []
    learnt = photos.learn_population(folder, on_progress=news.append)
    known = learnt.made.population
    assert (known.people, known.instances, learnt.several) == (25, 76, 25)
    assert learnt.made.model == SQUARES
    assert known.mean[3] > 9  # sides of 10 to 13, and never the small square's 6
    assert known.total[0, 0] > 50 * known.within[0, 0]  # the shade is the person's
    assert sorted(text.partition(":")[0] for text in learnt.left_out) == [
        "1 photo in the folders of several people",
        "nobody.png",
        "person 4/no face.png",
        "person 7/torn.png",
    ]
    assert (news[-1].done, news[-1].total) == (82, 82)
    assert "rough" in learnt.sentences[-1]


def test_too_few_people_are_refused_with_their_number(look, tmp_path):
    draw_people(tmp_path / "people", 19)
    draw(tmp_path / "people" / "once" / "a.png", [(4, 4, 10, 200)])
    draw(tmp_path / "people" / "b.png", seed=3)
    with pytest.raises(PopulationProblem, match=r"of 20 people 19 have two .*\(1 left out"):
        photos.learn_population(tmp_path / "people")
    with pytest.raises(photos.ProjectProblem, match="there is no folder"):
        photos.learn_population(tmp_path / "nowhere")


def test_names_that_somebody_confirmed_are_learnt_from_a_project(look, tmp_path):
    folder, path = draw_people(tmp_path / "people", 24, each=2), tmp_path / "a.candidly"
    with photos.Project.open(path, write=True) as project:
        photos.ingest(folder, project)
        with pytest.raises(PopulationProblem, match="of 0 people 0 have two"):
            photos.learn_population(project=project)
        large = [face for face in photos.list_faces(project) if face.box.w > 6]
        for face in large:
            project.confirm(face.id, face.file.partition("/")[0])
        for face in large[:2]:
            project.nobody(face.id)
        learnt = photos.learn_population(project=project)
    assert (learnt.several, learnt.made.population.instances) == (23, 46)
    assert learnt.made.model == SQUARES


# The command


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_writes_a_file_and_says_how_to_use_it(look, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = draw_people(tmp_path / "people", 25)
    draw(folder / "nobody.png", seed=8)
    done = run("population", "people")
    assert done.exit_code == 0, done.output
    said = done.output
    assert "75 faces of 25 people, 25 of them with two or more" in said
    assert "left out: nobody.png" in said
    assert "candidly name PHOTOS --population population.npz" in said
    assert read_population("population.npz").fits(SQUARES)
    assert run("population", folder).exit_code == 1  # the file is there
    assert run("population", folder, "--force", "--out", "p.npz").exit_code == 0
    named = run("name", folder, "--project", "a.candidly", "--no-report", "--population", "p.npz")
    assert named.exit_code == 0, named.output


def test_the_command_refuses_what_it_cannot_do(look, tmp_path):
    folder = draw_people(tmp_path / "people", 3)
    out = tmp_path / "p.npz"
    few = run("population", folder, "--out", out)
    assert few.exit_code == 1
    assert "of 3 people 3 have two faces" in few.output
    assert not out.exists()
    both = run("population", folder, "--project", tmp_path / "a.candidly", "--out", out)
    assert both.exit_code == 2
    assert run("population", "--embedder", "other.onnx", "--out", out).exit_code == 2


@pytest.mark.slow
def test_drawn_faces_are_learnt_by_the_real_models(tmp_path):
    album = Path(demo.__file__).parent / "data" / "photos"
    for record in read_truth():
        with Image.open(album / record["file"]) as picture:
            for face in record["faces"]:
                x, y, w, h = face["box"]
                place = tmp_path / "people" / face["person"]
                place.mkdir(parents=True, exist_ok=True)
                crop = picture.crop((x - w / 2, y - h / 2, x + 1.5 * w, y + 1.5 * h))
                crop.save(place / "face.png")
                ImageOps.mirror(crop).save(place / "mirrored.png")
    learnt = photos.learn_population(tmp_path / "people", out=tmp_path / "drawn.npz")
    drawn = learnt.made.population
    assert learnt.several >= 20
    assert population_of(learnt.made.model) is not None
    # SFace finds drawn people more similar than real ones.
    assert np.trace(drawn.total) < 0.8 * np.trace(population_of(learnt.made.model).total)
    assert np.trace(drawn.within) < 0.5 * np.trace(drawn.total)
