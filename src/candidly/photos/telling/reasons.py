"""What speaks for an answer, and against the others, in sentences."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from candidly.photos.project.queries import candidates, decided, named
from candidly.photos.solving import Rival
from candidly.photos.telling.likeness import Alike, percent
from candidly.photos.telling.which import from_left

PLACED = 0.05  # log odds by place and size from which they are worth a word


@dataclass(frozen=True)
class Other:
    """Another answer, None being nobody: how likely, and why it is not the one."""

    name: str | None
    probability: float | None
    because: str


def reasons(name: str | None, weighed: Sequence[Rival], near: Sequence[Alike]) -> list[str]:
    """What speaks for a name, or for nobody.

    Examples
    --------
    >>> reasons("Ann", [Rival("Ann", 0.8, 0.0, 0.4, None), Rival(None, 0.2, 0.0, 0.0, None)], [])
    ['no other face of Ann is known to compare it with: by elimination', 'its place or size ...']
    """
    own = next((one for one in weighed if one.name == name), None)
    if own is None:
        return []
    if name is None:
        if len(weighed) == 1:
            return ["nobody is named who could be it"]
        if own.likeness > 0:
            return ["it looks more like somebody known who is not mentioned"]
        return ["nobody named fits better"]
    found = []
    if own.likeness > 0:
        most = f", at most {near[0].cosine:.2f} (cosine)" if near else ""
        found.append(f"it looks like other faces of {name}{most}")
    elif own.likeness == 0:
        found.append(f"no other face of {name} is known to compare it with: by elimination")
    else:
        found.append(f"it does not look like other faces of {name}, but nobody else fits better")
    if own.place > PLACED:
        found.append("its place or size in the picture speaks for it")
    return found


def others(
    sql: sqlite3.Connection, face: int, photo: int, name: str | None, weighed: Sequence[Rival]
) -> list[Other]:
    """The other candidates of a face, the likeliest first, and why each is not it."""
    refused = decided(sql, face).refused
    own = next((one for one in weighed if one.name == name), None)
    found = [
        Other(one.name, one.probability, _because(sql, one, own, name, refused))
        for one in weighed
        if one.name != name
    ]
    there = {one.name for one in weighed} | {name}
    for other in candidates(sql, photo):
        if other not in there:
            found.append(Other(other, None, _unweighed(sql, photo, face, other, refused)))
    return found


def _because(
    sql: sqlite3.Connection,
    one: Rival,
    own: Rival | None,
    name: str | None,
    refused: frozenset[str],
) -> str:
    if one.name is None:
        return "somebody decided otherwise" if own is None else f"{name} is likelier"
    if one.name in refused:
        return f"somebody decided that it is not {one.name}"
    parts = []
    if one.taken_by is not None:
        sure = named(sql, one.taken_by)[1]
        parts.append(
            f"taken: face {one.taken_by} is {one.name}"
            + ("" if sure is None else f", {percent(sure)}")
        )
    if one.likeness < 0:
        parts.append(f"dissimilar: it does not look like other faces of {one.name}")
    elif one.likeness == 0:
        parts.append(f"no other face of {one.name} is known to compare it with")
    elif own is not None and one.likeness < own.likeness:
        parts.append("less like it" if name is None else f"less like it than {name}")
    if one.place < -PLACED:
        parts.append("elsewhere: by place or size in the picture it is another face")
    return "; ".join(parts) or "not more likely"


def _unweighed(
    sql: sqlite3.Connection, photo: int, face: int, other: str, refused: frozenset[str]
) -> str:
    """Why somebody who is named was not even a candidate."""
    if other in refused:
        return f"somebody decided that it is not {other}"
    for number in from_left(sql, photo):
        if number != face and named(sql, number)[0] == other:
            return f"taken: face {number} is {other}"
    return "not weighed: named since the last run, or taken for another spelling"
