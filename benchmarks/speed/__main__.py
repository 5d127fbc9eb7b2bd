"""python -m benchmarks.speed: measure seconds and memory, store them, and renew the table."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks.speed.own_process import in_own_process
from benchmarks.speed.speed_parts import measurements
from benchmarks.speed.speed_report import DOCUMENT, renew, row


def main(
    only: Annotated[
        list[str] | None, typer.Option(help="Names to measure; * stands for anything.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small problems, in seconds; nothing is stored.")
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(
            help="Device of PyTorch for what is measured on one, e.g. cuda; cpu tries it on little."
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Print the names alone.")] = False,
    out: Annotated[Path, typer.Option(help="Where figures are stored.")] = Path(
        "results/speed.json"
    ),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = DOCUMENT,
) -> None:
    """Measure speed and memory, store the figures, and renew the table.

    Examples: python -m benchmarks.speed --only 'alm*'; python -m benchmarks.speed --quick;
    python -m benchmarks.speed --only 'device*' --device cuda
    """
    console = Console(soft_wrap=True, highlight=False)
    names = [
        name
        for name in measurements()
        if not only or any(fnmatch(name, pattern) for pattern in only)
    ]
    if not names:
        raise typer.BadParameter(f"no measurement is called {', '.join(only or ())}; see --list")
    if device is None and not listing:
        names = [name for name in names if not measurements()[name].device]
        if not names:
            raise typer.BadParameter("these are measured on a device: give --device, such as cuda")
    measured = False
    for name in names:
        if listing:
            console.print(f"{name}: {measurements()[name].what}")
            continue
        small = quick or (device == "cpu" and measurements()[name].device)
        with console.status(f"measuring {name}"):
            record = in_own_process(name, small, device)
        console.print(row(measurements()[name], record))
        if not small:  # after each, so that an interrupted run loses nothing
            stored, measured = {**_stored(out), name: record}, True
            out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    if measured:
        renew(_stored(out), document)


def _stored(out: Path) -> dict[str, Any]:
    """Return what is stored now; another run may have added to it."""
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    return found


if __name__ == "__main__":
    typer.run(main)
