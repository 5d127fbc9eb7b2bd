"""python -m benchmarks.accuracy.all_methods: labelling error of every method on Lost.

``make methods``. All faces, no argument. Every run is one line of ``results/methods.jsonl``, so an
interrupted measurement continues; ``results/methods.md`` and the table in ``docs/methods.md`` are
drawn from it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from benchmarks.documents import put_into
from candidly import __version__, datasets, json_lines, methods
from candidly.metrics import labelling_error

PAPER = {"naive": 18.6, "CLPL": 12.6, "MMS": 11.4, "IPAL": 22.9, "RPCA": 29.9, "MC-Pos": 23.6}
PAPER |= {"MCar": 8.5, "WMCar": 8.2, "MCar-ICE": 8.0, "WMCar-ICE": 5.2}
"""Errors that the paper reports, on raw pixels; ours are on 108 principal components."""


def measure(name: str, data: Any) -> dict[str, Any]:
    """Fit one method, with no argument except the seed, and return its error and time."""
    line = {"method": name, "version": __version__}
    model = methods.get(name).set_params(random_state=0)
    if "classifier" in model.get_params():  # SelfLabelling is one itself
        model.set_params(classifier=None)
    started = time.perf_counter()
    try:
        labels = model.fit_predict(data.X, data.candidates)
    except ImportError as error:
        return {**line, "error": None, "seconds": None, "reason": str(error)}
    seconds = time.perf_counter() - started
    wrong = 100 * labelling_error(data.y, labels)
    return {**line, "error": round(wrong, 3), "seconds": round(seconds, 2), "reason": None}


def table(lines: dict[str, dict[str, Any]]) -> str:
    """Return the table in Markdown, the best method first."""
    ranked = sorted(lines.values(), key=_rank)
    rows = ["| method | Lost, error % | the paper, on pixels | seconds | reference |"]
    rows.append("|---|---:|---:|---:|---|")
    for line in ranked:
        name = line["method"]
        error = "not run" if line["error"] is None else f"{line['error']:.1f}"
        seconds = line["reason"] or line["seconds"]
        paper, reference = PAPER.get(name, ""), methods.describe(name).reference
        rows.append(f"| {name} | {error} | {paper} | {seconds} | {reference} |")
    return "\n".join(rows) + "\n"


def _rank(line: dict[str, Any]) -> tuple[bool, float, str]:
    # Equal errors go by name, so that the table does not depend on when each was measured.
    return line["error"] is None, line["error"] or 0.0, line["method"]


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = Path(
        "docs/methods.md"
    ),
) -> None:
    """Measure what is missing, and draw the table."""
    console = Console()
    out.mkdir(exist_ok=True)
    path = out / "methods.jsonl"
    lines = {
        line["method"]: line for line in json_lines.read(path) if line["version"] == __version__
    }
    data = datasets.load("lost")
    for name in track(methods.names(), "methods on Lost", console=console):
        if name not in lines or lines[name]["error"] is None:
            lines[name] = measure(name, data)
            json_lines.append(path, lines[name])
    text = table({name: lines[name] for name in methods.names()})
    (out / "methods.md").write_text(text)
    put_into(document, text, "methods")
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
