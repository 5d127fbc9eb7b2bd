"""Hard labels that obey the constraints exactly: the best of all labellings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from candidly.solvers.constraints.base import Constraint, Rows

SHOWN = 10


class ContradictionError(ValueError):
    """Constraints that no labelling obeys; the message names the instances."""


def assign(merit, mask, constraints: Sequence[Constraint] = ()) -> NDArray[np.intp]:
    """Class of every instance, of most merit in all, that obeys every constraint.

    Where each instance's best class already obeys, that is the answer. What is left over,
    the groups and links with a conflict, is one integer program; for "at most once in a
    group" alone it is the linear assignment problem, and so solved by its relaxation.

    Parameters
    ----------
    merit : (c, N) array
        How good each class is for each instance.
    mask : (c, N) bool array
        Candidates; the answer is always one of them.
    constraints : sequence of Constraint

    Raises
    ------
    ContradictionError
        Where no labelling obeys.
    """
    c, N = mask.shape
    best = np.where(mask, merit, -np.inf).argmax(axis=0)
    rows = _stack([r for r in (k.rows(mask) for k in constraints) if r is not None], c * N)
    if rows is None or not N:
        return best
    part, conflicts = _conflicts(best, rows, c, N)
    if len(conflicts):
        inside = np.flatnonzero(np.isin(part, conflicts))
        answer = _solve(merit, mask, rows, inside)
        if answer is None:
            _name_the_instances(merit, mask, rows, part, conflicts, constraints)
        best[inside] = answer
    return best


def _stack(rows: list[Rows], width: int) -> Rows | None:
    if not rows:
        return None
    A = sparse.csr_array(sparse.vstack([r.A for r in rows], format="csr"))
    return Rows(A, np.concatenate([r.lower for r in rows]), np.concatenate([r.upper for r in rows]))


def _conflicts(best, rows, c, N):
    """Component of every instance under the rows, and the components that break one."""
    chosen = np.zeros(c * N)
    chosen[np.arange(N) * c + best] = 1
    value = rows.A @ chosen
    broken = np.flatnonzero((value > rows.upper + 1e-9) | (value < rows.lower - 1e-9))
    count = np.diff(rows.A.indptr)
    row, instance = np.repeat(np.arange(len(count)), count), rows.A.indices // c
    graph = sparse.csr_array(
        (np.ones(len(row)), (row + N, instance)), shape=(N + len(count), N + len(count))
    )
    _, component = connected_components(graph, directed=False)
    return component[:N], np.unique(component[N:][broken])


def _solve(merit, mask, rows, inside):
    """The integer program over some instances; None if nothing obeys."""
    c = len(mask)
    j, i = np.nonzero(mask[:, inside].T)
    entry = inside[j] * c + i
    A = rows.A[:, entry]
    # Rows of other components have nothing here, but their bounds may not hold for 0.
    mine = np.unique(
        np.repeat(np.arange(rows.A.shape[0]), np.diff(rows.A.indptr))[
            np.isin(rows.A.indices // c, inside)
        ]
    )
    once = sparse.csr_array((np.ones(len(j)), (j, np.arange(len(j)))), (len(inside), len(j)))
    result = milp(
        -merit[i, inside[j]].astype(float),
        integrality=np.ones(len(j)),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(once, 1, 1),
            LinearConstraint(A[mine], rows.lower[mine], rows.upper[mine]),
        ],
    )
    if result.x is None:
        return None
    picked = np.flatnonzero(result.x > 0.5)
    answer = np.empty(len(inside), dtype=np.intp)
    answer[j[picked]] = i[picked]
    return answer


def _name_the_instances(merit, mask, rows, part, conflicts, constraints):
    for conflict in conflicts:
        inside = np.flatnonzero(part == conflict)
        if _solve(merit, mask, rows, inside) is None:
            shown = ", ".join(map(str, inside[:SHOWN])) + (", ..." if len(inside) > SHOWN else "")
            asked = "; ".join(k.name for k in constraints)
            raise ContradictionError(
                f"instances {shown} cannot be labelled: no choice among their candidates obeys "
                f"all of: {asked}. Add candidates (or the null class), or drop a constraint"
            )
    raise ContradictionError("the integer program found no labels within its limits")
