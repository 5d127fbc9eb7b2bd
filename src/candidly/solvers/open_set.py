"""Open set: names by likelihood ratio, nobody by what is left (ours).

In the paper nobody, the null class, is one more label; it has no low-rank structure, is
everybody's candidate and so takes over. Here a face is compared with the other faces of a
name (``two_covariances``)::

    llr_ij = log p(x_j | the faces of i in other groups) - log p(x_j | anybody)

and a name without faces in other groups has llr 0: no evidence either way; one that has less than
one face there, by its soft labels, has that part of the evidence. A mentioned name is shown with
probability ``shown``, at each face of the group equally. A face that is nobody's may still be
somebody known from other groups, with probability ``elsewhere``. So the weight of giving names to
some faces of a group is the product, over them, of

    shown/(1 - shown)/faces * exp(damping*llr_ij - null_j)

and soft labels are the exact marginals over all such matchings (each name at most once). They
give new counts and means of every name, and so on; and how often names are shown that are
mentioned in several groups. That counts two thirds: a picture unlike the others of its person
looks like nobody, so that fewer seem to be shown than are.

This is repeated from several starts (``starts``) and, where no population is known, with two priors
on the covariances (``PRIORS``). The solution is kept that explains the groups best, each by
covariances that were estimated without it, and how sure it may be is decided last
(``confidence_limits``). An iteration of some instances is ``open_set_shard``; the loop here goes
over shards of them, in memory one, and so does what is decided last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import counting, full_precision, like, namespace
from candidly.solvers.confidence_limits import Likenesses, Limits, unlike_names
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.labelled_features import FOLDS, LabelledFeatures, folds_of
from candidly.solvers.limited_labels import limited_labels
from candidly.solvers.open_set_shard import ComparedWith, LabelRules, OpenSetShard
from candidly.solvers.population import Population
from candidly.solvers.shards import InMemory, Part, Shards
from candidly.solvers.solution import Status, Step, Trace
from candidly.solvers.starts import complete, ridge_of
from candidly.solvers.two_covariances import (
    SEVERAL,
    Covariances,
    KnownPeople,
    Scatters,
    between_people,
)
from candidly.solvers.unmentioned import KnownNames, Searches
from candidly.threads import one_blas_thread

CENTRE = 500
"""Weight, in instances, of the population's mean."""
PRIORS = ((30.0, True), (5.0, False))
"""Weights of priors on the covariances that are tried, and whether all directions are alike."""
ENOUGH = 5
"""Instances per dimension from which the second of these priors is tried."""
PLENTY = 500
"""Instances per dimension from which only the weaker of them is: neither can matter much."""
FEW_FOUND = 0.25
"""Part of the instances that could have a name below which a result is doubtful."""

Values = NDArray[np.floating]


@dataclass(frozen=True)
class OpenSetResult:
    """Soft labels of entries and instances, and what they rest on.

    Parameters
    ----------
    soft : (E,) array
        Probability of each entry, before ``confidence`` is limited.
    rest : (N,) array
        Probability of being nobody.
    likeness : (E,) array
        Damped log likelihood ratio of each entry; 0 without other instances of the name.
    other : (N,) array
        The same for somebody known who is no candidate.
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    confidence : (N,) array
        Probability that this is right.
    covariances : Covariances
    status : Status
    trace : Trace
    found : float
        Part of the instances that have a name, of those that could have one at once.
    unlike : (u,) array of int
        Names whose instances do not look alike.
    """

    soft: Values
    rest: Values
    likeness: Values
    other: Values
    chosen: Indices
    confidence: Values
    covariances: Covariances
    status: Status
    trace: Trace
    found: float
    unlike: Indices

    @property
    def few_found(self) -> bool:
        """Whether far more are nobody than the candidates allow."""
        return self.found < FEW_FOUND

    def limited(self, entries: CandidateEntries) -> tuple[Values, Values]:
        """Return soft labels of entries and of nobody in which the chosen one has its confidence.

        The others have what is left, in their proportions, and none more than the chosen one; so
        of n candidates it has at least 1/n.
        """
        return limited_labels(entries, self.soft, self.rest, self.chosen, self.confidence)


