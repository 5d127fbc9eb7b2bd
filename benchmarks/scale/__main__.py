"""python -m benchmarks.scale: measure solves beyond memory and on Ray, and store the figures."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.scale.expectation import expectation
from benchmarks.scale.scale_parts import PARTS
from benchmarks.scale.scale_report import DOCUMENT, renew
from benchmarks.speed.machine import machine


def main(
    only: Annotated[list[str] | None, typer.Option(help="Parts to measure; all if none.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small problems, in a minute; nothing is stored.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where figures are stored.")] = Path(
        "results/scale.json"
    ),
    document: Annotated[Path, typer.Option(help="File whose tables are renewed.")] = DOCUMENT,
) -> None:
    """Measure solves out of core and on Ray.

    Examples: python -m benchmarks.scale --only agreement; python -m benchmarks.scale --quick
    """
    console = Console(soft_wrap=True, highlight=False)
    wrong = [name for name in only or () if name not in PARTS]
    if wrong:
        raise typer.BadParameter(f"there is no part {wrong[0]}; parts are {', '.join(PARTS)}")
    stored = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    for name in only or PARTS:
        figures = PARTS[name](quick)
        console.print(f"[bold]{name}[/]")
        console.print_json(json.dumps(figures))
        if not quick:
            stored[name] = {**figures, "date": date.today().isoformat(), "machine": machine()}
            if "out-of-core" in stored and "ray-round" in stored:
                stored["expectation"] = expectation(stored["out-of-core"], stored["ray-round"])
            out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            renew(stored, document)


if __name__ == "__main__":
    typer.run(main)
