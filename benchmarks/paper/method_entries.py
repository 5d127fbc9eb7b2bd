"""The methods that the figures and tables of the paper compare, as they are run here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.paper.declaration import REFERENCE, MethodEntry

LETTER = " (paper)"
"""Ends the names of the paper's methods to the letter; without it they are at our defaults."""
CENTRED = " (paper, centred)"
DEARER = " (paper, 3 λ0)"
PAPER = {"setting": "paper"}
PARAMS: dict[str, dict[str, Any]] = {
    LETTER: PAPER,
    CENTRED: {**PAPER, "center": True},
    DEARER: {**PAPER, "center": True, "noise_weight": 3.0},
    "": {},
}
"""Parameters by the ending of a name: one change after the other, from the letter to ours."""
OURS = "ours"
VARIANTS = ("MCar", "WMCar", "MCar-ICE", "WMCar-ICE")


def variants(ending: str, names: tuple[str, ...] = VARIANTS) -> tuple[MethodEntry, ...]:
    """Return the paper's methods in one setting."""
    return tuple(MethodEntry(f"{name}{ending}", name, PARAMS[ending]) for name in names)


MCAR = variants(LETTER)
"""The four variants to the letter."""
MCAR_CENTRED = variants(CENTRED)
MCAR_DEARER = variants(DEARER)
MCAR_DEFAULT = variants("")
PRIOR = tuple(
    MethodEntry(name, name) for name in ("naive", "CLPL", "DLHD", "DLSD", "KDLSD", "IPAL")
)
"""Methods that the paper compares with on FIW and PIE."""
MINE = (MethodEntry(OURS, "CandidateClassifier"), MethodEntry("ours, one setting", "RowSpace"))
BOUND = MethodEntry("SVM on true labels", REFERENCE)
"""The best that the second stage can do: a larger error comes from wrong labels."""


def _three(entries: tuple[MethodEntry, ...]) -> tuple[MethodEntry, ...]:
    return tuple(entry for entry in entries if not entry.name.startswith("MCar-ICE"))


FACES = (
    *_three(MCAR),
    *_three(MCAR_CENTRED),
    *PRIOR,
    *MINE,
    *(replace(entry, quick="ICE" not in entry.name) for entry in _three(MCAR_DEFAULT)),
)
"""Figures of FIW and PIE; the quick run leaves out what takes longest."""
INDUCTIVE = (*FACES, BOUND)
SLOW = (
    *_three(MCAR),
    *_three(MCAR_CENTRED),
    *PRIOR,
    *(replace(entry, quick=entry is MINE[1]) for entry in (*MINE, *_three(MCAR_DEFAULT))),
)
"""The same methods where a solve takes long: the quick run has only the paper's settings."""
EVERY_SETTING = (*MCAR, *MCAR_CENTRED, *MCAR_DEARER, *MCAR_DEFAULT)
"""On features that are a projection all four settings differ."""
LOST = (
    *(MethodEntry(name, name) for name in ("naive", "CLPL", "MMS", "IPAL", "RPCA", "MC-Pos")),
    *EVERY_SETTING,
    *MINE,
)
YAHOO = (
    *(MethodEntry(name, name) for name in ("CL-SVM", "MMS", "MM-SVM", "LR-SVM")),
    *EVERY_SETTING,
    MethodEntry(OURS, "CandidateClassifier"),
    BOUND,
)
