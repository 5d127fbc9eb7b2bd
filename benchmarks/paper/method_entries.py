"""The methods that the figures and tables of the paper compare, as they are run here."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.declaration import LINEAR_SVM, REFERENCE, MethodEntry

LETTER = " (paper)"
"""Ends the names of the paper's methods to the letter; without it they are at our defaults."""
PAPER = {"setting": "paper"}
OURS = "ours"

MCAR = tuple(
    MethodEntry(f"{name}{LETTER}", name, PAPER)
    for name in ("MCar", "WMCar", "MCar-ICE", "WMCar-ICE")
)
"""The four variants to the letter."""
MCAR_DEFAULT = tuple(MethodEntry(name, name) for name in ("MCar", "WMCar", "MCar-ICE", "WMCar-ICE"))
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
    *PRIOR,
    *MINE,
    *(replace(entry, quick="ICE" not in entry.name) for entry in _three(MCAR_DEFAULT)),
)
"""Figures of FIW and PIE; the quick run leaves out what takes longest."""
INDUCTIVE = (*FACES, BOUND)
SLOW = (
    *_three(MCAR),
    *PRIOR,
    *(replace(entry, quick=entry is MINE[1]) for entry in (*MINE, *_three(MCAR_DEFAULT))),
)
"""The same methods where a solve takes long: the quick run has only those to the letter."""
LOST = (
    *(MethodEntry(name, name) for name in ("naive", "CLPL", "MMS", "IPAL", "RPCA", "MC-Pos")),
    *MCAR,
    *MCAR_DEFAULT,
    *MINE,
)
SECOND_STAGE = {"classifier": LINEAR_SVM}
YAHOO = (
    *(MethodEntry(name, name) for name in ("CL-SVM", "MIMLSVM", "MMS")),
    # Labels first, then a machine: the same one for all that work so, as in the paper.
    *(MethodEntry(name, name, SECOND_STAGE) for name in ("MM-SVM", "LR-SVM")),
    *MCAR,
    *MCAR_DEFAULT,
    MethodEntry(OURS, "CandidateClassifier", SECOND_STAGE),
    MethodEntry("ours, own classifier", "CandidateClassifier"),
    BOUND,
)
