"""python -m benchmarks.accuracy.alternatives: what CandidateClassifier could do instead.

``make alternatives``. Labelling error in %, seed 0; ``results/alternatives.md`` and the tables in
``docs/choosing.md`` are drawn from ``results/alternatives.jsonl``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from sklearn.base import clone

from benchmarks.accuracy.labelling_error import PROBLEMS, AccuracyProblem
from benchmarks.documents import put_into
from benchmarks.paper.news import news
from candidly import __version__, datasets, json_lines
from candidly.base import DoubtfulLabelsWarning
from candidly.estimators import OpenSet
from candidly.metrics import labelling_error
from candidly.selection import CandidateClassifier

CHOICES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "without denoising": {"denoise": False},
    "completion alone": {"families": ("row-space",)},
    "without class sizes": {"class_sizes": False},
    "linear lift alone": {"widths": ()},
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


def chosen(problem: AccuracyProblem) -> dict[str, float]:
    """Return the error of CandidateClassifier with each of the other settings."""
    return _errors(CandidateClassifier(random_state=0), CHOICES, problem.load())


def _errors(model: Any, ways: dict[str, dict[str, Any]], data: Any) -> dict[str, float]:
    found = {}
    for name, options in ways.items():
        other = clone(model).set_params(classifier=None, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulLabelsWarning)  # a worse setting may fail
            labels = other.fit_predict(data.X, data.candidates)
        found[name] = round(100 * labelling_error(data.y, labels), 3)
    return found


def open_set(data: Any) -> dict[str, float]:
    """Return the error of open-set labelling with each of the other settings."""
    return _errors(OpenSet(), OPEN_SET, data)


def _of_collection(load: Callable[[], Any]) -> dict[str, float]:
    return open_set(load())


def table(found: dict[str, dict[str, float]]) -> str:
    """Return the tables in Markdown: CandidateClassifier first, open-set labelling below."""
    text = []
    for ways in (CHOICES, OPEN_SET):
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
        problem.name: partial(chosen, problem)
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
