"""Tables with one change at a time, which show why a claim does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.paper.claims.base import Evidence, OneChange
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.experiments import COLLECTION, ELIMINATED, FRACTION, GAMMA, LAMBDA
from benchmarks.paper.method_entries import BOUND, VARIANTS
from benchmarks.paper.settings import SETTINGS
from benchmarks.paper.stored_runs import NotRunError

MISSING = "not run"
Cell = Callable[[SettingView], float]


def said(cell: Callable[[], float]) -> str:
    """Return a number, or that it was not run."""
    try:
        return f"{cell():.1f}"
    except NotRunError:
        return MISSING


def by_setting(columns: Sequence[str], cells: Sequence[Cell]) -> Callable[[SettingView], Evidence]:
    """Return a table of numbers under the four settings, one change after the other."""

    def table(view: SettingView) -> Evidence:
        rows = []
        for setting in SETTINGS:
            there = SettingView(view.results, setting, view.measure)
            rows.append((setting.name, *(said(partial(cell, there)) for cell in cells)))
        return Evidence(("setting", *columns), tuple(rows))

    return table


def errors_of(
    experiment: str, axis: str, point: Any, names: Sequence[str] = VARIANTS
) -> list[Cell]:
    """Return the errors of several methods at a point, as cells of such a table."""

    def mean(name: str, view: SettingView) -> float:
        return view.mean(experiment, name, **{axis: point})

    return [partial(mean, name) for name in names]


def _rounds(on: str, f: float) -> Cell:
    def cell(view: SettingView) -> float:
        at: dict[str, Any] = {"on": on, ELIMINATED: f, "W": "updated"}
        found = view.stored("elimination", "WMCar", **at)
        return float(np.mean([one["by_round"][min(5, len(one["by_round"])) - 1] for one in found]))

    return cell


def _stages(view: SettingView) -> Evidence:
    """Return labels and test errors of methods whose labels go to three machines."""
    points = view.points("fiw-fraction", FRACTION, 0.2, 1)
    rows = []

    def mean(name: str, figure: str) -> float:
        found = [view.by_seed("fiw-fraction", name, "", figure, **{FRACTION: x}) for x in points]
        return float(np.mean([np.mean(list(of.values())) for of in found]))

    for name in ("MCar", "WMCar", "WMCar-ICE", "CLPL", "naive", BOUND.name):
        figures = ("labelling_error", "common_error", "error")
        rows.append((name, *(said(partial(mean, name, figure)) for figure in figures)))
    columns = ("fractions above 0.2", "labels", "test, common machine", "test, published one")
    return Evidence(columns, tuple(rows))


SECOND_STAGE = OneChange(
    "One change, the second stage: the same labels with the common machine and with the published "
    "one. The labels of the training half show the paper's order. On the other half every method "
    "is near the error that the machine has on true labels, and the choice of the machine moves "
    "errors more than the labels do.",
    "fiw-fraction",
    _stages,
)
PHOTOS = OneChange(
    "One change after the other: centring, λ, then start, scale and growth. With 3 λ0 far "
    "fewer labels are wrong than with λ0, in all four variants.",
    "yahoo",
    by_setting(VARIANTS, errors_of("yahoo", COLLECTION, "LFW")),
)
CURVES = OneChange(
    "One change after the other: errors of WMCar after five rounds, fed back without elimination "
    "(f_e 0) and with it (0.5).",
    "elimination",
    by_setting(
        ("Lost, f_e 0", "Lost, f_e 0.5", "FIW-like, f_e 0", "FIW-like, f_e 0.5"),
        [_rounds(on, f) for on in ("Lost", "FIW-like") for f in (0.0, 0.5)],
    ),
)
_MOVES = "moved by up to"
MOVED = OneChange(
    "One change, the crops: moved by up to 3 pixels every method on raw pixels gets far worse. "
    "MCar stays the best of them, but IPAL, which was wrong often before, loses less.",
    "shifted",
    by_setting(
        ("MCar, aligned", "MCar, moved", "CLPL, aligned", "CLPL, moved"),
        [
            cell
            for name in ("MCar", "CLPL")
            for x in (0, 3)
            for cell in errors_of("shifted", _MOVES, x, (name,))
        ],
    ),
)


def _surface(lam: float, gamma: float) -> Cell:
    def cell(view: SettingView) -> float:
        at: dict[str, Any] = {LAMBDA: lam, GAMMA: gamma}
        return view.mean("parameters", "WMCar", "λ and γ", **at)

    return cell


_AROUND = ((0.5, 2.0), (1.0, 1.0), (1.0, 2.0), (1.0, 4.0), (2.0, 2.0))
GRID = OneChange(
    "One change at a time around the paper's choice: errors of WMCar with λ and γ in multiples of "
    "λ0. λ0 is the best λ; which γ is best differs between repeats by more than the gap.",
    "parameters",
    by_setting(
        tuple(f"λ {lam:g}, γ {gamma:g}" for lam, gamma in _AROUND),
        [_surface(lam, gamma) for lam, gamma in _AROUND],
    ),
)
