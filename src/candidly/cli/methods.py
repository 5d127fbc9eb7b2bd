"""The verb ``candidly methods``: all methods, what each costs and when to use it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from candidly.comparison import chosen_methods
from candidly.extras import installed
from candidly.methods import describe, get, names

TAKES = ("groups", "null", "constraints", "weights", "priors")


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs to read.")] = False,
) -> None:
    """List the methods with reference, cost and when to use each.

    A method takes groups (photos), a null class, constraints, sample_weight, or priors: soft labels
    to start from, so that it can be combined with ICE. What it does not take it refuses.
    """
    found = [entry(name) for name in names()]
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    console = Console()
    for method in found:
        takes = [tag for tag in TAKES if (method["takes"] or {}).get(tag)]
        console.print(f"[bold]{escape(method['name'])}[/bold]  {escape(method['reference'])}")
        about = {"use": method["use"], "cost": method["cost"], "takes": ", ".join(takes)}
        for word, text in {**about, "not here": method["problem"]}.items():
            if text:
                indented = Padding(f"{word}: {escape(text)}", (0, 0, 0, 2))
                console.print(indented, highlight=False)
    quick, in_groups = (", ".join(chosen_methods(None, groups)) for groups in (False, True))
    console.print(f"Compared by default: {quick};", highlight=False)
    console.print(f"with groups or a null class: {in_groups}", highlight=False)


def entry(name: str) -> dict[str, Any]:
    """Return the entry of a method, and the problem that keeps it from working here."""
    method = describe(name)
    found: dict[str, Any] = {
        "name": name,
        "reference": method.reference,
        "cost": method.cost,
        "use": method.use,
        "takes": None,
        "extra": method.extra,
        "problem": None,
    }
    try:
        model = get(name)
    except ImportError as error:
        return {**found, "problem": str(error)}
    found["takes"] = {tag: getattr(model.tags, tag) for tag in TAKES}
    if method.extra is not None and not installed(method.extra):
        found["problem"] = f"needs pip install 'candidly[{method.extra}]'"
    return found
