"""Hard labels that obey all constraints exactly: the best of all labellings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse.csgraph import connected_components

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints.base import Constraint, Inequalities
from candidly.solvers.solution import Solution

SHOWN = 10


class ContradictionError(ValueError):
    """Raised if no labelling obeys the constraints; the message names the instances."""


def assign(merit, sets: CandidateSets, constraints: Sequence[Constraint] = ()) -> NDArray[np.intp]:
    """Return the class of every instance, with the largest total merit under the constraints.

    If the best class of each instance obeys the constraints, that is the answer. Instances that
    constraints connect and that have a conflict are a problem of their own, so that their answer
    does not depend on what else there is: a linear assignment problem where each name may occur
    once and its answer obeys what else is asked, or else an integer program.

    Parameters
    ----------
    merit : (E,) array
        Merit of each candidate of each instance.
    sets : CandidateSets
        The candidates; the answer is always one of them.
    constraints : sequence of Constraint

    Raises
    ------
    ContradictionError
        If no labelling obeys the constraints.
    """
    best = sets.best(merit)
    rows = _stack([r for r in (k.rows(sets) for k in constraints) if r is not None])
    if rows is not None and len(best):
        component = _components(rows, sets)
        conflicts = np.unique(component.of_row[_broken(best, rows)])
        conflicts = _match_groups(best, merit, sets, rows, component, conflicts)
        for instances, some in component.parts(conflicts, rows):
            answer = _solve(merit, sets, some, instances)
            if answer is None:
                _raise_contradiction(merit, sets, instances, constraints)
            best[instances] = answer
    return sets.classes[best]


SCORE, EVIDENCE = 1e-9, 1e-3
"""Most that a score, and the evidence, can add to a soft label."""
LABEL_DIGITS, EVIDENCE_DIGITS, SCORE_DIGITS = 7, 7, 6
"""Decimals that are compared: of soft labels, and of evidence and scores over the largest.

