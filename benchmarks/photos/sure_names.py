"""Figures about names and how sure they are, and the limits they are held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candidly.datasets.caption_simulation import NOBODY
from candidly.metrics import expected_calibration_error

SURE = 0.95
WELL_SHOWN = 3  # faces of a person from which a name should be right, and sure
BINS = 10
Figures = dict[str, Any]


@dataclass(frozen=True)
class JudgedFace:
    """A face with the answer it got, compared with the truth.

    Parameters
    ----------
    right : bool
        Whether its name is right, or it rightly has none.
    named : bool
        Whether it got a name.
    confidence : float
        Of the answer.
    true : bool
        Whether the truth has it; a face in the background is only in the photo.
    mentioned : bool
        Whether its caption mentions it, so that there is a name to give.
    shown : int
        How many faces of its person the collection has.
    """

    right: bool
    named: bool
    confidence: float
    true: bool = True
    mentioned: bool = True
    shown: int = 1

    @property
    def sure(self) -> bool:
        """Whether it has a name that is sure."""
        return self.named and self.confidence >= SURE


def judge(
    records: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    confidence: Sequence[float],
    shown: Sequence[int],
) -> list[JudgedFace]:
    """Return the faces of the records with their names, NOBODY for none, compared."""
    true = [face["name"] for record in records for face in record["faces"]]
    return [
        JudgedFace(name == (truth or NOBODY), name != NOBODY, float(sure), True, bool(truth), often)
        for truth, name, sure, often in zip(true, names, confidence, shown, strict=True)
    ]


def figures(faces: Sequence[JudgedFace]) -> Figures:
    """Return shares in percent of the faces of all draws together; None where there are none."""
    true = [face for face in faces if face.true]
    named = [face for face in faces if face.named]
    sure = [face for face in faces if face.sure]
    often = [face for face in true if face.shown >= WELL_SHOWN]
    told = [face for face in often if face.mentioned]
    return {
        "true faces": len(true),
        "names": len(named),
        "sure names": len(sure),
        "sure names, wrong": sum(not face.right for face in sure),
        "sure names wrong %": percent([not face.right for face in sure]),
        "right %": percent([face.right for face in true]),
        "right of the names given %": percent([face.right for face in named]),
        "faces of people shown 3 times": len(told),
        "right, shown 3 times %": percent([face.right for face in told]),
        "sure of these %": percent([face.sure for face in told if face.right]),
        "right, shown 3 times, also not mentioned %": percent([face.right for face in often]),
        "ECE": round(
            expected_calibration_error(
                [face.right for face in named], [face.confidence for face in named], bins=BINS
            ),
            3,
        )
        if named
        else None,
    }


def percent(values: Sequence[bool]) -> float | None:
    """Return the share of the values that are true, in percent; None where there are none."""
    return round(100 * float(np.mean(values)), 2) if values else None


@dataclass(frozen=True)
class Limit:
    """The largest or smallest value that will do, and what is aimed at."""

    limit: float
    aim: float | None = None
    most: bool = False

    def met(self, value: float | None) -> bool:
        """Return whether a value will do; one that nothing was measured for does."""
        return value is None or self._within(value, self.limit)

    def cell(self, value: float | None) -> str:
        """Return a value for a table with its limit; bold if it is not met, + if the aim is."""
        if value is None:
            return f"none ({self.limit:g})"
        text = f"{value:g}" if self.met(value) else f"**{value:g}**"
        reached = self.aim is not None and self._within(value, self.aim)
        return f"{text}{'+' * reached} ({self.limit:g})"

    def _within(self, value: float, bound: float) -> bool:
        return value <= bound if self.most else value >= bound


def limits(kind: str, size: int) -> dict[str, Limit]:
    """Return the limits by figure for a kind of draw, "at random" or "by person", and a size.

    A size that has no limits of its own has those of the next smaller one that has.
    """
    row = max(known for known in _LIMITS[kind] if known <= size)
    wrong, right, aim, given = _LIMITS[kind][row]
    found = {
        "sure names wrong %": Limit(wrong, most=True),
        "right %": Limit(right, aim),
        "right of the names given %": Limit(given),
        "ECE": Limit(0.10 if row == 50 else 0.06, most=True),
    }
    if kind == "by person":
        found["right, shown 3 times %"] = Limit({50: 92, 200: 97, 500: 98}[row])
        found["right, shown 3 times, also not mentioned %"] = found["right, shown 3 times %"]
        found["sure of these %"] = Limit(95, 99)
    return found


# Sure names that are wrong, right, aimed at, right of the names given; by photos.
_LIMITS: dict[str, dict[int, tuple[float, float, float, float]]] = {
    "at random": {
        50: (2, 55, 60, 56),
        200: (1.5, 69, 75, 70),
        500: (1, 79, 85, 83),
        2021: (0.6, 87.5, 90, 94),
    },
    "by person": {50: (2, 76, 80, 76), 200: (1, 77, 83, 79), 500: (1, 85.5, 89, 89.5)},
}
