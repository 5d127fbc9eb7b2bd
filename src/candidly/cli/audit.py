"""candidly audit: how wrong the names are, by asking about a random sample of them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.asking import ask, is_terminal, read_answers, write_questions
from candidly.cli.listing import JsonOption, ProjectOption
from candidly.cli.photo_run import REFUSALS
from candidly.cli.refusal import failure, readable, tell
from candidly.photos.auditing import Audit, AuditResult, WrongShare
from candidly.photos.auditing.audit import PRECISE, QUESTIONS
from candidly.photos.project import open_project
from candidly.wording import count

EXAMPLES = """
Examples: candidly audit; candidly audit --write-questions ask.csv; candidly audit --answers ask.csv
"""

QuestionsOption = Annotated[
    int, typer.Option(min=1, help="Ask at most this many questions, earlier ones included.")
]
AnswersOption = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, help="Read answers from a file, as --write-questions makes it."
    ),
]
WriteQuestionsOption = Annotated[
    Path | None,
    typer.Option(
        "--write-questions", dir_okay=False, help="Write the next questions to a CSV file."
    ),
]


def parse_share(text: str | float) -> float:
    """Return a share that is given as 1% or as 0.01."""
    if isinstance(text, float):
        return text
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise typer.BadParameter(f"{text!r} is no share between 0 and 100%; write 1% or 0.01")
    return share


def audit(
    project: ProjectOption = None,
    questions: QuestionsOption = QUESTIONS,
    precision: Annotated[
        float,
        typer.Option(
            parser=parse_share, metavar="SHARE", help="Stop once the interval is this narrow."
        ),
    ] = PRECISE,
    answers: AnswersOption = None,
    to: WriteQuestionsOption = None,
    new: Annotated[
        bool, typer.Option("--new", help="Draw a new sample, of the names as they are now.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sample, where one is drawn.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how wrong the names are, with 95% confidence, by asking about some of them.

    Names that nobody confirmed are drawn at random, guesses left out, and asked about one by one:
    is it this person? You can stop at any time and go on later, and the answers are decisions as
    those of candidly is and candidly not. The result holds whenever you stop. It is about all such
    names, and about those of people whom five photos or more mention (often), two to four
    (rarely), and one (once); each interval holds with 95% confidence by itself.
    """
    console = Console(stderr=True)
    try:
        with open_project(project, write=True) as opened:
            made = Audit(opened, seed, questions)
            if new:
                made.draw(seed)
            if answers is not None:
                tell(console, f"{count(read_answers(made, answers), 'answer')} read")
            if to is not None:
                left = max(questions - made.result().overall.asked, 0)
                written = write_questions(to, made.questions(left))
                tell(console, f"{count(written, 'question')} in {readable(str(to))}")
            elif answers is None and not as_json and is_terminal():
                _ask(made, console, precision)
            found = made.result()
    except REFUSALS as problem:
        raise failure(console, problem) from problem
    if as_json:
        sys.stdout.write(json.dumps(asdict(found), indent=1) + "\n")
    else:
        _show(console, found)


def _ask(made: Audit, console: Console, precision: float) -> None:
    def next_face() -> int | None:
        question = None if made.precise(precision) else made.next_question()
        return None if question is None else question.face

    def many() -> str:
        return f"{made.result().overall.asked} answered, at most {made.most} are asked"

    ask(made, console, next_face, many)


def _show(console: Console, found: AuditResult) -> None:
    overall = found.overall
    if not overall.names:
        tell(console, "there is no name that nobody confirmed: nothing to ask about")
        return
    sys.stdout.write(_line("all names that nobody confirmed", overall))
    for word, part in found.groups.items():
        sys.stdout.write(_line(f"of people mentioned {word}", part))
    if overall.asked < overall.names:
        tell(
            console,
            "the shares hold with 95% confidence; candidly audit goes on asking, or "
            "--write-questions FILE and then --answers FILE",
        )


def _line(words: str, part: WrongShare) -> str:
    return (
        f"{words}: {100 * part.low:.1f}% to {100 * part.high:.1f}% wrong "
        f"({count(part.names, 'name')}, {part.asked} asked about, {part.wrong} of these wrong)\n"
    )
