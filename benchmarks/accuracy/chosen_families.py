"""python -m benchmarks.accuracy.chosen_families: the choice without truth, many problems.

Part of ``make choice``. The labelling error of CandidateClassifier beside those of single methods
and of the floor, the most frequent candidate; and whether its estimate of its own error is right.
A draw of a problem is one line of ``results/families.jsonl``, so an interrupted measurement
continues; ``results/families.md`` and the table in ``docs/choosing.md`` are drawn from it.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from sklearn.utils import Bunch

from benchmarks.accuracy.problems import PROBLEMS, measure_missing
from benchmarks.documents import keep
from candidly import CandidateClassifier, __version__, labelling_error, methods
from candidly.selection.families import by_frequency
from candidly.solvers import CandidateSets

SINGLE = ("RowSpace", "RowSpace-RBF", "IPAL", "PL-LR", "CLPL")
SMALL, WIDE = "WMCar", 400_000
"""A method that is run only where instances times features are at most so many."""


@dataclass(frozen=True)
class FamilyRecord:
    """One draw of a problem: errors in % of all labels.

    ``single`` has the error of each method alone; ``estimate``, ``low`` and ``high`` are what
    CandidateClassifier says about its own; ``doubtful`` is whether it warned of its labels, and
    ``seconds`` are of the CPU, for its fit without a classifier.
    """

    problem: str
    seed: int
    version: str
    floor: float
    single: dict[str, float]
    error: float
    estimate: float
    low: float
    high: float
    labeller: str
    sets_follow: str
    doubtful: bool
    seconds: float

    @property
    def best(self) -> str:
        """The method of the smallest error alone, which only the truth can tell."""
        return min(self.single, key=lambda name: self.single[name])

    @property
    def inside(self) -> bool:
        """Whether the error is in its interval; the bounds are rounded."""
        return self.low - 0.05 <= self.error <= self.high + 0.05


def measure(name: str, seed: int, data: Bunch) -> FamilyRecord:
    """Return the errors of everything on one draw of a problem."""
    priors = data.candidates.sparse_priors
    sets = CandidateSets.of_rows(priors)
    _, frequency = by_frequency(priors.data, sets)
    floor = data.candidates.classes[sets.classes[sets.best(frequency)]]
    names = [*SINGLE, SMALL] if data.X.size <= WIDE else SINGLE
    alone = {each: _percent(data, _labels(methods.get(each), data)) for each in names}
    model = CandidateClassifier(classifier=None, random_state=0)
    started = time.process_time()
    labels = _labels(model, data)
    seconds = time.process_time() - started
    found = model.error_estimate_
    return FamilyRecord(
        problem=name,
        seed=seed,
        version=__version__,
        floor=_percent(data, floor),
        single=alone,
        error=_percent(data, labels),
        estimate=round(100 * found.error, 2),
        low=round(100 * found.low, 2),
        high=round(100 * found.high, 2),
        labeller=model.best_params_["labeller"],
        sets_follow=model.best_params_["sets_follow"],
        doubtful=bool(model.solution_.doubts),
        seconds=round(seconds, 1),
    )


def _labels(model: Any, data: Bunch) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is broken or doubtful is part of the table
        return model.set_params(classifier=None, random_state=0).fit_predict(
            data.X, data.candidates
        )


def _percent(data: Bunch, labels: Any) -> float:
    return round(100 * labelling_error(data.y, labels), 2)


def table(records: Sequence[FamilyRecord]) -> str:
    """Return the table in Markdown, means over draws, and a paragraph on all of them."""
    found = defaultdict(list)
    for record in records:
        found[record.problem].append(record)
    lines = [
        "| problem | draws | floor | best alone | CandidateClassifier | its estimate | inside | "
        "sets follow | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    for name, drawn in found.items():
        mean = {
            what: np.mean([getattr(each, what) for each in drawn])
            for what in ("floor", "error", "estimate", "low", "high", "seconds")
        }
        alone = {
            each: np.mean([record.single[each] for record in drawn]) for each in drawn[0].single
        }
        best = min(alone, key=lambda each: alone[each])
        doubted = sum(each.doubtful for each in drawn)
        follow = " or ".join(sorted({each.sets_follow for each in drawn}))
        lines.append(
            f"| {name} | {len(drawn)} | {mean['floor']:.1f} | {alone[best]:.1f} {best} "
            f"| {mean['error']:.1f}{f' (doubtful: {doubted})' if doubted else ''} "
            f"| {mean['estimate']:.1f} ({mean['low']:.1f} to {mean['high']:.1f}) "
            f"| {sum(each.inside for each in drawn)} | {follow} | {mean['seconds']:.1f} |"
        )
    return "\n".join(lines) + "\n\n" + summary(records) + "\n"


def summary(records: Sequence[FamilyRecord]) -> str:
    """Return how often the interval covers, how wide it is, and the largest shortfalls."""
    width = np.median([each.high - each.low for each in records])
    behind = max(records, key=lambda each: each.error - each.single[each.best])
    below = max(records, key=lambda each: each.error - each.floor)
    return (
        f"The error is inside its interval in {sum(each.inside for each in records)} of "
        f"{len(records)} draws; the median width is {width:.1f} points.\n"
        f"Most behind the best method alone: {behind.problem}, draw {behind.seed}, "
        f"{behind.error - behind.single[behind.best]:+.1f} points ({behind.best}).\n"
        f"Most behind the floor: {below.problem}, draw {below.seed}, "
        f"{below.error - below.floor:+.1f} points.\n"
        f"Seconds of CandidateClassifier in all: {sum(each.seconds for each in records):.0f}."
    )


def draw(records: Sequence[FamilyRecord], out: Path, document: Path) -> str:
    """Write the table into its file and the document, and return it."""
    text = table(records)
    keep(text, "families", out / "families.md", document)
    return text


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = Path(
        "docs/choosing.md"
    ),
) -> None:
    """Measure what is missing, and draw the table."""
    console = Console()
    records = measure_missing(PROBLEMS, measure, FamilyRecord, out / "families.jsonl", console)
    console.print(draw(records, out, document), highlight=False)


if __name__ == "__main__":
    typer.run(main)
