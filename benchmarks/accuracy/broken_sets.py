"""python -m benchmarks.accuracy.broken_sets: candidate sets that miss the true label.

In some sets the true label is replaced by a random other class, so that sizes stay. Measured are
the labelling error without ``set_noise``, with the true share and with "auto", the share that
"auto" finds, its estimate of its own error, and how well suspects are ranked: average precision,
and how many of the first k are broken, for k broken sets. The constants of
``selection/set_noise.py`` were chosen on seeds 0 and 1 of the same problems, so that seeds start at
2 here. Every run is a line of ``results/broken_sets.jsonl``; what is there is not run again. Real
data sets need ``CANDIDLY_DATA``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.metrics import average_precision_score
from sklearn.utils import Bunch

from benchmarks.documents import RESULTS, keep
from candidly import CandidateClassifier, Candidates, __version__, datasets, json_lines
from candidly import labelling_error as error_of
from candidly.base import DoubtfulLabelsWarning

RATES = (0.0, 0.1, 0.2, 0.3)
FIRST_SEED = 2
"""Seeds before were used to choose constants."""
MOST = 1000
"""Instances of a problem, at most."""
PROBLEMS: dict[str, Callable[[int], Bunch]] = {
    "digits 10 x 60, 3 extra": lambda seed: datasets.load(
        "digits", each=60, n_extra=3, random_state=seed
    ),
    "text-like": lambda seed: datasets.load("text-like", random_state=seed),
    "Lost": lambda seed: datasets.load("lost"),
    "BirdSong": lambda seed: datasets.load("birdsong"),
    "MSRCv2": lambda seed: datasets.load("msrcv2"),
}


def broken(
    data: Bunch, rate: float, seed: int
) -> tuple[NDArray[Any], NDArray[Any], Candidates, NDArray[np.bool_]]:
    """Return features, true labels, sets of which some miss the label, and which do."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(data.y))[:MOST])
    y, mask = np.asarray(data.y)[rows], data.candidates.mask[rows].copy()
    column = {name: k for k, name in enumerate(data.candidates.classes.tolist())}
    lacking = np.zeros(len(y), dtype=bool)
    for j in rng.permutation(np.flatnonzero(~mask.all(axis=1)))[: round(rate * len(y))]:
        other = rng.choice(np.flatnonzero(~mask[j]))
        mask[j, column[y[j]]], mask[j, other] = False, True
        lacking[j] = True
    sets = Candidates.from_mask(mask, classes=data.candidates.classes)
    return data.X[rows], y, sets, lacking


def measure(data: Bunch, rate: float, seed: int, set_noise: float | str) -> dict[str, float]:
    """Return the labelling error in %, seconds, and with set noise the rest."""
    X, y, sets, lacking = broken(data, rate, seed)
    model = CandidateClassifier(set_noise=set_noise, classifier=None, random_state=seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)
        model.fit(X, sets)
    found = {
        "error": round(100 * error_of(y, model.transduction_), 2),
        "seconds": round(time.perf_counter() - started, 1),
    }
    if set_noise != 0:
        outside = np.where(sets.mask, 0, model.label_distributions_).sum(axis=1)
        found["rate"] = round(float(model.set_noise_), 3)
        estimate = model.error_estimate_
        found["estimate"] = round(100 * estimate.error, 2)
        found["low"], found["high"] = round(100 * estimate.low, 2), round(100 * estimate.high, 2)
        if lacking.any():
            first = np.argsort(-outside, kind="stable")[: lacking.sum()]
            found["first"] = round(float(lacking[first].mean()), 3)
            found["precision"] = round(float(average_precision_score(lacking, outside)), 3)
    return found


def table(lines: list[dict[str, Any]]) -> str:
    """Return the table of stored runs: a row for each problem, share and seed, and a summary."""
    titles = ["problem", "broken", "seed", "error without", "true share", "auto", "its estimate"]
    titles += ["found", "first k", "average precision"]
    text = f"| {' | '.join(titles)} |\n|---|{'---:|' * (len(titles) - 1)}\n"
    runs = {(r["problem"], r["broken"], r["seed"], r["set_noise"]): r for r in lines}
    compared = []
    for problem, rate, seed in sorted(dict.fromkeys(key[:3] for key in runs), key=_place):
        kinds = [runs.get((problem, rate, seed, kind)) for kind in ("0", "share", "auto")]
        if kinds[0] is None or kinds[2] is None:
            continue
        auto = kinds[2]
        compared.append((kinds[0], auto))
        errors = [f"{run['error']:.1f}" if run else "" for run in kinds]
        rest = [f"{auto['estimate']:.1f} ({auto['low']:.1f} to {auto['high']:.1f})"]
        rest.append(f"{auto['rate']:.3f}")
        rest += [f"{auto[name]:.2f}" if name in auto else "" for name in ("first", "precision")]
        cells = [problem, f"{rate:.0%}", str(seed), *errors, *rest]
        text += f"| {' | '.join(cells)} |\n"
    return f"{text}\n{summary(compared)}\n"


def _place(key: tuple[str, float, int]) -> tuple[int, float, int]:
    return list(PROBLEMS).index(key[0]), *key[1:]


def summary(compared: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Return how "auto" compares with nothing, in pairs of runs without and with it."""
    whole = [(without, auto) for without, auto in compared if not auto["broken"]]
    broken = [(without, auto) for without, auto in compared if auto["broken"]]
    changed = sum(without["error"] != auto["error"] for without, auto in whole)
    better = sum(auto["error"] < without["error"] for without, auto in broken)
    worse = sum(auto["error"] > without["error"] for without, auto in broken)
    inside = sum(auto["low"] <= auto["error"] <= auto["high"] for _, auto in compared)
    return (
        f'Of {len(whole)} draws with whole sets, "auto" changes the labels in {changed}; of '
        f"{len(broken)} with broken ones it is better in {better} and worse in {worse}. Its error "
        f"is inside its interval in {inside} of {len(compared)}."
    )


def main(
    seeds: Annotated[int, typer.Option(help="Number of draws.")] = 2,
    problem: Annotated[list[str] | None, typer.Option(help="Only these problems.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure what is missing, print the table, write it to broken_sets.md and the document."""
    path = out / "broken_sets.jsonl"
    done = {(r["problem"], r["broken"], r["seed"], r["set_noise"]) for r in json_lines.read(path)}
    console = Console(width=200)
    drawn = range(FIRST_SEED, FIRST_SEED + seeds)
    for seed in drawn:
        for name, rate in ((name, rate) for name in problem or PROBLEMS for rate in RATES):
            kinds: dict[str, float | str] = {"0": 0.0, "auto": "auto"}
            if rate:
                kinds["share"] = rate
            for kind, set_noise in kinds.items():
                if (name, rate, seed, kind) in done:
                    continue
                try:
                    data = PROBLEMS[name](seed)
                except FileNotFoundError as error:
                    console.print(f"{name} is not run: {error}")
                    break
                key = {"problem": name, "broken": rate, "seed": seed, "set_noise": kind}
                found = measure(data, rate, seed, set_noise)
                json_lines.append(path, {**key, **found, "version": __version__})
    text = table(json_lines.read(path))
    keep(text, "broken-sets", out / "broken_sets.md", RESULTS)
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
