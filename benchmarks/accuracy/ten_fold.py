"""python -m benchmarks.accuracy.ten_fold: accuracy on unseen instances, ten folds.

Part of ``make accuracy``. All methods get the same folds. Every fold is one line of
``results/ten-fold-*.jsonl``, so an interrupted measurement continues; ``results/ten-fold.md`` and
the table in ``docs/results.md`` are drawn from them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.documents import RESULTS, put_into
from candidly import compare, datasets
from candidly.comparison import Comparison

DATA = {"lost": "Lost", "msrcv2": "MSRCv2", "birdsong": "BirdSong"}
METHODS = ("PL-KNN", "CLPL", "IPAL", "WMCar-ICE", "RowSpace", "RowSpace-RBF", "CandidateClassifier")
PUBLISHED = {"lost": 81, "msrcv2": 60, "birdsong": 78}
"""Best accuracy on unseen instances that was published, as reported."""


def measure(name: str, out: Path) -> Comparison:
    """Compare the methods on ten folds of a data set."""
    data = datasets.load(name)
    path = out / f"ten-fold-{name}.jsonl"
    return compare(data.X, data.candidates, data.y, methods=METHODS, folds=10, out=path)


def table(found: dict[str, Comparison]) -> str:
    """Return the table in Markdown: accuracy in % of the labels found / of unseen instances."""
    lines = ["| method | " + " | ".join(DATA[name] for name in found) + " |"]
    lines.append("|---|" + "---:|" * len(found))
    rows = {name: {s.method: s for s in each.summary()} for name, each in found.items()}
    for method in METHODS:
        cells = []
        for name in found:
            summary = rows[name][method]
            if summary.labelling_error is None or summary.test_error is None:
                cells.append("not run")
                continue
            shown, unseen = summary.labelling_error[0], summary.test_error
            cells.append(
                f"{100 * (1 - shown):.1f} / {100 * (1 - unseen[0]):.1f} ± {100 * unseen[1]:.1f}"
            )
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    best = " | ".join(f"/ {PUBLISHED[name]}" for name in found)
    return "\n".join([*lines, f"| best published | {best} |"]) + "\n"


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure what is missing, and draw the table."""
    console = Console()
    out.mkdir(exist_ok=True)
    found = {}
    for name in DATA:
        try:
            with console.status(f"ten folds of {DATA[name]}"):
                found[name] = measure(name, out)
        except FileNotFoundError as error:
            console.print(f"{DATA[name]} is not run: {error}")
    if found:
        console.print(table(found), highlight=False)
    if len(found) < len(DATA):
        console.print(f"the table in {document} is left as it is: a data set is missing")
        return
    (out / "ten-fold.md").write_text(table(found))
    put_into(document, table(found), "ten-fold")


if __name__ == "__main__":
    typer.run(main)
