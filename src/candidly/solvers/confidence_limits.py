"""How sure a label may be: never surer than what it rests on.

Soft labels say how likely a name is if all the others are as they are. Four things they cannot see
limit them:

- the covariances were estimated from the labels themselves: the confidence is the mean of the
  soft label and of that by covariances estimated without the group, and likeness counts by both;
- a name without likeness is given by elimination, which is never sure: a name needs other
  instances that speak for it clearly, and most of them may not speak against it one by one, nor
  may the name be one of several people;
- a name that is left where another was refused is given by elimination, too: it needs an instance
  that was confirmed, or that no refusal is about;
- two names that are always mentioned together could be exchanged, and everything would be
  explained as well; and so could a name and a person without one, who is beside it each time or
  in other groups that mention the name, also if that person has another name once, by
  elimination. A name, and that somebody has none, is no surer than the odds against all such
  exchanges k::

      delta_ik = log weight of these labels - log weight with i and k exchanged
      confidence <= 1/(1 + sum over k of exp(-delta_ik))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.two_covariances import Covariances

LIKELY = 0.94
"""Largest confidence of a name without likeness."""
CLEAR = 3.0
"""Damped log likelihood ratio from which likeness is clear: odds of twenty to one."""
UNLIKE = -2.0
"""Damped log likelihood ratio below which two instances are clearly not one person's."""
COMPARED = 500
"""Number of instances of a name, the first ones, that others are compared with."""
SEVERAL = 4
"""Number of instances of a name from which it is told whether they look alike."""

Worth = tuple[float, float]
Worths = dict[tuple[int, int], Worth]
"""Log odds of being shown, and prior log odds, of each name and instance."""


@dataclass(frozen=True)
class Likenesses:
    """Log likelihood ratios of pairs of instances, damped.

    Parameters
    ----------
    Z : (N, k) array
        Features in the basis of the covariances.
    covariances : Covariances
    damping, even : float
        Power of the ratios, and the ratio that says nothing.
    """

    Z: NDArray[np.float64]
    covariances: Covariances
    damping: float
    even: float

    def between(self, some, others):
        """Return the ratio of each of ``others`` (columns) to each of ``some`` (rows)."""
        ratio = self.covariances.everybody(self.Z[others], np.ones(len(some)), self.Z[some])
        return self.damping * (ratio - self.even)

    def within(self, entries: CandidateEntries, chosen):
        """Return the median ratio to the other instances of the same name in other groups, or NaN.

        To be like their mean says little, which may lie between two people.
        """
        middle = np.full(len(chosen), np.nan)
        for own in _by_name(chosen).values():
            if len(own) < 2:
                continue
            some = own[:COMPARED]
            other = entries.groups[some][:, None] != entries.groups[own]
            counted = np.array(own)[other.any(axis=0)]
            if len(counted):
                ratio = np.where(other, self.between(some, own), np.nan)[:, other.any(axis=0)]
                middle[counted] = np.nanmedian(ratio, axis=0)
        return middle


def certainties(entries: CandidateEntries, chosen, state, honest, middle, limits):
    """Return the probability that each chosen label is right.

    Parameters
    ----------
    entries : CandidateEntries
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    state, honest : objects with R, rest, shown, likeness, count and other
        Soft labels, and those by covariances estimated without the group.
    middle : (N,) array
        Median likeness to the other instances of the name; NaN if there are none.
    limits : (N,) array
        The most that each may be sure of, by exchanges.
    """
    named = chosen >= 0
    own = chosen[entries.instance] == entries.name
    j = entries.instance[own]
    confidence = (state.rest + honest.rest) / 2
    confidence[j] = (state.R + honest.R)[own] / 2
    like, count = np.zeros((2, len(chosen)))
    like[j] = np.minimum(state.likeness, honest.likeness)[own]
    count[j] = state.count[own]
    alike = (count >= 0.5) & (like >= CLEAR) & ~(middle <= 0)
    alike &= ~np.isin(chosen, unlike_names(entries, chosen, middle))
    limit = np.where(named & ~alike, LIKELY, 1.0)
    limit = np.where(_decided(entries), 1.0, np.minimum(limit, limits))
    return np.clip(np.minimum(confidence, limit), 0, 1)


def left_by_refusals(entries: CandidateEntries, chosen, lost, refused, known):
    """Return which instances have a name that only refusals of others left.

    Parameters
    ----------
    entries : CandidateEntries
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    lost : (E,) array
        What the odds of each entry lose by what is decided, as a logarithm.
    refused : (N,) array of bool
        Which instances are themselves decided not to be somebody.
    known : (c,) array
        Number of instances of each name that are not solved now; they speak for it.
    """
    about = refused.copy()
    about[entries.instance[lost <= -CLEAR]] = True
    about &= ~_decided(entries)
    named = chosen >= 0
    speaking = known + np.bincount(chosen[named & ~about], minlength=entries.n_names)
    return named & (speaking[chosen] < 0.5)


def _decided(entries: CandidateEntries):
    """Return which instances have one candidate only, a name."""
    count = np.bincount(entries.instance, minlength=entries.n_instances)
    return (entries.free <= NEVER) & (count == 1)


