"""Figures of a project compared with the truth about the newsroom photos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from candidly.demo.album import ComparedFace
from candidly.photos.geometry import Box
from candidly.photos.project import Project
from candidly.photos.project.queries import faces

TAGS = ("cue", "typo", "title", "foreign", "grey", "large", "crowd", "once")


def figures(seen: list[ComparedFace]) -> dict[str, Any]:
    """Return shares of faces that are found, named and right, over all and per tag, in percent."""
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
    """Return the name of every face, by file and box."""
    return {(Path(face.file).name, face.box): face.name for face in faces(project)}


def _percent(values: list[bool]) -> float:
    return round(100 * float(np.mean(values)), 1) if values else float("nan")
