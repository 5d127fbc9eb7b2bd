"""python -m benchmarks.house: size of the code, and how many files a call passes through.

``make house`` prints the figures; ``make check`` runs it with ``--check``, which fails where two
places share more than ten lines.

A file counts as executed where a function of it is called: importing it is not enough. Calls are
counted on a second run in the same process, so that everything is imported already. A step is a
pair of files of which one calls the other, perhaps through a library.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shutil
import statistics
import sys
import tempfile
import threading
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

import candidly

HOUSE = Path(candidly.__file__).parent
LABORATORY = Path(__file__).parent
SHARED = 10  # lines that two places may share
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class CalledFiles(NamedTuple):
    """Files of the package that a call passed through, and steps from one to another."""

    files: set[str]
    steps: set[tuple[str, str]]


class LineRange(NamedTuple):
    """A range of lines of a file, by its first and last line."""

    file: Path
    first: int
    last: int


def sources(*folders: Path) -> dict[Path, str]:
    """Return the text of every module in these folders, by its path."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def code_lines(text: str) -> set[int]:
    r"""Return the numbers of the lines with code: no docstring, comment or blank line.

    Examples
    --------
    >>> sorted(code_lines('def f():\n    "Return one."\n\n    # why\n    return 1\n'))
    [1, 5]
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - _lines_of(_docstrings(ast.parse(text)))


def function_lengths(text: str) -> list[int]:
    """Return the number of lines of each function, from ``def`` to its end."""
    nodes = ast.walk(ast.parse(text))
    return [_end(node) - node.lineno + 1 for node in nodes if isinstance(node, _Function)]


def shared_lines(modules: dict[Path, str], most: int = SHARED) -> list[tuple[LineRange, ...]]:
    """Return places that share more lines of code than ``most``.

    Docstrings, comments, imports and parameter lists do not count, nor does indentation.
    """
    found: dict[tuple[str, ...], list[LineRange]] = defaultdict(list)
    for path, text in modules.items():
        content = text.splitlines()
        kept = sorted(code_lines(text) - _imports_and_signatures(ast.parse(text)))
        for k in range(len(kept) - most):
            window = kept[k : k + most + 1]
            lines = tuple(content[number - 1].strip() for number in window)
            found[lines].append(LineRange(path, window[0], window[-1]))
    return [tuple(places) for places in found.values() if len(places) > 1]


def called_files(action: Callable[[], Any], folder: Path = HOUSE) -> CalledFiles:
    """Run an action, and return the files in a folder whose functions are called."""
    top = str(folder) + os.sep
    found = CalledFiles(set(), set())

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event != "call" or frame.f_code.co_name == "<module>" or not file.startswith(top):
            return
        found.files.add(file)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(top):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != file:
            found.steps.add((caller.f_code.co_filename, file))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    return found


def files_of_fit() -> CalledFiles:
    """Return the files that ``CandidateClassifier().fit`` on one family passes through."""
    digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    sets = digits.candidates.sets()

    def fit() -> None:
        candidly.CandidateClassifier().fit(digits.X, sets)

    fit()
    return called_files(fit)


def files_of_name(photos: int = 8) -> CalledFiles:
    """Return the files that ``candidly name`` on a few photos of the album passes through."""
    from candidly.cli.name import name
    from candidly.demo.album import copy_album

    with tempfile.TemporaryDirectory() as work, contextlib.redirect_stderr(io.StringIO()):
        album = Path(work, "album", "photos")
        copy_album(album.parent)
        _keep_first(album, photos)

        def run(number: int) -> None:
            folder = Path(work, str(number))
            shutil.copytree(album, folder / "photos")
            name(folder / "photos", folder / "a.candidly", report=folder / "report.html")

        run(0)
        return called_files(lambda: run(1))


def _keep_first(album: Path, photos: int) -> None:
    """Keep the first photos of an album, and remove the others with their captions."""
    kept = [path.stem for path in sorted(album.glob("*.jpg"))[:photos]]
    listed = album / "captions.csv"
    head, *rows = listed.read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [row for row in rows if row.startswith(tuple(kept))]
    for path in album.iterdir():
        if path.stem not in kept:
            path.unlink()
    listed.write_text("".join([head, *rows]), encoding="utf-8")


def _docstrings(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | _Function)
            and ast.get_docstring(node, clean=False) is not None
        ):
            yield node.body[0]


def _imports_and_signatures(tree: ast.Module) -> set[int]:
    nodes = list(ast.walk(tree))
    lines = _lines_of(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    for node in nodes:
        if isinstance(node, _Function):
            lines.update(range(node.lineno, node.body[0].lineno))
    return lines


def _lines_of(nodes: Any) -> set[int]:
    return {number for node in nodes for number in range(node.lineno, _end(node) + 1)}


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def main(
    check: Annotated[
        bool, typer.Option("--check", help="Fail where places share lines; measure nothing.")
    ] = False,
) -> None:
    """Print the figures of the code."""
    console = Console(soft_wrap=True, highlight=False)
    shared = shared_lines(sources(HOUSE, LABORATORY))
    for places in shared:
        where = ", ".join(f"{place.file}:{place.first}-{place.last}" for place in places)
        console.print(f"more than {SHARED} lines are shared: {where}")
    if check:
        raise typer.Exit(int(bool(shared)))
    modules = sources(HOUSE).values()
    lengths = [length for text in modules for length in function_lengths(text)]
    p90 = statistics.quantiles(lengths, n=10, method="inclusive")[-1]
    fit, named = files_of_fit(), files_of_name()
    for line in (
        f"lines of code that are installed: {sum(len(code_lines(text)) for text in modules)}",
        f"lines of a function: median {statistics.median(lengths):g}, p90 {p90:g}",
        f"files executed by CandidateClassifier().fit: {len(fit.files)}",
        f"files executed by candidly name on eight photos: {len(named.files)}",
        f"steps from one of them to another: {len(named.steps)}",
    ):
        console.print(line)


if __name__ == "__main__":
    typer.run(main)
