"""candidly methods: which there are, what each costs and when to use it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from candidly.comparison import chosen
from candidly.extras import installed
from candidly.methods import describe, get, names

TAKES = {"takes_groups": "groups", "takes_soft_labels": "soft"}


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs to read.")] = False,
) -> None:
    """List the methods with reference, cost and when to use each.

    A method that takes groups knows photos and a null class; one that takes soft
    labels starts from priors, and ICE works with it.
    """
    found = [entry(name) for name in names()]
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    table = Table(
        Column("method", no_wrap=True),
        *(Column(name, overflow="fold") for name in ("reference", "cost", "use it for")),
        Column("takes", no_wrap=True),
        title="Methods",
    )
    for method in found:
        use = method["use"] + (f" ({method['problem']})" if method["problem"] else "")
        words = (method["name"], method["reference"], method["cost"], use)
        takes = [word for key, word in TAKES.items() if method[key]]
        table.add_row(*map(escape, words), "\n".join(takes))
    console = Console()
    console.print(table)
    console.print(f"Compared unless others are named: {', '.join(chosen(None))}", highlight=False)


def entry(name: str) -> dict[str, Any]:
    """What is known of a method, and what keeps it from working here."""
    method = describe(name)
    found: dict[str, Any] = {
        "name": name,
        "reference": method.reference,
        "cost": method.cost,
        "use": method.use,
        "takes_groups": None,
        "takes_soft_labels": None,
        "extra": method.extra,
        "problem": None,
    }
    try:
        model = get(name)
    except ImportError as error:
        return {**found, "problem": str(error)}
    # Those of the MCar family all take groups, and do not say so.
    found["takes_groups"] = bool(getattr(model, "takes_groups", True))
    found["takes_soft_labels"] = bool(getattr(model, "takes_soft_labels", False))
    if method.extra is not None and not installed(method.extra):
        found["problem"] = f"needs pip install 'candidly[{method.extra}]'"
    return found
