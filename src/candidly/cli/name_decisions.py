"""candidly merge, rename, split: what a person decides about names."""

from __future__ import annotations

from typing import Annotated

import typer

from candidly.cli.decision_output import FacesArgument, NameArgument, complete_name, decide
from candidly.cli.listing import JsonOption, ProjectOption
from candidly.photos import Project
from candidly.photos.explaining import find_face

NewNameArgument = Annotated[
    str, typer.Argument(help="The name from now on.", autocompletion=complete_name)
]


def merge(
    name: NameArgument,
    into: NewNameArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide that two names are one person's: the first is the second from now on.

    Captions and decisions with either name count for the person, also those of photos that come
    later. Undone, each has their own again.
    """

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return [opened.merge(name, into)], []

    decide(project, make, as_json=as_json)


def rename(
    name: NameArgument,
    new: NewNameArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide that a person is called otherwise from now on.

    Captions with the earlier name count for the person still.
    """

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return [opened.rename(name, new)], []

    decide(project, make, as_json=as_json)


def split(
    name: NameArgument,
    new: NewNameArgument,
    faces: FacesArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide that some faces of a person are another's.

    candidly undo takes all of them back at once.
    """

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return opened.split(name, [find_face(opened, face) for face in faces], new), []

    decide(project, make, as_json=as_json)
