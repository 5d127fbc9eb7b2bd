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

NOWHERE = -50.0
"""Log odds of a name at an instance that has another one for certain."""


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
        for own in _by_value(chosen):
            if len(own) > 1:
                there = entries.groups[own]
                some = own[:COMPARED]
                ratio = self.between(some, own)
                ratio[there[: len(some), None] == there] = np.nan
                middle[own] = _medians(ratio)
        return middle


def _medians(values):
    """Return the median of each column without NaN, or NaN where nothing else is there."""
    values = np.sort(values, axis=0)  # NaN last
    count = np.isfinite(values).sum(axis=0)
    column = np.arange(values.shape[1])
    low, high = (np.maximum(count - 1, 0) // 2, np.maximum(count, 1) // 2)
    return np.where(count, (values[low, column] + values[high, column]) / 2, np.nan)


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
        own = chosen[entries.instance] == entries.name
        many = np.bincount(chosen[chosen >= 0], minlength=entries.n_names)
        total = max(int((chosen >= 0).sum()), 1)
        unmentioned = np.log(self.elsewhere * np.maximum(many, 1) / total)
        against = self._against(entries, chosen, odds, unmentioned)
        limit, named = np.ones(len(chosen)), chosen >= 0
        fixed = entries.free <= NEVER
        settled = np.bincount(chosen[named & fixed], minlength=entries.n_names) > 0
        own_odds = np.bincount(entries.name[own], odds[own], minlength=entries.n_names)
        own_prior = np.bincount(entries.name[own], entries.prior[own], minlength=entries.n_names)
        # Somebody without a name, who is beside it each time or in other groups that mention it.
        # The only instance of a name has it by elimination, and may be that person's as well.
        once = (many == 1) & (self.known <= 0.5)
        free = ((chosen < 0) | (once[chosen] & ~fixed))[entries.instance]
        free &= ((many > 1) & ~settled & (self.known <= 0.5))[entries.name]
        at = np.flatnonzero(free)
        own_entry = np.full(len(chosen), -1)
        own_entry[entries.instance[own]] = np.flatnonzero(own)
        for some in _by_value(entries.name[at]):
            numbers = at[some]
            numbers = numbers[_free(entries.instance[numbers], chosen, state.other, pairs)]
            beside = numbers[_one_person(entries.instance[numbers], entries.groups, pairs)]
            if len(beside) < 2:
                continue
            i, j = int(entries.name[beside[0]]), entries.instance[beside]
            there = np.log(self.elsewhere * len(beside) / total)
            lost = own_odds[i] - many[i] * unmentioned[i] + (there - odds[beside]).sum()
            prior = own_prior[i] - entries.prior[beside].sum()
            taken = own_entry[j[chosen[j] >= 0]]  # names that those of i would have instead
            lost += (odds[taken] - there).sum()
            prior += entries.prior[taken].sum()
            left = _left_to(entries, i, taken, chosen)
            lost -= (odds[left] - unmentioned[i]).sum()
            prior -= entries.prior[left].sum()
            for_them = np.exp(-_together(lost, prior, many[i] + len(beside)))
            against[i] += for_them
            limit[j] = np.minimum(limit[j], 1 - for_them / (1 + against[i]))
        asked = named & (self.known[chosen] <= 0.5)
        limit[asked] = np.minimum(limit[asked], 1 / (1 + against[chosen[asked]]))
        return limit

    def _against(self, entries: CandidateEntries, chosen, odds, unmentioned):
        """Return for each name the odds for exchanging it with another, over all of these.

        What is lost is a sum over the instances of both: the odds of the name that they have, less
        those of the other; where that is not mentioned it is known from elsewhere.
        """
        c, fixed = entries.n_names, entries.free <= NEVER
        now = chosen[entries.instance]
        own = now == entries.name
        # Sums over the instances of each name as if the other were mentioned nowhere ...
        elsewhere = np.where(fixed, NOWHERE, unmentioned[chosen])
        named = chosen >= 0
        lost = np.bincount(now[own], odds[own], minlength=c)
        lost -= np.bincount(chosen[named], elsewhere[named], minlength=c)
        prior = np.bincount(now[own], entries.prior[own], minlength=c)
        count = np.bincount(chosen[named], minlength=c)
        # ... and what changes where it is.
        rival = np.flatnonzero((now >= 0) & ~own)
        pair, at = np.unique(now[rival] * c + entries.name[rival], return_inverse=True)
        mentioned = odds[rival] - elsewhere[entries.instance[rival]]
        pair_odds = np.bincount(at, mentioned, minlength=len(pair))
        pair_prior = np.bincount(at, entries.prior[rival], minlength=len(pair))
        i, k = pair // c, pair % c
        back = np.minimum(np.searchsorted(pair, k * c + i), max(len(pair) - 1, 0))
        both = pair[back] == k * c + i if len(pair) else np.zeros(0, bool)
        whole = lost[i] + lost[k] - pair_odds - np.where(both, pair_odds[back], 0)
        whole_prior = prior[i] + prior[k] - pair_prior - np.where(both, pair_prior[back], 0)
        odds_for = np.exp(-_together(whole, whole_prior, count[i] + count[k]))
        return np.bincount(i, odds_for, minlength=c)


def _together(odds, prior, count):
    """Return the log odds against an exchange of so many instances.

    Priors are not independent (the same person is the larger one in all photos), so they grow
    with the square root of their number.
    """
    return np.clip(odds + prior / np.sqrt(np.maximum(count, 1)), -20, 50)


def _free(instances, chosen, other, pairs: Likenesses):
    """Return which instances may be a person without a name: those of nobody, and named once.

    Of nobody not those that are somebody known from elsewhere, except by such a name.
    """
    nobody = chosen[instances] < 0
    known = nobody & (other[instances] > 0)
    if known.any() and not nobody.all():
        alike = pairs.between(instances[~nobody][:COMPARED], instances[known]).max(axis=0)
        known[known] = alike < CLEAR
    return ~known


def _left_to(entries: CandidateEntries, i, taken, chosen):
    """Return the entries by which instances of i would have names that others of a group leave.

    ``taken`` are the entries of these others with their names.
    """
    left = [np.zeros(0, dtype=np.intp)]
    order, first = entries.by_name
    for e in taken:
        group = entries.groups[entries.instance[e]]
        same = order[first[entries.name[e]] : first[entries.name[e] + 1]]
        j = entries.instance[same]
        left.append(same[(entries.groups[j] == group) & (chosen[j] == i)])
    return np.concatenate(left)


def _one_person(free, groups, pairs: Likenesses) -> list[int]:
    """Return the places of the most instances that are one person's; none if in one group only.

    At most one in each group, and all clearly like one of them.
    """
    free = free[:COMPARED]
    there = groups[free]
    if len(there) < 2 or (there == there[0]).all():
        return []
    alike = pairs.between(free, free)
    alike[there[:, None] == there] = -np.inf
    order = np.argsort(there, kind="stable")
    first = np.flatnonzero(np.diff(there[order], prepend=-1))
    in_groups = np.maximum.reduceat(alike[:, order], first, axis=1) >= CLEAR
    seed = int(in_groups.sum(axis=1).argmax())
    order = np.argsort(-alike[seed], kind="stable")
    order = order[alike[seed, order] >= CLEAR]
    _, first = np.unique(there[order], return_index=True)
    return [seed, *order[first].tolist()]


def unlike_names(entries: CandidateEntries, chosen, middle) -> Any:
    """Return the names of which half of the instances, and two, are unlike most others.

    ``middle`` is the median likeness of each instance to the others of its name. Labels that were
    given are not doubted.
    """
    named = (chosen >= 0) & ~_decided(entries)
    many = np.bincount(chosen[named], minlength=entries.n_names)
    bad = np.bincount(chosen[named & (middle < UNLIKE)], minlength=entries.n_names)
    return np.flatnonzero((many >= SEVERAL) & (bad >= 2) & (bad >= many / 2))


def _by_value(values) -> list[Any]:
    """Return the places of each value, those of the smallest first; negative ones are left out."""
    order = np.argsort(values, kind="stable")
    order = order[np.searchsorted(values[order], 0) :]
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(order) else []
