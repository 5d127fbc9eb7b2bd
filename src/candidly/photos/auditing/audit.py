"""The audit of a project: the next question, its answer, and what is known so far."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candidly.estimators.promise import Promise
from candidly.photos.auditing.result import CONFIDENCE, AuditResult, audit_result
from candidly.photos.auditing.sample import (
    AuditSample,
    draw_sample,
    is_drawn,
    keep_unsure,
    read_sample,
)
from candidly.photos.geometry import Box
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.queries import BETWEEN, captions

QUESTIONS = 300
"""Questions that an audit asks at most."""
PILOT = 8
"""One in this many answers chooses what an export promises, and is no evidence for it."""
PRECISE = 0.05
"""Width of the interval at which an audit is precise enough."""


@dataclass(frozen=True)
class Question:
    """A face to ask about, with the name that is right or wrong.

    ``file`` is given from its photo root; ``label`` names the face as ``candidly why`` takes it,
    and ``box`` is in pixels of the upright picture.
    """

    face: int
    label: str
    file: str
    root: Path
    box: Box
    name: str
    caption: str


@dataclass(frozen=True)
class PromisedNames:
    """Names that can be promised, or what is missing.

    Attributes
    ----------
    max_error : float
        Largest share of wrong names that was asked for.
    holds : bool
        Whether the promise holds.
    faces : frozenset of int
        Faces whose names keep it, right answers included; none where it does not hold.
    left, kept : int
        Bound on the wrong names among those that would be written, and their number.
    asked : int
        Answers there are about names drawn.
    more : int
        Further answers needed if none of them finds a wrong name.
    set_size : int
        How many names the promise is, or would be, about; 0 before the pilot is answered.
    changed : int
        Names of that set that are others now, and so are not promised.
    ask : tuple of int
        Faces to ask about next.
    """

    max_error: float
    holds: bool
    faces: frozenset[int]
    left: int
    kept: int
    asked: int
    more: int
    set_size: int
    changed: int
    ask: tuple[int, ...]


class Audit:
    """The questions of a project, in an order drawn once, and what their answers say.

    Answers are decisions of the project. A new audit is drawn with ``Audit.draw``; the last one
    goes on with ``Audit(project)``, which draws the first.

    Parameters
    ----------
    project : Project
        Opened for writing.
    seed : int or None
        Seed of the order, where it is drawn; None for 0.
    questions : int
        Questions that are to be asked at most.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/a.candidly", write=True) as project:
    ...         Audit(project).next_question() is None
    True
    """

    def __init__(
        self, project: Project, seed: int | None = None, questions: int = QUESTIONS
    ) -> None:
        self.project, self.most = project, questions
        with project.snapshot() as sql:
            known = is_drawn(sql)
        if not known:
            self.draw(seed)

    def draw(self, seed: int | None = None) -> None:
        """Draw a new sample of the names that nobody confirmed; earlier answers stay decisions."""
        with self.project.transaction() as sql:
            draw_sample(sql, 0 if seed is None else seed, max(self.most // PILOT, 1))

    def sample(self) -> AuditSample:
        """Return the sample with the answers so far."""
        with self.project.snapshot() as sql:
            found = read_sample(sql)
        if found is None:
            raise ProjectProblem(f"there is no audit in {self.project.path}")
        return found

    # Questions and answers

    def next_question(self) -> Question | None:
        """Return the next face to ask about, or None where all were."""
        return next(self.questions(1), None)

    def questions(self, count: int) -> Iterator[Question]:
        """Yield the next faces to ask about."""
        sample = self.sample()
        for at in np.flatnonzero(sample.wrong < 0)[:count].tolist():
            yield self.question(int(sample.faces[at]))

    def question(self, face: int) -> Question:
        """Return what to show of a face that was drawn.

        Raises
        ------
        ProjectProblem
            Where the face is not in the sample.
        """
        with self.project.snapshot() as sql:
            return _question(sql, face)

    def answer(self, face: int, *, right: bool | None, name: str | None = None) -> int | None:
        """Store an answer, and return the number of the decision; None where there is none.

        Parameters
        ----------
        face : int
            A face of the sample.
        right : bool or None
            None where it cannot be told, which counts as wrong but decides nothing.
        name : str, optional
            Who it is instead, where the name is wrong; an empty one is nobody to name.
        """
        question = self.question(face)
        if right is None:
            self._keep_unsure(face, unsure=True)
            return None
        if right:
            return self.project.confirm(face, question.name)
        if name is None:
            return self.project.reject(face, question.name)
        if not name.strip():
            return self.project.nobody(face)
        return self.project.confirm(face, name)

    def ask_again(self, face: int) -> None:
        """Take back that somebody could not tell; other answers are undone as decisions."""
        self.question(face)
        self._keep_unsure(face, unsure=False)

    def _keep_unsure(self, face: int, *, unsure: bool) -> None:
        with self.project.transaction() as sql:
            keep_unsure(sql, self.sample().audit, face, unsure=unsure)

    # What is known

    def result(self) -> AuditResult:
        """Return how wrong the names are that nobody had confirmed."""
        sample = self.sample()
        return audit_result(sample.wrong, sample.confidence, sample.mentions)

    def precise(self, width: float = PRECISE, known: AuditResult | None = None) -> bool:
        """Return whether enough was asked: the interval is narrow, or questions are used up.

        ``known`` is the result where it was read already.
        """
        overall = (known or self.result()).overall
        return overall.width <= width or overall.asked >= min(self.most, overall.names)

    def promise(self, max_error: float) -> PromisedNames:
        """Return the names of which at most a share is wrong, with 95% confidence.

        The first answers choose how many of the surest names to promise, and no others do. All
        further ones, of an audit or asked for this, are a random sample of these names.
        """
        if not 0 < max_error < 1:
            raise ValueError(
                f"the largest share of wrong names has to be between 0 and 1, not {max_error:g}"
            )
        with self.project.snapshot() as sql:
            sample = read_sample(sql)
            assert sample is not None
            still = sample.still(sql)
        return promised_names(sample, still, max_error, self.most)


def surest_first(sample: AuditSample) -> NDArray[np.intp]:
    """Return the places of a sample by confidence, equal ones in the order drawn."""
    return np.lexsort((np.arange(len(sample.faces)), -sample.confidence))


def make_promise(sample: AuditSample, max_error: float, questions: int) -> Promise:
    """Return the promise about a sample, whose labels are its names, surest first."""
    order = surest_first(sample)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return Promise(
        sample.confidence[order],
        place[: sample.pilot],
        # In the order in which they were drawn, which is random in every part of the names.
        lambda places: places[np.argsort(order[places])],
        max_error,
        CONFIDENCE,
        questions,
        corrected=False,
    )


def promised_names(
    sample: AuditSample, still: NDArray[np.bool_], max_error: float, questions: int
) -> PromisedNames:
    """Return the names of a sample that can be promised, or what is missing."""
    promise, order = make_promise(sample, max_error, questions), surest_first(sample)
    wrong, still = sample.wrong[order], still[order]
    state = promise.state(wrong, still)
    more = state.more
    if not state.size:
        # What will be needed after the pilot, if it finds nothing wrong.
        hoped = wrong.copy()
        hoped[state.ask] = 0
        more += promise.state(hoped, still).more
    inside = np.arange(len(order)) < state.size
    faces = sample.faces[order]
    return PromisedNames(
        max_error,
        state.holds,
        frozenset(faces[inside & still & (wrong != 1)].tolist() if state.holds else ()),
        state.left,
        state.kept,
        int((wrong >= 0).sum()),
        more,
        state.size,
        int((inside & ~still & (wrong < 0)).sum()),
        tuple(faces[state.ask].tolist()),
    )


def _question(sql: sqlite3.Connection, face: int) -> Question:
    row = sql.execute(
        "SELECT known.name FROM audited JOIN known ON known.id = person"
        " WHERE face = ? ORDER BY audit DESC LIMIT 1",
        (face,),
    ).fetchone()
    if row is None:
        raise ProjectProblem(f"face {face} is not among the names that the audit drew")
    photo, *box = sql.execute(
        "SELECT photo, x, y, w, h FROM faces WHERE id = ?", (face,)
    ).fetchone()
    found = sql.execute(
        "SELECT roots.path, files.path FROM files JOIN roots ON roots.id = root WHERE photo = ?"
        " ORDER BY gone, files.id LIMIT 1",
        (photo,),
    ).fetchone()
    root, file = (os.fsdecode(found[0]), os.fsdecode(found[1])) if found else ("", "")
    beside = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,))
    place = [number for (number,) in beside].index(face) + 1
    caption = BETWEEN.join(captions(sql, photo))
    return Question(face, f"{file}#{place}", file, Path(root), Box(*box), row[0], caption)
