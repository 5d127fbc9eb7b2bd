"""python -m benchmarks.accuracy.broken_data: labelling error on digits with broken features.

Every kind of damage is done to the same problems, 10 x 60 digits with three extra candidates; the
second figure is the error among the damaged rows alone. The table goes to
``results/broken_data.md`` and into ``docs/results.md``; single runs are not stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from benchmarks.documents import RESULTS, keep
from candidly import CandidateClassifier, datasets, labelling_error
from candidly.base import BrokenFeaturesWarning

Damage = Callable[[NDArray[Any], np.random.Generator], NDArray[np.intp]]
"""Changes features in place, and returns the rows that it damaged."""


def _rows(X: NDArray[Any], rng: np.random.Generator, share: float) -> NDArray[np.intp]:
    return rng.choice(len(X), max(1, round(share * len(X))), replace=False)


def scaled(share: float, factor: float) -> Damage:
    """Return damage by rows in another unit."""

    def damage(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        rows = _rows(X, rng, share)
        X[rows] *= factor
        return rows

    return damage


def noise(share: float, factor: float) -> Damage:
    """Return damage by rows of large random numbers."""

    def damage(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        rows = _rows(X, rng, share)
        X[rows] = factor * rng.normal(size=(len(rows), X.shape[1]))
        return rows

    return damage


def filled(share: float, value: float) -> Damage:
    """Return damage by rows that hold one value."""

    def damage(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        rows = _rows(X, rng, share)
        X[rows] = value
        return rows

    return damage


def single_cells(share: float, value: float) -> Damage:
    """Return damage by one value somewhere in some rows."""

    def damage(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        rows = _rows(X, rng, share)
        X[rows, rng.integers(X.shape[1], size=len(rows))] = value
        return rows

    return damage


def scattered(share: float, value: float) -> Damage:
    """Return damage by a value in some of all cells."""

    def damage(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        cells = rng.random(X.shape) < share
        X[cells] = value
        return np.flatnonzero(cells.any(axis=1))

    return damage


def clean(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Damage nothing."""
    return np.empty(0, dtype=np.intp)


KINDS: dict[str, Damage] = {
    "clean": clean,
    "one row x 1e6": scaled(0, 1e6),
    "one row of noise, 1e6": noise(0, 1e6),
    "1% of rows filled with -9999": filled(0.01, -9999),
    "1e20 in one cell of 1% of rows": single_cells(0.01, 1e20),
    "5% of rows x 1000": scaled(0.05, 1e3),
    "-9999 in 5% of cells": scattered(0.05, -9999),
}
NOISE_COLUMNS = 300


def errors(damage: Damage, seed: int, columns: int = 0) -> tuple[float, float]:
    """Return the labelling error of all rows, and of the damaged ones (NaN without any)."""
    data = datasets.load("digits", each=60, n_extra=3, random_state=seed)
    rng = np.random.default_rng(seed)
    X = np.hstack([data.X, rng.normal(size=(len(data.X), columns))])
    rows = damage(X, rng)
    model = CandidateClassifier(classifier=None, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BrokenFeaturesWarning)
        labels = model.fit(X, data.candidates).transduction_
    own = labelling_error(data.y[rows], labels[rows]) if len(rows) else np.nan
    return labelling_error(data.y, labels), own


def main(
    seeds: Annotated[int, typer.Option(help="Number of draws.")] = 3,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure the labelling error of each kind of damage, and write the means over the seeds."""
    console = Console()
    kinds = [(name, damage, 0) for name, damage in KINDS.items()]
    kinds.append((f"{NOISE_COLUMNS} columns of noise", clean, NOISE_COLUMNS))
    text = "| features | labelling error | of damaged rows |\n|---|---:|---:|\n"
    for name, damage, columns in track(kinds, "damage", console=console, transient=True):
        found = np.mean([errors(damage, seed, columns) for seed in range(seeds)], axis=0)
        own = "" if np.isnan(found[1]) else f"{100 * found[1]:.1f}"
        text += f"| {name} | {100 * found[0]:.1f} | {own} |\n"
    keep(text, "broken-data", out / "broken_data.md", document)
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
