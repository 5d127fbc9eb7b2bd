"""python -m benchmarks.accuracy.confidence: calibration, ranking, and promises of RiskControlled.

Part of ``make accuracy``. A problem is one line of ``results/confidence.jsonl``, so an interrupted
measurement continues; ``results/confidence.md`` and the table in ``docs/results.md`` are drawn from
it, and ``docs/reliability.png`` shows where confidence and accuracy differ.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.special import softmax
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score

from benchmarks.accuracy.labelling_error import PROBLEMS, AccuracyProblem
from benchmarks.documents import RESULTS, put_into
from candidly import __version__, json_lines
from candidly.base import confidence
from candidly.estimators import RiskControlled
from candidly.extras import installed, require
from candidly.metrics import expected_calibration_error, risk_coverage_area
from candidly.selection import CandidateClassifier

DRAWS, ANSWERS, BINS = 2000, 300, 10


@dataclass(frozen=True)
class ConfidenceRecord:
    """Figures of one problem with seed 0: of the soft labels, and of a softmax of the scores."""

    problem: str
    version: str
    error: float
    auroc: float | None
    ece: float
    aurc: float
    softmax_auroc: float | None
    softmax_ece: float
    softmax_aurc: float
    kept: float
    certified: float
    accepted: float
    draws: int
    reliability: list[tuple[float, float, int]]


def measure(problem: AccuracyProblem, draws: int = DRAWS) -> ConfidenceRecord:
    """Fit once, and return figures of the confidence and of many draws of the questions."""
    data = problem.load()
    model = CandidateClassifier(classifier=None, random_state=0).fit(data.X, data.candidates)
    right = model.transduction_ == data.y
    sure = confidence(model)
    solution = model.solution_
    scores = np.where(solution.sets.mask, solution.sets.matrix(solution.scores), -np.inf).T
    plain = softmax(scores, axis=1).max(axis=1)
    promise = np.array([simulate(model, data.y, seed) for seed in range(draws)])
    ours, softmaxed = _figures(right, sure), _figures(right, plain)
    kept, certified, accepted = np.round(promise.mean(axis=0), 4).tolist()
    return ConfidenceRecord(
        problem=problem.name,
        version=__version__,
        error=round(float(1 - right.mean()), 4),
        **ours,
        **{f"softmax_{name}": value for name, value in softmaxed.items()},
        kept=kept,
        certified=certified,
        accepted=accepted,
        draws=draws,
        reliability=_reliability(right, sure),
    )


def _figures(right: NDArray[np.bool_], sure: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "auroc": None if right.all() else round(float(roc_auc_score(right, sure)), 4),
        "ece": round(expected_calibration_error(right, sure), 4),
        "aurc": round(risk_coverage_area(right, sure), 4),
    }


def simulate(model: CandidateClassifier, y: NDArray[Any], seed: int) -> tuple[bool, bool, float]:
    """Ask 300 instances; return whether the bound holds, more is accepted, and which share."""
    controlled = RiskControlled(FrozenEstimator(model), n_questions=ANSWERS, random_state=seed)
    controlled.fit([[0.0]], [0])
    asked = 0
    while len(controlled.ask_) and asked + len(controlled.ask_) <= ANSWERS:
        asked += len(controlled.ask_)
        controlled.answer(y[controlled.ask_])
    kept = controlled.accepted_
    wrong = np.mean(controlled.transduction_[kept] != y[kept])
    return bool(wrong <= controlled.max_error), bool(kept.sum() > asked), float(kept.mean())


def _reliability(
    right: NDArray[np.bool_], sure: NDArray[np.float64]
) -> list[tuple[float, float, int]]:
    """Return mean confidence, accuracy and size of each bin of confidence."""
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return [
        (round(float(sure[place == k].mean()), 4), round(float(right[place == k].mean()), 4), n)
        for k in range(BINS)
        if (n := int((place == k).sum()))
    ]


def read(path: Path) -> dict[str, ConfidenceRecord]:
    """Return the records measured so far, by problem."""
    lines = [ConfidenceRecord(**line) for line in json_lines.read(path)]
    return {line.problem: line for line in lines if line.version == __version__}


def table(lines: dict[str, ConfidenceRecord]) -> str:
    """Return the table in Markdown; in brackets are the figures of the softmax."""
    rows = [
        "| problem, seed 0 | error % | AUROC | ECE | AURC | promise kept % | certified % | "
        "accepted % |",
        "|---|" + "---:|" * 7,
    ]
    for problem in PROBLEMS:
        line = lines.get(problem.name)
        if line is None:
            rows.append(f"| {problem.name} |" + " not run |" * 7)
            continue
        auroc = "" if line.auroc is None else f"{line.auroc:.2f} ({line.softmax_auroc:.2f})"
        rows.append(
            f"| {problem.name} | {100 * line.error:.1f} | {auroc} "
            f"| {line.ece:.3f} ({line.softmax_ece:.3f}) "
            f"| {line.aurc:.3f} ({line.softmax_aurc:.3f}) "
            f"| {100 * line.kept:.1f} | {100 * line.certified:.0f} | {100 * line.accepted:.0f} |"
        )
    return "\n".join(rows) + "\n"


def picture_of_reliability(curves: dict[str, list[tuple[float, float, int]]], path: Path) -> None:
    """Draw accuracy over confidence, one line per problem.

    A curve has one (confidence, accuracy, instances) per bin.
    """
    figure = require("matplotlib.figure", "plot").Figure(figsize=(6.4, 5), layout="constrained")
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="grey", linewidth=1, label="perfectly calibrated")
    for name, points in curves.items():
        shown = [point for point in points if point[2] >= 10]  # fewer say nothing
        axis.plot([p[0] for p in shown], [p[1] for p in shown], marker="o", ms=4, label=name)
    axis.set_xlabel("confidence")
    axis.set_ylabel("fraction that is right")
    axis.set_title("reliability, in bins of at least ten", fontsize=11)
    axis.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
    picture: Annotated[Path, typer.Option(help="Reliability plot.")] = Path("docs/reliability.png"),
) -> None:
    """Measure what is missing, and draw the table and the plot."""
    console = Console()
    path = out / "confidence.jsonl"
    out.mkdir(exist_ok=True)
    done = read(path)
    for problem in track(PROBLEMS, "confidence", console=console):
        if problem.name in done:
            continue
        try:
            done[problem.name] = measure(problem)
        except FileNotFoundError as error:
            console.print(f"{problem.name} is not run: {error}")
            continue
        json_lines.append(path, asdict(done[problem.name]))
    text = table(done)
    (out / "confidence.md").write_text(text)
    put_into(document, text, "confidence")
    if installed("plot"):
        picture_of_reliability(
            {name: line.reliability for name, line in done.items() if line.error > 0.03}, picture
        )
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
