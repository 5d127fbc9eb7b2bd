"""python -m benchmarks.paper: the paper's experiments, run, judged and reported."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import rich.progress as bars
import typer
from joblib import effective_n_jobs
from rich.console import Console
from rich.table import Table

from benchmarks.documents import RESULTS, put_into
from benchmarks.paper import EXPERIMENTS, Experiment, experiment, planned
from benchmarks.paper.declaration import COMMAND, QUICK_REPEATS, REPEATS, PaperRun
from benchmarks.paper.results_section import section
from benchmarks.paper.stored_runs import Line, PaperResults
from candidly.extras import installed
from candidly.solvers.arrays import on_device

KEPT = Path("results/paper")
"""Where the runs that documents tell of are."""
EXAMPLES = """
[bold]Examples[/bold]

  python -m benchmarks.paper --list

  python -m benchmarks.paper lost

  python -m benchmarks.paper --quick --out quick

  python -m benchmarks.paper --draw            the report alone, from what is stored

  python -m benchmarks.paper --check 10        ten stored runs again: do they agree?
"""


def paper(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which experiments. [all]")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Say which experiments there are, and run nothing.")
    ] = False,
    repeats: Annotated[
        int | None, typer.Option(min=1, help=f"Repeats. [{REPEATS}; {QUICK_REPEATS} with --quick]")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the runs and the report; what is there is kept.")
    ] = KEPT,
    quick: Annotated[
        bool, typer.Option("--quick", help="A coarse grid, minutes instead of hours.")
    ] = False,
    draw: Annotated[
        bool, typer.Option("--draw", help="Write the report from what is stored, run nothing.")
    ] = False,
    check: Annotated[
        int | None,
        typer.Option(min=1, help="Make so many stored runs again, drawn at random, and compare."),
    ] = None,
    draw_seed: Annotated[
        int, typer.Option("--draw-seed", help="With --check: which runs are drawn.")
    ] = 0,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="With --check, if all agree: keep what was stored by earlier code as if by this.",
        ),
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(help="Where to solve, as PyTorch names it: cuda. [this processor]"),
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Runs at a time; -1 for one per processor.")] = -1,
) -> None:
    """Reproduce the paper: every experiment of its section on results.

    Every run is kept as a line of a file with its seed, version and settings, so
    that the same command continues where it was interrupted. A run is made again when code
    that affects it has changed since. One page, report.html,
    has figures, tables with the paper's numbers, and a verdict on each claim.
    Data is read from the folder that CANDIDLY_DATA names.
    """
    console = Console(stderr=True)
    try:
        chosen = tuple(map(experiment, names)) if names else EXPERIMENTS
        if listing:
            Console().print(_listed(chosen))
            return
        if n_jobs == 0:
            raise ValueError("--n-jobs is 1 or more, or -1 for one per processor, got 0")
        if out.exists() and not out.is_dir():
            raise ValueError(f"--out {out} is a file; name a folder")
        if accept and not check:
            raise ValueError("--accept needs --check: code is kept where runs made again agree")
        if check:
            _check(chosen, out, check, draw_seed, accept, console)
            return
        if not installed("plot"):
            _say(console, "note: figures need matplotlib: pip install 'candidly[plot]'")
        if device is not None:
            on_device(np.zeros(1), device)  # or every run that needs it would fail
        if not draw:
            count = repeats or (QUICK_REPEATS if quick else REPEATS)
            runs = partial(planned, repeats=count, quick=quick, device=device)
            _run(chosen, runs, out, effective_n_jobs(n_jobs), console)
        from benchmarks.paper import paper_report

        results = PaperResults.read(out)
        if not results.lines:
            raise ValueError(f"nothing is stored in {out}; without --draw the experiments are run")
        with console.status(f"drawing the report of {len(results.lines)} runs"):
            page = paper_report.write(results, out, made_by=_command(names, repeats, quick))
        if out == KEPT and RESULTS.is_file():
            judged = json.loads((out / "claims.json").read_text(encoding="utf-8"))
            hours = json.loads((out / "means.json").read_text(encoding="utf-8"))["hours"]
            put_into(RESULTS, section(judged, hours), "paper")
    except KeyboardInterrupt:
        _say(console, "interrupted; what is done is kept: the same command again continues")
        raise typer.Exit(130) from None
    except (OSError, ValueError, ImportError) as problem:
        _say(console, f"error: {problem}")
        raise typer.Exit(1) from problem
    _say(console, f"report: {page}")


def _check(
    experiments: tuple[Experiment, ...],
    out: Path,
    count: int,
    seed: int,
    keep: bool,
    console: Console,
) -> None:
    """Make stored runs again, say which agree, and raise where one does not."""
    from benchmarks.paper import checking

    found = checking.check(
        experiments, out, count, seed=seed, watch=lambda one: _say(console, str(one))
    )
    if not found:
        raise ValueError(f"nothing is stored in {out}")
    wrong = sum(bool(one.differs) for one in found)
    _say(console, f"{len(found) - wrong} of {len(found)} agree")
    if wrong:
        raise ValueError("stored runs are not what this code gives; without --check they are made")
    if keep:
        pairs = checking.accept(experiments, out)
        _say(console, f"{pairs} fingerprints of earlier code are taken for this code's")


def _say(console: Console, text: str) -> None:
    """Print a line as it is."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _command(names: list[str] | None, repeats: int | None, quick: bool) -> str:
    parts = [COMMAND, *(names or [])]
    parts += [f"--repeats {repeats}"] if repeats else []
    parts += ["--quick"] if quick else []
    return " ".join(parts)


def _listed(experiments: tuple[Experiment, ...]) -> Table:
    table = Table()
    for column in ("name", "experiment", "in the paper", "runs"):
        table.add_column(column, justify="right" if column == "runs" else "left")
    for one in experiments:
        table.add_row(one.name, one.title, one.place, str(len(planned((one,)))))
    return table


def _run(
    experiments: tuple[Experiment, ...],
    runs_of: Callable[[tuple[Experiment, ...]], list[PaperRun]],
    out: Path,
    jobs: int,
    console: Console,
) -> None:
    from benchmarks.paper.execution import carry_out, there

    present, absent = there(experiments)
    for name, reason in absent.items():
        _say(console, f"{name} is not run: {reason}")
    if not present:
        raise ValueError("there is no data for any of these; set CANDIDLY_DATA to its folder")
    runs = runs_of(tuple(present))
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[left]}", markup=False),
    )
    hidden = not console.is_terminal
    with bars.Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=len(runs), left="")

        def watch(line: Line | None, done: int, total: int, left: float) -> None:
            if line is None:
                if done:
                    _say(console, f"{done} of {total} runs are in {out}")
            else:
                settings = line["settings"]
                point = ", ".join(f"{name} {value}" for name, value in settings["at"].items())
                what = f"{settings['experiment']}, {point}, {settings['method']}"
                progress.update(task, description=what)
                if hidden and done % 100 == 0:
                    _say(console, f"{done} of {total} runs, {_time(left)}")
            progress.update(task, completed=done, left=_time(left))

        carry_out(runs, out, jobs=jobs, watch=watch)


def _time(seconds: float) -> str:
    if math.isnan(seconds):
        return "time left unknown"
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return (
        f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"
    )


app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)
app.command(epilog=EXAMPLES)(paper)

if __name__ == "__main__":
    app()
