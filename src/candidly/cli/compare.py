"""The verb ``candidly compare``: several methods on the same folds of one file."""

from __future__ import annotations

import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import rich.progress as bars
import typer
from rich.console import Console
from sklearn.utils import Bunch

from candidly import datasets
from candidly.candidates import UnlistedClassWarning
from candidly.cli.refusal import Refused, check_picture, failure, tell
from candidly.comparison import Comparison, ComparisonProgress, FoldResult, chosen_methods
from candidly.comparison import compare as compare_methods
from candidly.comparison.comparison import DONE

EXAMPLES = """
[bold]Examples[/bold]

  candidly compare faces.csv

  candidly compare lost --methods WMCar,CLPL --folds 10

  candidly compare digits --methods all --time-budget 60 --plot digits.png
"""


def compare(
    file: Annotated[
        str,
        typer.Argument(
            help="A .csv, .mat or .npz file with candidates, or the name of a data set "
            "(candidly datasets)."
        ),
    ],
    methods: Annotated[
        str | None,
        typer.Option(help="Names as A,B,C, or all (candidly methods lists them). [a quick set]"),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often new folds are drawn.")] = 1,
    time_budget: Annotated[
        float, typer.Option(help="Seconds per method, for all its folds; inf for no limit.")
    ] = 600.0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A .jsonl file for finished folds; folds that it has are not run again. "
            "[FILE.compare.jsonl]"
        ),
    ] = None,
    null: Annotated[
        str | None, typer.Option(help="The label that means 'none of these', for every row.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the result.")] = None,
    random_state: Annotated[
        int, typer.Option(min=0, help="Seed of the folds and of the methods.")
    ] = 0,
    n_jobs: Annotated[
        int, typer.Option(help="Methods that run at the same time; -1 for one per processor.")
    ] = 1,
    encoding: Annotated[str, typer.Option(help="Encoding of a CSV file.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Replace a picture that exists.")] = False,
) -> None:
    """Compare methods on one file: the same folds for all, a table at the end.

    Files are as in [bold]candidly resolve[/bold]. With a column label (the truth)
    errors are counted; without it, how often predictions for held-out rows are
    among their candidates. Rows of a group stay in one fold. A method that
    fails or takes too long is "not run", with the reason.
    """
    console = Console(stderr=True)
    try:
        names = None if methods is None else chosen_methods(_names(methods))
        source = Path(file)
        target = Path(f"{source.parent / source.stem}.compare.jsonl") if out is None else out
        _check_options(target, time_budget, n_jobs)
        if plot is not None:
            check_picture(plot, {source, target}, force)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = _read(source, null, encoding)
            with _watching(console, target) as watch:
                found = compare_methods(
                    data.X,
                    data.candidates,
                    data.y,
                    methods=names,
                    folds=folds,
                    repeats=repeats,
                    time_budget=time_budget,
                    out=target,
                    random_state=random_state,
                    n_jobs=n_jobs,
                    on_progress=watch,
                )
    except (Refused, OSError, ValueError) as problem:
        raise failure(console, problem) from problem
    for warning in caught:
        if issubclass(warning.category, UnlistedClassWarning):
            tell(console, f"note: {warning.message}")
    _show(found)
    tell(console, f"folds: {target}")
    if plot is not None and not found.interrupted:
        from candidly.plots import picture_of_comparison

        picture_of_comparison(found, plot)
        tell(console, f"picture: {plot}")
    if found.interrupted:
        tell(console, "interrupted; what is done is kept: the same command again continues")
        raise typer.Exit(130)
    if found.best is None:  # no method ran
        raise typer.Exit(1)


def _names(text: str) -> str | list[str]:
    text = text.strip()
    return text if text == "all" else [name.strip() for name in text.split(",") if name.strip()]


def _check_options(target: Path, time_budget: float, n_jobs: int) -> None:
    if target.suffix.lower() != ".jsonl":
        raise Refused(f"--out {target} should end in .jsonl; finished folds go there")
    if not time_budget > 0:
        raise Refused(f"--time-budget is a number of seconds above 0, got {time_budget:g}")
    if n_jobs == 0:
        raise Refused("--n-jobs is 1 or more, or -1 for one per processor, got 0")


def _read(source: Path, null: str | None, encoding: str) -> Bunch:
    """Read a file, or load the data set of that name if there is no such file."""
    if source.exists() or source.suffix:
        return datasets.read(source, null=null, encoding=encoding)
    if str(source) not in datasets.names():
        known = ", ".join(datasets.names())
        raise Refused(f"there is no file {source}, nor a data set of that name; there are {known}")
    if null is not None:
        raise Refused(f"--null is for files; the data set {source} has its own, if any")
    return datasets.load(str(source))


@contextmanager
def _watching(console: Console, target: Path) -> Iterator[_ProgressDisplay]:
    """Show a bar for the folds, and one line per finished method."""
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
    )
    hidden = not console.is_terminal
    with bars.Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        yield _ProgressDisplay(progress, target)


class _ProgressDisplay:
    """Display of the progress of a comparison as a bar and lines."""

    def __init__(self, progress: bars.Progress, target: Path) -> None:
        self.progress, self.target = progress, target
        self.task: bars.TaskID | None = None
        self.rows: dict[str, list[FoldResult]] = defaultdict(list)

    def __call__(self, news: ComparisonProgress) -> None:
        if news.row is not None:
            self._add(news.row, news.folds)
        elif self.task is None:
            self._begin(news)
        if self.task is not None:
            at = [f"{name}, fold {fold} of {news.folds}" for name, fold in news.running.items()]
            self.progress.update(self.task, completed=news.done, description="; ".join(at))

    def _begin(self, news: ComparisonProgress) -> None:
        """Print what is in the file, and start the bar."""
        known = sum(row.status == DONE for rows in self.rows.values() for row in rows)
        if known:
            tell(self.progress.console, f"{known} of {news.total} folds are in {self.target}")
        for rows in self.rows.values():
            self._line(rows, news.folds)
        self.task = self.progress.add_task("", total=news.total, completed=news.done)

    def _add(self, row: FoldResult, folds: int) -> None:
        self.rows[row.method].append(row)
        if self.task is not None:
            self._line(self.rows[row.method], folds)

    def _line(self, rows: list[FoldResult], folds: int) -> None:
        """Print the result of a method once all its folds are known."""
        if len(rows) == folds:
            tell(self.progress.console, Comparison(rows).summary()[0].line)


def _show(found: Comparison) -> None:
    """Print the table on standard output, with notes on single methods below it."""
    console = Console()
    console.print(found)
    for summary in found.summary():
        if summary.reason:
            tell(console, f"{summary.method}: {summary.state}")
    tell(console, textwrap.fill(found.caption, min(console.width, 92)))
