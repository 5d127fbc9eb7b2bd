"""candidly train: learn the people of a project, for photos without captions."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.listing import JsonOption, ProjectOption
from candidly.cli.refusal import failure, tell
from candidly.photos import ProjectProblem, TrainingSummary
from candidly.photos import train as learn
from candidly.wording import count


def train(
    project: ProjectOption = None,
    random_state: Annotated[
        int, typer.Option(help="Seed of the photos held out for the test.", min=0)
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Learn the people named so far, to recognise them in photos without captions.

    candidly name PHOTOS --no-captions uses what is learnt. The test error is that of photos
    held out, a fifth at a time: of people known from other photos, and of strangers, who are
    to be nobody. The names that captions gave are taken for right.
    """
    console = Console(stderr=True)
    try:
        with console.status("learning people"):
            done = learn(project, random_state)
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if as_json:
        sys.stdout.write(json.dumps(asdict(done)) + "\n")
    else:
        _show(done)


def _show(done: TrainingSummary) -> None:
    console, tested = Console(), done.tested
    wrong = max(1 - tested.right - tested.missed, 0.0)
    tell(console, f"{count(done.people, 'person')} learnt from {count(done.faces, 'face')}")
    tell(
        console,
        f"test error on photos held out: {tested.error:.1%} of "
        f"{count(tested.faces, 'face')}, with as many strangers as faces without a name "
        f"({tested.strangers:.0%})",
    )
    tell(
        console,
        f"  of people known from other photos {tested.right:.1%} are named right, "
        f"{tested.missed:.1%} nobody, {wrong:.1%} somebody else",
    )
    tell(
        console,
        f"  of strangers {tested.named:.1%} get a name; of names given {tested.precision:.1%} "
        "are right",
    )
    tell(
        console,
        f"  how sure it says it is: {tested.confidence:.1%} in the mean, and it is right in "
        f"{1 - tested.error:.1%}",
    )