Names that are only ever mentioned together have equal soft labels: without this the order of sums
would decide between them, and so the number of shards. With it the first class is chosen. The ALM
ends with such labels apart by up to 1e-9.
"""


def worth(solution: Solution, evidence=None) -> NDArray[np.float64]:
    """Return what hard labels maximise (E,): soft labels, and a little to separate equal ones.

    The scores before projection decide between equal soft labels. Where labels compete, the
    ``evidence`` of methods whose soft labels saturate comes before them.
    """
    sizes = _largest(solution.scores), _largest(evidence)
    return merits(solution.labels, solution.scores, evidence, *sizes)


def merits(labels, scores, evidence, most_score: float, most_evidence: float):
    """Return the same from labels, scores and evidence, and the largest of these anywhere."""
    found = np.round(labels.astype(np.float64), LABEL_DIGITS)
    if evidence is not None:
        found = found + EVIDENCE * _compared(evidence, most_evidence, EVIDENCE_DIGITS)
    return found + SCORE * _compared(scores, most_score, SCORE_DIGITS)


def _compared(values, most: float, digits: int):
    return np.round(values.astype(np.float64) / max(most, 1e-300), digits)


def _largest(values) -> float:
    return 0.0 if values is None else float(np.abs(values).max(initial=0))


def assign_group(merit, mask, null=None) -> NDArray[np.intp] | None:
    """Return the class of every instance of one group, of largest total merit, each class once.

    Only null may occur more often. This is the linear assignment problem, in which each
    instance has its own null class. Unlike :func:`assign` it is fast enough to solve in every
    iteration of a method, and does not raise where no labelling is allowed.

    Parameters
    ----------
    merit : (c, m) array
        How good each class is for each instance of the group.
    mask : (c, m) bool array
        Candidates.
    null : int or None
        Row of the null class.

    Returns
    -------
    (m,) array of int, or None where no labelling is allowed
    """
    m = mask.shape[1]
    names = np.flatnonzero(mask.any(axis=1))
    span = float(np.ptp(merit[mask])) + 1
    never = -2 * (m + 1) * span
    worth = np.where(mask, merit - merit[mask].min(), never)
    if null is not None:
        names = names[names != null]
        own = np.where(np.eye(m, dtype=bool), worth[null], never)
        worth, names = np.vstack([worth[names], own]), np.append(names, np.full(m, null))
    else:
        worth = worth[names]
    if len(worth) < m:
        return None
    instances, rows = linear_sum_assignment(worth.T, maximize=True)
    return None if (worth[rows, instances] == never).any() else names[rows]


def _stack(rows: list[Inequalities]) -> Inequalities | None:
    if not rows:
        return None
    A = sparse.csr_array(sparse.vstack([r.A for r in rows], format="csr"))
    return Inequalities(
        A, np.concatenate([r.lower for r in rows]), np.concatenate([r.upper for r in rows])
    )


@dataclass(frozen=True)
class _Components:
    """Which instances and inequalities are connected: the number of each one's component."""

    of_instance: NDArray[np.intp]
    of_row: NDArray[np.intp]

    def members(self, chosen: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        """Yield the instances of each of some components."""
        return _members(self.of_instance, chosen)

    def parts(
        self, chosen: NDArray[np.intp], rows: Inequalities
    ) -> Iterator[tuple[NDArray[np.intp], Inequalities]]:
        """Yield the instances and the inequalities of each of some components."""
        for instances, at in zip(self.members(chosen), _members(self.of_row, chosen), strict=True):
            yield instances, _some(rows, at)


def _members(component: NDArray[np.intp], chosen: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield which things are of each of some components."""
    if not len(chosen):
        return
    order = np.argsort(component, kind="stable")
    starts, ends = (np.searchsorted(component[order], chosen, side) for side in ("left", "right"))
    for start, end in zip(starts, ends, strict=True):
        yield order[start:end]


def _components(rows: Inequalities, sets: CandidateSets) -> _Components:
    """Return the connected components of instances and inequalities."""
    N = sets.n_instances
    count = np.diff(rows.A.indptr)
    row, instance = np.repeat(np.arange(len(count)), count), sets.instance[rows.A.indices]
    graph = sparse.csr_array(
        (np.ones(len(row)), (row + N, instance)), shape=(N + len(count), N + len(count))
    )
    _, component = connected_components(graph, directed=False)
    return _Components(component[:N], component[N:])


def _broken(best, rows: Inequalities) -> NDArray[np.intp]:
    """Return the inequalities that a choice of entries breaks."""
    chosen = np.zeros(rows.A.shape[1])
    chosen[best] = 1
    value = rows.A @ chosen
    return np.flatnonzero((value > rows.upper + 1e-9) | (value < rows.lower - 1e-9))


def _match_groups(best, merit, sets, rows, component, conflicts):
    """Set the entries of groups in which names occur at most once; return the conflicts left."""
    if not len(conflicts):
        return conflicts
    once, capped = _once_each(sets, rows, component.of_instance)
    for conflict, instances in zip(conflicts, component.members(conflicts), strict=True):
        if once[conflict]:
            found = _match(merit, sets, capped, instances)
            if found is not None:
                best[instances] = found
    # What asks for more, as for a name at all, was left out: it may hold by itself.
    _choose_one(best, merit, sets, rows, component, once)
    return conflicts[np.isin(conflicts, component.of_row[_broken(best, rows)])]


def _choose_one(best, merit, sets, rows, component, once):
    """Set the one entry that costs least where one of some is asked for, and none was best.

    Names occur at most once, so that the best labelling with a name has one: more would have been
    better without being asked for.
    """
    asks = (rows.lower == 1) & np.isposinf(rows.upper)
    asks[rows.A.tocoo().row[rows.A.data != 1]] = False
    broken, home = _broken(best, rows), component.of_row
    alone = np.bincount(home[asks], minlength=len(once)) == 1
    alone &= np.bincount(home[broken], minlength=len(once)) == 1
    missing = broken[asks[broken] & (alone & once)[home[broken]]]
    if not len(missing):
        return
    A = rows.A[missing]
    entries, which = A.indices, np.repeat(np.arange(len(missing)), np.diff(A.indptr))
    others = np.ones(len(sets), dtype=bool)
    others[entries] = False
    # Each instance has one candidate that does not count, as nobody is.
    left = np.bincount(component.of_instance[sets.instance[others]], minlength=len(once))
    plain = (left == np.bincount(component.of_instance, minlength=len(once)))[home[missing]]
    gain = merit[entries] - merit[best[sets.instance[entries]]]
    order = np.lexsort((entries, -gain, which))
    first = order[np.diff(which[order], prepend=-1) > 0]
    chosen = entries[first[plain[which[first]]]]
    best[sets.instance[chosen]] = chosen


def _once_each(sets, rows, part):
    """Return which components (N,) ask only that classes occur once, and entries (E,) of these."""
    rows = _some(rows, ~(np.isfinite(rows.lower) & np.isposinf(rows.upper)))
    count = np.diff(rows.A.indptr)
    entries, first = rows.A.indices, rows.A.indptr[:-1][count > 0]
    row = np.repeat(np.arange(len(count)), count)
    plain = np.isneginf(rows.lower) & (rows.upper == 1)
    same = sets.classes[entries] == np.repeat(sets.classes[entries[first]], count[count > 0])
    once = np.ones(len(part), dtype=bool)
    once[part[sets.instance[entries[~(plain[row] & same & (rows.A.data == 1))]]]] = False
    # One row per class: two of a class, as pairs may ask for, are not "once" in the component.
    home = part[sets.instance[entries[first]]]
    rows_of = home * np.int64(sets.n_classes) + sets.classes[entries[first]]
    _, which, twice = np.unique(rows_of, return_inverse=True, return_counts=True)
    once[home[twice[which] > 1]] = False
    times = np.bincount(entries, minlength=len(sets))
    once[part[sets.instance[times > 1]]] = False
    return once, times == 1


def _match(merit, sets, capped, instances):
    """Return the best entries of instances whose capped classes occur once, or None."""
    part, entries = sets.of_instances(instances)
    names, place = np.unique(part.classes, return_inverse=True)
    several = np.bincount(place) > 1
    inside = np.bincount(place, capped[entries]) > 0
    free = np.flatnonzero(several & ~inside)
    if len(free) > 1 or (several & inside & (np.bincount(place, ~capped[entries]) > 0)).any():
        return None
    worth = np.zeros((len(names), len(instances)))
    number = np.full(worth.shape, -1)
    worth[place, part.instance] = merit[entries]
    number[place, part.instance] = entries
    chosen = assign_group(worth, number >= 0, free[0] if len(free) else None)
    return None if chosen is None else number[chosen, np.arange(len(instances))]


def _some(rows: Inequalities, chosen) -> Inequalities:
    return Inequalities(rows.A[chosen], rows.lower[chosen], rows.upper[chosen])


def _solve(merit, sets, rows, instances):
    """Return the entries that solve the integer program over some instances, sorted, or None.

    An inequality with a lower bound that also involves other instances is left out: it could
    be met there.
    """
    part, entries = sets.of_instances(instances)
    row = np.repeat(np.arange(rows.A.shape[0]), np.diff(rows.A.indptr))
    here = np.isin(sets.instance[rows.A.indices], instances)
    asks = np.isfinite(rows.lower) & np.isin(np.arange(len(rows.lower)), row[~here])
    mine = np.setdiff1d(row[here], np.flatnonzero(asks))
    used = here & np.isin(row, mine)
    at = np.searchsorted(mine, row[used]), np.searchsorted(entries, rows.A.indices[used])
    A = sparse.csr_array((rows.A.data[used], at), shape=(len(mine), len(entries)))
    once = sparse.csr_array(
        (np.ones(len(part)), (part.instance, np.arange(len(part)))),
        shape=(part.n_instances, len(part)),
    )
    result = milp(
        -merit[entries].astype(float),
        integrality=np.ones(len(entries)),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(once, 1, 1),
            LinearConstraint(A, rows.lower[mine], rows.upper[mine]),
        ],
    )
    return None if result.x is None else entries[part.best(result.x)]


def _raise_contradiction(merit, sets, inside, constraints):
    """Raise an error that names a smallest set of contradictory instances and constraints."""

    def infeasible(instances, chosen):
        rows = _stack([r for r in (k.rows(sets) for k in chosen) if r is not None])
        return rows is not None and _solve(merit, sets, rows, instances) is None

    if not infeasible(inside, constraints):
        raise ContradictionError("the integer program found no labels within its limits")
    inside = _smallest_part(inside, lambda rest: infeasible(rest, constraints))
    chosen = list(constraints)
    for constraint in constraints:
        rest = [k for k in chosen if k is not constraint]
        if rest and infeasible(inside, rest):
            chosen = rest
    asked = " and ".join(f"'{k.name}'" for k in chosen)
    shown = ", ".join(map(str, inside[:SHOWN])) + (", ..." if len(inside) > SHOWN else "")
    raise ContradictionError(
        f"instances {shown} (counted from 0) cannot be labelled: no choice among their "
        f"candidates obeys {asked}. Add candidates "
        "(or the null class), or drop a constraint"
    )


def _smallest_part(instances, still_wrong):
    """Return a part that is still wrong, of which nothing can be left out."""
    size = len(instances) // 2
    while size:
        start = 0
        while start < len(instances):
            rest = np.delete(instances, slice(start, start + size))
            if len(rest) and still_wrong(rest):
                instances = rest
            else:
                start += size
        size //= 2
    return instances
