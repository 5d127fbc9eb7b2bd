"""One shard of open-set labelling: instances in whole groups, and the steps of an iteration.

Features may be on a device: then all is there that has a value per instance, entry or name, and
what is decided, further constraints and the choice of names have copies of labels here.

What is global is small: how often each name is mentioned and counted, the sum of its features, and
Gram matrices, of which the loop (``open_set``) makes covariances; and, for somebody known who is
not mentioned, which names are searched for (``unmentioned``). All else is of one group.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import (
    counting,
    here,
    largest_size,
    like,
    namespace,
    numbers,
    places_of,
    zeros,
)
from candidly.solvers.confidence_limits import Likenesses
from candidly.solvers.confidence_shard import FOUND, LEAST, ConfidenceShard
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.entry_simplex import onto_simplex
from candidly.solvers.kernels.likeness_loops import mention_squares
from candidly.solvers.labelled_features import FOLDS, LabelledFeatures
from candidly.solvers.matchings import NEVER, weigh
from candidly.solvers.row_space_shard import RidgeMap, RowSpaceShard
from candidly.solvers.shards import Part
from candidly.solvers.starts import chosen_names, shared_out
from candidly.solvers.two_covariances import Covariances, squared_norms, student
from candidly.solvers.unmentioned import Elsewhere, KnownNames, Search

Values = NDArray[np.floating]


class LabelRules(Protocol):
    """Constraints on labels beyond each name once in a group."""

    def project(self, R: Values, rest: Values) -> tuple[Values, Values]:
        """Return soft labels of entries and of nobody that obey the constraints."""
        ...

    def choose(self, worth: Values, nobody: Values) -> Indices:
        """Return the name of each instance, or -1, of largest worth under the constraints."""
        ...


@dataclass(frozen=True)
class ComparedWith:
    """What instances are compared with: covariances, and the instances of every name.

    Parameters
    ----------
    covariances : Covariances
    count, total : (c,) and (c, k) arrays
        How many instances each name has, and their sum in the basis.
    known : KnownNames or None
        Names that are known elsewhere; None where nobody can be nobody.
    """

    covariances: Covariances
    count: Values
    total: Values
    known: KnownNames | None


class OpenSetShard(ConfidenceShard):
    """Instances of an open-set labelling, in whole groups.

    Parameters
    ----------
    features : LabelledFeatures
    settings : OpenSetLabelling
    weight : (N,) array, optional
        How much an instance counts for its name.
    even : float
        Ratio that says nothing.
    rules : LabelRules, optional
    decided : DecidedInstances, optional
    start : (E,) array, optional
        Soft labels to start from.
    state : mapping, optional
        Where soft labels and what they rest on are kept.
    number : int
        Place of the shard among all.
    numbers : (N,) array of int, optional
        Number of each instance among all.
    """

    def __init__(
        self,
        features: LabelledFeatures,
        settings: Any,
        weight: Values | None = None,
        even: float = 0.0,
        rules: LabelRules | None = None,
        decided: DecidedInstances | None = None,
        start: Values | None = None,
        state: MutableMapping[str, Any] | None = None,
        number: int = 0,
        numbers: Indices | None = None,
    ) -> None:
        state = {} if state is None else state
        super().__init__(features.entries, features.here, state, numbers, rules)
        self.features, self.settings, self.decided = features, settings, decided
        self.weight = None
        if weight is not None:
            self.weight = like(weight, self.entries.prior)[self.entries.instance]
        self.even, self.given, self.number = even, start, number
        self.open = bool((features.here.free > NEVER).any())
        self.elsewhere = Elsewhere(self.entries, settings.elsewhere, settings.damping, even)
        self._completion: RowSpaceShard | None = None
        self._lost: tuple[Any, Any] = (None, None)

    # What is known before the first iteration

    def begin(self, spread: Values) -> Part:
        """Return counts of instances, mentions and names, and sums of features.

        ``spread`` (k,) makes a random quantity of the features of each group, by which folds are
        chosen.
        """
        entries, X = self.features.here, self.features.X
        groups = np.bincount(entries.groups, here(squared_norms(X, spread)))
        sums = {
            "instances": len(X),
            "open": int(self.open),
            "mentions": entries.mentions,
            "mean": here(X.sum(axis=0, dtype=namespace(X).float64)),
            "gram": here(self.features.gram),
            "places": entries.places,
        }
        return Part(sums, rows={"groups": groups, "count": np.array([len(groups)])})

    def divide(self, several: NDArray[np.bool_], folds: Any, first: Indices) -> Part:
        """Keep which names several groups mention, and folds; return Gram matrices of these.

        Parameters
        ----------
        several : (c,) array of bool
        folds : (groups of all shards,) array of int, or None
        first : (shards + 1,) array of int
            Number of the first group of each shard.
        """
        entries, X = self.features.here, self.features.X
        self.state["several"] = like(several, X, namespace(X).bool)
        asked = entries.mention_shown[several[entries.mentioned]].sum()
        sums: dict[str, Any] = {"asked": float(asked)}
        if folds is not None:
            own = folds[first[self.number] : first[self.number + 1]]
            fold = like(own[entries.groups], X, namespace(X).int8)
            self.state["fold"] = fold
            prior = self.entries.prior
            weights = [like(fold == k, prior) for k in range(FOLDS)]
            sums["grams"] = self._stacked([self.features.weighted_gram(w) for w in weights])
        return Part(sums)

    # Where to start

    def complete_begin(self, ridge: RidgeMap) -> Part:
        """Begin a row-space completion among the names."""
        self.state["leverage"] = ridge.leverage(self.features.X)
        one = zeros(len(self.entries), self.entries.prior) + 1
        self.state["Y"] = one / self.entries.over_instances(one)[self.entries.instance]
        self.state["H"] = zeros(len(one), one)
        return Part(self.completion.sums(self.state["Y"]))

    def complete_step(self, B, offset) -> Part:
        """Run one iteration of it."""
        shard = self.completion
        shard.y = self.state["Y"]
        part = shard.step(B, None, offset)
        self.state["Y"], self.state["H"] = shard.y, shard.H
        return part

    def complete_end(self) -> Part:
        """Choose hard labels by it, each name once per group."""
        completed = chosen_names(self.entries, self.state["Y"], self.state["H"])
        self.state["completed"] = completed
        for name in ("leverage", "Y", "H"):
            del self.state[name]
        self._completion = None
        return Part()

    @property
    def completion(self) -> RowSpaceShard:
        """Row-space completion of these instances."""
        if self._completion is None:
            first = self.entries.first
            self._completion = RowSpaceShard(
                self.features.X,
                self.features.sets,
                self.state["Y"],
                lambda H: onto_simplex(H, first),
                own=self.state["leverage"],
                offset=True,
                products=self.features,
            )
        return self._completion

    def take(self, kind: str) -> Part:
        """Start from soft labels; return sums by them."""
        shown = self.settings.shown
        if kind == "given":
            R = like(self.given, self.entries.prior)
        elif kind == "shared":
            R = shared_out(self.entries, 1.0)
        else:
            R = shown * self.state["completed"]
            if kind == "mixed":
                R = (R + shared_out(self.entries, shown)) / 2
        self.forget()
        for name in ("rest", "likeness", "count", "other"):
            if name in self.state:
                del self.state[name]
        self.state["R"] = R
        return Part(self.sums(R))

    def forget(self) -> None:
        """Begin anew to search for names: what is nearest by other labels says little."""
        self.elsewhere.forget()
        self._forget_nearest()

    def _forget_nearest(self) -> None:
        for name in ("near", "near_labels", "near_current", "far"):
            if name in self.state:
                del self.state[name]

    # Sums by soft labels

    def counted(self, R) -> Values:
        """Return how much each entry counts for its name."""
        return R if self.weight is None else R * self.weight

    def sums(self, R) -> dict[str, Any]:
        """Return sums over names by soft labels, and by how much these changed since a search."""
        values = self.counted(R)
        size = self.entries.over_names(values)
        mass = moved = size if values is R else self.entries.over_names(R)
        if "near_labels" in self.state:
            moved = self.entries.over_names(abs(R - self.state["near_labels"]))
        return {"size": size, "sums": self.features.sums(values), "mass": mass, "moved": moved}

    def grams(self, several: list[NDArray[np.bool_]], without: int | None = None) -> Part:
        """Return sums of x x^T by soft labels, over names that several instances have.

        There is one for each of ``several``; ``without`` leaves out a fold.
        """
        entries, found = self.entries, []
        xp, values = namespace(entries.prior), self.counted(self.state["R"])
        if without is not None:
            values = xp.where(self._of_fold(without), 0, values)
        for names in several:
            own = like(names, entries.prior, xp.bool)[entries.name]
            weight = entries.over_instances(xp.where(own, values, 0))
            found.append(self.features.weighted_gram(weight))
        return Part({"grams": self._stacked(found)})

    def _stacked(self, grams) -> Values:
        """Return Gram matrices in one array, which is small and not on a device."""
        return here(namespace(self.entries.prior).stack(grams))

    def fold_sums(self, fold: int) -> Part:
        """Return sizes and sums of names by soft labels, without a fold, and its instances."""
        values = self.counted(self.state["R"])
        values = namespace(values).where(self._of_fold(fold), 0, values)
        count = int((self.state["fold"] != fold).sum())
        size, sums = self.entries.over_names(values), self.features.sums(values)
        return Part({"size": size, "sums": sums, "count": count})

    def _of_fold(self, k: int) -> NDArray[np.bool_]:
        return (self.state["fold"] == k)[self.entries.instance]

    # What is decided

    def lost(self, covariances: Covariances) -> Values:
        """Return what the odds of entries lose by what is decided, as a logarithm."""
        if self.decided is None:
            return zeros(len(self.entries), self.entries.prior)
        if self._lost[0] is not covariances:
            odds = self.decided.odds(self.features.here, self.likenesses(covariances))
            self._lost = covariances, like(odds, self.entries.prior)
        return self._lost[1]

    def likenesses(self, covariances: Covariances) -> Likenesses:
        """Return the likeness of pairs by covariances."""
        rows = self.features.basis_rows(covariances)
        return Likenesses(rows, covariances, self.settings.damping, self.even)

    def discount(self, covariances: Covariances, keep: bool) -> Part:
        """Return sums by labels without what is known to be wrong; ``keep`` starts from these."""
        lost = self.lost(covariances)
        R = self.state["R"] * namespace(lost).exp(lost)
        if keep:
            self.state["R"] = R
        return Part(self.sums(R))

    # An iteration

    def step(self, part: ComparedWith, found: float, search: Search | None, kept: str) -> Part:
        """Find soft labels after one iteration; return sums by them, and how much they changed.

        Parameters
        ----------
        part : ComparedWith
        found : float
            How often names that several groups mention are shown.
        search : Search or None
            Names to search for; None leaves those found before.
        kept : {"", "honest_"}
            Where labels are kept: in place of those before, or beside them.
        """
        evidence, likeness, count, other, looks = self.compare(part, None, slice(None), search)
        self.state[kept + "likeness"], self.state[kept + "count"] = likeness, count
        return self._label(evidence, other, looks, found, kept)

    def step_fold(self, part: ComparedWith, fold: int) -> Part:
        """Compare the instances of one fold; ``step_folds`` labels once all are compared."""
        entries, own = self.entries, self.state["fold"] == fold
        rows, at = places_of(own), places_of(own[entries.instance])
        evidence, likeness, _, other, looks = self.compare(part, rows, at, None)
        sizes = {"evidence": len(entries), "likeness": len(entries), "other": len(own)}
        values = {"evidence": (at, evidence), "likeness": (at, likeness), "other": (rows, other)}
        for name, (where, some) in values.items():
            whole = zeros(sizes[name], some) if fold == 0 else self.state["honest_" + name]
            whole[where] = some
            self.state["honest_" + name] = whole
        return Part({"looks": numbers(looks)[0]})

    def step_folds(self, found: float) -> Part:
        """Find soft labels by what the folds were compared with; the others are as in ``step``."""
        evidence, other = self.state["honest_evidence"], self.state["honest_other"]
        del self.state["honest_evidence"]
        return self._label(evidence, other, 0.0, found, "honest_")

    def _label(self, evidence, other, looks, found: float, kept: str) -> Part:
        """Keep soft labels by evidence; return sums by them, and how much they changed."""
        R = self.state["R"]
        xp = namespace(R)
        after, rest, weight = self.marginals(evidence, other, self.shown(found), looks)
        sums: dict[str, Any] = {} if kept else self.sums(after)
        several = xp.where(self.state["several"][self.entries.name], after, 0).sum()
        change = abs(after - R)
        # In one copy, and after all that the device has to do.
        told = numbers(weight, (change > 0.5).sum(), several, largest_size(change))
        sums |= {"weight": told[0], "changed": int(told[1]), "found": told[2]}
        for name, values in {"R": after, "rest": rest, "other": other}.items():
            self.state[kept + name] = values
        return Part(sums, {"change": told[3]})

    def compare(self, part: ComparedWith, rows, at, search: Search | None):
        """Return evidence, likeness and count of other instances of entries, and of instances.

        Of these ``other``, and last the log density of all as pictures of anybody, damped. ``rows``
        are these instances, None for all, and ``at`` their entries.
        """
        entries, settings, covariances = self.entries, self.settings, part.covariances
        R, lost = self.state["R"], 0.0
        if self.decided is not None:
            odds = self.lost(covariances)
            # An instance that is likely not somebody does not speak for them either.
            R, lost = R * namespace(R).exp(odds), odds[at]
        Z = self.features.coordinates(covariances, rows)
        anybody = covariances.anybody(Z)
        looks = anybody.sum() + len(Z) * float(np.linalg.slogdet(covariances.basis)[1])
        # A name is in a group at most once, so the group's other faces say nothing about it.
        xp, mentions = namespace(Z), counting(len(entries.mentioned), Z)
        place = entries.instance if rows is None else _places(rows, entries)
        order, first = entries.by_mention
        square, logdet, n = mention_squares(
            Z,
            place,
            entries.mentioned,
            order,
            first,
            mentions if rows is None else xp.unique(entries.mention[at]),
            self.counted(R),
            part.count,
            part.total,
            covariances.between,
        )
        llr = student(square[at], logdet[at], Z.shape[1]) - anybody[place[at]]
        likeness, count = settings.damping * (llr - self.even), n[at]
        other = zeros(len(Z), anybody)
        if part.known is not None:
            if search is not None:
                self._search(Z, part.known, R, xp.where(n < LEAST, np.inf, square), search)
            self._recall()
            other = self.elsewhere.weigh(Z, anybody, part.known, rows)
            if self.elsewhere.far is not None:
                self.state["far"] = self.elsewhere.far
        # With less than one face of a name, that part of the evidence counts.
        part_of = xp.clip(count, None, 1) * 0.999
        known = xp.log(xp.clip(part_of, 1e-12, None)) + likeness
        evidence = xp.where(count < LEAST, 0, xp.logaddexp(xp.log1p(-part_of), known)) + lost
        return evidence, likeness, count, other, looks * settings.damping

    def look(self, part: ComparedWith, search: Search) -> Part:
        """Find the names that instances are compared with, by soft labels."""
        assert part.known is not None
        Z = self.features.coordinates(part.covariances)
        self._search(Z, part.known, self.state["R"], None, search)
        return Part()

    def _search(self, Z, known: KnownNames, R, square, search: Search) -> None:
        self._recall()
        self.elsewhere.refresh(Z, known, R, square, search)
        near = self.elsewhere.near
        if near is None:
            self._forget_nearest()
            return
        self.state["near"], self.state["near_labels"] = near.names, near.labels
        self.state["near_current"] = near.current
        if self.elsewhere.far is None and "far" in self.state:
            del self.state["far"]

    def _recall(self) -> None:
        """Take up the names that were found before, where the shard was away since."""
        if self.elsewhere.near is None and "near" in self.state:
            far = self.state["far"] if "far" in self.state else None  # noqa: SIM401, no dict
            near = (self.state["near"], self.state["near_labels"], self.state["near_current"])
            self.elsewhere.recall(*near, far)

    def marginals(self, evidence, other, shown, looks: float):
        """Return soft labels by evidence: marginals over ways to name a group, and their weight."""
        entries, xp = self.entries, namespace(evidence)
        odds = xp.log(shown / (1 - shown))[entries.mention]
        faces = like(entries.size, evidence)[entries.instance]
        worth = evidence + entries.prior + odds - xp.log(faces)
        worth = worth - other[entries.instance]
        R: Any = zeros(len(entries), evidence)
        rest: Any = zeros(entries.n_instances, evidence) + 1
        total = looks + other.sum() + xp.log1p(-shown).sum()
        for batch in entries.batches:
            soft, none, size = weigh(
                batch.spread(worth, NEVER),
                entries.free[batch.instances],
                self.settings.max_matchings,
            )
            at, e = batch.listed
            R[e] = soft.reshape(-1)[at]
            rest[batch.instances] = none
            total = total + size.sum()
        if self.rules is not None:
            found = self.rules.project(here(R), here(rest))
            R, rest = (like(each, evidence) for each in found)
        return R, rest, total

    def shown(self, found: float) -> Values:
        """Return the probability that each mention is shown, a third of it the prior."""
        usual, several = self.settings.shown, self.state["several"][self.entries.mentioned]
        ones = namespace(several).ones_like(self.entries.mention_shown)
        found = (usual + 2 * min(found, 0.95)) / 3
        rate = namespace(several).where(several, found * ones, usual * ones)
        return rate * self.entries.mention_shown

    # The end

    def stay(self) -> Part:
        """Fill in what an iteration finds, where there was none."""
        R = self.state["R"]
        self.state["rest"] = namespace(R).clip(1 - self.entries.over_instances(R), 0, None)
        self.state["likeness"] = self.state["count"] = zeros(len(R), R)
        self.state["other"] = zeros(self.entries.n_instances, R)
        return Part()

    def keep(self, found: float) -> Part:
        """Keep this solution as the best one so far."""
        for name in FOUND:
            self.state["best_" + name] = self.state[name]
        self.state["best_shown"] = self.shown(found)
        return Part()

    def take_best(self) -> Part:
        """Go back to the best solution; return sums by it."""
        self.state["R"] = self.state["best_R"]
        return Part(self.sums(self.state["R"]))

    def name_instances(self, covariances: Covariances) -> Part:
        """Choose the names by the best solution; see ``ConfidenceShard.decide``."""
        if self.decided is None:
            return self.decide()
        return self.decide(self.lost(covariances), self.decided.refused(here(self.features.X)))


def _places(rows, entries: CandidateEntries) -> Indices:
    """Return the place in ``rows`` of the instance of each entry."""
    place = zeros(entries.n_instances, rows)
    place[rows] = counting(len(rows), rows)
    return place[entries.instance]
