"""The truth about an album: who is where, and who is mentioned."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from candidly.photos.geometry import Box


class TrueFace(NamedTuple):
    """A face: ``name`` is None where the caption does not name the person shown."""

    box: Box
    name: str | None
    person: str


class TruePhoto(NamedTuple):
    """A photo: the people its caption mentions, the names it misspells, its tags and faces."""

    file: str
    caption: str
    mentioned: tuple[str, ...]
    spelled: dict[str, str]
    tags: tuple[str, ...]
    faces: tuple[TrueFace, ...]


@dataclass(frozen=True)
class AlbumTruth:
    """The photos of an album, in the order of their files."""

    photos: tuple[TruePhoto, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return plain values, in the form of the newsroom collection's ``truth.json``."""
        return [
            {
                "file": photo.file,
                "caption": photo.caption,
                "tags": list(photo.tags),
                "mentioned": list(photo.mentioned),
                "spelled": photo.spelled,
                "faces": [
                    {
                        "name": face.name,
                        "person": face.person,
                        "box": [round(float(value), 1) for value in face.box],
                    }
                    for face in photo.faces
                ],
            }
            for photo in self.photos
        ]

    def write(self, path: str | Path) -> None:
        """Write the truth as a JSON file, which must not be among the photos."""
        Path(path).write_text(json.dumps(self.records(), indent=1, ensure_ascii=False) + "\n")
