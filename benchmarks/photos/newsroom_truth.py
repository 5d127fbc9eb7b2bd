"""What is true of the newsroom photos, and how well a project has it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.photos.face_sizes import ENOUGH
from candidly.photos.geometry import Box, overlap
from candidly.photos.project import Project

TAGS = ("cue", "typo", "title", "foreign", "grey", "large", "crowd", "once")


@dataclass(frozen=True)
class Seen:
    """A face that is in the truth, in the project, or in both.

    ``right`` where it has its name, in either spelling, or rightly none; ``true`` where the truth
    has it; ``found`` where the project has it.
    """

    file: str
    right: bool
    named: bool
    confidence: float
    true: bool
    found: bool
    often: bool
    tags: frozenset[str]


def compare(project: Project, truth: list[dict[str, Any]]) -> list[Seen]:
    """Every face of the truth or of the project; each face found is one true one at most."""
    mentioned = Counter(name for record in truth for name in record["mentioned"])
    named = _named(project)
    seen: list[Seen] = []
    for record in truth:
        there = dict(named.get(record["file"], {}))
        tags = frozenset(record["tags"])
        for face in record["faces"]:
            box, name = Box(*face["box"]), face["name"]
            best = max(there, key=lambda number: overlap(box, there[number][0]), default=None)
            if best is None or overlap(box, there[best][0]) < ENOUGH:
                often = mentioned[name] > 1
                seen.append(Seen(record["file"], False, False, 0, True, False, often, tags))
                continue
            _, given, confidence = there.pop(best)
            right = given in (name, record.get("spelled", {}).get(name, name))
            seen.append(
                Seen(
                    record["file"],
                    right,
                    given is not None,
                    confidence,
                    True,
                    True,
                    mentioned[name] > 1,
                    tags,
                )
            )
        seen += [
            Seen(record["file"], given is None, given is not None, sure, False, True, False, tags)
            for _, given, sure in there.values()
        ]
    return seen


def figures(seen: list[Seen]) -> dict[str, Any]:
    """All that is promised of names on faces, over all and per tag, in percent."""
    found = [face for face in seen if face.found]
    unsure = sorted(found, key=lambda face: face.confidence)[: len(found) // 10]
    wrong = sum(not face.right for face in found)
    true = [face for face in seen if face.true]
    behind = [face for face in seen if not face.true]
    return {
        "true faces": len(true),
        "found": _percent([face.found for face in true]),
        "right name or rightly nobody": _percent([face.right for face in true]),
        "right, mentioned more than once": _percent([face.right for face in true if face.often]),
        "right of the names given": _percent([face.right for face in found if face.named]),
        "background faces": len(behind),
        "named of the background faces": _percent([face.named for face in behind]),
        "errors among the 10% least sure": round(
            100 * sum(not face.right for face in unsure) / max(wrong, 1), 1
        ),
        "mean confidence": round(100 * float(np.mean([face.confidence for face in found])), 1),
        "right of the faces found": _percent([face.right for face in found]),
        "by tag": {
            tag: {
                "true faces": sum(tag in face.tags for face in true),
                "right": _percent([face.right for face in true if tag in face.tags]),
                "right of the names given": _percent(
                    [face.right for face in found if face.named and tag in face.tags]
                ),
            }
            for tag in TAGS
        },
    }


def labels(project: Project) -> dict[tuple[str, Box], str | None]:
    """The name of every face, by file and box."""
    return {
        (file, box): name
        for file, faces in _named(project).items()
        for box, name, _ in faces.values()
    }


def _named(project: Project) -> dict[str, dict[int, tuple[Box, str | None, float]]]:
    """Box, name and confidence of the faces of each file, by its own name."""
    found: dict[str, dict[int, tuple[Box, str | None, float]]] = {}
    with project.snapshot() as sql:
        for path, face, x, y, w, h, name, sure in sql.execute(
            "SELECT path, faces.id, x, y, w, h, people.name, coalesce(confidence, 0) FROM faces"
            " JOIN files ON files.photo = faces.photo LEFT JOIN labels ON labels.face = faces.id"
            " LEFT JOIN people ON people.id = labels.person WHERE gone = 0"
        ):
            file = Path(os.fsdecode(path)).name
            found.setdefault(file, {})[face] = (Box(x, y, w, h), name, sure)
    return found


def _percent(values: list[bool]) -> float:
    return round(100 * float(np.mean(values)), 1) if values else float("nan")