@dataclass(frozen=True)
class OpenSetLabelling:
    """Settings of open-set labelling; ``solve`` takes the arrays.

    Parameters
    ----------
    shown : float
        Probability that a mentioned name is shown in its group, before anything is seen.
    elsewhere : float
        Probability that somebody who is not mentioned is known from elsewhere.
    damping : float
        Power of the likelihoods: features are not as independent as the model has them.
    shrinkage : float, optional
        Weight, in instances per dimension, of what is known of the covariances beforehand: a
        population, or without one that all directions are alike (30 by default), or that one
        person varies by the same part of what everybody does in all of them (5 by default). Both
        are tried, and the solution that explains the groups better is kept.
    learn_shown : bool
        Whether to estimate from the labels how often names that several groups mention are
        shown.
    max_iter : int
    tol : float
        Largest change of a soft label at which to stop.
    max_matchings : int
        Matchings of a group up to which marginals are exact.
    """

    shown: float = 0.9
    elsewhere: float = 0.4
    damping: float = 0.5
    shrinkage: float | None = None
    learn_shown: bool = True
    max_iter: int = 20
    tol: float = 1e-3
    max_matchings: int = 3000

    @one_blas_thread()
    def solve(
        self,
        X,
        entries: CandidateEntries,
        weight: Values | None = None,
        population: Population | None = None,
        known: KnownPeople | None = None,
        start: Values | None = None,
        rules: LabelRules | None = None,
        decided: DecidedInstances | None = None,
        on_step: Callable[[int, int], None] | None = None,
    ) -> OpenSetResult:
        """Return soft labels of every entry: the marginals over all ways to name its group.

        Parameters
        ----------
        X : (k, N) array
            Features, of full rank, less their ``centre``. In single precision they take half the
            memory and time; sums are in double precision all the same. Iterations are where they
            are, here or on a device of PyTorch; how sure labels may be is decided here.
        entries : CandidateEntries
        weight : (N,) array, optional
            How much an instance counts for its name.
        population : Population, optional
            How features vary, known beforehand.
        known : KnownPeople, optional
            What is known about the names from other instances, none of them in these groups,
            and the covariances, which are then not estimated.
        start : (E,) array, optional
            Soft labels to start from.
        rules : LabelRules, optional
            Further constraints on the labels.
        decided : DecidedInstances, optional
            Instances of which it is known whether they have a name.
        on_step : callable, optional
            Called with the number of iterations done, and their largest number.
        """
        features = LabelledFeatures(X.T, entries)
        even = 0.0 if population is None else population.even
        shard = OpenSetShard(features, self, weight, even, rules, decided, start)
        about = Given(entries.n_names, population, known, start is not None, decided is not None)
        shape = X.shape[1], X.shape[0]
        with full_precision(features.X):
            shards = InMemory(shard)
            solved = self.run(shards, about, shape, features.X.dtype, on_step)
            judged = self.judge(shards, solved, entries.groups, features.basis_rows)
            return self.result(shards, solved, *judged)

    def run(
        self,
        shards: Shards,
        given: Given,
        shape: tuple[int, int],
        dtype: Any,
        on_step: Callable[[int, int], None] | None = None,
    ) -> Solved:
        """Label instances in shards (``open_set_shard``), wherever they are.

        Parameters
        ----------
        shards : Shards
        given : Given
            What is known beforehand.
        shape : (int, int)
            Number of instances and of features.
        dtype : dtype
            Precision of the features.
        on_step : callable, optional
            Called with the number of iterations done, and their largest number.
        """
        N, k = shape
        priors = given.priors(N, k)
        sums = Sums.of(shards, N, k, dtype, given)
        begin = ["given"] if given.start else ["shared"]
        if not given.start and sums.open:
            complete(shards, ridge_of(sums.total, sums.gram, N))
            begin = ["mixed", "completed"]
        most, done = len(begin) * len(priors) * self.max_iter, 0
        best: Solved | None = None
        for prior in priors:
            problem = _Problem(self, shards, sums, given, prior)
            for kind in begin:
                found = problem.iterate(kind, partial(_tell, on_step, done, most))
                if best is None or found.weight > best.weight:
                    shards.each("keep", found.found)
                    best = found
                done += self.max_iter
        assert best is not None
        problem = _Problem(self, shards, sums, given, best.prior)
        by = shards.each("take_best").sums
        best.covariances = problem.covariances(by)
        best.places, best.open = sums.places, sums.open
        best.judged = problem.judged(by)
        best.given = given
        return best

    def passes(self, runs: int = 4) -> int:
        """Return how many calls of all shards there are at most: runs, and what is around them."""
        return runs * (2 * self.max_iter + 3 * FOLDS + 5) + 60

    def judge(
        self, shards: Shards, solved: Solved, groups: Any, coordinates: Any
    ) -> tuple[float, Indices]:
        """Choose the names by the best solution, and find how sure each may be.

        Return which part of the instances has a name, of those that could have one at once, and
        the names whose instances do not look alike.

        Parameters
        ----------
        shards : Shards
            They keep it.
        solved : Solved
        groups : (N,) array of int
            Group of each instance; anything that has them by the numbers of instances.
        coordinates : callable
            Returns what has the features of instances in the basis of covariances, by their
            numbers.
        """
        given = solved.given
        even = 0.0 if given.population is None else given.population.even
        known = np.zeros(given.n_names) if given.known is None else given.known.count

        def likenesses(covariances: Covariances) -> Likenesses:
            return Likenesses(coordinates(covariances), covariances, self.damping, even)

        sums = shards.each("name_instances", solved.covariances).sums
        chosen = np.asarray(shards.collect("decision").instances["chosen"])
        limits = Limits(shards, chosen, groups, self.elsewhere, known)
        middle = limits.middle(sums, [likenesses(each) for each in solved.judged])
        counted = shards.each("likened", middle).sums
        del middle
        against, limit = limits.exchanges(sums, likenesses(solved.covariances))
        of_names = np.where(known <= 0.5, 1 / (1 + against), 1.0)
        unlike = unlike_names(counted["many"], counted["bad"])
        speaking = known + sums["speaking"] if "speaking" in sums else None
        shards.each("judge", limit, of_names, unlike, speaking)
        found = float(sums["many"].sum() / max(solved.places, 1))
        return found, np.flatnonzero(unlike & solved.open)

    def result(
        self, shards: Shards, solved: Solved, found: float, unlike: Indices
    ) -> OpenSetResult:
        """Return the labels that shards found, with how sure they may be."""
        rows = shards.collect("judged")
        one, of = rows.entries, rows.instances
        return OpenSetResult(
            one["soft"],
            of["rest"],
            one["likeness"],
            of["other"],
            np.asarray(of["chosen"]).astype(np.intp),
            of["confidence"],
            solved.covariances,
            solved.status,
            solved.trace,
            found,
            unlike,
        )