@dataclass(frozen=True)
class Exchanges:
    """Ways to exchange a name that explain as much.

    Parameters
    ----------
    elsewhere : float
        Probability that somebody who is not mentioned is known from elsewhere.
    known : (c,) array
        Number of instances of each name that are not solved now; with them a name cannot be
        exchanged.
    """

    elsewhere: float
    known: NDArray[np.float64]

    def limits(self, entries: CandidateEntries, chosen, state, pairs: Likenesses):
        """Return the most that each instance may be sure of."""
        odds = np.log(state.shown / (1 - state.shown))[entries.mention]
        odds = odds - np.log(entries.size[entries.instance])
        number = zip(entries.name.tolist(), entries.instance.tolist(), strict=True)
        worth = zip(odds.tolist(), entries.prior.tolist(), strict=True)
        of: Worths = dict(zip(number, worth, strict=True))
        instances = _by_name(chosen)
        asked = _by_name(entries.name)
        total = max(int((chosen >= 0).sum()), 1)
        fixed = entries.free <= NEVER
        first = np.searchsorted(entries.instance, np.arange(entries.n_instances + 1))
        limit = np.ones(len(chosen))
        # The only instance of a name has it by elimination, and may be another person's as well.
        once = np.bincount(chosen[chosen >= 0], minlength=entries.n_names) == 1
        once = np.append(once & (self.known <= 0.5), False)  # nobody is -1
        for i, own in instances.items():
            if self.known[i] > 0.5:
                continue
            rivals = {k for j in own for k in entries.name[first[j] : first[j + 1]].tolist()} - {i}
            against = 0.0
            for k in rivals:
                theirs = instances.get(k, [])
                lost = [*_lost(of, i, k, own, self._unmentioned(own, total), fixed)]
                lost += _lost(of, k, i, theirs, self._unmentioned(theirs, total), fixed)
                against += np.exp(-_together(lost))
            beside: list[int] = []
            if len(own) > 1:
                there = entries.instance[asked[i]]
                named = there[once[chosen[there]] & ~fixed[there]]
                free = _free(there[chosen[there] < 0], named, state.other, pairs)
                beside = _one_person(free, entries.groups, pairs)
            odds = 0.0
            if len(beside) > 1 and not fixed[own].any():
                lost = [*self._exchanged(of, i, own, beside, chosen, entries.groups, total)]
                odds = np.exp(-_together(lost))
            limit[own] = 1 / (1 + against + odds)
            limit[beside] = np.minimum(limit[beside], 1 - odds / (1 + against + odds))
        return limit

    def _exchanged(self, of: Worths, i: int, own, beside, chosen, groups, total) -> Iterator[Worth]:
        """Yield what is lost where the instances of i and a person without a name are exchanged.

        One of that person that has a name of its own, by elimination, leaves it to that of i.
        """
        was, is_now = (self._unmentioned(some, total) for some in (own, beside))
        named = {groups[j]: chosen[j] for j in beside if chosen[j] >= 0}
        for j in own:
            other = of.get((named.get(groups[j], -1), j), (was, 0.0))
            yield _less(of[i, j], *other)
        for j in beside:
            other = of[chosen[j], j] if chosen[j] >= 0 else (is_now, 0.0)
            yield _less(other, *of[i, j])

    def _unmentioned(self, instances, total: int) -> float:
        """Return the log probability that somebody with so many instances is not mentioned."""
        return float(np.log(self.elsewhere * max(len(instances), 1) / total))


def _lost(of: Worths, i: int, k: int, own, unmentioned: float, fixed) -> Iterator[Worth]:
    """Yield what is lost in log odds and in prior for each instance of i that becomes k's."""
    for j in own:
        other = of.get((k, j))
        if other is None:  # k is not mentioned there, so known from elsewhere
            other = (-50.0 if fixed[j] else unmentioned, 0.0)
        yield _less(of[i, j], *other)


def _less(worth: Worth, odds: float, prior: float = 0.0) -> Worth:
    return worth[0] - odds, worth[1] - prior


def _together(lost: Sequence[Worth]) -> float:
    """Return the log odds against an exchange.

    Priors are not independent (the same person is the larger one in all photos), so they grow
    with the square root of their number.
    """
    odds = sum(one for one, _ in lost)
    prior = sum(one for _, one in lost) / np.sqrt(max(len(lost), 1))
    return float(np.clip(odds + prior, -20, 50))


def _free(nobody, named, other, pairs: Likenesses):
    """Return the instances that may be a person without a name: ``nobody``, and ``named`` once.

    Of nobody not those that are somebody known from elsewhere, except by such a name.
    """
    known = other[nobody] > 0
    if len(named) and known.any():
        alike = pairs.between(named[:COMPARED], nobody).max(axis=0) >= CLEAR
        known &= ~alike
    return np.sort(np.concatenate([nobody[~known], named]))


def _one_person(free, groups, pairs: Likenesses) -> list[int]:
    """Return the most of some instances that are one person's; none if that is in one group only.

    At most one in each group, and all clearly like one of them.
    """
    if len(np.unique(groups[free])) < 2:
        return []
    free = free[:COMPARED]
    alike = pairs.between(free, free)
    there = groups[free]
    best: list[int] = []
    for seed in range(len(free)):
        order = np.argsort(-alike[seed], kind="stable")
        order = order[(alike[seed, order] >= CLEAR) & (there[order] != there[seed])]
        _, first = np.unique(there[order], return_index=True)
        if len(first) + 1 > len(best):
            best = free[[seed, *order[first]]].tolist()
    return best


def unlike_names(entries: CandidateEntries, chosen, middle) -> Any:
    """Return the names of which half of the instances, and two, are unlike most others.

    ``middle`` is the median likeness of each instance to the others of its name. Labels that were
    given are not doubted.
    """
    named = (chosen >= 0) & ~_decided(entries)
    many = np.bincount(chosen[named], minlength=entries.n_names)
    bad = np.bincount(chosen[named & (middle < UNLIKE)], minlength=entries.n_names)
    return np.flatnonzero((many >= SEVERAL) & (bad >= 2) & (bad >= many / 2))


def _by_name(chosen) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for j, i in enumerate(chosen.tolist()):
        if i >= 0:
            found[i].append(j)
    return found
