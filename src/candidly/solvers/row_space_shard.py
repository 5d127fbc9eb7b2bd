"""One shard of row-space completion: instances with their rows, candidates and soft labels.

From the regression B of the labels of all instances it predicts its own, projects them, and returns
its contribution to the next regression. Rows are those of the ridge (``RidgeRows``), or features as
they came: then the regression is multiplied instead of every row (:class:`RidgeMap`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import (
    by_pieces,
    cast,
    largest_size,
    like,
    namespace,
    numbers,
    row_products,
    zeros,
)
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.kernels.entry_products import class_sums, entry_products
from candidly.solvers.kernels.left_out_labels import left_out_labels
from candidly.solvers.shards import Part

LEAST_REST = 1e-3
"""Smallest 1 - h_j: an instance that determines its own prediction has no other evidence."""
DENSE_LIMIT = 10
"""Classes per candidate up to which a dense product beats computing candidate entries only."""

ROUNDING = 64
"""Multiple of the precision of rows up to which predictions without an instance are 0."""


@dataclass(frozen=True)
class RidgeMap:
    """How sums of features as they came are the regression of labels on them.

    With q_j = T'(x_j - mean) and C = T T', B_i . q_j = (sum of q over i) . q_j is
    C (sum of (x - mean) over i) . (x_j - mean): the rows q_j are never made.

    Parameters
    ----------
    mean : (m,) array
        Weighted mean of the features.
    C : (m, m) array
        (Gram matrix + ridge)^-1.
    """

    mean: NDArray[np.float64]
    C: NDArray[np.float64]

    def less(self, shift) -> RidgeMap:
        """Return the same for features from which a shift is subtracted first."""
        return RidgeMap(self.mean - shift, self.C)

    def regression(self, sums, mass):
        """Return B (c x m) and what is subtracted from the predictions of each class (c,)."""
        mean = like(self.mean, sums)
        B = (sums - mass[:, None] * mean) @ like(self.C, sums)
        return B, B @ mean

    def leverage(self, rows):
        """Return how much each row of features determines its own prediction."""
        found = zeros(len(rows), rows, namespace(rows).float64)
        mean, C = (like(each, found) for each in (self.mean, self.C))

        def of_piece(part):
            centred = rows[part] - mean
            found[part] = row_products(centred @ C, centred)

        by_pieces(of_piece, rows)
        return found


class Products(Protocol):
    """Rows of instances, multiplied with values of their entries."""

    def sums(self, values: Any) -> Any:
        """Return the sum of rows over the entries of each class, with values (E,)."""
        ...

    def products(self, B: Any) -> Any:
        """Return the inner product of the row and the class of each entry, rows of B."""
        ...


class RowSpaceShard:
    """Instances of a row-space completion, and one iteration for them.

    Parameters
    ----------
    Q : (N, k) array
        Rows of the ridge, or features, of NumPy or PyTorch: the work is done where they are.
    sets : CandidateSets
    P : (E,) array
        Soft labels to start from.
    project : callable
        Maps predictions (E,) to soft labels; not called with ``simplex``.
    own : (N,) array, optional
        Leverage of each instance; without it none is left out of its own prediction.
    counts, scale : (N,) arrays, optional
        How much each row counts in the sums, and what its predictions are divided by.
    share : (N,) array, optional
        Part of each instance in the sizes of classes, where these count.
    offset : bool
        Whether predictions have an offset, which needs the mass of each class.
    products : Products, optional
        What multiplies rows with values of entries, and without a count of changed labels.
    simplex : (E,) array, optional
        Given where the simplex alone limits labels: those of instances for which nothing speaks,
        or none where these are equal. Labels are then found in one pass, if ``own`` and an offset
        are all that predictions have.
    """

    def __init__(
        self,
        Q: NDArray[np.floating],
        sets: CandidateSets,
        P: NDArray[np.floating],
        project: Callable[[Any], Any],
        *,
        own: NDArray[np.float64] | None = None,
        counts: NDArray[np.float64] | None = None,
        scale: NDArray[np.float64] | None = None,
        share: NDArray[np.float64] | None = None,
        offset: bool = False,
        products: Products | None = None,
        simplex: NDArray[np.float64] | None = None,
    ) -> None:
        xp = namespace(Q)
        self.Q, self.sets, self._project = Q, sets.beside(Q), project
        self.y = like(P, Q, xp.float64)
        self.H = zeros(len(P), self.y)
        self._counts = None if counts is None else counts[self.sets.instance]
        self._scale = None if scale is None else scale[self.sets.instance]
        self._own = own
        self._share = None if share is None else share[self.sets.instance]
        self._offset = offset
        self._rounding = ROUNDING * float(xp.finfo(Q.dtype).eps)
        few = sets.n_classes * sets.n_instances <= DENSE_LIMIT * len(sets)
        self._dense = few and not (offset and Q.dtype != xp.float64) and products is None
        self._products = products
        plain = own is not None and scale is None and share is None and offset
        self._simplex = simplex if plain and products is None and not self._dense else None

    @cached_property
    def _own_of_entries(self) -> tuple[Any, Any]:
        """Leverage of the instance of each entry, and what is left of its prediction."""
        own: Any = self._own
        rest = namespace(own).clip(1 - own, LEAST_REST, None)
        return own[self.sets.instance], rest[self.sets.instance]

    def begin(self) -> Part:
        """Return the contribution of the labels to start from."""
        return Part(self.sums(self.y))

    def step(self, B, sizes=None, offset=None, last: bool = False) -> Part:
        """Return the contribution to the next regression, and how much labels changed.

        ``last`` says that there is no next one.
        """
        if self._simplex is not None:
            return self._step_in_one_pass(B, offset, last)
        before, xp = self.y, namespace(self.y)
        self.H = self.predict(before, B, sizes, offset)
        self.y = y = self._project(self.H)
        changed: Any = 0
        if self._products is None:
            changed = (self.sets.best(y) != self.sets.best(before)).sum()
        sums = {} if last else self.sums(y)
        sizes = xp.linalg.norm(y - self.H), xp.linalg.norm(y)
        # In one copy, and after all that the device has to do.
        gap, norm, count, change = numbers(*sizes, changed, largest_size(y - before))
        sums |= {"gap": gap**2, "norm": norm**2, "changed": int(count)}
        return Part(sums, {"change": change})

    def _step_in_one_pass(self, B, offset, last: bool) -> Part:
        sets, before = self.sets, self.y
        H, y = entry_products(sets, B, self.Q), np.empty(len(sets))
        given = sets.start, sets.classes, offset, self._own, self._simplex
        found = left_out_labels(H, y, before, *given, self._rounding, LEAST_REST)
        self.H, self.y = H, y
        gap, norm, changed, change = found
        sums = {} if last else self.sums(y)
        sums |= {"gap": float(gap), "norm": float(norm), "changed": int(changed)}
        return Part(sums, {"change": float(change)})

    def sums(self, y) -> dict[str, Any]:
        """Return the sums of every class by soft labels (E,): of rows, and of what else counts."""
        counted = y if self._counts is None else y * self._counts
        found = {}
        if self._dense:  # few classes: a product of matrices is faster than one of entries
            found["B"] = self.sets.matrix(cast(counted, self.Q)) @ self.Q
        elif self._products is not None:
            found["B"] = self._products.sums(counted)
        else:
            found["B"] = class_sums(self.sets, counted, self.Q)
        if self._offset:
            found["mass"] = self.sets.class_total(counted)
        if self._share is not None:
            found["sizes"] = self.sets.class_total(y * self._share)
        return found

    def predict(self, y, B, sizes=None, offset=None):
        """Return H at the candidates, by the regression of soft labels y of all instances."""
        if self._dense:
            H = self.sets.entries_of(cast(B, self.Q) @ self.Q.T)
        elif self._products is not None:
            H = self._products.products(B)
        else:
            H = entry_products(self.sets, B, self.Q)
        if offset is not None:
            H = H - offset[self.sets.classes]
        if self._scale is not None:
            H = H / self._scale
        if self._own is not None:
            own, rest = self._own_of_entries
            own = own * y
            H = H - own
            # Where nobody else has the label only rounding is left, and would decide.
            H *= namespace(H).abs(H) > self._rounding * own
            H /= rest
        return H if sizes is None else H + sizes[self.sets.classes]
