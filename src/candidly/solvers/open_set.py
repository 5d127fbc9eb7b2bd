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
(``confidence_limits``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.confidence_limits import (
    LIKELY,
    Exchanges,
    Likenesses,
    certainties,
    left_by_refusals,
    unlike_names,
)
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.likeness_loops import mention_squares
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.matchings import NEVER, weigh
from candidly.solvers.population import Population
from candidly.solvers.solution import Status, Step, Trace
from candidly.solvers.starts import shared_out, starts
from candidly.solvers.two_covariances import Covariances, KnownPeople, student
from candidly.solvers.unmentioned import Elsewhere, KnownNames
from candidly.threads import one_blas_thread

CENTRE = 500
"""Weight, in instances, of the population's mean."""
PRIORS = ((30.0, True), (5.0, False))
"""Weights of priors on the covariances that are tried, and whether all directions are alike."""
ENOUGH = 5
"""Instances per dimension from which the second of these priors is tried."""
PLENTY = 500
"""Instances per dimension from which only the weaker of them is: neither can matter much."""
FOLDS = 5
"""Parts of the names, each judged by covariances estimated without it."""
FEW_FOUND = 0.25
"""Part of the instances that could have a name below which a result is doubtful."""

TIE = 1e-9
"""Most that likeness adds to a soft label, to decide between equal ones."""

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
        free = entries.free > NEVER
        soft, rest = self.soft.copy(), np.where(free, self.rest, 0)
        own = self.chosen[entries.instance] == entries.name
        now = rest.copy()
        now[entries.instance[own]] = soft[own]
        most = rest.copy()
        np.maximum.at(most, entries.instance, soft)
        changed = (np.abs(now - self.confidence) > 1e-12) | (most > now)
        count = np.diff(entries.first)
        for many in np.unique(count[changed]).tolist():  # instances with equally many candidates
            rows = np.flatnonzero(changed & (count == many))
            at = entries.first[rows][:, None] + np.arange(many)
            shares = np.column_stack([soft[at], rest[rows]])
            may = np.column_stack([np.ones(at.shape, dtype=bool), free[rows]])
            place = np.where(self.chosen[rows] < 0, many, own[at].argmax(axis=1) if many else 0)
            shares = _with(shares, may, place, self.confidence[rows])
            soft[at], rest[rows] = shares[:, :many], shares[:, many]
        return soft, rest


@dataclass
class _State:
    """Soft labels, and the evidence of the iteration that gave them."""

    R: Values
    rest: Values
    shown: Values
    likeness: Values
    count: Values
    other: Values
    weight: float = -np.inf
    trace: Trace = field(default_factory=Trace)
    status: Status = Status.DONE


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
            memory and time; sums are in double precision all the same.
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
        few = X.shape[1] < ENOUGH * len(X)
        priors = PRIORS[1:] if X.shape[1] >= PLENTY * len(X) else PRIORS
        priors = PRIORS[:1] if few or population is not None or known is not None else priors
        problems = [
            _Problem(self, features, weight, population, known, rules, prior, decided)
            for prior in priors
        ]
        begin = [start]
        if start is None:
            is_open = problems[0].open
            begin = starts(features, self.shown) if is_open else [shared_out(entries, 1.0)]
        most = len(begin) * len(problems) * self.max_iter
        done = 0

        def step(it):
            if on_step is not None:
                on_step(done + it, most)

        found = []
        for problem in problems:
            for R in begin:
                state = problem.iterate(R, step)
                found.append((problem, state, problem.cross_fitted(state)))
                done += self.max_iter
        return self._result(*max(found, key=lambda one: one[2].weight))

    def _result(self, problem: _Problem, state: _State, honest: _State) -> OpenSetResult:
        entries = problem.entries
        worth = state.R + TIE * np.tanh(state.likeness)
        nobody = np.where(entries.free > NEVER, state.rest, NEVER)
        choose = entries.choose if problem.rules is None else problem.rules.choose
        # What differs by rounding alone is equal, so that all paths decide alike.
        chosen = choose(np.round(worth, 12), np.round(nobody, 12))
        covariances = problem.covariances(state.R)
        pairs = problem.likenesses(covariances)
        known = np.zeros(entries.n_names) if problem.known is None else problem.known.count
        middle = problem.middle_likeness(state.R, chosen)
        lost = problem.lost(covariances)
        weighed = replace(entries, prior=entries.prior + lost)
        limits = Exchanges(self.elsewhere, known).limits(weighed, chosen, state, pairs)
        if problem.decided is not None:
            refused = problem.decided.refused(problem.features.X)
            left = left_by_refusals(entries, chosen, lost, refused, known)
            limits = np.where(left, np.minimum(limits, LIKELY), limits)
        confidence = certainties(entries, chosen, state, honest, middle, limits)
        return OpenSetResult(
            state.R,
            state.rest,
            np.where(state.count < LEAST, 0, state.likeness),
            state.other,
            chosen,
            confidence,
            covariances,
            state.status,
            state.trace,
            float((chosen >= 0).sum() / max(entries.places, 1)),
            unlike_names(entries, chosen, middle) if problem.open else np.zeros(0, np.intp),
        )


def _with(shares, may, at, confidence):
    """Return rows of shares in which one has the confidence, and no other possible one more."""
    row = np.arange(len(shares))
    others = np.where(may, shares + 1e-6, 0)
    others[row, at] = 0
    alone = np.logical_not(others.any(axis=1, keepdims=True))
    # Less than its part would leave more for another one.
    confidence = np.maximum(confidence, 1 / np.maximum(may.sum(axis=1), 1))[:, None]
    others *= (1 - confidence) / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    for _ in range(shares.shape[1]):
        over = np.maximum(others - confidence, 0).sum(axis=1, keepdims=True)
        below = may & (others < confidence)
        below[row, at] = False
        some = below.sum(axis=1, keepdims=True)
        going = (over >= 1e-12) & (some > 0)
        if not going.any():
            break
        spread = np.minimum(others, confidence) + np.where(below, over / np.maximum(some, 1), 0)
        others = np.where(going, spread, others)
    others[row, at] = np.maximum(confidence[:, 0], others.max(axis=1) * (1 + 1e-6))
    return np.where(alone, shares, others / others.sum(axis=1, keepdims=True))


LEAST = 0.05
"""Number of other instances of a name below which there is nothing to compare with."""


class _Problem:
    """Arrays of one problem, and the steps of its iteration."""

    def __init__(
        self, solver, features, weight, population, known, rules, prior, decided=None
    ) -> None:
        self.solver, self.features, self.entries = solver, features, features.entries
        strength, self.alike = prior
        self.shrinkage = strength if solver.shrinkage is None else solver.shrinkage
        self.weight = None if weight is None else weight[self.entries.instance]
        self.population, self.known, self.rules = population, known, rules
        self.decided = decided
        self.even = 0.0 if population is None else population.even
        self.open = bool((self.entries.free > NEVER).any())
        self.learns = solver.learn_shown and self.open
        self.elsewhere = Elsewhere(self.entries, solver.elsewhere, solver.damping, self.even)
        self._last: tuple[Any, Any] = (None, None)

    def iterate(self, R, on_step) -> _State:
        """Return the soft labels at which the iteration ends."""
        solver = self.solver
        shown = self.shown(solver.shown)
        state, trace = None, Trace()
        self.elsewhere.forget()
        if self.decided is not None:  # what is known to be wrong is not where to start
            R = R * np.exp(self.lost(self.covariances(R)))
        for it in range(solver.max_iter):
            on_step(it)
            covariances = self.covariances(R)
            state = self.step(R, [(None, covariances)], shown)
            change = float(np.abs(state.R - R).max(initial=0))
            changed = int((np.abs(state.R - R) > 0.5).sum())
            trace.steps.append(
                Step(change, change, self.dimensions, float("nan"), state.weight, changed)
            )
            R = state.R
            if change <= solver.tol:
                state.status = Status.CONVERGED
                break
            if self.learns:
                shown = self.shown(self.found(R))
        if state is None:
            nothing = np.zeros(len(R))
            rest = np.maximum(1 - self.entries.over_instances(R), 0)
            state = _State(R, rest, shown, nothing, nothing, np.zeros(len(rest)))
        state.trace = trace
        return state

    @property
    def dimensions(self) -> int:
        """Number of features k."""
        return int(self.features.X.shape[1])

    def cross_fitted(self, state: _State) -> _State:
        """Return soft labels of one more step, each group by covariances estimated without it."""
        fold = self.features.fold
        if self.known is not None or fold is None:
            return self.step(state.R, [(None, self.covariances(state.R))], state.shown)
        self.look_elsewhere(state.R)
        parts = [(fold == k, self.covariances(state.R, k)) for k in range(fold.max() + 1)]
        return self.step(state.R, parts, state.shown)

    def lost(self, covariances: Covariances) -> Values:
        """Return what the odds of entries lose by what is decided, as a logarithm."""
        if self.decided is None:
            return np.zeros(len(self.entries))
        return self.decided.odds(self.entries, self.likenesses(covariances))

    def likenesses(self, covariances: Covariances) -> Likenesses:
        """Return the likeness of pairs by covariances."""
        Z = self.features.coordinates(covariances)
        return Likenesses(Z, covariances, self.solver.damping, self.even)

    def middle_likeness(self, R, chosen) -> Values:
        """Return the median likeness of each instance to the others of its name.

        It is judged by covariances estimated without the name: two people under one name would
        widen them.
        """
        middle = np.full(len(chosen), np.nan)
        for fold in range(FOLDS):
            own = (chosen >= 0) & (chosen % FOLDS == fold)
            if own.any():
                others = np.where(self.entries.name % FOLDS == fold, 0, R)
                pairs = self.likenesses(self.covariances(others))
                middle[own] = pairs.within(self.entries, np.where(own, chosen, -1))[own]
        return middle

    def counted(self, R) -> Values:
        """Return how much each entry counts for its name."""
        return R if self.weight is None else R * self.weight

    def sums(self, R) -> Values:
        """Return the sums of features over each name; those of the same R are kept."""
        if self._last[0] is not R:
            self._last = R, self.features.sums(self.counted(R))
        return self._last[1]

    def covariances(self, R, without: int | None = None) -> Covariances:
        """Return the covariances by soft labels, without one fold."""
        if self.known is not None:
            return Covariances(self.known.basis, self.known.between)
        features, values = self.features, self.counted(R)
        if without is None:
            scatters = features.scatters(values, features.gram, len(features.X), self.sums(R))
        else:
            fold = features.fold
            kept = np.where(fold[self.entries.instance] == without, 0, values)
            gram = features.gram - features.fold_grams[without]
            scatters = features.scatters(kept, gram, int((fold != without).sum()))
        prior = self.shrinkage * self.dimensions
        return Covariances.of_scatters(scatters, prior, self.population, self.alike)

    def step(self, R, parts, shown) -> _State:
        """Return soft labels after one iteration; ``parts`` are instances with covariances."""
        entries, N = self.entries, self.entries.n_instances
        likeness, count, lost = np.zeros((3, len(entries)))
        other, looks = np.zeros(N), 0.0
        for instances, covariances in parts:
            rows = None if instances is None else np.flatnonzero(instances)
            at = slice(None) if instances is None else instances[entries.instance]
            counted = R
            if self.decided is not None:
                lost[at] = (odds := self.lost(covariances))[at]
                # An instance that is likely not somebody does not speak for them either.
                counted = R * np.exp(odds)
            own = slice(None) if rows is None else rows
            found = self.compare(counted, covariances, rows, at)
            likeness[at], count[at], other[own], density = found
            looks += density
        # With less than one face of a name, that part of the evidence counts.
        part = np.minimum(count, 1) * 0.999
        evidence = np.logaddexp(np.log1p(-part), np.log(np.maximum(part, 1e-12)) + likeness)
        evidence = np.where(count < LEAST, 0, evidence) + lost
        looks *= self.solver.damping
        return self.marginals(evidence, _State(R, other, shown, likeness, count, other, looks))

    def compare(self, R, covariances, rows, at):
        """Return likeness and count of other instances of entries, and ``other`` of instances.

        The last is the log density of these instances as pictures of anybody. ``rows`` are these
        instances, None for all, and ``at`` their entries.
        """
        entries, solver = self.entries, self.solver
        counted = self.counted(R)
        count, total = self.totals(R, covariances)
        Z = self.features.coordinates(covariances, rows)
        anybody = covariances.anybody(Z)
        density = float(anybody.sum()) + len(Z) * np.linalg.slogdet(covariances.basis)[1]
        # A name is in a group at most once, so the group's other faces say nothing about it.
        mentions = np.arange(len(entries.mentioned)) if rows is None else entries.mention[at]
        place = entries.instance if rows is None else _places(rows, entries)
        order, first = entries.by_mention
        square, logdet, n = mention_squares(
            Z,
            place,
            entries.mentioned,
            order,
            first,
            mentions if rows is None else np.unique(mentions),
            counted,
            count,
            total,
            covariances.between,
        )
        llr = student(square[at], logdet[at], self.dimensions) - anybody[place[at]]
        likeness = solver.damping * (llr - self.even)
        if not self.open:
            return likeness, n[at], np.zeros(len(Z)), density
        known = KnownNames.of(covariances, count, total, Z.dtype)
        if rows is None:
            self.elsewhere.refresh(Z, known, R, np.where(n < LEAST, np.inf, square))
        return likeness, n[at], self.elsewhere.weigh(Z, anybody, known, rows), density

    def totals(self, R, covariances: Covariances) -> tuple[Values, Values]:
        """Return how many instances each name has, and their sum in the basis."""
        count = self.entries.over_names(self.counted(R))
        total = self.sums(R) @ covariances.basis
        if self.known is not None:
            count, total = count + self.known.count, total + self.known.total
        return count, total

    def look_elsewhere(self, R) -> None:
        """Find the names that instances are compared with, by soft labels."""
        if self.open:
            covariances = self.covariances(R)
            Z = self.features.coordinates(covariances)
            known = KnownNames.of(covariances, *self.totals(R, covariances), Z.dtype)
            self.elsewhere.refresh(Z, known, R, None)

    def marginals(self, evidence, state: _State) -> _State:
        """Return the state with soft labels by evidence: marginals over ways to name a group."""
        entries = self.entries
        odds = np.log(state.shown / (1 - state.shown))[entries.mention]
        worth = evidence + entries.prior + odds - np.log(entries.size[entries.instance])
        worth = worth - state.other[entries.instance]
        R, rest = np.zeros(len(entries)), np.ones(entries.n_instances)
        total = state.weight + float(state.other.sum() + np.log1p(-state.shown).sum())
        for batch in entries.batches:
            soft, none, size = weigh(
                batch.spread(worth, NEVER), entries.free[batch.instances], self.solver.max_matchings
            )
            there = batch.entries >= 0
            R[batch.entries[there]] = soft[there]
            rest[batch.instances] = none
            total += float(size.sum())
        if self.rules is not None:
            R, rest = self.rules.project(R, rest)
        return replace(state, R=R, rest=rest, weight=total)

    def found(self, R) -> float:
        """Return how often names that several groups mention are shown, by soft labels."""
        entries = self.entries
        several = entries.mentions > 1  # the others can be named by elimination only
        asked = entries.mention_shown[several[entries.mentioned]].sum()
        return float(R[several[entries.name]].sum() / asked) if asked else 1.0

    def shown(self, found: float) -> Values:
        """Return the probability that each mention is shown, a third of it the prior."""
        entries, usual = self.entries, self.solver.shown
        several = entries.mentions[entries.mentioned] > 1
        rate = np.where(several, (usual + 2 * min(found, 0.95)) / 3, usual)
        return rate * entries.mention_shown


def _places(rows, entries: CandidateEntries) -> Indices:
    """Return the place in ``rows`` of the instance of each entry."""
    place = np.zeros(entries.n_instances, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    return place[entries.instance]


def centre(X: NDArray[Any], population: Population | None) -> Values:
    """Return the mean of features (N x k); that of a few leans on the population's."""
    total, count = np.asarray(X).sum(axis=0, dtype=float), float(len(X))
    if population is not None:
        total, count = total + CENTRE * population.mean, count + CENTRE
    return np.asarray(total / max(count, 1))
