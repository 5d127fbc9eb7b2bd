"""python -m benchmarks.accuracy.labelling_error: error of method x problem x setting, over seeds.

Part of ``make accuracy``. Every run is one line of ``results/accuracy.jsonl``, so an interrupted
measurement continues; ``results/accuracy.json``, ``results/accuracy.md`` and the table in
``docs/results.md`` are drawn from it.
"""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from benchmarks.documents import RESULTS, put_into
from candidly import __version__, datasets, json_lines, methods
from candidly.base import DoubtfulLabelsWarning
from candidly.estimators import ICE, MCar, WMCar
from candidly.estimators.scaling import differ_in_unit
from candidly.metrics import labelling_error

PAPER_LOST = {"MCar": 8.5, "WMCar": 8.2, "MCar-ICE": 8.0, "WMCar-ICE": 5.2}
OURS = ("RowSpace", "RowSpace-RBF", "CandidateClassifier")
ORACLE = "WMCar, oracle"
METHODS = (*PAPER_LOST, *OURS, ORACLE)
PUBLISHED = {"Lost": 7.7, "BirdSong": 11.5, "MSRCv2": 28.9}
"""Best transductive error published, deep methods included, as reported; not run by us."""
GRID = [
    {"setting": setting, "noise_weight": noise, "sparsity_weight": sparsity}
    for setting in ("pixels", "features")
    for noise in (1.0, 3.0, 10.0)
    for sparsity in (1.0, 2.0, 4.0)
]
"""Settings that the oracle chooses from, with the true labels: the best the ALM could do."""
PAPER = "paper to the letter"
VARIANTS: dict[str, dict[str, Any]] = {
    "no argument": {},
    PAPER: {"setting": "paper"},
    "no constraint": {"at_most_once": False},
    "at most once (no argument)": {},
    "at least one named": {"at_most_once": False, "at_least_one": True},
    "both": {"at_least_one": True},
}


@dataclass(frozen=True)
class AccuracyProblem:
    """A data set with its options; synthetic candidates are drawn once per seed."""

    name: str
    dataset: str
    options: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    variants: tuple[str, ...] = ("no argument", PAPER)
    methods: tuple[str, ...] = METHODS

    def load(self, seed: int = 0) -> Bunch:
        """Return the data, with candidates drawn from the seed where they are synthetic."""
        return datasets.load(
            self.dataset, **({**self.options, "random_state": seed} if self.options else {})
        )


FIVE = (0, 1, 2, 3, 4)
FEWER = ("no argument",), ("WMCar", *OURS, ORACLE)
PIE = {"people": 18, "each": 21}
PROBLEMS = (
    AccuracyProblem("digits 10 x 60, 3 extra", "digits", {"each": 60, "n_extra": 3}, FIVE),
    AccuracyProblem("Lost", "lost"),
    AccuracyProblem("BirdSong", "birdsong"),
    AccuracyProblem("MSRCv2", "msrcv2"),
    AccuracyProblem("PIE 18 x 21, 3 extra", "pie", {**PIE, "n_extra": 3}, FIVE),
    AccuracyProblem("PIE 18 x 21, 7 extra", "pie", {**PIE, "n_extra": 7}, FIVE),
    AccuracyProblem("PIE 18 x 21, 9 extra", "pie", {**PIE, "n_extra": 9}, FIVE, *FEWER),
    AccuracyProblem("FIW-like 10 x 50, 1 extra", "fiw10b", {"n_extra": 1}, FIVE),
    AccuracyProblem("FIW-like 10 x 50, 3 extra", "fiw10b", {"n_extra": 3}, FIVE),
    AccuracyProblem("FIW-like 10 x 50, 5 extra", "fiw10b", {"n_extra": 5}, FIVE, *FEWER),
    AccuracyProblem("ORL 40 x 10, 3 extra", "orl", {"n_extra": 3}, FIVE),
    AccuracyProblem("ORL 40 x 10, 5 extra", "orl", {"n_extra": 5}, FIVE, *FEWER),
    AccuracyProblem(
        "newsroom, photos as groups",
        "newsroom",
        variants=("no constraint", "at most once (no argument)", "at least one named", "both"),
        methods=("WMCar", "CandidateClassifier"),
    ),
)


