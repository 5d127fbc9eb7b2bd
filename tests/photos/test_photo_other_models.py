"""Another detector or embedder looks at the photos of a project."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from candidly.photos import Choices, Project, ingest, list_faces, solve
from candidly.photos.geometry import Box
from candidly.photos.ingesting import ingest_folder
from candidly.photos.keeping import forget_faces
from stand_ins import Shades, Squares, draw, parts


class Larger(Squares):
    """A detector whose boxes are a little larger."""

    def detect(self, pixels):
        found = super().detect(pixels)
        return [
            replace(one, box=Box(one.box.x - 1, one.box.y - 1, one.box.w + 2, one.box.h + 2))
            for one in found
        ]


def test_names_and_decisions_stay_with_their_faces_when_another_embedder_looks(tmp_path):
    """Also where the detector is another, and where a folder is not looked at."""
    folder = tmp_path / "photos"
    for number in range(8):
        squares = [(4, 8, 10, 40), (30, 8, 12, 200)]
        draw(folder / ("a" if number % 2 else "b") / f"{number}.png", squares, seed=number)
    rows = [f"{number}.png,Ann Lee and Bob Ray" for number in range(8)]
    (folder / "captions.csv").write_text("\n".join(["file,caption", *rows]))
    with Project.open(tmp_path / "a.candidly", write=True) as project:
        ingest_folder(project, folder, parts())
        solve(project)
        faces = {face.id: (face.file, face.box) for face in list_faces(project)}
        decided = sorted(faces)[:3]
        for face, name in zip(decided, ("Ann Lee", "Bob Ray", "Ann Lee"), strict=True):
            project.confirm(face, name)
        solve(project)
        names = {face.id: face.name for face in list_faces(project)}
        assert None not in names.values()
        other = parts(
            detector=lambda: Larger(identity="larger"), embedder=lambda: Shades("other shades")
        )
        ingest_folder(project, folder, other, only=folder / "a")
        done = solve(project, full=True)
        assert {face.id: face.name for face in list_faces(project)} == names
        assert any("4 photos have faces of another detector" in text for text in done.kept)
        ingest_folder(project, folder, other)
        done = solve(project, full=True)
        assert done.kept == []
        now = {face.id: face.name for face in list_faces(project)}
        assert now.keys() == names.keys()
        assert [now[face] for face in decided] == [names[face] for face in decided]
        assert {m for (m,) in project.connection.execute("SELECT model FROM faces")} == {
            "larger; other shades"
        }


def test_names_stay_when_all_faces_were_forgotten_until_the_photos_are_looked_at(tmp_path):
    for number in range(6):
        draw(tmp_path / "photos" / f"{number}.png", [(4, 8, 10, 40), (30, 8, 12, 200)], seed=number)
    rows = [f"{number}.png,Ann Lee and Bob Ray" for number in range(6)]
    (tmp_path / "photos" / "captions.csv").write_text("\n".join(["file,caption", *rows]))
    with Project.open(tmp_path / "a.candidly", write=True) as project:
        ingest_folder(project, tmp_path / "photos", parts())
        solve(project)
        names = {face.id: face.name for face in list_faces(project)}
        forget_faces(project)
        solve(project, full=True)
        assert {face.id: face.name for face in list_faces(project)} == names
        ingest_folder(project, tmp_path / "photos", parts())
        assert project.count("embeddings") == len(names)
        assert {face.id for face in list_faces(project)} == names.keys()


def test_all_folders_are_looked_at_again_when_one_is_with_another_model(tmp_path, monkeypatch):
    for place in ("one", "two"):
        draw(tmp_path / place / "a.png", [(4, 8, 10, 40)], seed=len(place))
    told = []
    chosen = [parts()]
    monkeypatch.setattr("candidly.photos.application.default_parts", lambda _: chosen[-1])
    with Project.open(tmp_path / "a.candidly", write=True) as project:
        for place in ("one", "two"):
            ingest(tmp_path / place, project, on_result=told.append)
        assert not any(isinstance(one, str) for one in told)
        chosen.append(parts(embedder=lambda: Shades("others")))
        done = ingest(tmp_path / "two", project, choices=Choices(), on_result=told.append)
        assert any("looked at again" in one for one in told if isinstance(one, str))
        assert done.found == 2
        models = project.connection.execute("SELECT DISTINCT model FROM faces").fetchall()
        assert models == [("squares; others",)]
