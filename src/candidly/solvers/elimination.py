"""Algorithm 2: iterative candidate elimination (ICE) with any soft labeller."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from candidly.solvers.assignment import LABEL_DIGITS, worth
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import normalise
from candidly.solvers.hashing import hashed
from candidly.solvers.solution import Round, Solution, Status, Trace

TIES = ("evidence", "scores", "index", "random")
FED_DIGITS = 5
"""Decimals of labels that are fed back, where equal labels are 1."""

SoftLabeller = Callable[[np.ndarray, CandidateSets], Solution]
"""(P, sets) -> Solution: a labeller that already has the features and its settings."""

Evidence = Callable[[Solution], np.ndarray | None]
"""Solution -> (E,) array: what decides between equal labels, or None where there is nothing."""


@dataclass(frozen=True)
class Elimination:
    """Settings of Algorithm 2.

    Parameters
    ----------
    fraction : float
        f_e: fraction of the ambiguous instances that lose their least likely candidate per
        round; 0 only feeds the labels back ("iterative WMCar").
    max_rounds : int
    ties : {"evidence", "scores", "index", "random"}
        What decides between equal soft labels, most of which are exactly 0: the paper leaves it
        open. "evidence": the candidate of least ``worth`` goes first, which is what hard labels
        maximise, with the evidence of the labeller where it has any; then class, then instance.
        "scores": the smaller score before the projection, then class, then instance; that of
        labels of 0 is often rounding. "index": the first class of an instance, and the first
        instances, as a sort would leave them. "random": a draw in each round.
    seed : int
        Of that draw.

    Examples
    --------
    >>> import candidly
    >>> from candidly.solvers import ALM, CandidateSets, Elimination
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> sets = CandidateSets.of_mask(digits.candidates.mask.T)
    >>> def label(P, sets):
    ...     return ALM(tol=1e-5).solve(digits.X.T, P, sets)
    >>> Elimination(fraction=1.0).solve(label, sets.uniform(), sets).status.name
    'RESOLVED'
    """

    fraction: float = 0.5
    max_rounds: int = 5
    ties: str = "evidence"
    seed: int = 0

    def solve(
        self,
        labeller: SoftLabeller,
        P,
        sets: CandidateSets,
        callback: Callable[[Solution], None] | None = None,
        evidence: Evidence | None = None,
    ) -> Solution:
        """Solve, eliminate, project and feed back; there is no solve after the last elimination.

        The solution is over the sets given: what was eliminated has label 0, and its last score.
        An input without ambiguity is solved once, for its features.
        """
        candidates = CandidatesInMemory(self, labeller, P, sets, evidence)

        def tell(rounds: list[Round]) -> None:
            if callback is not None:
                callback(replace(candidates.solution, rounds=tuple(rounds)))

        rounds, status = self.run(candidates, tell)
        return replace(candidates.solution, rounds=tuple(rounds), status=status)

    def run(
        self, candidates: CandidatesAnywhere, tell: Callable[[list[Round]], None] | None = None
    ) -> tuple[list[Round], Status]:
        """Label and eliminate round by round, wherever the candidates are; return what was done."""
        rounds: list[Round] = []
        ambiguous = candidates.ambiguous()
        for number in range(self.max_rounds):
            trace, status = candidates.label()
            count = math.ceil(self.fraction * ambiguous - 1e-9)
            rounds.append(Round(ambiguous, count, len(trace), status))
            ambiguous = candidates.eliminate(count, number)
            if tell is not None:
                tell(rounds)
            if not ambiguous:
                return rounds, Status.RESOLVED
        return rounds, Status.MAX_ROUNDS


class CandidatesAnywhere(Protocol):
    """Candidates of all instances, which are labelled and eliminated."""

    def ambiguous(self) -> int:
        """Return how many instances have several candidates."""
        ...

    def label(self) -> tuple[Trace, Status]:
        """Label from scratch: the path decides, a warm start is worse."""
        ...

    def eliminate(self, count: int, number: int) -> int:
        """Eliminate in so many instances, and feed the labels back; return how many are ambiguous.

        ``number`` is that of the round, for draws.
        """
        ...


class CandidatesInMemory:
    """Candidates in arrays, with the last solution over those given."""

    def __init__(self, settings: Elimination, labeller, P, sets: CandidateSets, evidence) -> None:
        self.settings, self.labeller, self.evidence = settings, labeller, evidence
        self.P, self.sets = P, sets
        self.given, self.left = sets, np.arange(len(sets))
        self.scores = np.zeros(len(sets))
        self.solution: Solution

    def ambiguous(self) -> int:
        """Return how many instances have several candidates."""
        return int((self.sets.sizes > 1).sum())

    def label(self) -> tuple[Trace, Status]:
        """Label from the labels that were fed back."""
        self.solution = self.labeller(self.P, self.sets)
        return self.solution.trace, self.solution.status

    def eliminate(self, count: int, number: int) -> int:
        """Eliminate the least likely candidates, and feed the labels back."""
        ties, seed, sets, found = self.settings.ties, self.settings.seed, self.sets, self.solution
        y = found.sets.values_on(found.labels, sets)
        score = found.sets.values_on(found.scores, sets)
        self.scores[self.left] = score
        kept = np.ones(len(sets), dtype=bool)
        if count:
            value = compared(ties, y)
            if ties == "evidence":
                known = None if self.evidence is None else self.evidence(found)
                value = found.sets.values_on(worth(found, known), sets)
            order = tie_order(ties, score, sets.instance, self.left, (seed, number))
            kept[least_likely(value, order, sets, count)] = False
        self.left, self.sets = self.left[kept], sets.kept(kept)
        y = normalise(y[kept], self.P[kept], self.sets)
        self.P = fed_back(ties, y, self.sets)
        labels = np.zeros(len(self.given), dtype=self.P.dtype)
        labels[self.left] = y
        self.solution = replace(found, labels=labels, scores=self.scores.copy(), sets=self.given)
        return self.ambiguous()


def compared(ties: str, y):
    """Return soft labels as they are compared: by scores to the last digit, else without rounding.

    By evidence it is their worth that is compared, which has no rounding either.
    """
    return y if ties == "scores" else np.round(y.astype(np.float64), LABEL_DIGITS)


def fed_back(ties: str, y, sets: CandidateSets):
    """Return the labels y (E,) to start the next round from: without rounding, but by scores.

    A round makes rounding errors ten to a thousand times as large. So digits after the fifth, of
    labels relative to equal ones, are left out.
    """
    if ties == "scores":
        return y
    return normalise(np.round(y * sets.sizes[sets.instance], FED_DIGITS), y, sets)


def tie_order(ties: str, score, instance, entries, draw: tuple[int, int]):
    """Return what decides between entries of equal values, (E,): the smallest goes first.

    Parameters
    ----------
    ties : str
        As in :class:`Elimination`.
    score, instance, entries : (E,) arrays
        Score of each entry, number of its instance, and its own among the entries given.
    draw : (int, int)
        Seed, and number of the round.
    """
    if ties == "evidence":  # in the values
        return np.zeros(len(entries))
    if ties == "scores":
        return score
    if ties == "index":
        return instance
    return drawn(entries, draw)


def drawn(entries, draw: tuple[int, int]):
    """Return a random number for each entry, the same whatever other entries there are."""
    key = np.random.SeedSequence(draw).generate_state(1, np.uint64)[0]
    return hashed(entries, key) >> np.uint64(11)


def least_likely(y, order, sets: CandidateSets, count: int):
    """Return the candidates to eliminate: the least likely of each of the least likely instances.

    Parameters
    ----------
    y, order : (E,) arrays
        Soft labels, or their worth, and what decides between equal ones; then class, then
        instance do.
    sets : CandidateSets
    count : int
        Ambiguous instances that lose a candidate.

    Returns
    -------
    (count,) array of int
        Entries of distinct instances.
    """
    first = least_of_instances(y, order, sets)
    i, j = sets.classes[first], sets.instance[first]
    return first[np.lexsort((j, i, order[first], y[first]))[:count]]


def least_of_instances(y, order, sets: CandidateSets):
    """Return the least likely candidate of each instance that has several."""
    entries = np.flatnonzero(sets.sizes[sets.instance] > 1)
    i, j = sets.classes[entries], sets.instance[entries]
    least = entries[np.lexsort((i, order[entries], y[entries], j))]
    return least[np.diff(sets.instance[least], prepend=-1) > 0]
