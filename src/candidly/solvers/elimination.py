"""Algorithm 2: iterative candidate elimination (ICE) with any soft labeller."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from candidly.solvers.assignment import LABEL_DIGITS, worth
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import normalise
from candidly.solvers.hashing import hashed
from candidly.solvers.solution import Round, Solution, Status

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
        given, left = sets, np.arange(len(sets))
        scores = np.zeros(len(sets))
        rounds: list[Round] = []
        status = Status.MAX_ROUNDS
        for number in range(self.max_rounds):
            solution = labeller(P, sets)  # from scratch: the path decides, a warm start is worse
            y = solution.sets.values_on(solution.labels, sets)
            score = solution.sets.values_on(solution.scores, sets)
            out = left[:0]
            if self.fraction:
                value = compared(self.ties, y)
                order = tie_order(self.ties, score, sets.instance, left, (self.seed, number))
                if self.ties == "evidence":
                    known = None if evidence is None else evidence(solution)
                    value = solution.sets.values_on(worth(solution, known), sets)
                out = least_likely(value, order, sets, self.fraction)
            ambiguous = int((sets.sizes > 1).sum())
            rounds.append(Round(ambiguous, len(out), len(solution.trace), solution.status))
            scores[left] = score
            kept = np.ones(len(sets), dtype=bool)
            kept[out] = False
            left, sets = left[kept], sets.kept(kept)
            found = normalise(y[kept], P[kept], sets)
            P = fed_back(self.ties, found, sets)
            labels = np.zeros(len(given), dtype=P.dtype)
            labels[left] = found
            solution = replace(
                solution, labels=labels, scores=scores.copy(), sets=given, rounds=tuple(rounds)
            )
            if callback is not None:
                callback(solution)
            if not (sets.sizes > 1).any():
                status = Status.RESOLVED
                break
        return replace(solution, status=status)


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


def least_likely(y, order, sets: CandidateSets, fraction: float):
    """Return the candidates to eliminate: the least likely of each of the least likely instances.

    Parameters
    ----------
    y, order : (E,) arrays
        Soft labels, or their worth, and what decides between equal ones; then class, then
        instance do.
    sets : CandidateSets
    fraction : float
        Fraction of the ambiguous instances that lose a candidate.

    Returns
    -------
    (n,) array of int
        Entries of ceil(fraction * number of ambiguous instances) distinct instances.
    """
    count = math.ceil(fraction * int((sets.sizes > 1).sum()) - 1e-9)
    first = least_of_instances(y, order, sets)
    i, j = sets.classes[first], sets.instance[first]
    return first[np.lexsort((j, i, order[first], y[first]))[:count]]


def least_of_instances(y, order, sets: CandidateSets):
    """Return the least likely candidate of each instance that has several."""
    entries = np.flatnonzero(sets.sizes[sets.instance] > 1)
    i, j = sets.classes[entries], sets.instance[entries]
    least = entries[np.lexsort((i, order[entries], y[entries], j))]
    return least[np.diff(sets.instance[least], prepend=-1) > 0]
