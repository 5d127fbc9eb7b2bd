"""What one shard knows of how sure its labels may be: see ``confidence_limits``.

Exchanges of names are sums over all instances of both. Those over the instances of one name are a
number for each name; those over the instances of one name that have the other as a candidate are
rows, one for each pair of names that has any, and are asked for by ranges of names, so that they
need not all be in memory. So are candidates of instances without a name of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import double, here, like, namespace, places_of, zeros
from candidly.solvers.confidence_limits import (
    CLEAR,
    LIKELY,
    NOWHERE,
    UNLIKE,
    certainties,
)
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.matchings import NEVER
from candidly.solvers.shards import Part, Rowwise

LEAST = 0.05
"""Number of other instances of a name below which there is nothing to compare with."""
TIE = 1e-9
"""Most that likeness adds to a soft label, to decide between equal ones."""
FOUND = (
    "R",
    "rest",
    "likeness",
    "count",
    "other",
    "honest_R",
    "honest_rest",
    "honest_likeness",
)
"""What is kept of a solution: as it was found, and by covariances without the own group."""

Values = NDArray[np.floating]


class ConfidenceShard:
    """Instances with the best solution found: names are chosen, and how sure each may be.

    Parameters
    ----------
    entries : CandidateEntries
        Where labels are; they may be on a device.
    here : CandidateEntries
        The same as arrays of NumPy.
    state : mapping
        Has the best solution, ``best_...``, and keeps what is found.
    numbers : (N,) array of int, optional
        Number of each instance among all; by default these are all.
    rules : LabelRules, optional
        Further constraints on the names.
    """

    def __init__(
        self,
        entries: CandidateEntries,
        here: CandidateEntries,
        state: Any,
        numbers: Indices | None = None,
        rules: Any = None,
    ) -> None:
        self.entries, self.here, self.state, self.rules = entries, here, state, rules
        self.numbers = np.arange(here.n_instances) if numbers is None else numbers

    def decide(self, lost: Values | None = None, refused: Any = None) -> Part:
        """Choose the names; return sums over the instances that have each.

        Parameters
        ----------
        lost : (E,) array, optional
            What the odds of entries lose by what is decided, as a logarithm.
        refused : (N,) array of bool, optional
            Which instances are themselves decided not to be somebody.
        """
        entries, state = self.entries, self.state
        xp = namespace(entries.prior)
        nobody = xp.where(entries.free > NEVER, state["best_rest"], NEVER)
        # What differs by rounding alone is equal, so that all paths decide alike.
        worth, nobody = (xp.round(each, decimals=7) for each in (state["best_R"], nobody))
        worth = worth + TIE * xp.round(xp.tanh(state["best_likeness"]), decimals=3)
        chosen = (
            entries.choose(worth, nobody)
            if self.rules is None
            else self.rules.choose(here(worth), here(nobody))
        )
        shown = state["best_shown"][entries.mention]
        del state["best_shown"]
        odds = xp.log(shown / (1 - shown))
        odds -= xp.log(like(entries.size, shown))[entries.instance]
        state["names"], state["odds"] = chosen.astype(np.int32), odds
        if refused is not None:
            state["lost"], state["refused"] = lost, refused
        return Part({name: here(values) for name, values in self._own_sums().items()})

    def _own_sums(self) -> dict[str, Any]:
        """Return sums over the instances of each name, and how many pairs there are of names."""
        entries, chosen, odds, c = self.entries, self._chosen(), self.odds, self.entries.n_names
        xp, named, fixed = namespace(odds), chosen >= 0, entries.free <= NEVER
        now = chosen[entries.instance]
        own = now == entries.name
        rivals = (now >= 0) & ~own
        sums = {
            "many": xp.bincount(chosen[named], None, c),
            "settled": xp.bincount(chosen[named & fixed], None, c),
            "odds": double(xp.bincount(now[own], odds[own], c)),
            "prior": double(xp.bincount(now[own], self.prior[own], c)),
            "rivals": xp.bincount(xp.minimum(now, entries.name)[rivals], None, c),
        }
        if "refused" in self.state:
            sums["speaking"] = np.bincount(here(chosen)[here(named) & ~self._about()], minlength=c)
        return sums

    def decision(self) -> Rowwise:
        """Return the name of each instance, -1 for nobody."""
        return Rowwise({"chosen": self.state["names"]})

    # Exchanges

    def rivals(self, low: int, high: int, unmentioned: Values) -> Part:
        """Return sums over the instances of a name that have another one as a candidate.

        There is a row for each such pair, ``name * c + other``, of which the smaller name is in a
        range: what is lost of the odds if they have the other, and of its prior.

        Parameters
        ----------
        low, high : int
            The range: from low to below high.
        unmentioned : (c,) array
            Log odds of each name at an instance that does not mention it.
        """
        entries, chosen, c = self.entries, self._chosen(), self.entries.n_names
        xp, prior = namespace(chosen), self.prior
        now = chosen[entries.instance]
        least = xp.minimum(now, entries.name)
        at = places_of((now != entries.name) & (now >= 0) & (least >= low) & (least < high))
        elsewhere = xp.where(entries.free <= NEVER, NOWHERE, like(unmentioned, prior)[chosen])
        pair, place = xp.unique(now[at] * c + entries.name[at], return_inverse=True)
        if not len(pair):
            return Part(rows={"pair": pair, "odds": zeros(0, prior), "prior": zeros(0, prior)})
        mentioned = self.odds[at] - elsewhere[entries.instance[at]]
        rows = {
            "pair": pair,
            "odds": xp.bincount(place, mentioned, len(pair)),
            "prior": xp.bincount(place, prior[at], len(pair)),
        }
        return Part(rows=rows)

    def count_nameless(self, once: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Part:
        """Return how many instances might have each name instead of none of their own."""
        at = self._nameless(once, asked)
        names = self.here.name[at]
        return Part({"nameless": np.bincount(names, minlength=len(once))})

    def nameless(
        self,
        low: int,
        high: int,
        once: NDArray[np.bool_],
        asked: NDArray[np.bool_],
        unmentioned: Values,
    ) -> Part:
        """Return the instances that might have a name in a range instead of none of their own.

        There is a row for each, with its number, odds and prior; ``odds_taken`` and
        ``prior_taken`` of the name that it has itself, by elimination, and those that are left for
        those instances of its group that have the name now, if they may have its own.

        Parameters
        ----------
        low, high : int
            The range of names: from low to below high.
        once : (c,) array of bool
            Names that a single instance has.
        asked : (c,) array of bool
            Names that might be exchanged.
        unmentioned : (c,) array
            As in ``rivals``.
        """
        entries, chosen = self.here, self.state["names"]
        within = np.zeros(len(asked), dtype=bool)
        within[low:high] = asked[low:high]
        at = self._nameless(once, within)
        odds, prior, other = here(self.odds), here(self.prior), here(self.state["best_other"])
        j, name = entries.instance[at], entries.name[at]
        own_entry = np.full(len(chosen), -1)
        own = np.flatnonzero(chosen[entries.instance] == entries.name)
        own_entry[entries.instance[own]] = own
        taken = chosen[j] >= 0
        own_of = own_entry[j[taken]]
        rows = {
            "name": name,
            "number": self.numbers[j],
            "odds": odds[at],
            "prior": prior[at],
            "taken": taken,
            "familiar": ~taken & (other[j] > 0),
        }
        for called, values in (("odds", odds), ("prior", prior)):
            rows[called + "_taken"] = np.zeros(len(at))
            rows[called + "_taken"][taken] = values[own_of]
            rows[called + "_left"] = np.zeros(len(at))
        which, left = _left_to(entries, chosen, own_of, name[taken])
        lost = odds[left] - unmentioned[name[taken][which]]
        rows["odds_left"][taken] = np.bincount(which, lost, minlength=len(own_of))
        rows["prior_left"][taken] = np.bincount(which, prior[left], minlength=len(own_of))
        return Part(rows=rows)

    def _nameless(self, once: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Indices:
        """Return entries of instances of nobody, or of a name that nobody else has."""
        entries, chosen = self.here, self.state["names"]
        free = (chosen < 0) | (once[chosen] & ~(entries.free <= NEVER))
        return np.flatnonzero(free[entries.instance] & asked[entries.name])

    # How sure names may be

    def likened(self, middle: Values) -> Part:
        """Keep the likeness of instances to others of their name; return how many are unlike.

        Parameters
        ----------
        middle : (N of all shards,) array
            Median likeness to the other instances of the name; NaN if there are none.
        """
        chosen, c = self.state["names"], self.entries.n_names
        own = self.state["middle"] = np.asarray(middle[self.numbers])
        named = (chosen >= 0) & ~_decided(self.here)
        many = np.bincount(chosen[named], minlength=c)
        bad = np.bincount(chosen[named & (own < UNLIKE)], minlength=c)
        return Part({"many": many, "bad": bad})

    def judge(
        self,
        limits: Values,
        of_names: Values,
        unlike: NDArray[np.bool_],
        speaking: NDArray[np.floating] | None,
    ) -> Part:
        """Find the probability that each name is right.

        Parameters
        ----------
        limits : (N of all shards,) array
            The most that each instance may be sure of.
        of_names : (c,) array
            The same of all instances that have a name.
        unlike : (c,) array of bool
            Names of which many instances are unlike the others.
        speaking : (c,) array or None
            How much speaks for each name that no refusal is about.
        """
        chosen, entries = self.state["names"], self.here
        named = chosen >= 0
        limit = np.asarray(limits[self.numbers]).copy()
        limit[named] = np.minimum(limit[named], of_names[chosen[named]])
        if speaking is not None and "refused" in self.state:
            left = named & (speaking[chosen] < 0.5)
            limit[left] = np.minimum(limit[left], LIKELY)
        best = {name: here(self.state["best_" + name]) for name in FOUND}
        middle = self.state["middle"]
        found = certainties(entries, chosen, best, middle, unlike, limit, _decided(entries))
        self.state["confidence"] = found
        return Part()

    def judged(self) -> Rowwise:
        """Return labels, what they rest on, and how sure they are."""
        best = {name: here(self.state["best_" + name]) for name in FOUND[:5]}
        return Rowwise(
            {
                "chosen": self.state["names"],
                "rest": best["rest"],
                "other": best["other"],
                "confidence": self.state["confidence"],
            },
            {
                "soft": best["R"],
                "likeness": np.where(best["count"] < LEAST, 0, best["likeness"]),
            },
        )

    # What these are made of

    def _chosen(self) -> Any:
        """Return the name of each instance where the entries are."""
        instance = self.entries.instance
        return like(self.state["names"], instance, namespace(instance).int64)

    @property
    def odds(self) -> Any:
        """Log odds that the name of each entry is shown here."""
        return self.state["odds"]

    @property
    def prior(self) -> Any:
        """Log odds of each entry against nobody, with what is decided."""
        return (
            self.entries.prior + self.state["lost"] if "lost" in self.state else self.entries.prior
        )

    def _about(self) -> NDArray[np.bool_]:
        """Return which instances a refusal is about."""
        entries, lost = self.here, here(self.state["lost"])
        about = self.state["refused"].copy()
        about[entries.instance[lost <= -CLEAR]] = True
        return about & ~_decided(entries)


def _decided(entries: CandidateEntries) -> NDArray[np.bool_]:
    """Return which instances have one candidate only, a name."""
    return (entries.free <= NEVER) & (np.diff(entries.first) == 1)


def _left_to(
    entries: CandidateEntries, chosen: Indices, taken: Indices, names: Indices
) -> tuple[Indices, Indices]:
    """Return entries by which instances would have a name that another of their group leaves.

    Each of the entries ``taken`` is that of an instance that would have one of ``names`` instead of
    its own; who has this one now would have its own. With each is the place in ``taken``.
    """
    width = np.int64(max(entries.n_names, 1))
    named = np.flatnonzero(chosen >= 0)
    keys = entries.groups[named] * width + chosen[named]
    order = np.argsort(keys, kind="stable")
    wanted = entries.groups[entries.instance[taken]] * width + names
    low, high = (np.searchsorted(keys[order], wanted, side) for side in ("left", "right"))
    which, place = _spread(low, high)
    j = named[order[place]]
    again, left = _spread(entries.first[j], entries.first[j + 1])
    same = entries.name[left] == entries.name[taken[which[again]]]
    return which[again[same]], left[same]


def _spread(low: Indices, high: Indices) -> tuple[Indices, Indices]:
    """Return the numbers from each low to below its high, with the place of each in these."""
    count = high - low
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count - low, count)
