"""Candidate sets that may miss the true label: any label is possible, at a price.

Let q be calibrated predictions that did not see the candidate set S of their instance, and e the
share of sets without the truth. A label of S is then worth (1 - e) q, and one outside e q s/(c - s)
for s of c classes in S, since more sets miss a label than have it. What is outside, in total, is
the probability that S misses the label.

Predictions that are sure and wrong look exactly like sets without the truth: with sets of one size,
e is the same as a uniform part e c/(c - s) of q. An estimate of e needs a convention. It is that of
anchor points: sets miss their label everywhere alike, while predictions are wrong where they are
unsure. So e is the share of sets that the surest predictions are not in (:func:`share_missed`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from candidly.base import Context, LabellingResult
from candidly.selection.calibration import Calibration, ErrorEstimate, sampling
from candidly.selection.choice import Choice
from candidly.selection.family_search import FamilySearch
from candidly.selection.hiding import FOLDS, Hiding
from candidly.solvers import assign
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.assignment import worth
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.dense_memory import check_memory

SUREST, ENOUGH, MOST = 0.2, 200, 1 / 3
"""Part of the predictions that is taken for sure: so many at least, unless that is a larger part
than the last."""
SURE_AND_WRONG, CHANCE = 0.03, 0.005
"""Share of sure predictions that may be wrong, at least, while all sets are whole, and the chance
of finding as many outside of their sets, below which sets are taken to miss the label."""
SIZE_STEPS, LEAST_SIZE = 6, 1e-3
"""Steps in which sizes of classes are found, and what is added to each."""
MOST_RATE = 0.6
"""Largest rate that "auto" finds."""
OPENED = 0.25
"""Probability that a set misses the label from which on it is not learnt from."""
ROUNDS = 8
"""How often suspects are found with those before opened."""
SETTINGS = 4
"""Settings of largest weight that label again, after all of them found the first suspects."""
LEAST_INSIDE = 1e-6
"""Part of a label inside of a set below which completion says nothing about its candidates."""
LISTED = 0.1
"""Smallest probability with which an instance is listed as suspect."""
MATRICES = 20
"""Matrices of all classes and instances at a time: one per setting, and what is made of them."""


@dataclass(frozen=True)
class Suspects:
    """Instances whose candidate set may miss the true label, most probable first.

    Attributes
    ----------
    rows : (n,) array of int
        Their rows.
    probability : (n,) array
        Probability that the set misses the label, at least 0.1.
    proposed : (n,) array
        The likeliest label outside the set.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.selection.set_noise import Suspects
    >>> labels = np.array([[0.9, 0.2], [0.1, 0.1], [0.0, 0.7]])
    >>> mask = np.array([[True, True], [True, True], [False, False]])
    >>> Suspects.of(labels, mask, np.array(["ann", "bob", "cat"])).proposed.tolist()
    ['cat']
    """

    rows: NDArray[np.intp]
    probability: NDArray[np.float64]
    proposed: NDArray[Any]

    @classmethod
    def of(cls, labels: Floats, mask: Mask, classes: NDArray[Any]) -> Self:
        """Return the suspects by what soft labels (c, N) have outside of candidate sets."""
        outside = np.where(mask, 0.0, labels)
        probability = outside.sum(axis=0)
        rows = np.argsort(-probability, kind="stable")
        rows = rows[probability[rows] >= LISTED]
        return cls(rows, probability[rows], classes[outside.argmax(axis=0)[rows]])

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class SetNoise:
    """Predictions that mean what they say, and the share of candidate sets without the truth.

    Attributes
    ----------
    sizes : (c, 1) array
        Factor of each class: predictions may have taken the class sizes out.
    calibration : Calibration
    rate : float
    misfit : float
        Minus the mean log-likelihood of the sets.
    """

    sizes: Floats
    calibration: Calibration
    rate: float
    misfit: float

    @classmethod
    def of(
        cls,
        hidden: Floats,
        P: Floats,
        mask: Mask,
        rate: float | None,
        label: NDArray[np.intp] | None = None,
    ) -> Self:
        """Return the likeliest, for predictions (c, N) that saw no set; a rate of None is found.

        Labels (N,), found with the sets, tell which predictions are wrong although in the set.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.special import softmax
        >>> from candidly.selection.set_noise import SetNoise
        >>> rng = np.random.default_rng(0)
        >>> y, sets = rng.integers(5, size=2000), rng.random((5, 2000)) < 0.3
        >>> sets[y, np.arange(2000)] = rng.random(2000) > 0.2
        >>> sets[(y + 1) % 5, np.arange(2000)] |= ~sets.any(axis=0)
        >>> seen = 3 * (np.arange(5)[:, None] == y) + rng.normal(size=(5, 2000))
        >>> q = softmax(3 * seen, axis=0)  # the probability of each label, as it is
        >>> 0.15 < SetNoise.of(q, sets / sets.sum(axis=0), sets, None).rate < 0.25
        True
        """
        if rate is None:
            whole = cls.of(hidden, P, mask, 0.0)
            sharp = replace(whole, calibration=replace(whole.calibration, uniform=0.0))
            rate = share_missed(sharp.predicted(hidden), mask, label)
        found = cls._with_sizes(hidden, mask, rate, np.ones((len(mask), 1)))
        for _ in range(SIZE_STEPS):
            # Expectation maximisation: a class is as large as the sets say, not the predictions.
            q, posterior = found.predicted(hidden), found.posterior(hidden, P, mask)
            step = (posterior.mean(axis=1) + LEAST_SIZE) / (q.mean(axis=1) + LEAST_SIZE)
            sizes = found.sizes * step[:, None] ** (1 / max(found.calibration.power, 0.5))
            found = cls._with_sizes(hidden, mask, rate, sizes)
        return found

    @classmethod
    def _with_sizes(cls, hidden: Floats, mask: Mask, rate: float, sizes: Floats) -> Self:
        p = hidden * sizes
        p = p / p.sum(axis=0)
        fitted = Calibration.of(p, mask)

        def misfit(uniform: float) -> float:
            return _misfit(replace(fitted, uniform=uniform)(p), mask, rate)

        uniform = float(minimize_scalar(misfit, bounds=(0, 0.9), method="bounded").x)
        fitted = replace(fitted, uniform=uniform)
        return cls(sizes, fitted, rate, _misfit(fitted(p), mask, rate))

    def predicted(self, hidden: Floats) -> Floats:
        """Return calibrated predictions, (c, N)."""
        p = hidden * self.sizes
        return self.calibration(p / p.sum(axis=0))

    def posterior(self, hidden: Floats, P: Floats, mask: Mask) -> Floats:
        """Return the probability of each label, (c, N), by predictions, prior and set."""
        given = (1 - self.rate) * P * np.count_nonzero(mask, axis=0)
        found = self.predicted(hidden) * np.where(mask, given, self.rate * _odds(mask))
        found *= np.asarray(mask.any(axis=1))[:, None]
        return np.asarray(found / found.sum(axis=0))


def _odds(mask: Mask) -> Floats:
    """Return s/(c - s) for sets of s of c listed classes; 0 for sets of all, which miss nothing."""
    size = np.count_nonzero(mask, axis=0)
    others = np.count_nonzero(mask.any(axis=1)) - size
    return np.where(others > 0, size / np.maximum(others, 1), 0.0)


def _misfit(q: Floats, mask: Mask, rate: float) -> float:
    inside = np.where(mask, q, 0).sum(axis=0)
    chance = (1 - rate) * inside + rate * (1 - inside) * _odds(mask)
    return -float(np.log(np.maximum(chance, 1e-12)).mean())


def share_missed(q: Floats, mask: Mask, label: NDArray[np.intp] | None = None) -> float:
    """Return the share of sets (c, N) that miss the label, by the surest of predictions (c, N).

    It is 0 unless clearly more of these are outside of their sets than would be if all sets were
    whole: as many as are unsure, or as differ from the labels (N,) found with the sets although
    they are candidates, and at least ``SURE_AND_WRONG``. Sets of all classes miss nothing, and are
    not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.selection.set_noise import share_missed
    >>> mask = np.tile([[True], [True], [False]], 1000)
    >>> mask[:, ::5] = [[False], [True], [True]]
    >>> q = np.tile([[0.98], [0.01], [0.01]], 1000)
    >>> share_missed(q, mask)
    0.2
    """
    partial = np.flatnonzero(~mask[mask.any(axis=1)].all(axis=0))
    sure, guess = q.max(axis=0), q.argmax(axis=0)
    count = round(max(SUREST * len(partial), min(ENOUGH, MOST * len(partial))))
    surest = partial[np.argsort(-sure[partial], kind="stable")[:count]]
    inside = surest[mask[guess[surest], surest]]
    if not len(inside):
        return 0.0
    missed = count - len(inside)
    wrong = max(SURE_AND_WRONG, 1 - float(sure[surest].mean()))
    if label is not None:
        wrong = max(wrong, float((guess[inside] != label[inside]).mean()))
    if binom.sf(missed - 1, count, wrong) > CHANCE:
        return 0.0
    return min(missed / count, MOST_RATE)


@dataclass(frozen=True)
class Opened:
    """A search and its choice, solved again with the sets of suspects opened to all classes.

    Attributes
    ----------
    search, choice
        With the opened sets.
    posterior : (c, N) array
        Probability of each label, by predictions that saw no set, and by the set.
    rate : float
        Share of sets without the truth.
    """

    search: FamilySearch
    choice: Choice
    posterior: Floats
    rate: float

    def proposed(
        self, result: LabellingResult, sets: CandidateSets, context: Context
    ) -> LabellingResult:
        """Return the result of these sets with labels over all classes, by the sets as given.

        Soft labels are those found inside of a set, and predicted ones outside. A label outside is
        chosen where it is likelier than every candidate.
        """
        mask = sets.mask
        outside = np.where(mask, 0.0, self.posterior)
        lacking = outside.sum(axis=0)
        inside = np.where(mask, result.solution.matrix(), 0.0)
        empty = inside.sum(axis=0) < LEAST_INSIDE
        inside[:, empty] = np.where(mask, self.posterior, 0.0)[:, empty]
        total = inside.sum(axis=0)
        inside *= (1 - lacking) / np.where(total > 0, total, 1)
        labels = inside + outside
        opened = self.search.sets.mask & (outside.max(axis=0) > inside.max(axis=0))
        allowed, every = CandidateSets.of_mask(mask | opened), CandidateSets.of_mask(labels >= 0)
        scores = result.solution.sets.matrix(result.solution.scores)
        solution = replace(
            result.solution,
            labels=every.entries_of(labels),
            scores=every.entries_of(scores),
            sets=every,
        )
        short = replace(
            solution,
            labels=allowed.entries_of(labels),
            scores=allowed.entries_of(scores),
            sets=allowed,
        )
        evidence = result.evidence_of(short) if context.constraints else None
        chosen = assign(worth(short, evidence), allowed, context.constraints)
        attributes = {"set_noise_": self.rate, "error_estimate_": self.estimate(chosen, mask)}
        return replace(
            result,
            solution=solution,
            chosen=chosen,
            attributes={**result.attributes, **attributes},
        )

    def estimate(self, chosen: NDArray[np.intp], mask: Mask) -> ErrorEstimate:
        """Return how many labels are wrong.

        The interval reaches from what is wrong if sets miss the label exactly where that was
        decided, to as many more than the posterior says as there are broken sets.
        """
        each = np.arange(len(chosen))
        right, inside = self.posterior[chosen, each], np.where(mask, self.posterior, 0).sum(axis=0)
        decided = 1 - right / np.where(mask[chosen, each], inside, 1 - inside)
        wrong = float(1 - right.mean())
        most = min(wrong + self.rate, 1.0)
        views = float(decided.mean()), most
        return ErrorEstimate.between((wrong + most) / 2, views, sampling(1 - right, len(right)))


def check_set_noise(sets: CandidateSets) -> None:
    """Raise an error if any label of every instance would take too much memory."""
    instead = "leave set_noise out, which makes any label possible"
    check_memory("set_noise", *sets.shape, MATRICES, instead=instead)


def open_suspects(search: FamilySearch, choice: Choice, rate: float | str) -> Opened | None:
    """Return the solution with the sets of suspects opened, or None if every set seems whole.

    Suspects are found by predictions of all instances, a fifth hidden at a time, with the settings
    that count. Their sets are opened, so that nothing is learnt from them, and predictions improve.

    Parameters
    ----------
    search, choice
        The search as it was run.
    rate : float or "auto"
        Share of sets without the truth.
    """
    if not choice.beats_floor:
        return None
    given = None if isinstance(rate, str) else rate
    sets = search.sets
    hiding = Hiding.of(search.X, search.P, sets, search.plan.seed)
    label = sets.classes[sets.best(search.labels(choice))]
    P, mask = sets.matrix(search.P), sets.mask
    best: tuple[FamilySearch, Choice, Floats, SetNoise] | None = None
    opened = search
    for _ in range(ROUNDS):
        hiding = replace(hiding, P=opened.P, sets=opened.sets)
        choice = opened.predict_hidden(choice, hiding, FOLDS)
        hidden = np.empty(mask.shape)
        hidden[:, hiding.rows(FOLDS)] = choice.hidden(FOLDS)
        model = SetNoise.of(hidden, P, mask, given, label)
        if given is None and model.rate == 0:
            break
        if best is not None and model.misfit >= best[3].misfit:
            break
        posterior = model.posterior(hidden, P, mask)
        suspect = np.where(mask, 0, posterior).sum(axis=0) > OPENED
        opened = search.opened(posterior, suspect)
        choice = _fewer(choice)
        best = opened, choice, posterior, model
        if search.over():
            break
    if best is None:
        return None
    opened, choice, posterior, model = best
    return Opened(opened, opened.solve_again(choice), posterior, model.rate)


def _fewer(choice: Choice) -> Choice:
    """Return the choice with the settings of largest weight alone, and denoised features."""
    places = [
        k
        for k, trial in enumerate(choice.trials)
        if trial.weight > 0 and trial.setting.labeller != "WMCar"
    ]
    kept = places[:SETTINGS]
    share = sum(choice.trials[k].weight for k in places) / sum(
        choice.trials[k].weight for k in kept
    )
    trials = list(choice.trials)
    for k in places:
        weight = share * trials[k].weight if k in kept else 0.0
        trials[k] = replace(trials[k], weight=weight)
    return replace(choice, trials=trials)
