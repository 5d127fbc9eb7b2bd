"""Writes what was solved, in batches within one transaction; which names changed, and why."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable

from candidly.photos.project.known_names import current_lists
from candidly.photos.solving.choosing import Work
from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.store import (
    RECOGNISED,
    NameChange,
    forget_faces,
    forget_photo,
    keep_changes,
    keep_photo_labels,
    read_stamps,
    solved_names,
    withdraw_barred_names,
)

BATCH = 2000
"""Photos that are written at a time."""
DECIDED = "something was decided in this photo"
WORDS = "what is read about the photo changed"
LOOKS = "the photo was looked at again"
GONE = "nothing is written about the photo any more"
TOGETHER = "all photos were solved together again"
OTHERS = "more is known of others in the photo"

Stamp = tuple[str, str, str]


def write_labels(
    sql: sqlite3.Connection, run: int, work: Work, labels: LabelArrays
) -> list[NameChange]:
    """Store the labels of photos that were solved, and return the names that changed."""
    writer = _Writer(sql, run, work, labels)
    changes = [change for part in writer.parts() for change in writer.write(part)]
    said = {face for (face,) in sql.execute("SELECT face FROM decisions")}  # also undone ones
    for photo in work.silent:
        changes += [
            NameChange(run, face, name, None, DECIDED if face in said else GONE)
            for face, name in solved_names(sql, photo).items()
            if name is not None
        ]
        forget_photo(sql, photo)
    sql.executemany(
        "UPDATE solved SET counted = 0 WHERE photo = ?", [(photo,) for photo in work.gone]
    )
    changes += withdraw_barred_names(sql, run, current_lists(sql))
    if work.looked_at is None:
        sql.execute("DELETE FROM touched")
    else:
        sql.executemany(
            "DELETE FROM touched WHERE photo = ?", [(photo,) for photo in work.looked_at]
        )
    return keep_changes(sql, changes)


class _Writer:
    """Writes photos in batches."""

    def __init__(self, sql: sqlite3.Connection, run: int, work: Work, labels: LabelArrays) -> None:
        self.sql, self.run, self.work, self.labels = sql, run, work, labels
        self.photos = work.photos
        self._evidence: _NewEvidence | None = None

    def parts(self) -> Iterable[slice]:
        """Yield the photos that are written at a time."""
        for start in range(0, len(self.photos), BATCH):
            yield slice(start, min(start + BATCH, len(self.photos)))

    def write(self, part: slice) -> list[NameChange]:
        """Store labels of some photos, and return the names that changed in them."""
        sql, numbers = self.sql, self.photos.photos[part].tolist()
        asked = json.dumps(numbers)
        before: dict[int, dict[int, tuple[str | None, bool]]] = defaultdict(dict)
        for photo, face, name, solved in sql.execute(
            "SELECT photo, face, name, run IS NULL OR run NOT IN (SELECT id FROM runs WHERE"
            " json_extract(settings, '$.solve') = ?) FROM faces JOIN labels ON face = faces.id"
            " LEFT JOIN known ON known.id = person"
            " WHERE photo IN (SELECT value FROM json_each(?)) ORDER BY face",
            (RECOGNISED, asked),
        ):
            before[photo][face] = (name, bool(solved))
        stamps = read_stamps(sql, numbers)
        changes: list[NameChange] = []
        old: list[int] = []
        for at, photo in enumerate(numbers, part.start):
            faces = self.photos.faces_of(at)
            own = set(faces)
            for face, (name, solved) in before[photo].items():
                if face in own:
                    changes += self._changed(at, face, name, stamps)
                elif solved and name is not None:
                    why = self._change_in_photo(at, stamps) or LOOKS
                    changes.append(NameChange(self.run, face, name, None, why))
                if face in own or solved:
                    old.append(face)
        forget_faces(sql, old)
        sql.execute("DELETE FROM solved WHERE photo IN (SELECT value FROM json_each(?))", (asked,))
        keep_photo_labels(sql, self.run, self.photos, part, self.labels)
        return changes

    def _changed(
        self, at: int, face: int, before: str | None, stamps: dict[int, Stamp]
    ) -> list[NameChange]:
        """Return the change of the name of a face that had a label, if it changed."""
        after = self.labels[face].name
        if before == after:
            return []
        people = [name for name in (after, before) if name is not None]
        if self._evidence is None:
            self._evidence = _NewEvidence(self.work)
        why = self._change_in_photo(at, stamps) or self._evidence.about(people)
        why = why or (TOGETHER if self.work.full else OTHERS)
        return [NameChange(self.run, face, before, after, why)]

    def _change_in_photo(self, at: int, stamps: dict[int, Stamp]) -> str | None:
        """Return what changed in the photo itself, or None."""
        before = stamps.get(int(self.photos.photos[at]))
        if before is None:  # it was scanned, and nobody was named in it
            return WORDS if self.photos.names_of(at) else DECIDED
        now = [one.decode().strip() for one in self.photos.stamps[at].tolist()]
        for kind, why in ((2, DECIDED), (0, WORDS), (1, LOOKS)):
            if before[kind] != now[kind]:
                return why
        return None


class _NewEvidence:
    """People in photos that are new, and in photos with new decisions."""

    def __init__(self, work: Work) -> None:
        photos = work.photos
        self.new: Counter[str] = Counter()
        self.decided: set[str] = set()
        for at, photo in enumerate(photos.photos.tolist()):
            if photo in work.decided:
                bound = photos.bound.get(photo, {}).values()
                self.decided |= {*photos.names_of(at), *filter(None, bound)}
            elif photo in work.due:
                self.new.update(photos.names_of(at))

    def about(self, people: Iterable[str]) -> str | None:
        """Return a new photo or decision about these people that may explain a change, or None."""
        for name in people:
            if name in self.decided:
                return f"something was decided in a photo that names {name}"
            if name in self.new:
                count = self.new[name]
                return f"{count} new photo{'s' * (count > 1)} with {name}"
        return None
