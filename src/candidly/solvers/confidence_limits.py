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

Sums over instances, and what needs no other instance, are those of shards (``confidence_shard``).
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
)
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.runs import sorted_order
from candidly.solvers.shards import Shards
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
INSTANCES = 1_000_000
"""Named instances that are put in order at a time."""
ROWS, TIMES = 500_000, 16
"""Rows that shards return at a time, or a part of all, if that is more."""

Values = NDArray[np.floating]
Sums = dict[str, Any]
"""Sums over the instances of each name, as ``ConfidenceShard.decide`` returns them."""


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


def certainties(
    entries: CandidateEntries,
    chosen: Indices,
    best: dict[str, Values],
    middle: Values,
    unlike: NDArray[np.bool_],
    limits: Values,
    decided: NDArray[np.bool_],
) -> Values:
    """Return the probability that each chosen label is right.

    Parameters
    ----------
    entries : CandidateEntries
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    best : mapping of str to array
        Soft labels, and those by covariances estimated without the group, which are ``honest``.
    middle : (N,) array
        Median likeness to the other instances of the name; NaN if there are none.
    unlike : (c,) array of bool
        Names of which many instances are unlike the others.
    limits : (N,) array
        The most that each may be sure of, by exchanges.
    decided : (N,) array of bool
        Which instances have one candidate only, a name.
    """
    named = chosen >= 0
    own = chosen[entries.instance] == entries.name
    j = entries.instance[own]
    confidence = (best["rest"] + best["honest_rest"]) / 2
    confidence[j] = (best["R"] + best["honest_R"])[own] / 2
    like, count = np.zeros((2, len(chosen)))
    like[j] = np.minimum(best["likeness"], best["honest_likeness"])[own]
    count[j] = best["count"][own]
    alike = (count >= 0.5) & (like >= CLEAR) & ~(middle <= 0)
    alike &= ~(named & unlike[chosen])
    limit = np.where(named & ~alike, LIKELY, 1.0)
    limit = np.where(decided, 1.0, np.minimum(limit, limits))
    return np.clip(np.minimum(confidence, limit), 0, 1)


