"""candidly is, not, nobody, ignore: what a person decides about one face."""

from __future__ import annotations

from candidly.cli.decision_output import FaceArgument, NameArgument, decide
from candidly.cli.listing import JsonOption, ProjectOption
from candidly.photos import Project
from candidly.photos.explaining import find_face
from candidly.photos.explaining.face_choice import face_label
from candidly.photos.project.face_names import decided_twice
from candidly.photos.project.known_names import close_names, current_name


def confirm(
    face: FaceArgument,
    name: NameArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide that a face is a person.

    The name may be new. It stays whatever is written or found later, until you undo it, and the
    next candidly name compares other faces with this one.
    """

    def make(opened: Project) -> tuple[list[int], list[str]]:
        number = find_face(opened, face)
        with opened.snapshot() as sql:
            known = current_name(sql, " ".join(name.split()))
            close = close_names(sql, name) if known is None else []
        made = opened.confirm(number, name)
        notes = []
        if known is None:
            meant = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            notes.append(f"{name!r} is a new name in this project{meant}")
        elif known != name:
            notes.append(f"{name!r} is {known!r} in this project")
        with opened.snapshot() as sql:
            others = decided_twice(sql, number)
            notes += [
                f"{face_label(sql, other)} is decided to be this person, too" for other in others
            ]
        return [made], notes

    decide(project, make, as_json=as_json)


def reject(
    face: FaceArgument,
    name: NameArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide that a face is not a person, whoever else it is."""

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return [opened.reject(find_face(opened, face), name)], []

    decide(project, make, as_json=as_json)


def nobody(face: FaceArgument, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Decide that a face is no one to name: a passer-by, say."""

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return [opened.nobody(find_face(opened, face))], []

    decide(project, make, as_json=as_json)


def ignore(face: FaceArgument, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Decide that a face is none to ask about: a statue, a blur, a dog."""

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return [opened.ignore(find_face(opened, face))], []

    decide(project, make, as_json=as_json)