@dataclass(frozen=True)
class Given:
    """What is known beforehand of all instances.

    Parameters
    ----------
    n_names : int
    population, known
        As in ``OpenSetLabelling.solve``.
    start, decided : bool
        Whether shards have soft labels to start from, and decided instances.
    """

    n_names: int
    population: Population | None = None
    known: KnownPeople | None = None
    start: bool = False
    decided: bool = False

    def priors(self, N: int, k: int) -> tuple[tuple[float, bool], ...]:
        """Return the priors on the covariances that are tried on N instances of k features."""
        if ENOUGH * k > N or self.population is not None or self.known is not None:
            return PRIORS[:1]
        return PRIORS[1:] if PLENTY * k <= N else PRIORS


@dataclass
class Solved:
    """The best solution, which the shards have, and what else is needed to judge it."""

    weight: float
    found: float
    prior: tuple[float, bool]
    trace: Trace
    status: Status
    covariances: Any = None
    places: float = 0.0
    open: bool = True
    judged: list[Covariances] = field(default_factory=list)
    given: Any = None


@dataclass(frozen=True)
class Sums:
    """Sums over all instances that no label changes.

    Parameters
    ----------
    N, k : int
        Number of instances and of features.
    dtype : dtype
    open : bool
        Whether any instance may be nobody.
    total, gram : (k,) and (k, k) arrays
        Sum of x and of x x^T.
    asked : float
        Number of mentions of names that several groups mention, as far as they are shown.
    places : float
        Number of instances that could have a name at once.
    fold_grams : list of (k, k) arrays, or None
        Gram matrix of each fold; None where groups are few.
    """

    N: int
    k: int
    dtype: Any
    open: bool
    total: Values
    gram: Values
    asked: float
    places: float
    fold_grams: Any

    @classmethod
    def of(cls, shards: Shards, N: int, k: int, dtype: Any, given: Given) -> Sums:
        """Return the sums, and have the shards divided into folds."""
        # Folds by a random quantity of features, so that the order of groups does not matter.
        part = shards.each("begin", np.random.default_rng(0).random(k))
        sums, groups = part.sums, part.rows["groups"]
        folds = folds_of(groups)
        first = np.append(0, np.cumsum(part.rows["count"]))
        split = shards.each("divide", sums["mentions"] > 1, folds, first).sums
        grams = None if folds is None else list(split["grams"])
        total, gram = sums["mean"], sums["gram"]
        asked = float(split["asked"])
        return cls(N, k, dtype, bool(sums["open"]), total, gram, asked, sums["places"], grams)