@dataclass(frozen=True)
class Limits:
    """How sure labels may be, by the calls of shards (``confidence_shard``) that find it.

    Parameters
    ----------
    shards : Shards
        With the best solution.
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    groups : (N,) array of int
        Group of each instance; anything that has them by the numbers of instances.
    elsewhere : float
        Probability that somebody who is not mentioned is known from elsewhere.
    known : (c,) array
        Number of instances of each name that are not solved now; with them a name cannot be
        exchanged.
    """

    shards: Shards
    chosen: Indices
    groups: Any
    elsewhere: float
    known: Values

    def middle(self, sums: Sums, judged: list[Likenesses]) -> Values:
        """Return the median likeness of each instance to the others of its name, or NaN.

        It is judged by covariances estimated without the name, of the part of the names that it is
        in: two people under one name would widen them.
        """
        middle, chosen = np.full(len(self.chosen), np.nan), self.chosen
        for low, high in ranges(sums["many"], INSTANCES):
            there = np.flatnonzero((chosen >= low) & (chosen < high))
            for places in equally_many(chosen[there] - low):
                rows = there[places]
                fold = chosen[rows[:, 0]] % len(judged)
                for k, pairs in enumerate(judged):
                    own = rows[fold == k]
                    if len(own):
                        middle[own] = pairs.within(own, self.groups)
        return middle

    def exchanges(self, sums: Sums, pairs: Likenesses) -> tuple[Values, Values]:
        """Return the odds for exchanging each name (c,), and the most of each instance (N,)."""
        many = sums["many"]
        total = max(int(many.sum()), 1)
        unmentioned = np.log(self.elsewhere * np.maximum(many, 1) / total)
        against = self._against(sums, unmentioned)
        limit = np.ones(len(self.chosen))
        for beside, i in self._strangers(sums, unmentioned, pairs):
            there = np.log(self.elsewhere * len(beside["odds"]) / total)
            lost = sums["odds"][i] - many[i] * unmentioned[i] + (there - beside["odds"]).sum()
            prior = sums["prior"][i] - beside["prior"].sum()
            # Names that they have by elimination, which those of i would have instead.
            lost += (beside["odds_taken"] - there)[beside["taken"]].sum()
            prior += beside["prior_taken"].sum()
            lost -= beside["odds_left"].sum()
            prior -= beside["prior_left"].sum()
            for_them = np.exp(-_together(lost, prior, many[i] + len(beside["odds"])))
            against[i] += for_them
            j = beside["number"]
            limit[j] = np.minimum(limit[j], 1 - for_them / (1 + against[i]))
        return against, limit

    def _against(self, sums: Sums, unmentioned: Values) -> Values:
        """Return for each name the odds for exchanging it with another, over all of these.

        What is lost is a sum over the instances of both: the odds of the name that they have, less
        those of the other; where that is not mentioned it is known from elsewhere.
        """
        c, many, prior = len(unmentioned), sums["many"], sums["prior"]
        # Sums over the instances of each name as if the other were mentioned nowhere ...
        settled = sums["settled"]
        lost = sums["odds"] - NOWHERE * settled - unmentioned * (many - settled)
        against = np.zeros(c)
        for low, high in ranges(sums["rivals"], _at_once(sums["rivals"])):
            # ... and what changes where it is.
            pair, pair_odds, pair_prior = self._pairs(low, high, unmentioned)
            if not len(pair):
                continue
            xp = namespace(pair)
            of_lost, of_prior, count = (like(each, pair_odds) for each in (lost, prior, many))
            i, k = pair // c, pair % c
            back = xp.clip(xp.searchsorted(pair, k * c + i), None, len(pair) - 1)
            both = pair[back] == k * c + i
            whole = of_lost[i] + of_lost[k] - pair_odds - xp.where(both, pair_odds[back], 0)
            whole_prior = of_prior[i] + of_prior[k] - pair_prior
            whole_prior = whole_prior - xp.where(both, pair_prior[back], 0)
            odds_for = xp.exp(-_together(whole, whole_prior, count[i] + count[k]))
            against += here(xp.bincount(i, odds_for, c))
        return against

    def _pairs(self, low: int, high: int, unmentioned: Values) -> tuple[Any, Any, Any]:
        """Return pairs of names in order, and the sums over the instances of the first of them."""
        rows = self.shards.each("rivals", low, high, unmentioned).rows
        pair, odds, prior = (rows[name] for name in ("pair", "odds", "prior"))
        xp = namespace(pair)
        if not bool((xp.diff(pair) > 0).all()):  # of several shards
            pair, place = xp.unique(pair, return_inverse=True)
            odds, prior = (xp.bincount(place, each, len(pair)) for each in (odds, prior))
        return pair, odds, prior

    def _strangers(
        self, sums: Sums, unmentioned: Values, pairs: Likenesses
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Give the most instances that may be one person without a name of their own, by name.

        They are beside the instances of a name each time, or in other groups that mention it. The
        only instance of a name has it by elimination, and may be that person's as well.
        """
        many, alone = sums["many"], self.known <= 0.5
        once, asked = (many == 1) & alone, (many > 1) & (sums["settled"] == 0) & alone
        count = self.shards.each("count_nameless", once, asked).sums["nameless"]
        asked &= count > 1
        count = np.where(asked, count, 0)
        for low, high in ranges(count, _at_once(count)):
            if not count[low:high].any():
                continue
            found = self.shards.each("nameless", low, high, once, asked, unmentioned).rows
            order = np.argsort(found["number"], kind="stable")
            rows = {name: values[order] for name, values in found.items()}
            for at, alike in _alike_of_each_name(rows, self.groups, pairs):
                some = rows["number"][at]
                maybe = _free(some, rows["familiar"][at], rows["taken"][at], pairs)
                at, some = at[maybe], some[maybe]
                if alike is None:
                    first = some[None, :COMPARED]
                    alike = here(pairs.in_other_groups(first, self.groups, -np.inf))[0]
                else:
                    alike = alike[np.ix_(maybe, maybe)]
                beside = at[_one_person(alike, self.groups[some])]
                if len(beside) > 1:
                    mine = {name: values[beside] for name, values in rows.items()}
                    yield mine, int(mine["name"][0])


def _together(odds, prior, count):
    """Return the log odds against an exchange of so many instances.

    Priors are not independent (the same person is the larger one in all photos), so they grow
    with the square root of their number.
    """
    xp = namespace(odds)
    return xp.clip(odds + prior / xp.sqrt(xp.clip(count, 1, None)), -20, 50)


def _free(instances, familiar, taken, pairs: Likenesses):
    """Return which instances may be a person without a name: those of nobody, and named once.

    Of nobody not those that are ``familiar``, known from elsewhere, except by a name ``taken``.
    """
    known = familiar.copy()
    if known.any() and taken.any():
        alike = pairs.between(instances[taken][:COMPARED], instances[known]).max(axis=0)
        known[known] = alike < CLEAR
    return ~known


def _alike_of_each_name(rows: dict[str, Any], groups, pairs: Likenesses) -> Iterator[Any]:
    """Give the rows of each name, of which two may be one person's, with their ratios."""
    for sets in equally_many(rows["name"]):
        for one, alike in pairs.clearly_alike(rows["number"][sets], groups):
            yield sets[one], alike


def _one_person(alike, there) -> list[int]:
    """Return the places of the most instances that are one person's; none if in one group only.

    At most one in each group, and all clearly like one of them. ``alike`` (n x n) are the ratios of
    the first instances, -inf within a group, and ``there`` the groups of all.
    """
    there = there[: len(alike)]
    if len(there) < 2 or (there == there[0]).all():
        return []
    order = np.argsort(there, kind="stable")
    first = np.flatnonzero(np.append(True, there[order][1:] != there[order][:-1]))
    in_groups = np.maximum.reduceat(alike[:, order], first, axis=1) >= CLEAR
    seed = int(in_groups.sum(axis=1).argmax())
    order = np.argsort(-alike[seed], kind="stable")
    order = order[alike[seed, order] >= CLEAR]
    _, first = np.unique(there[order], return_index=True)
    return [seed, *order[first].tolist()]


def unlike_names(many: Indices, bad: Indices) -> NDArray[np.bool_]:
    """Return of which names half of the instances, and two, are unlike most others.

    Parameters
    ----------
    many, bad : (c,) arrays of int
        How many instances each name has, without labels that were given, which are not doubted;
        and how many of them are unlike most others.
    """
    return np.asarray((many >= SEVERAL) & (bad >= 2) & (bad >= many / 2))


def ranges(counts: Indices, most: float) -> Iterator[tuple[int, int]]:
    """Yield ranges of names that have at most so many in all, or are of one name.

    Examples
    --------
    >>> from candidly.solvers.confidence_limits import ranges
    >>> list(ranges([2, 1, 9, 0, 3, 1], 4))
    [(0, 2), (2, 3), (3, 6)]
    """
    upto, low = np.cumsum(counts), 0
    while low < len(upto):
        before = upto[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(upto, before + most, side="right")))
        yield low, high
        low = high


def _at_once(counts: Indices) -> float:
    """Return how many rows of all that there are shards return at a time."""
    return max(ROWS, float(np.sum(counts)) / TIMES)


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
