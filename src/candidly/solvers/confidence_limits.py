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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import (
    counting,
    double,
    here,
    like,
    namespace,
    places_of,
    sorted_values,
    zeros,
)
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.runs import sorted_order
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
PAIRS = 2_000_000
"""Pairs that are compared at a time."""
WIDTH = 128
"""Instances of a name from which there are more pairs than features, about."""

NOWHERE = -50.0
"""Log odds of a name at an instance that has another one for certain."""


class Rows(Protocol):
    """Features of instances by their numbers (...), here or on a device: (..., k)."""

    def __getitem__(self, rows: Any) -> Any: ...


@dataclass(frozen=True)
class Likenesses:
    """Log likelihood ratios of pairs of instances, damped.

    Parameters
    ----------
    Z : Rows
        Features in the basis of the covariances.
    covariances : Covariances
    damping, even : float
        Power of the ratios, and the ratio that says nothing.
    """

    Z: Rows
    covariances: Covariances
    damping: float
    even: float

    def rows(self, instances):
        """Return the features of instances (...), in double precision: (..., k)."""
        Z = double(self.Z[instances.ravel()])
        return Z.reshape((*instances.shape, Z.shape[-1]))

    def ratios(self, some, others):
        """Return the ratio of each of ``others`` (columns) to each of ``some``, by features."""
        return self.damping * (self.covariances.all_pairs(some, others) - self.even)

    def between(self, some, others):
        """Return the ratio of each of ``others`` (columns) to each of ``some``, by number."""
        return here(self.ratios(self.rows(some), self.rows(others)))

    def in_other_groups(self, numbers, groups, missing, columns=slice(None)):
        """Return the ratios of instances (g x n) to the first of them, g sets apart.

        They are where the features are; those within a group are ``missing``. ``columns`` are those
        of the n that are asked for.
        """
        first, others = numbers[:, :COMPARED], numbers[:, columns]
        Z = self.rows(others)
        some = Z if others.shape[1] == first.shape[1] == numbers.shape[1] else self.rows(first)
        there, own = (like(groups[j], Z, namespace(Z).int64) for j in (others, first))
        same = own[:, :, None] == there[:, None, :]
        return namespace(Z).where(same, missing, self.ratios(some, Z))

    def within(self, numbers, groups):
        """Return the median ratio of each instance (g x n) to the others in other groups, or NaN.

        To be like the mean of the others says little, which may lie between two people.
        """
        found, n = np.empty(numbers.shape), numbers.shape[1]
        step = max(1, PAIRS // COMPARED)
        for part in _pieces(numbers):
            for at in range(0, n, step):
                columns = slice(at, at + step)
                ratio = self.in_other_groups(numbers[part], groups, np.nan, columns)
                found[part, columns] = here(_medians(ratio))
        return found

    def clearly_alike(self, numbers, groups) -> Iterator[tuple[int, Any]]:
        """Give the sets of instances (g x n) of which two in different groups are clearly alike.

        Each with its ratios (n x n), -inf within a group. Larger sets are not looked at: they are
        all given, with None.
        """
        if numbers.shape[1] > COMPARED:
            yield from ((at, None) for at in range(len(numbers)))
            return
        for part in _pieces(numbers):
            ratio = self.in_other_groups(numbers[part], groups, -np.inf)
            alike = namespace(ratio).amax(ratio, axis=(1, 2)) >= CLEAR
            yield from zip(part.start + places_of(here(alike)), here(ratio[alike]), strict=True)


def _pieces(numbers):
    """Return slices of sets of instances (g x n), of which not too many pairs are compared."""
    n = numbers.shape[1]
    step = max(1, PAIRS // (n * max(min(n, COMPARED), WIDTH)))
    return [slice(at, at + step) for at in range(0, len(numbers), step)]


def _medians(values):
    """Return the median of each column (g x s x n) without NaN, or NaN where nothing else is."""
    xp = namespace(values)
    values = sorted_values(values, 1)  # NaN last
    count = xp.isfinite(values).sum(axis=1)
    low, high = (xp.clip(count - 1, 0, None) // 2, xp.clip(count, 1, None) // 2)
    row = counting(len(values), values)[:, None]
    column = counting(values.shape[2], values)
    middle = (values[row, low, column] + values[row, high, column]) / 2
    return xp.where(count > 0, middle, np.nan)


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

    def limits(
        self, entries: CandidateEntries, chosen, state, pairs: Likenesses, there: CandidateEntries
    ):
        """Return the most that each instance may be sure of.

        ``there`` are the same entries, perhaps on a device, where sums over all of them are made.
        """
        odds = np.log(state.shown / (1 - state.shown))
        odds -= np.log(entries.size)[entries.instance]
        own = chosen[entries.instance] == entries.name
        many = np.bincount(chosen[chosen >= 0], minlength=entries.n_names)
        total = max(int((chosen >= 0).sum()), 1)
        unmentioned = np.log(self.elsewhere * np.maximum(many, 1) / total)
        given = (like(each, there.prior) for each in (entries.prior, odds, unmentioned))
        against = here(self._against(there, like(chosen, there.instance), *given))
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
        for numbers, alike in _alike_of_each_name(at, entries, pairs):
            unknown = _free(entries.instance[numbers], chosen, state.other, pairs)
            numbers = numbers[unknown]
            if alike is None:
                some = entries.instance[numbers[None, :COMPARED]]
                alike = here(pairs.in_other_groups(some, entries.groups, -np.inf))[0]
            else:
                alike = alike[np.ix_(unknown, unknown)]
            beside = numbers[_one_person(alike, entries.groups[entries.instance[numbers]])]
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

    def _against(self, entries: CandidateEntries, chosen, priors, odds, unmentioned):
        """Return for each name the odds for exchanging it with another, over all of these.

        What is lost is a sum over the instances of both: the odds of the name that they have, less
        those of the other; where that is not mentioned it is known from elsewhere.
        """
        c, fixed, xp = entries.n_names, entries.free <= NEVER, namespace(chosen)
        now = chosen[entries.instance]
        own = now == entries.name
        # Sums over the instances of each name as if the other were mentioned nowhere ...
        elsewhere = xp.where(fixed, NOWHERE, unmentioned[chosen])
        named = chosen >= 0
        lost = double(xp.bincount(now[own], odds[own], c))
        lost -= double(xp.bincount(chosen[named], elsewhere[named], c))
        prior = double(xp.bincount(now[own], priors[own], c))
        count = double(xp.bincount(chosen[named], None, c))
        # ... and what changes where it is.
        rival = places_of((now >= 0) & ~own)
        pair, at = xp.unique(now[rival] * c + entries.name[rival], return_inverse=True)
        if not len(pair):
            return zeros(c, odds)
        mentioned = odds[rival] - elsewhere[entries.instance[rival]]
        pair_odds = xp.bincount(at, mentioned, len(pair))
        pair_prior = xp.bincount(at, priors[rival], len(pair))
        i, k = pair // c, pair % c
        back = xp.clip(xp.searchsorted(pair, k * c + i), None, len(pair) - 1)
        both = pair[back] == k * c + i
        whole = lost[i] + lost[k] - pair_odds - xp.where(both, pair_odds[back], 0)
        whole_prior = prior[i] + prior[k] - pair_prior - xp.where(both, pair_prior[back], 0)
        odds_for = xp.exp(-_together(whole, whole_prior, count[i] + count[k]))
        return xp.bincount(i, odds_for, c)


def _together(odds, prior, count):
    """Return the log odds against an exchange of so many instances.

    Priors are not independent (the same person is the larger one in all photos), so they grow
    with the square root of their number.
    """
    xp = namespace(odds)
    return xp.clip(odds + prior / xp.sqrt(xp.clip(count, 1, None)), -20, 50)


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


def _alike_of_each_name(at, entries: CandidateEntries, pairs: Likenesses) -> Iterator[Any]:
    """Give the entries of each name, of which two may be one person's, with their ratios."""
    for sets in equally_many(entries.name[at]):
        numbers = at[sets]
        for one, alike in pairs.clearly_alike(entries.instance[numbers], entries.groups):
            yield numbers[one], alike


def _one_person(alike, there) -> list[int]:
    """Return the places of the most instances that are one person's; none if in one group only.

    At most one in each group, and all clearly like one of them. ``alike`` (n x n) are the ratios of
    the first instances, -inf within a group, and ``there`` the groups of all.
    """
    there = there[: len(alike)]
    if len(there) < 2 or (there == there[0]).all():
        return []
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


def equally_many(values) -> Iterator[Any]:
    """Give the places of each value that there is several times (g x n), of equally many at once.

    Negative values are left out.
    """
    there = np.flatnonzero(values >= 0)
    values = values[there]
    order = sorted_order(values, int(values.max(initial=-1)) + 1)
    first, order = np.flatnonzero(np.diff(values[order], prepend=-1)), there[order]
    count = np.diff(first, append=len(order))
    for n in np.unique(count[count > 1]).tolist():
        yield order[first[count == n][:, None] + np.arange(n)]
