"""Claims about Lost: the table, and the distribution of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.claims.base import (
    TEST,
    Claim,
    ClaimKind,
    Evidence,
    Finding,
    OneChange,
    within,
)
from benchmarks.paper.claims.rules import by_face, on_lost, sided, tells
from benchmarks.paper.claims.view import NoTestError, SettingView
from benchmarks.paper.method_entries import VARIANTS
from benchmarks.paper.settings import SETTINGS
from benchmarks.paper.stored_runs import Difference, NotRunError

TEXT = "Section 7.3.1"
APART = 2.0


def _close(view: SettingView) -> Finding:
    view.figure_name("lost")
    gap = by_face(view, "lost", "MMS", "CLPL")
    holds, sure = within(gap, APART)
    rows = tuple((name, f"{view.mean('lost', name):.1f}") for name in ("MMS", "CLPL"))
    return Finding(holds, sure, Evidence(("method", "error"), rows), str(gap))


def _minorities(view: SettingView) -> Finding:
    names = "MCar-ICE", "WMCar-ICE"
    found = [view.stored("lost", name)[0] for name in names]
    rare, every = ([one[figure] for one in found] for figure in ("rare_error", "error"))
    rows = [(name, f"{r:.1f}", f"{e:.1f}") for name, r, e in zip(names, rare, every, strict=True)]
    holds = rare[0] - rare[1] > max(every[0] - every[1], 0)
    return tells(holds, ("method", "error on rare people", "on all"), rows)


def _kept(view: SettingView) -> dict[str, Any]:
    lines = [line for line in view.results.select("distribution") if "true" in line["figures"]]
    if not lines:
        raise NotRunError("distribution")
    return dict(lines[-1]["figures"])


def _sizes(view: SettingView) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    kept = _kept(view)
    return np.array(kept["true"], float), np.array(kept["estimated"], float)


def _close_sizes(view: SettingView) -> Finding:
    true, estimated = _sizes(view)
    moved = float(np.abs(true - estimated).sum() / 2 / true.sum())
    alike = float(np.corrcoef(true, estimated)[0, 1])
    rows = [("mass elsewhere", f"{moved:.1%}"), ("correlation", f"{alike:.2f}")]
    return tells(moved <= 0.15 and alike >= 0.9, ("sizes by candidates", "against true"), rows)


def _imbalanced(view: SettingView) -> Finding:
    factor = _kept(view)["imbalance"]
    return tells(factor > 3, ("", "imbalance factor"), [("Lost", f"{factor:.1f}")])


def _soft_sizes(view: SettingView) -> Finding:
    """Judge class sizes by soft labels of WMCar against those by P."""
    if view.measure == TEST:
        raise NoTestError("lost: sizes are of the labels found")
    true, estimated = _sizes(view)
    by_candidates = 100 * float(np.abs(true - estimated).sum() / 2 / true.sum())
    by_labels = float(view.stored("lost", "WMCar")[0]["sizes_off"])
    # Each misplaced instance counts once: a standard error as of so many wrong ones.
    parts = np.array([by_labels, by_candidates]) / 100
    error = 100 * float(np.sqrt((parts * (1 - parts)).sum() / true.sum()))
    rows = [
        ("candidates, P", f"{by_candidates:.1f}"),
        ("soft labels of WMCar", f"{by_labels:.1f}"),
    ]
    gap = Difference(by_labels - by_candidates, error)
    return sided(gap, ("sizes estimated by", "% of the mass in other classes"), rows)


def settings_table(view: SettingView) -> Evidence:
    """Return the errors of the four variants on Lost, one change after the other."""
    rows = []
    for one in SETTINGS:
        there = SettingView(view.results, one, "labels")
        cells = []
        for name in VARIANTS:
            try:
                cells.append(f"{there.mean('lost', name):.1f}")
            except NotRunError:
                cells.append("not run")
        rows.append((one.name, *cells))
    return Evidence(("setting", *VARIANTS), tuple(rows))


COMPONENTS = OneChange(
    "The faces are 108 principal components instead of pixels. l1 noise is not sparse there; with "
    "λ = 3 λ0 instead of λ0, nothing else changed, the errors come near the paper's.",
    "lost",
    settings_table,
)


def _claim(name: str, says: str, rule: str, judge: Any, **more: Any) -> Claim:
    place = f"{TEXT}, Table 1"
    return Claim(name, "lost", place, says, rule, judge, why=COMPONENTS, **more)


CLAIMS = (
    Claim(
        "lost-imbalance",
        "distribution",
        f"{TEXT}, Figure 7",
        "The candidate labels of Lost are imbalanced.",
        "the imbalance factor is above 3, near the largest of the controlled experiments",
        _imbalanced,
        ClaimKind.FIGURE,
        settled=True,
    ),
    Claim(
        "lost-sizes",
        "distribution",
        f"{TEXT}, Figure 8",
        "Class sizes estimated from the candidates are close to the true ones.",
        "at most 15% of the mass is in other classes, and the correlation is at least 0.9",
        _close_sizes,
        ClaimKind.FIGURE,
        settled=True,
    ),
    Claim(
        "sizes-soft",
        "lost",
        "Section 5",
        "Soft labels recovered estimate class sizes better than P does.",
        "soft labels of WMCar have less mass in wrong classes than the candidates",
        _soft_sizes,
    ),
    _claim(
        "lost-discriminative",
        "The MCar-based methods clearly beat CLPL and MMS.",
        "each of the four has less error than both",
        on_lost(VARIANTS, ("CLPL", "MMS")),
    ),
    _claim(
        "lost-alike",
        "MMS is close to CLPL, since without groups their losses are alike.",
        f"they differ by at most {APART:.0f} points",
        _close,
        settled=True,
    ),
    _claim(
        "lost-weights",
        "WMCar is slightly better than MCar.",
        "it has less error",
        on_lost(("WMCar",), ("MCar",)),
    ),
    _claim(
        "lost-weights-ice",
        "WMCar-ICE is clearly better than MCar.",
        "it has less error",
        on_lost(("WMCar-ICE",), ("MCar",)),
    ),
    _claim(
        "lost-ice",
        "MCar-ICE is worse than WMCar-ICE,",
        "WMCar-ICE has less error",
        on_lost(("WMCar-ICE",), ("MCar-ICE",)),
    ),
    Claim(
        "lost-minorities",
        "lost",
        TEXT,
        "because without weights ICE takes away the labels of rare people.",
        "against WMCar-ICE, MCar-ICE loses more on people with fewer faces than the median than "
        "it loses on all",
        _minorities,
        ClaimKind.EXPLANATION,
    ),
    _claim(
        "lost-ipal",
        "IPAL does not resolve these labels: scarce and imbalanced.",
        "CLPL and MMS have less error",
        on_lost(("CLPL", "MMS"), ("IPAL",)),
        settled=True,
    ),
    _claim(
        "lost-low-rank",
        "Low-rank methods as they were, RPCA and MC-Pos, do not resolve the ambiguity.",
        "naive has less error than both",
        on_lost(("naive",), ("RPCA", "MC-Pos")),
        settled=True,
    ),
)
