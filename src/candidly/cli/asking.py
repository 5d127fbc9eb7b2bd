"""Shared by the verbs that ask about names: on the terminal, and by files of answers."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import typer
from rich.console import Console

from candidly.cli.refusal import readable, tell, writable
from candidly.photos.auditing import Audit, Question
from candidly.photos.project.schema import clean_text
from candidly.photos.reporting.report_file import face_crops

COLUMNS = ("face", "file", "box", "name", "caption", "answer", "who")
YES, NO, UNSURE = ("yes", "y"), ("no", "n"), ("unsure", "u", "?")
NOBODY = "-"
PROMPT = "yes, no, unsure, crop (to see the face) or quit (to go on later)"
_FORMULA = tuple("=+-@\t\r\n")


def is_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(
    audit: Audit, console: Console, next_face: Callable[[], int | None], many: Callable[[], str]
) -> None:
    """Ask about faces on the terminal, until none is left or the user wants to stop.

    Parameters
    ----------
    audit : Audit
    console : Console
    next_face : callable
        Returns the next face to ask about, None at the end.
    many : callable
        Returns in words how many questions there may be.
    """
    with tempfile.TemporaryDirectory(prefix="candidly-") as folder:
        while (face := next_face()) is not None:
            question = audit.question(face)
            tell(console, "")
            tell(console, f"{readable(question.label)} ({many()})")
            if question.caption:
                tell(console, f"  caption: {readable(question.caption[:400])}")
            if not _ask_one(audit, console, question, Path(folder)):
                return


def _ask_one(audit: Audit, console: Console, question: Question, folder: Path) -> bool:
    """Ask about a face until it is answered; return whether to go on."""
    while True:
        said = typer.prompt(f"Is it {readable(question.name)}? {PROMPT}", err=True)
        word = said.strip().lower()
        if word in YES:
            audit.answer(question.face, right=True)
        elif word in NO:
            who = typer.prompt(
                f"Who is it? a name, {NOBODY} for nobody, empty if you do not know",
                default="",
                show_default=False,
                err=True,
            )
            audit.answer(question.face, right=False, name=_who(who))
        elif word in UNSURE:
            audit.answer(question.face, right=None)
        elif word in ("crop", "c"):
            _show_crop(audit, console, question, folder)
            continue
        elif word in ("quit", "q"):
            return False
        else:
            tell(console, f"{readable(said)!r} is no answer")
            continue
        return True


def _show_crop(audit: Audit, console: Console, question: Question, folder: Path) -> None:
    with audit.project.snapshot() as sql:
        found = face_crops(sql, [question.face])
    if question.face not in found:
        tell(console, "its photo is not there any more, or has changed")
        return
    path = folder / f"face-{question.face}.jpg"
    path.write_bytes(found[question.face])
    tell(console, str(path))
    if _has_desktop():
        typer.launch(str(path))


def _has_desktop() -> bool:
    """Return whether a program that shows pictures can be opened."""
    shown = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in shown)


def _who(text: str) -> str | None:
    text = text.strip()
    return "" if text == NOBODY else text or None


# Files


def write_questions(path: Path, questions: Iterable[Question]) -> int:
    """Write questions to a file that ``read_answers`` takes, and return how many there are."""
    count = 0
    if path.exists():
        raise ValueError(f"{path} is there already; choose another name")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for count, one in enumerate(questions, 1):  # noqa: B007  the last one counts
            box = " ".join(f"{value:.0f}" for value in one.box)
            cells = (str(one.face), one.file, box, one.name, one.caption, "", "")
            writer.writerow([_harmless(writable(cell)) for cell in cells])
    return count


def read_answers(audit: Audit, path: Path) -> int:
    """Store the answers of a file, all or none, and return how many there were.

    Raises
    ------
    ValueError
        Where a line is no answer to a question: nothing is stored then.
    """
    found: list[tuple[int, bool | None, str | None]] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        missing = {"face", "answer"} - set(rows.fieldnames or ())
        if missing:
            raise ValueError(
                f"{path} has no column {sorted(missing)[0]!r}; --write-questions makes such a file"
            )
        for row in rows:
            if not (row["answer"] or "").strip():
                continue
            found.append(_read_answer(audit, row, f"{path}, line {rows.line_num}"))
    with audit.project.transaction():
        for face, right, name in found:
            audit.answer(face, right=right, name=name)
    return len(found)


def _read_answer(
    audit: Audit, row: dict[str, str], where: str
) -> tuple[int, bool | None, str | None]:
    word = row["answer"].strip().lower()
    if word not in (*YES, *NO, *UNSURE):
        raise ValueError(f"{where}: {row['answer']!r} is no answer; write yes, no or unsure")
    number = (row["face"] or "").strip()
    if not (number.isascii() and number.isdigit()):
        raise ValueError(f"{where}: {number!r} is no number of a face")
    question = audit.question(int(number))
    asked = clean_text((row.get("name") or "").removeprefix("'"))
    if asked and asked != question.name.removeprefix("'"):
        raise ValueError(
            f"{where}: face {question.face} is asked about as {question.name!r}, not {asked!r}; "
            "--write-questions writes what is asked now"
        )
    right = True if word in YES else False if word in NO else None
    who = _who((row.get("who") or "").removeprefix("'"))
    if right and who is not None and who != question.name:
        raise ValueError(
            f"{where}: the answer is yes, but who is {who!r}; write no, or leave it empty"
        )
    return question.face, right, who


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