@dataclass(frozen=True)
class AccuracyRun:
    """One measurement: errors in % of all instances and, with a null class, of two parts of them.

    The parts are instances whose name is mentioned in more than one group, and null ones.
    """

    problem: str
    method: str
    setting: str
    seed: int
    version: str = __version__
    error: float = float("nan")
    repeated_error: float | None = None
    null_error: float | None = None
    seconds: float = float("nan")
    machine: str = ""

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Problem, method, setting, seed and version, which identify a run."""
        return self.problem, self.method, self.setting, self.seed, self.version


def make(method: str, setting: str) -> Any:
    """Return the estimator of a cell of the table, without a classifier for new instances."""
    if method == ORACLE:
        return WMCar(classifier=None)
    if method in OURS:
        return methods.get(method).set_params(classifier=None, random_state=0, **VARIANTS[setting])
    kind = WMCar if method.startswith("WMCar") else MCar
    model = kind(classifier=None, **VARIANTS[setting])
    return ICE(model, classifier=None) if method.endswith("ICE") else model


def measure(problem: AccuracyProblem, run: AccuracyRun) -> AccuracyRun:
    """Carry out a run, and return it with its errors and its time."""
    data = problem.load(run.seed)
    model = make(run.method, run.setting)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # "paper" on features as they come
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)  # the error tells
        found = [
            model.set_params(**options).fit_predict(data.X, data.candidates)
            for options in (_grid(data.X) if run.method == ORACLE else [{}])
        ]
    seconds = time.perf_counter() - started
    labels = min(found, key=lambda labels: labelling_error(data.y, labels))
    parts: dict[str, Any] = {}
    if data.candidates.null is not None:
        null = data.y == data.candidates.null
        for part, rows in (("repeated_error", repeated(data) & ~null), ("null_error", null)):
            parts[part] = _percent(data.y[rows], labels[rows])
    return replace(
        run,
        error=_percent(data.y, labels),
        seconds=round(seconds, 2),
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        **parts,
    )


def _grid(X: Any) -> list[dict[str, Any]]:
    """Return the settings that the oracle chooses from; features are standardised as by default."""
    return [{**options, "standardize": differ_in_unit(X)} for options in GRID]


def repeated(data: Any) -> NDArray[np.bool_]:
    """Return which instances have a true label that is a candidate in more than one group."""
    i, j = np.nonzero(data.candidates.mask)
    pairs = np.unique(np.stack([j, data.candidates.group_numbers[i]]), axis=1)
    groups = np.bincount(pairs[0], minlength=len(data.candidates.classes))
    often = data.candidates.classes[groups > 1]
    return np.isin(data.y, often)


def _percent(y: Any, labels: Any) -> float:
    return round(100 * labelling_error(y, labels), 3)


def planned() -> list[tuple[AccuracyProblem, AccuracyRun]]:
    """Return all runs of the table, with their problems."""
    return [
        (problem, AccuracyRun(problem.name, method, setting, seed))
        for problem in PROBLEMS
        for setting in problem.variants
        for method in problem.methods
        if method not in (*OURS, ORACLE) or not VARIANTS[setting]  # they have no seed to vary
        for seed in (problem.seeds[:1] if method == ORACLE else problem.seeds)
    ]


def read_runs(path: Path) -> dict[tuple[Any, ...], AccuracyRun]:
    """Return the runs measured so far, the last one where there are several."""
    runs = [AccuracyRun(**line) for line in json_lines.read(path)]
    return {run.key: run for run in runs}


def table(runs: list[AccuracyRun]) -> str:
    """Return the table in Markdown: mean error and its standard deviation over seeds."""
    found: dict[tuple[str, str, str], list[AccuracyRun]] = defaultdict(list)
    for run in runs:
        found[run.problem, run.setting, run.method].append(run)
    wanted = {(run.problem, run.setting, run.method) for _, run in planned()}
    lines = [
        "| problem | setting | " + " | ".join(METHODS) + " | best published |",
        "|---|---|" + "---:|" * (len(METHODS) + 1),
        "| Lost | the paper, on raw pixels | "
        + " | ".join(str(PAPER_LOST.get(method, "")) for method in METHODS)
        + " |  |",
    ]
    for problem in PROBLEMS:
        for setting in problem.variants:
            cells = [
                _cell(found[problem.name, setting, method])
                if (problem.name, setting, method) in wanted
                else ""
                for method in METHODS
            ]
            known = "" if VARIANTS[setting] else str(PUBLISHED.get(problem.name, ""))
            lines.append(f"| {problem.name} | {setting} | " + " | ".join([*cells, known]) + " |")
    return "\n".join(lines) + "\n"


def _cell(runs: list[AccuracyRun]) -> str:
    if not runs:
        return "not run"
    errors = [run.error for run in runs]
    spread = f" ± {np.std(errors, ddof=1):.1f}" if len(errors) > 1 else ""
    often = [run.repeated_error for run in runs if run.repeated_error is not None]
    null = [run.null_error for run in runs if run.null_error is not None]
    parts = f" ({np.mean(often):.1f} / {np.mean(null):.1f})" if often else ""
    return f"{np.mean(errors):.1f}{spread}{parts}"


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure what is missing, and draw the tables."""
    out.mkdir(exist_ok=True)
    path = out / "accuracy.jsonl"
    done = read_runs(path)
    absent: list[AccuracyProblem] = []
    console = Console()
    with Progress(
        *Progress.get_default_columns()[:2],
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        bar = progress.add_task("", total=len(planned()))
        for problem, run in planned():
            progress.update(bar, description=f"{run.problem}, {run.method}, {run.setting}")
            if run.key not in done and problem not in absent:
                try:
                    done[run.key] = measure(problem, run)
                except FileNotFoundError as error:
                    absent.append(problem)
                    console.print(f"{problem.name} is not run: {error}")
                    continue
                json_lines.append(path, asdict(done[run.key]))
            progress.advance(bar)
    text = table([done[run.key] for _, run in planned() if run.key in done])
    (out / "accuracy.md").write_text(text)
    runs = [asdict(done[run.key]) for _, run in planned() if run.key in done]
    (out / "accuracy.json").write_text(json.dumps(runs, indent=1) + "\n")
    put_into(document, text, "accuracy")
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
