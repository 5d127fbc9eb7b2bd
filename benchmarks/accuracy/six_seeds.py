"""python -m benchmarks.accuracy.six_seeds: how far CandidateClassifier depends on its random state.

Labelling error on whole data sets with ``random_state`` 0 to 5, which draws landmarks and what is
hidden. A run is one line of ``results/six_seeds.jsonl``, so an interrupted measurement continues;
``results/six_seeds.md`` and the table in ``docs/results.md`` are drawn from it. Real data sets need
``CANDIDLY_DATA``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from sklearn.utils import Bunch

from benchmarks.accuracy.problems import BIRDSONG, LOST, MSRCV2, measure_missing
from benchmarks.documents import RESULTS, keep
from candidly import CandidateClassifier, __version__, labelling_error

SEEDS = tuple(range(6))
PROBLEMS = tuple(replace(problem, seeds=SEEDS) for problem in (LOST, BIRDSONG, MSRCV2))


@dataclass(frozen=True)
class SeedRecord:
    """One run: the labelling error in %, of all labels."""

    problem: str
    seed: int
    version: str
    error: float


def measure(name: str, seed: int, data: Bunch) -> SeedRecord:
    """Return the error with one random state."""
    model = CandidateClassifier(classifier=None, random_state=seed)
    labels = model.fit(data.X, data.candidates).transduction_
    return SeedRecord(name, seed, __version__, round(100 * labelling_error(data.y, labels), 2))


def table(records: Sequence[SeedRecord]) -> str:
    """Return the mean, the smallest and the largest error of each data set, in Markdown."""
    text = "| problem | runs | mean | smallest | largest |\n|---|---:|---:|---:|---:|\n"
    for name in dict.fromkeys(record.problem for record in records):
        found = [record.error for record in records if record.problem == name]
        text += f"| {name} | {len(found)} | {np.mean(found):.1f} "
        text += f"| {min(found):.1f} | {max(found):.1f} |\n"
    return text


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure what is missing, and draw the table."""
    console = Console()
    records = measure_missing(PROBLEMS, measure, SeedRecord, out / "six_seeds.jsonl", console)
    text = table(records)
    keep(text, "six-seeds", out / "six_seeds.md", document)
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
