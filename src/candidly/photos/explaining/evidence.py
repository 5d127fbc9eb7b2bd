"""Evidence for the name of a face, and against the others.

Two faces look alike from a stated cosine on, which is known only for SFace. Below it, and with
other embedders, only what the comparison favours is said.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from candidly.photos.certainty import percent
from candidly.photos.explaining.attribution import NameSource, who_gave, who_refused
from candidly.photos.explaining.face_choice import faces_from_left
from candidly.photos.explaining.similarity import SimilarFace, lookalike
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.queries import candidates
from candidly.photos.solving import CandidateScore
from candidly.photos.solving.likeness import ALIKE
from candidly.photos.solving.problem import likely_spellings

PLACED = 0.05  # log odds of place and size from which they are mentioned


@dataclass(frozen=True)
class Alternative:
    """Another candidate (None for nobody): its probability, and why it was not chosen."""

    name: str | None
    probability: float | None
    because: str


def reasons(
    name: str | None,
    scores: Sequence[CandidateScore],
    near: Sequence[SimilarFace],
    rival: SimilarFace | None = None,
    judged: bool = True,
) -> list[str]:
    """Return the reasons for a name, or for nobody.

    Parameters
    ----------
    name : str or None
        The name of the face; None for nobody.
    scores : sequence of CandidateScore
        Its candidates.
    near : sequence of SimilarFace
        The most similar sure faces of the name.
    rival : SimilarFace, optional
        A sure face of somebody who is not mentioned.
    judged : bool
        Whether it is known from which cosine on faces look alike.

    Examples
    --------
    >>> scores = [CandidateScore("Ann", 0.8, 0.0, 0.4), CandidateScore(None, 0.2, 0.0, 0.0)]
    >>> reasons("Ann", scores, [])
    ['no other face of Ann is known to compare it with: by elimination', 'its place or size ...']
    """
    own = next((one for one in scores if one.name == name), None)
    if own is None:
        return []
    if name is None:
        found = [
            "no one is named who could be it"
            if len(scores) == 1
            else "none of the people named fits better"
        ]
    else:
        found = [_likeness(name, own.likeness, near, judged)]
    if own.place > PLACED and name is not None:
        found.append("its place or size in the picture speaks for it")
    if rival is not None:
        found.append(_rivalry(rival, judged))
    return found


def _likeness(name: str, likeness: float, near: Sequence[SimilarFace], judged: bool) -> str:
    """Return what the comparison with the other faces of a name says."""
    if likeness == 0:
        return f"no other face of {name} is known to compare it with: by elimination"
    unlike = ""
    if judged and near:
        if likeness > 0 and near[0].cosine >= ALIKE:
            return f"it looks like other faces of {name}, up to {near[0].cosine:.2f} (cosine)"
        if near[0].cosine < ALIKE:
            unlike = f"; the most similar sure one is {_only(near[0])}"
    if likeness > 0:
        unsure = "" if near else "; none of them is sure"
        return f"the comparison with other faces of {name} speaks for it{unsure}{unlike}"
    return (
        f"the comparison with other faces of {name} speaks against it, but nobody else fits "
        f"better{unlike}"
    )


def _rivalry(rival: SimilarFace, judged: bool) -> str:
    """Return what speaks for somebody who is not mentioned."""
    where = f"face {rival.face} in {rival.file}"
    if not judged:
        return f"most similar is {rival.name}, who is not mentioned: {where}"
    if rival.cosine >= ALIKE:
        return (
            f"it looks like {rival.name}, who is not mentioned: {rival.cosine:.2f} (cosine) to "
            f"{where}"
        )
    return (
        "the comparison favours somebody known who is not mentioned, but the most similar sure "
        f"face, of {rival.name} ({where}), is {_only(rival)}"
    )


def _only(face: SimilarFace) -> str:
    return (
        f"only {face.cosine:.2f} alike (cosine), less than the {ALIKE:.2f} from which faces count "
        "as alike"
    )


def rival_not_mentioned(
    sql: sqlite3.Connection,
    face: int,
    photo: int,
    name: str | None,
    scores: Sequence[CandidateScore],
    near: Sequence[SimilarFace],
    judged: bool,
) -> SimilarFace | None:
    """Return the most similar sure face of somebody not mentioned, where it says something.

    It does where the face is nobody by the comparison with such people, and where it looks more
    like that person than like the one named.
    """
    likely = likely_spellings(sql)
    known = {one.name for one in scores if one.name is not None} | {*candidates(sql, photo)}
    known |= {likely[other] for other in known if other in likely}
    rival = lookalike(sql, face, known if name is None else known | {name})
    if rival is None:
        return None
    nobody = name is None and any(one.name is None and one.likeness > 0 for one in scores)
    alike = judged and rival.cosine >= max([ALIKE, *(one.cosine for one in near)])
    return rival if nobody or alike else None


def alternatives(
    sql: sqlite3.Connection,
    face: int,
    photo: int,
    name: str | None,
    scores: Sequence[CandidateScore],
    source: NameSource,
    doubts: Mapping[str | None, str],
) -> list[Alternative]:
    """Return the other candidates of a face, the likeliest first, and why each was not chosen.

    ``doubts`` has why some of them may be no person's name, or not shown.
    """
    refused = decision_on(sql, face).refused
    own = next((one for one in scores if one.name == name), None)
    found = []
    for one in scores:
        if one.name is not None and one.name in refused:
            because = who_refused(sql, face, one.name)
        elif one.name is None:
            because = source.text if own is None else f"{name} is likelier"
        else:
            because = _because(sql, one, own, name, doubts)
        if one.name != name:
            found.append(Alternative(one.name, one.probability, because))
    there = {one.name for one in scores} | {name}
    for other in candidates(sql, photo):
        if other not in there:
            found.append(Alternative(other, None, _unweighed(sql, photo, face, other, refused)))
    return found


def _because(
    sql: sqlite3.Connection,
    one: CandidateScore,
    own: CandidateScore | None,
    name: str | None,
    doubts: Mapping[str | None, str],
) -> str:
    parts = [doubts[one.name]] if one.name in doubts else []
    if one.taken_by is not None:
        parts.append(_taken(sql, one.taken_by, str(one.name)))
    if one.likeness < 0:
        parts.append(f"dissimilar: the comparison with other faces of {one.name} speaks against it")
    elif one.likeness == 0:
        parts.append(f"no other face of {one.name} is known to compare it with")
    elif own is not None and one.likeness < own.likeness:
        favoured = "somebody known who is not mentioned" if name is None else name
        parts.append(f"the comparison favours {favoured}")
    if one.place < -PLACED:
        parts.append("elsewhere: its place or size in the picture speaks for another face")
    return "; ".join(parts) or "not more likely"


def _taken(sql: sqlite3.Connection, other: int, name: str) -> str:
    """Return which face has a name, and how sure that is or who decided it."""
    by, sure = who_gave(sql, other), name_and_confidence(sql, other)[1]
    how = "" if sure is None else f", {percent(sure)}"
    return f"taken: face {other} is {name}" + (how if by is None else f", as {by} decided")


def _unweighed(
    sql: sqlite3.Connection, photo: int, face: int, other: str, refused: frozenset[str]
) -> str:
    """Return why a mentioned person was not a candidate."""
    if other in refused:
        return who_refused(sql, face, other)
    for number in faces_from_left(sql, photo):
        if number != face and name_and_confidence(sql, number)[0] == other:
            return _taken(sql, number, other)
    return "not weighed: named since the last run, or taken for another spelling"
