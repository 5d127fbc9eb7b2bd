"""Shared by all commands: lines on the console, and refusals of what cannot be done."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from rich.console import Console

from candidly.extras import installed

PICTURES = (".png", ".pdf", ".svg")


class Refused(Exception):  # noqa: N818  reads as what it is
    """Raised if the request cannot be carried out."""


def tell(console: Console, text: str) -> None:
    """Print a line as it is: no markup, no colours, no added line breaks."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def writable(text: str) -> str:
    """Return a text that any output accepts: file names may hold bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def readable(text: str) -> str:
    """Return a text that is safe on a terminal: control characters are escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in writable(text))


def failure(console: Console, problem: Exception) -> typer.Exit:
    """Print what is wrong, and return the exit to raise."""
    console.print("error:", style="red", end=" ")
    tell(console, str(problem))
    return typer.Exit(1)


def check_target(path: Path, forms: tuple[str, ...], taken: set[Path], force: bool) -> None:
    """Refuse, before any work, a file that could not be written after it."""
    if str(path) == "-" and ".csv" in forms:
        return
    if path.suffix.lower() not in forms:
        raise Refused(f"{path} should end in one of {', '.join(forms)}")
    if any(path.absolute() == other.absolute() for other in taken):
        raise Refused(f"{path} is another file of this command; choose another name")
    if path.exists() and not force:
        raise Refused(f"{path} is there already; choose another name, or --force to replace it")
    if not path.absolute().parent.is_dir():
        raise Refused(f"there is no folder {path.absolute().parent}; make it, or choose another")
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise Refused(f"{path} cannot be written to; choose another place")


def check_picture(path: Path, taken: set[Path], force: bool) -> None:
    """Refuse a picture that could not be drawn."""
    check_target(path, PICTURES, taken, force)
    if not installed("plot"):
        raise Refused("--plot needs matplotlib: pip install 'candidly[plot]'")
