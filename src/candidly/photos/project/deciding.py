"""What a person decides about faces and names: the part of ``Project`` that has the last word."""

from __future__ import annotations

import getpass
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from candidly.photos.project.connection import ProjectProblem
from candidly.photos.project.decision_log import (
    Decision,
    add_decision,
    last_batch,
    numbers_since,
    read_decisions,
    take_back,
)
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.known_names import (
    apply_lists,
    current_name,
    known_name,
    refuse_barred,
    renamed,
)
from candidly.photos.project.schema import person_id

LARGEST = 2**63 - 1  # that SQLite has


class Deciding(ABC):
    """Decisions about faces and names; each is stored at once, and can be undone.

    ``by`` is who decided; None for the user of this machine. Methods return the numbers of the
    decisions made, and raise ``ProjectProblem`` where the face or the name is not in the project.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos import Project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/a.candidly", write=True) as project:
    ...         project.rename("Johnny", "Johnny Galecki")
    Traceback (most recent call last):
    candidly.photos.project.connection.ProjectProblem: nobody is called 'Johnny' in this ...
    """

    path: Path

    @abstractmethod
    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run a transaction: everything written inside is kept, or nothing."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """Read in one snapshot: changes by a writer are not seen inside."""

    def history(self) -> list[Decision]:
        """Return all decisions in their order, also those that were taken back."""
        with self.snapshot() as sql:
            return list(read_decisions(sql))

    # Faces

    def confirm(self, face: int, name: str, *, by: str | None = None) -> int:
        """Decide that a face is a person, who may be new, and return the number of the decision.

        Somebody known is meant also where case or diacritics differ.
        """
        name = _clean(name)
        with self.transaction() as sql:
            return self._about_face(sql, "is", face, _named(sql, name), by)

    def reject(self, face: int, name: str, *, by: str | None = None) -> int:
        """Decide that a face is not a person, and return the number of the decision."""
        with self.transaction() as sql:
            person = person_id(sql, known_name(sql, _clean(name)))
            return self._about_face(sql, "not", face, person, by)

    def nobody(self, face: int, *, by: str | None = None) -> int:
        """Decide that a face is no one to name, and return the number of the decision."""
        with self.transaction() as sql:
            return self._about_face(sql, "nobody", face, None, by)

    def ignore(self, face: int, *, by: str | None = None) -> int:
        """Decide that a face is none to ask about, and return the number of the decision."""
        with self.transaction() as sql:
            return self._about_face(sql, "ignore", face, None, by)

    def decide_faces(
        self, what: str, faces: Iterable[int], name: str | None = None, *, by: str | None = None
    ) -> list[int]:
        """Decide the same about several faces at once, and return the numbers of the decisions.

        They are one batch, which ``undo`` without numbers takes back as a whole.

        Parameters
        ----------
        what : {"is", "not", "nobody", "ignore"}
        faces : iterable of int
        name : str, optional
            Who they are, or are not; with "is" it may be new.
        by : str or None
            Who decided.
        """
        if (what in ("is", "not")) != (name is not None):
            raise ValueError(f"{what!r} takes {'a' if name is None else 'no'} name")
        with self.transaction() as sql:
            person = None
            if name is not None:
                name = _clean(name)
                person = (
                    _named(sql, name) if what == "is" else person_id(sql, known_name(sql, name))
                )
            made: list[int] = []
            for face in dict.fromkeys(faces):
                first = made[0] if made else None
                made.append(self._about_face(sql, what, face, person, by, first))
            return made

    # Names

    def merge(self, name: str, into: str, *, by: str | None = None) -> int:
        """Decide that two names are one person's, and return the number of the decision.

        Everybody called ``name`` is ``into`` from now on, in captions and decisions, earlier and
        later ones. Other faces follow with the next ``solve``.
        """
        with self.transaction() as sql:
            one = known_name(sql, _clean(name))
            other = known_name(sql, _clean(into), f"candidly rename gives {one!r} a new name")
            if other == one:
                raise ProjectProblem(f"{name!r} and {into!r} are one person already: {one!r}")
            return self._becomes(sql, "merge", one, other, by)

    def rename(self, name: str, new: str, *, by: str | None = None) -> int:
        """Decide that a person is called otherwise, and return the number of the decision.

        ``new`` may be another spelling, but no name of somebody else: that is ``merge``.
        """
        new = _clean(new)
        with self.transaction() as sql:
            one = known_name(sql, _clean(name))
            if one == new:
                raise ProjectProblem(f"{name!r} is called {new!r} already")
            other = current_name(sql, new)
            if other not in (None, one):
                raise ProjectProblem(
                    f"{new!r} is somebody in {self.path} already; candidly merge makes "
                    f"{one!r} and {other!r} one person"
                )
            return self._becomes(sql, "rename", one, new, by)

    def split(
        self, name: str, faces: Iterable[int], new: str, *, by: str | None = None
    ) -> list[int]:
        """Decide that some faces of a person are another, and return the numbers of the decisions.

        ``new`` may be somebody known. All faces have to be called ``name`` now.
        """
        new, faces = _clean(new), list(dict.fromkeys(faces))
        if not faces:
            raise ValueError(
                "to split a person takes the faces that are another: give at least one"
            )
        with self.transaction() as sql:
            one = known_name(sql, _clean(name))
            other = current_name(sql, new)
            if other == one:
                raise ProjectProblem(
                    f"{new!r} is {one!r}, so nothing would be split; choose another name, or undo "
                    "what made them one (candidly history)"
                )
            made: list[int] = []
            person = _named(sql, new)
            for face in faces:
                self._check_face(sql, face)
                now = name_and_confidence(sql, face)[0]
                if now != one:
                    raise ProjectProblem(
                        f"face {face} is {now or 'nobody'!r}, not {one!r}; candidly is says who a "
                        "single face is"
                    )
                made.append(
                    self._about_face(sql, "is", face, person, by, made[0] if made else None)
                )
            return made

    # Undo

    def undo(
        self, *decisions: int, since: datetime | None = None, by: str | None = None
    ) -> list[int]:
        """Take decisions back, and return the numbers of the undos.

        An undo is undone in the same way, by its number.

        Parameters
        ----------
        *decisions : int
            Numbers of decisions that stand. Without any, those made last at once.
        since : datetime, optional
            Instead of numbers: everything decided from then on, undos included, so that all is
            as it was. Without a time zone it is local time.
        by : str or None
            Who takes them back.
        """
        if decisions and since is not None:
            raise ValueError("undo takes numbers of decisions or a time, not both")
        with self.transaction() as sql:
            if since is not None:
                time = since.astimezone(UTC).isoformat(timespec="milliseconds")
                chosen = numbers_since(sql, time)
            else:
                chosen = self._checked(sql, decisions) if decisions else last_batch(sql)
            names = renamed(sql)
            made = take_back(sql, chosen, _user(by))
            if not made:
                when = "" if since is None else f" since {since:%Y-%m-%d %H:%M:%S}"
                raise ProjectProblem(f"there is nothing to undo in {self.path}{when}")
            if renamed(sql) != names:
                apply_lists(sql)
            return made

    def _checked(self, sql: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
        """Return numbers of decisions, or raise where one is unknown or undone by none of these."""
        numbers = sorted(set(numbers))
        known = {one.number: one for one in read_decisions(sql, filter(_storable, numbers))}
        for number in numbers:
            if number not in known:
                raise ProjectProblem(
                    f"there is no decision {number} in {self.path}; candidly history lists them"
                )
            if not known[number].stands:
                undos = sql.execute(
                    "SELECT id FROM decisions WHERE undoes = ?"
                    " AND id NOT IN (SELECT decision FROM undone)",
                    (number,),
                )
                by = [undo for (undo,) in undos]
                if not set(by) <= set(numbers):
                    raise ProjectProblem(
                        f"decision {number} is undone already, by {by[-1]}; candidly undo {by[-1]} "
                        "brings it back"
                    )
        return numbers

    def _about_face(
        self,
        sql: sqlite3.Connection,
        what: str,
        face: int,
        person: int | None,
        by: str | None,
        batch: int | None = None,
    ) -> int:
        self._check_face(sql, face)
        if what == "is" and person is not None:
            refuse_barred(sql, face, person)
        return add_decision(sql, what, _user(by), face=int(face), person=person, batch=batch)

    def _becomes(
        self, sql: sqlite3.Connection, what: str, name: str, new: str, by: str | None
    ) -> int:
        person, becomes = person_id(sql, name), person_id(sql, new)
        made = add_decision(sql, what, _user(by), person=person, becomes=becomes)
        apply_lists(sql)
        return made

    def _check_face(self, sql: sqlite3.Connection, face: int) -> None:
        known = "SELECT 1 FROM faces WHERE id = ?"
        if not _storable(face) or sql.execute(known, (int(face),)).fetchone() is None:
            raise ProjectProblem(
                f"there is no face {face} in {self.path}; candidly faces --csv lists them"
            )


def _named(sql: sqlite3.Connection, name: str) -> int:
    """Return the number of the person with a name, who may be new."""
    known = current_name(sql, name)
    person = person_id(sql, name if known is None else known)
    if known is None:
        apply_lists(sql, person)  # the new name may be on one
    return person


def _clean(name: str) -> str:
    """Return a name without needless spaces; raise where it is none, as "???"."""
    name = " ".join(name.split())
    if not any(map(str.isalnum, name)):
        why = f"{name!r} has none" if name else "this one is empty"
        raise ValueError(f"a name has to have at least one letter; {why}")
    return name


def _storable(number: int) -> bool:
    return 0 <= number <= LARGEST


def _user(by: str | None) -> str:
    return this_user() if by is None else by


def this_user() -> str:
    """Return the name of the user of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
