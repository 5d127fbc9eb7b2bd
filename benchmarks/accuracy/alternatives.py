"""python -m benchmarks.accuracy.alternatives: what CandidateClassifier could do instead.

``make alternatives``. Labelling error in %, seed 0; ``results/alternatives.md`` and the tables in
``docs/choosing.md`` are drawn from ``results/alternatives.jsonl``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from benchmarks.accuracy.labelling_error import PROBLEMS, AccuracyProblem
from benchmarks.documents import put_into
from benchmarks.paper.news import news
from candidly import __version__, datasets, json_lines
from candidly.base import Context
from candidly.estimators import OpenSet
from candidly.metrics import labelling_error
from candidly.selection import CandidateClassifier
from candidly.selection.candidate_classifier import SettingSearch, Trial

Found = dict[str, list[Any]]

AVERAGES: dict[str, Callable[[Found], Any]] = {
    "as it is": lambda found: found["weight"],
    "without denoising": lambda found: _of(found, lambda p: not p["denoise"]),
    "weights by covering rate alone": lambda found: found["by_covering_rate"],
    "best setting alone": lambda found: _best(found),
    "all settings alike": lambda found: [not p["denoise"] for p in found["params"]],
    "linear lift alone": lambda found: _of(
        found, lambda p: p["lift"] == "linear" and not p["denoise"]
    ),
    "kernels of widths 1 and 4 alone": lambda found: _of(found, lambda p: p["width"] in (1.0, 4.0)),
}
OPEN_SET: dict[str, dict[str, Any]] = {
    "as it is": {},
    "likelihoods as they are (damping 1)": {"damping": 1.0},
    "nobody is known from elsewhere": {"elsewhere": 0.01},
    "a mentioned name is shown or not": {"shown": 0.5},
    "a mentioned name is always shown": {"shown": 0.99},
    "how often is not learnt": {"learn_shown": False},
    "directions as they come (shrinkage 0)": {"shrinkage": 0.0},
    "neither": {"learn_shown": False, "shrinkage": 0.0},
    "ten iterations": {"max_iter": 10},
}
PIXELS = {"pixels": True, "shrink": 4}
COLLECTIONS: dict[str, Callable[[], Any]] = {
    "newsroom, photos as groups": lambda: datasets.load("newsroom"),
    "newsroom, rare names to nobody": lambda: news("newsroom"),
    "LFW, embeddings, rare names to nobody": lambda: news("lfw-news"),
    "LFW, pixels": lambda: news("lfw-news", **PIXELS),
    "LFW, pixels, few absent": lambda: news("lfw-news", **PIXELS, absent=0.2),
    "LFW, pixels, many absent": lambda: news("lfw-news", **PIXELS, absent=1.5),
    "LFW, pixels, half named": lambda: news("lfw-news", **PIXELS, named=0.5),
    "LFW, pixels, half named, many absent": lambda: news(
        "lfw-news", **PIXELS, named=0.5, absent=1.5
    ),
}
"""Captioned photos; simulated captions of LFW name 0.8 of those shown, and 0.5 absent people."""


def _best(found: Found) -> Any:
    return np.arange(len(found["params"])) == np.argmax(found["covering_rate"])


def _of(found: Found, wanted: Callable[[dict[str, Any]], bool]) -> Any:
    """Return the weights of some settings; equal weights where all of them are nearly zero."""
    kept = np.array([wanted(params) for params in found["params"]])
    weight = np.where(kept, found["weight"], 0)
    return weight if weight.sum() > 1e-6 else kept


def averaged(problem: AccuracyProblem) -> dict[str, float]:
    """Return the error of each way to average the same trials."""
    data = problem.load()
    P, mask = data.candidates.priors.T, data.candidates.mask.T
    model = CandidateClassifier(random_state=0)
    X = np.asarray(data.X, dtype=np.float64)
    trials, found = SettingSearch(model, X, P, mask, Context()).run()
    return {name: _error(trials, weigh(found), mask, data) for name, weigh in AVERAGES.items()}


def _error(trials: list[Trial], weight: Any, mask: NDArray[np.bool_], data: Any) -> float:
    labels: Any = sum(w * t.solution.labels for w, t in zip(weight, trials, strict=True))
    chosen = data.candidates.classes[np.where(mask, labels, -1).argmax(axis=0)]
    return round(100 * labelling_error(data.y, chosen), 3)


def open_set(data: Any) -> dict[str, float]:
    """Return the error of open-set labelling with each of the other settings."""
    return {
        name: round(
            100
            * labelling_error(
                data.y, OpenSet(classifier=None, **options).fit_predict(data.X, data.candidates)
            ),
            3,
        )
        for name, options in OPEN_SET.items()
    }


def _of_collection(load: Callable[[], Any]) -> dict[str, float]:
    return open_set(load())


def table(found: dict[str, dict[str, float]]) -> str:
    """Return the tables in Markdown: averages first, open-set labelling below."""
    text = []
    for ways in (AVERAGES, OPEN_SET):
        mine = {name: errors for name, errors in found.items() if list(errors) == list(ways)}
        text.append("| problem | " + " | ".join(ways) + " |")
        text.append("|---|" + "---:|" * len(ways))
        for name, errors in mine.items():
            text.append(f"| {name} | " + " | ".join(f"{e:.1f}" for e in errors.values()) + " |")
        text.append("")
    return "\n".join(text)


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = Path(
        "docs/choosing.md"
    ),
) -> None:
    """Measure what is missing, and draw the tables."""
    console = Console()
    out.mkdir(exist_ok=True)
    path = out / "alternatives.jsonl"
    found = {
        line["problem"]: line["errors"]
        for line in json_lines.read(path)
        if line["version"] == __version__
    }
    measures: dict[str, Callable[[], dict[str, float]]] = {
        problem.name: partial(averaged, problem)
        for problem in PROBLEMS
        if problem.name not in COLLECTIONS
    }
    measures |= {name: partial(_of_collection, load) for name, load in COLLECTIONS.items()}
    for name, measure in track(measures.items(), "alternatives", console=console):
        if name in found:
            continue
        try:
            errors = measure()
        except FileNotFoundError as error:
            console.print(f"{name} is not run: {error}")
            continue
        found[name] = errors
        json_lines.append(path, {"problem": name, "version": __version__, "errors": errors})
    text = table(found)
    (out / "alternatives.md").write_text(text)
    put_into(document, text, "alternatives")
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
