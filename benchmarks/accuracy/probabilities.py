"""python -m benchmarks.accuracy.probabilities: calibration of predict_proba on unseen instances.

Part of ``make choice``. Five shuffled folds, whose predictions are put together. A draw of a
problem is one line of ``results/probabilities.jsonl``, so an interrupted measurement continues;
``results/probabilities.md`` and the table in ``docs/results.md`` are drawn from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from sklearn.model_selection import KFold
from sklearn.utils import Bunch

from benchmarks.accuracy.problems import (
    BIRDSONG,
    BIRDSONG_TENTH,
    DIGITS,
    LOST,
    MSRCV2,
    SKEWED,
    TEXTS,
    WINE,
    measure_missing,
)
from benchmarks.documents import RESULTS, put_into
from candidly import CandidateClassifier, __version__
from candidly.metrics import expected_calibration_error

FOLDS = 5
PROBLEMS = (DIGITS, LOST, BIRDSONG, MSRCV2, SKEWED, BIRDSONG_TENTH, TEXTS, WINE)
TARGETS = {DIGITS.name: 0.05, LOST.name: 0.05, BIRDSONG.name: 0.05, MSRCV2.name: 0.08}
"""Largest calibration error that is promised."""


@dataclass(frozen=True)
class ProbabilityRecord:
    """Figures of the largest probabilities of one draw of a problem, as fractions."""

    problem: str
    seed: int
    version: str
    accuracy: float
    confidence: float
    ece: float


def measure(name: str, seed: int, data: Bunch) -> ProbabilityRecord:
    """Return the figures of instances that were left out of the fit, fold by fold."""
    right, sure = np.empty(len(data.y), dtype=bool), np.empty(len(data.y))
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(data.X):
        model = CandidateClassifier(random_state=0).fit(data.X[train], data.candidates[train])
        proba = model.predict_proba(data.X[test])
        right[test] = model.classes_[proba.argmax(axis=1)] == data.y[test]
        sure[test] = proba.max(axis=1)
    return ProbabilityRecord(
        problem=name,
        seed=seed,
        version=__version__,
        accuracy=round(float(right.mean()), 4),
        confidence=round(float(sure.mean()), 4),
        ece=round(expected_calibration_error(right, sure), 4),
    )


def table(records: Sequence[ProbabilityRecord]) -> str:
    """Return the table in Markdown, means over draws."""
    found = defaultdict(list)
    for record in records:
        found[record.problem].append(record)
    lines = ["| problem | accuracy % | mean confidence % | ECE | promised |", "|---|" + "---:|" * 4]
    for name, drawn in found.items():
        accuracy, sure, ece = (
            np.mean([getattr(each, what) for each in drawn])
            for what in ("accuracy", "confidence", "ece")
        )
        target = TARGETS.get(name, "")
        lines.append(f"| {name} | {100 * accuracy:.1f} | {100 * sure:.1f} | {ece:.3f} | {target} |")
    return "\n".join(lines) + "\n"


def draw(records: Sequence[ProbabilityRecord], out: Path, document: Path) -> str:
    """Write the table into its file and the document, and return it."""
    text = table(records)
    (out / "probabilities.md").write_text(text)
    put_into(document, text, "probabilities")
    return text


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure what is missing, and draw the table."""
    console = Console()
    path = out / "probabilities.jsonl"
    records = measure_missing(PROBLEMS, measure, ProbabilityRecord, path, console)
    console.print(draw(records, out, document), highlight=False)


if __name__ == "__main__":
    typer.run(main)