class _Problem:
    """One prior on the covariances, and the calls of shards that solve by it."""

    def __init__(self, solver, shards: Shards, sums: Sums, given: Given, prior) -> None:
        self.solver, self.shards, self.known_sums, self.given = solver, shards, sums, given
        self.prior = prior
        strength, self.alike = prior
        self.shrinkage = strength if solver.shrinkage is None else solver.shrinkage
        self.learns = solver.learn_shown and sums.open

    def iterate(self, kind: str, on_step) -> Solved:
        """Return where the iteration from a start ends; labels are in the shards."""
        solver, sums = self.solver, self.known_sums
        self.searches = Searches()
        found = used = solver.shown
        trace, status = Trace(), Status.DONE
        by = self.shards.each("take", kind).sums
        if self.given.decided:  # what is known to be wrong is not where to start
            by = self.shards.each("discount", self.covariances(by), True).sums
        for it in range(solver.max_iter):
            on_step(it)
            part = self.step(by, found)
            by, used = part.sums, found
            change = float(part.most["change"])
            trace.steps.append(
                Step(change, change, sums.k, float("nan"), by["weight"], int(by["changed"]))
            )
            if change <= solver.tol:
                status = Status.CONVERGED
                break
            if self.learns:
                found = float(by["found"] / sums.asked) if sums.asked else 1.0
        if not solver.max_iter:
            self.shards.each("stay")
        weight = self.cross_fitted(by, used)
        return Solved(weight, used, self.prior, trace, status)

    def step(self, by, found: float, kept: str = "") -> Part:
        """Run one iteration from labels with sums ``by``; those of features are given up."""
        covariances = self.covariances(by)
        counted = self.counted(by, covariances)
        part = self.compared(covariances, counted)
        for sums in (by, counted):  # room for those to come, as large: names times features
            sums.pop("sums", None)
        search = None
        if part.known is not None:
            search = self.searches.next(
                self.known_sums.N, part.known, counted["moved"], counted["mass"]
            )
        return self.shards.each("step", part, found, search, kept)

    def cross_fitted(self, by, found: float) -> float:
        """Find soft labels of one more step, each group by covariances estimated without it."""
        sums = self.known_sums
        if self.given.known is not None or sums.fold_grams is None:
            return float(self.step(by, found, "honest_").sums["weight"])
        if sums.open:
            covariances = self.covariances(by)
            part = self.compared(covariances, by)
            assert part.known is not None
            search = self.searches.next(sums.N, part.known, by["moved"], by["mass"])
            self.shards.each("look", part, search)
            del part, search
        looks = 0.0
        for fold in range(FOLDS):  # one at a time: each has a number for every name and feature
            covariances = self.without_fold(fold)
            part = self.compared(covariances, self.counted(by, covariances))
            looks += float(self.shards.each("step_fold", part, fold).sums["looks"])
            del part
        return looks + float(self.shards.each("step_folds", found).sums["weight"])

    def counted(self, by, covariances: Covariances):
        """Return sums of labels without what is known to be wrong."""
        if not self.given.decided:
            return by
        return self.shards.each("discount", covariances, False).sums

    def compared(self, covariances: Covariances, by) -> ComparedWith:
        """Return what instances are compared with: how many each name has, and their sum."""
        count, total = by["size"], by["sums"] @ like(covariances.basis, by["sums"])
        people = self.given.known
        if people is not None:
            count, total = count + like(people.count, count), total + like(people.total, total)
        known = None
        if self.known_sums.open:
            known = KnownNames.of(covariances, count, total, self.known_sums.dtype)
        # In the precision of the features, in which they are compared.
        return ComparedWith(covariances, count, like(total, total, self.known_sums.dtype), known)

    def covariances(self, by) -> Covariances:
        """Return the covariances by soft labels, from their sums."""
        if self.given.known is not None:
            return Covariances(self.given.known.basis, self.given.known.between)
        several = by["size"] > SEVERAL
        gram = self.grams([several])[0]
        sums = self.known_sums
        return self._covariances(sums.gram, sums.N, gram, by["size"], by["sums"])

    def without_fold(self, fold: int) -> Covariances:
        """Return the covariances without a fold."""
        sums = self.known_sums
        by = self.shards.each("fold_sums", fold).sums
        gram = self.grams([by["size"] > SEVERAL], fold)[0]
        total = sums.gram - sums.fold_grams[fold]
        return self._covariances(total, int(by["count"]), gram, by["size"], by["sums"])

    def judged(self, by) -> list[Covariances]:
        """Return covariances without a fifth of the names each, by which these are judged."""
        if self.given.known is not None:
            return [self.covariances(by)] * FOLDS
        names = counting(self.given.n_names, by["size"]) % FOLDS
        where = namespace(names).where
        sizes = [where(names == fold, 0, by["size"]) for fold in range(FOLDS)]
        grams = self.grams([size > SEVERAL for size in sizes])
        sums = self.known_sums
        return [
            self._covariances(sums.gram, sums.N, gram, size, by["sums"])
            for gram, size in zip(grams, sizes, strict=True)
        ]

    def grams(self, several, without: int | None = None):
        """Return Gram matrices over names that several instances have, by labels in the shards."""
        if not any(names.any() for names in several):
            return np.zeros((len(several), self.known_sums.k, self.known_sums.k))
        return self.shards.each("grams", several, without).sums["grams"]

    def _covariances(self, total, count: int, gram, size, sums) -> Covariances:
        several = size > SEVERAL
        between, freedom = between_people(size[several], sums[several])
        scatters = Scatters.of_sums(total / count, count, gram, between, freedom)
        prior = self.shrinkage * self.known_sums.k
        return Covariances.of_scatters(scatters, prior, self.given.population, self.alike)


def _tell(on_step, done: int, most: int, it: int) -> None:
    """Say how many iterations are done, of at most so many."""
    if on_step is not None:
        on_step(done + it, most)


def centre(X: NDArray[Any], population: Population | None) -> Values:
    """Return the mean of features (N x k); that of a few leans on the population's."""
    total, count = np.asarray(X).sum(axis=0, dtype=float), float(len(X))
    if population is not None:
        total, count = total + CENTRE * population.mean, count + CENTRE
    return np.asarray(total / max(count, 1))
