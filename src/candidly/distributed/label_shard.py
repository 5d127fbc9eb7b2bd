"""What shards of all methods do: constraints, hard labels, elimination, sums for a classifier."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.moments import ColumnShard
from candidly.distributed.shard_making import State
from candidly.distributed.smallest import Prefix, counts_after, keys_of, up_to
from candidly.distributed.sources import Columns
from candidly.solvers import CandidateSets, Constraint, ContradictionError, assign
from candidly.solvers.assignment import merits
from candidly.solvers.constraints import normalise, violations
from candidly.solvers.elimination import compared, fed_back, least_of_instances, tie_order
from candidly.solvers.kernels.entry_products import by_classes, class_sums
from candidly.solvers.row_space_shard import RidgeMap, RowSpaceShard
from candidly.solvers.shards import Part, Rowwise

Largest = tuple[float, float]
"""The largest score and the largest evidence of all instances."""
Draw = tuple[int, int]
"""Seed, and number of the round."""


class LabelShard(ColumnShard):
    """Instances with candidates, of which soft labels ``y`` and scores ``H`` are found.

    Parameters
    ----------
    columns : Columns
    state : State
    at_most_once, at_least_one : bool
        Constraints on groups.
    assigns : bool
        Whether hard labels obey them, too.
    eliminates : bool
        Whether candidates are eliminated, and evidence decides between equal ones.
    """

    def __init__(
        self,
        columns: Columns,
        state: State,
        at_most_once: bool = True,
        at_least_one: bool = False,
        assigns: bool = True,
        eliminates: bool = False,
    ) -> None:
        super().__init__(columns, state)
        self.at_most_once, self.at_least_one = at_most_once, at_least_one
        self.assigns, self.eliminates = assigns, eliminates

    @cached_property
    def sets(self) -> CandidateSets:
        """Candidates that are left."""
        sets = self.columns.sets
        if "kept" in self.state:
            return sets.kept(self.state["kept"])
        if "order" in self.state:
            sets.__dict__["by_class"] = self.state["order"]
        return sets

    @property
    def P(self) -> NDArray[np.float64]:
        """Soft labels to start from."""
        return self.state.get("P", lambda: self.columns.P)

    @cached_property
    def rules(self) -> list[Constraint]:
        """Constraints on groups."""
        return self.columns.group_rules(self.at_most_once, self.at_least_one)

    @property
    def hard_rules(self) -> list[Constraint]:
        """Constraints that hard labels obey."""
        return self.rules if self.assigns else []

    def check(self) -> Part:
        """Raise where constraints contradict each other; return how many instances there are."""
        self.columns.check()
        try:
            assign(self.columns.P, self.columns.sets, self.hard_rules)
        except ContradictionError as error:
            raise ContradictionError(renumbered(str(error), self.columns.numbers())) from None
        c = self.columns.sets.n_classes
        if by_classes((c, self.columns.features.shape[1])):
            self.state["order"] = self.columns.sets.by_class.astype(np.int32)
        counted = np.bincount(self.columns.sets.classes, minlength=c)
        return Part({"instances": len(self.columns), "listed": counted})

    # Elimination

    def ambiguous(self) -> Part:
        """Return how many instances have several candidates."""
        return Part({"ambiguous": int((self.sets.sizes > 1).sum())})

    def least_likely(self, ties: str, draw: Draw, most: Largest) -> Part:
        """Find the least likely candidate of each ambiguous instance, and its key among them.

        ``ties`` and ``draw`` are as for ``tie_order``, ``most`` as for ``choose``.
        """
        sets, y, H = self.sets, self.state["y"], self.state["H"]
        row = self.columns.numbers()
        value = self._merits(y, H, most) if ties == "evidence" else compared(ties, y)
        order = tie_order(ties, H, row[sets.instance], self._entry_numbers(), draw)
        first = least_of_instances(value, order, sets)
        place = sets.classes[first], row[sets.instance[first]]
        self.state["least"] = first
        self.state["least_keys"] = keys_of(value[first], order[first], *place)
        return Part()

    def count_least(self, prefix: Prefix) -> Part:
        """Return how many of their keys that begin like this have each next digit."""
        return Part({"counts": counts_after(self.state["least_keys"], prefix)})

    def eliminate(self, last: Prefix | None, ties: str) -> Part:
        """Remove the least likely candidates up to the last one, and feed the labels back."""
        sets, y = self.sets, self.state["y"]
        kept = np.ones(len(sets), dtype=bool)
        if last is not None:
            kept[self.state["least"][up_to(self.state["least_keys"], last)]] = False
        given = self.columns.sets
        left = np.flatnonzero(self.state["kept"]) if "kept" in self.state else np.arange(len(given))
        scores = self.state.get("scores", lambda: np.zeros(len(given))).copy()
        scores[left] = self.state["H"]
        smaller = sets.kept(kept)
        found = normalise(y[kept], self.P[kept], smaller)
        mask = np.zeros(len(given), dtype=bool)
        mask[left[kept]] = True
        self.state["kept"], self.state["labels"], self.state["scores"] = mask, found, scores
        self.state["P"] = fed_back(ties, found, smaller)
        for name in ("evidence", "least", "least_keys"):  # of the candidates before
            if name in self.state:
                del self.state[name]
        for made in ("entries", "kernel"):  # of the candidates before
            self.__dict__.pop(made, None)
        self.__dict__["sets"] = smaller
        if "order" in self.state:
            del self.state["order"]
        ambiguous = int((smaller.sizes > 1).sum())
        return Part({"ambiguous": ambiguous})

    def _entry_numbers(self) -> NDArray[np.intp]:
        """Return the numbers of the entries that are left, among those of all instances."""
        given = self.columns.entries
        numbers = np.arange(given.start, given.stop) if isinstance(given, slice) else given
        return numbers[self.state["kept"]] if "kept" in self.state else numbers

    def labels(self) -> tuple[Any, Any]:
        """Return soft labels and scores over the candidates as given."""
        if "scores" not in self.state:
            return self.state["y"], self.state["H"]
        y = np.zeros(len(self.columns.sets))
        y[self.state["kept"]] = self.state["labels"]
        return y, self.state["scores"]

    # Evidence between equal labels: of the candidates that are left, or of those given

    def evidence_sums(self, left: bool, mean: Any) -> Part:
        """Return the sums of every class by the labels, and how far scores and constraints go.

        ``mean`` is what is subtracted from features first; None where sums are not needed.
        """
        sets, y, scores = self._over(left)
        most = {"score": float(np.abs(scores).max(initial=0))}
        if not left:
            most |= violations(y, sets, self.rules)
        sums = {}
        if mean is not None:
            sums = self._regressed(sets, mean, None).sums(y)
        return Part(sums, most)

    def evidence(self, left: bool, mean: Any, ridge: RidgeMap, B: Any, offset: Any) -> Part:
        """Find the regression of the labels, each instance left out."""
        sets, y, _ = self._over(left)
        found = self._regressed(sets, mean, ridge).predict(y, B, None, offset)
        self.state["evidence"] = found
        return Part(most={"evidence": float(np.abs(found).max(initial=0))})

    def evidence_rows(self, mean: Any) -> NDArray[np.floating]:
        """Return features on which labels are regressed, less their mean."""
        return self.columns.less(mean)

    def _over(self, left: bool) -> tuple[CandidateSets, Any, Any]:
        """Return candidates with soft labels and scores: those left, or those given."""
        if left:
            return self.sets, self.state["y"], self.state["H"]
        return self.columns.sets, *self.labels()

    def _regressed(self, sets: CandidateSets, mean: Any, ridge: RidgeMap | None) -> RowSpaceShard:
        X = self.evidence_rows(mean)
        own = None if ridge is None else ridge.leverage(X)
        return RowSpaceShard(X, sets, np.zeros(len(sets)), np.asarray, own=own, offset=True)

    def _merits(self, y: Any, scores: Any, most: Largest) -> Any:
        """Return what hard labels maximise; see ``worth``."""
        there = "evidence" in self.state
        evidence = self.state["evidence"] if there else None
        return merits(y, scores, evidence, *most)

    # Hard labels

    def choose(self, most: Largest) -> Part:
        """Choose hard labels under the constraints, by the largest score and evidence anywhere."""
        y, scores = self.labels()
        chosen = assign(self._merits(y, scores, most), self.columns.sets, self.hard_rules)
        self.state["chosen"] = chosen.astype(np.int32)
        return Part()

    def found(self) -> Rowwise:
        """Return the labels, as values of instances and of entries."""
        y, scores = self.labels()
        return Rowwise({"chosen": self.state["chosen"]}, {"labels": y, "scores": scores})

    # A classifier by regression

    def one_hot_sums(self, shift: Any) -> Part:
        """Return the sums of features and of weights over the instances of each label.

        Features are as they came, less a ``shift``, or where that is None those that are solved.
        """
        chosen = self.state["chosen"].astype(np.intp)
        weight = self.columns.weight
        values = np.ones(len(chosen)) if weight is None else weight
        sets = CandidateSets(np.arange(len(chosen) + 1), chosen, self.columns.sets.n_classes)
        X = self.X if shift is None else self.columns.less(shift)
        return Part({"B": class_sums(sets, values, X), "mass": sets.class_total(values)})


def renumbered(message: str, numbers: NDArray[np.intp]) -> str:
    """Return what ``assign`` says of instances of a shard, with their numbers among all.

    Examples
    --------
    >>> renumbered("instances 0, 2 (counted from 0) cannot be labelled", np.array([3, 7, 9]))
    'instances 3, 9 (counted from 0) cannot be labelled'
    """
    head, counted, rest = message.partition(" (counted from 0)")
    if not counted:  # no instances are named
        return message
    return re.sub(r"\d+", lambda own: str(numbers[int(own[0])]), head) + counted + rest
