"""Shared by the verbs that decide: their arguments, completion of names, and what they print."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from candidly.cli.refusal import failure, readable, tell, writable
from candidly.photos import Decision, Project, ProjectProblem
from candidly.photos.explaining.face_choice import face_label
from candidly.photos.project import open_project
from candidly.photos.project.decision_log import read_decisions
from candidly.photos.project.known_names import all_names


def complete_name(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of people that begin like this, for the shell to complete."""
    try:
        with Project.open(context.params.get("project")) as opened, opened.snapshot() as sql:
            names = all_names(sql)
    except ProjectProblem:
        return []  # a shell that completes has no place for an error
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]


FaceArgument = Annotated[
    str, typer.Argument(help="A number of candidly faces, FILE, or FILE#2: second from left.")
]
FacesArgument = Annotated[
    list[str], typer.Argument(help="Faces: numbers of candidly faces, FILE, or FILE#2.")
]
NameArgument = Annotated[str, typer.Argument(help="A person's name.", autocompletion=complete_name)]
PeopleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--person",
        help="Only photos of this person, surely or likely; several: of all of them.",
        autocompletion=complete_name,
    ),
]


def decide(
    project: Path | None,
    make: Callable[[Project], tuple[list[int], list[str]]],
    *,
    as_json: bool,
) -> None:
    """Make decisions in a project, and print them.

    Parameters
    ----------
    project : Path or None
    make : callable
        Makes the decisions, given the open project; returns their numbers, and notes about them.
    as_json : bool
        Whether to print the records of the decisions.
    """
    console = Console(stderr=True)
    try:
        with open_project(project, write=True) as opened:
            made, notes = make(opened)
            with opened.snapshot() as sql:
                records = list(read_decisions(sql, made))
                rows = [decision_row(sql, record) for record in records]
                lines = [sentence(sql, record) for record in records]
    except (ProjectProblem, ValueError) as problem:
        raise failure(console, problem) from problem
    if as_json:
        sys.stdout.write(writable(json.dumps(rows, ensure_ascii=False, indent=1)) + "\n")
    else:
        for record, line in zip(records, lines, strict=True):
            sys.stdout.write(f"{record.number}: {readable(line)}\n")
    for note in notes:
        tell(console, f"note: {readable(note)}")
    if not as_json:
        numbers = " ".join(map(str, made))
        tell(
            console, f"candidly undo {numbers} takes it back; candidly name lets it count elsewhere"
        )


def decision_row(sql: sqlite3.Connection, decision: Decision) -> dict[str, Any]:
    """Return the record of a decision with the file and place of its face."""
    file = None if decision.face is None else face_label(sql, decision.face)
    return {**asdict(decision), "file": file}


def sentence(sql: sqlite3.Connection, decision: Decision) -> str:
    """Return a decision in words."""
    face = "" if decision.face is None else face_label(sql, decision.face)
    match decision.what:
        case "is":
            return f"{face} is {decision.name}"
        case "not":
            return f"{face} is not {decision.name}"
        case "nobody":
            return f"{face} is nobody to name"
        case "ignore":
            return f"{face} is not asked about"
        case "merge":
            return f"{decision.name} is {decision.becomes}, too"
        case "rename":
            return f"{decision.name} is called {decision.becomes}"
        case _:
            return f"decision {decision.undoes} is taken back"
