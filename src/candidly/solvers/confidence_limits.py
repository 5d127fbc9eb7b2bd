"""How sure a label may be: never surer than what it rests on.

Soft labels say how likely a name is if all the others are as they are. Three things they cannot see
limit them:

- the covariances were estimated from the labels themselves: the confidence is the lesser of the
  soft label and of that by covariances estimated without the group;
- a name without likeness is given by elimination, which is never sure: a name needs other
  instances that speak for it clearly, and the most similar of them may not speak against it;
- two names that are always mentioned together could be exchanged, and everything would be
  explained as well; and so could a name and a person without one who is beside it each time. A
  name is no surer than the odds against all such exchanges k::

      delta_ik = log weight of these labels - log weight with i and k exchanged
      confidence <= 1/(1 + sum over k of exp(-delta_ik))
"""

from __future__ import annotations

from collections import defaultdict
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
COMPARED = 500
"""Number of instances of a name, the first ones, that others are compared with."""
SEVERAL = 4
"""Number of instances of a name from which it is told whether they look alike."""


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


def certainties(entries: CandidateEntries, chosen, state, honest, pairs: Likenesses, settings):
    """Return the probability that each chosen label is right.

    Parameters
    ----------
    entries : CandidateEntries
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    state, honest : objects with R, rest, shown, likeness, count and other
        Soft labels, and those by covariances estimated without the group.
    pairs : Likenesses
    settings : Exchanges
    """
    named = chosen >= 0
    own = chosen[entries.instance] == entries.name
    j = entries.instance[own]
    confidence = np.minimum(state.rest, honest.rest)
    confidence[j] = np.minimum(state.R, honest.R)[own]
    like, count = np.zeros((2, len(chosen)))
    like[j] = np.minimum(state.likeness, honest.likeness)[own]
    count[j] = state.count[own]
    decided = entries.free <= NEVER
    decided[entries.instance[_several(entries)]] = False  # one candidate only
    near = nearest_likeness(entries, chosen, pairs)
    alike = (count >= 0.5) & (like >= CLEAR) & ((near > 0) | np.isnan(near))
    limit = np.where(named & ~alike, LIKELY, 1.0)
    limit = np.minimum(limit, settings.limits(entries, chosen, state, pairs))
    return np.clip(np.minimum(confidence, np.where(decided, 1.0, limit)), 0, 1)


def _several(entries: CandidateEntries):
    """Return which entries are of an instance with several candidates."""
    return np.bincount(entries.instance, minlength=entries.n_instances)[entries.instance] > 1


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
        """Return the most that each named instance may be sure of."""
        odds = np.log(state.shown / (1 - state.shown))[entries.mention]
        weight = odds + entries.prior - np.log(entries.size[entries.instance])
        number = zip(entries.name.tolist(), entries.instance.tolist(), strict=True)
        of = dict(zip(number, weight.tolist(), strict=True))
        instances = _by_name(chosen)
        members = _by_name(entries.groups)
        total = max(int((chosen >= 0).sum()), 1)
        fixed = entries.free <= NEVER
        first = np.searchsorted(entries.instance, np.arange(entries.n_instances + 1))
        limit = np.ones(len(chosen))
        for i, own in instances.items():
            if self.known[i] > 0.5:
                continue
            rivals = {k for j in own for k in entries.name[first[j] : first[j + 1]].tolist()} - {i}
            against = 0.0
            for k in rivals:
                theirs = instances.get(k, [])
                # Exchanged, an instance may not be mentioned: then it is known from elsewhere.
                delta = _lost(of, i, k, own, self.elsewhere * len(own) / total, fixed)
                unknown = self.elsewhere * max(len(theirs), 1) / total
                delta += _lost(of, k, i, theirs, unknown, fixed)
                against += float(np.exp(-np.clip(delta, -20, 50)))
            beside = _beside(i, own, of, members, chosen, state, entries.groups, pairs)
            if len(beside) > 1 and not fixed[own].any():
                delta = sum(
                    side * (of[i, j] - np.log(self.elsewhere * len(some) / total))
                    for side, some in ((1, own), (-1, beside))
                    for j in some
                )
                against += float(np.exp(-np.clip(delta, -20, 50)))
            limit[own] = 1 / (1 + against)
        return limit


def _lost(of, i: int, k: int, own, unmentioned: float, fixed) -> float:
    """Return what is lost in log weight if instances of i become k's."""
    lost = 0.0
    for j in own:
        other = of.get((k, j))
        if other is None and fixed[j]:
            return 50.0
        lost += of[i, j] - (np.log(unmentioned) if other is None else other)
    return lost


def _beside(i: int, own, of, members, chosen, state, groups, pairs: Likenesses) -> list[int]:
    """Return instances without a name that are beside those of a name, and one person's.

    They could as well have the name. At most one in each group, all clearly like one of them,
    and none like somebody known.
    """
    free = [
        j
        for group in dict.fromkeys(groups[own].tolist())
        for j in members[group]
        if chosen[j] < 0 and (i, j) in of and state.other[j] <= 0
    ]
    if len(own) < 2 or len(set(groups[free].tolist())) < 2:
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
            best = [free[seed], *(free[k] for k in order[first])]
    return best


def nearest_likeness(entries: CandidateEntries, chosen, pairs: Likenesses):
    """Return the damped log likelihood ratio of the most similar other instance of the same name.

    NaN where there is none in another group.
    """
    near = np.full(len(chosen), np.nan)
    for own in _by_name(chosen).values():
        if len(own) < 2:
            continue
        some = own[:COMPARED]
        ratio = pairs.between(some, own)
        ratio[entries.groups[some][:, None] == entries.groups[own]] = -np.inf
        best = ratio.max(axis=0)
        near[own] = np.where(np.isfinite(best), best, np.nan)
    return near


def unlike_names(entries: CandidateEntries, chosen, state) -> Any:
    """Return the names of which a quarter of the instances, and two, are unlike the others."""
    own = chosen[entries.instance] == entries.name
    unlike = own & (state.likeness < 0) & (state.count >= 0.5)
    many = np.bincount(entries.name[own], minlength=entries.n_names)
    bad = np.bincount(entries.name[unlike], minlength=entries.n_names)
    return np.flatnonzero((many >= SEVERAL) & (bad >= 2) & (bad >= many / 4))


def _by_name(chosen) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for j, i in enumerate(chosen.tolist()):
        if i >= 0:
            found[i].append(j)
    return found
