"""Open set: names by likelihood ratio, nobody by what is left (ours).

In the paper nobody, the null class, is one more label; it has no low-rank structure, is
everybody's candidate and so takes over. Here a face is compared with the other faces of a
name, under two covariances (people differ by B, pictures of one person by W)::

    llr_ij = log p(x_j | the faces of i in other groups) - log p(x_j | anybody)

and a name without faces in other groups has llr 0: no evidence either way. A mentioned name
is shown with probability ``shown``, at each face of the group equally. A face that is nobody's
may still be somebody known from other groups, with probability ``elsewhere``. So the weight
of giving names to some faces of a group is the product, over them, of

    shown/(1 - shown)/faces * exp(damping*(llr_ij - null_j))

and soft labels are the exact marginals over all such matchings (each name at most once). They
give new counts and means of every name, and so on; and how often names are shown that are
mentioned in several groups. That counts half: a picture unlike the others of its person
looks like nobody, so that fewer seem to be shown than are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from candidly.solvers.constraints import CandidateSimplex, Constraint, FeasibleSet
from candidly.solvers.matchings import NEVER, marginals
from candidly.solvers.solution import Solution, Status, Step, Trace


@dataclass(frozen=True)
class Population:
    """What is known about the names from instances that are not solved now.

    Parameters
    ----------
    basis : (k, k) array
        Directions in which pictures of one person have unit variance.
    between : (k,) array
        Variance between people in these directions.
    count : (c,) array
        How many instances of each name there are.
    total : (c, k) array
        Their sum, in these directions.
    """

    basis: NDArray[np.float64]
    between: NDArray[np.float64]
    count: NDArray[np.float64]
    total: NDArray[np.float64]

    @classmethod
    def of(cls, X, R, prior: float = 0.0) -> Population:
        """Return the population of instances X (k x N) with soft labels R (c x N, dense or sparse).

        ``prior`` is the weight, in instances, of the prior that all directions are equal.
        """
        basis, between = two_covariances(X, R, prior)
        return cls(basis, between, np.zeros(0), np.zeros(0)).counting(X, R)

    def likelihood_ratios(self, X) -> NDArray[np.float64]:
        """Return the log likelihood ratio of each name against anybody (c x N), for centred X."""
        return np.asarray(likelihood_ratios(self.basis.T @ X, self.between, self.count, self.total))

    def counting(self, X, R) -> Population:
        """Return a population with the same covariances and other instances."""
        return replace(self, count=R.sum(axis=1), total=R @ (X.T @ self.basis))

    def without(self, X, R) -> Population:
        """Return the population without some of its instances."""
        less = self.counting(X, R)
        return replace(self, count=self.count - less.count, total=self.total - less.total)


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
    shrinkage : float
        Weight, in instances per dimension, of the prior that all directions are equal.
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
    elsewhere: float = 0.7
    damping: float = 0.5
    shrinkage: float = 3.0
    learn_shown: bool = True
    max_iter: int = 20
    tol: float = 1e-3
    max_matchings: int = 3000

    def solve(
        self,
        X,
        P,
        mask,
        groups,
        null,
        weight=None,
        constraints: Sequence[Constraint] = (),
        known: Population | None = None,
        start=None,
    ):
        """Return soft labels of every instance: the marginals over all ways to name its group.

        Parameters
        ----------
        X : (k, N) array
            Features, centred, of full rank.
        P : (c, N) array
            Prior soft labels; uniform ones change nothing.
        mask : (c, N) bool array
            Candidates.
        groups : (N,) array of int
            Group of each instance, numbered from 0.
        null : int or None
            Row of the null class; without it every instance gets a name.
        weight : (N,) array, optional
            How much an instance counts for its name.
        constraints : sequence of Constraint
            Further constraints on the labels.
        known : Population, optional
            What is known about the names from other instances, none of them in these groups.
        start : (c, N) array, optional
            Soft labels to start from, instead of names shared out equally.

        Returns
        -------
        Solution
            Its scores are the damped likelihood ratios; for the null class, of being somebody
            known who is not mentioned.
        """
        N = mask.shape[1]
        weight = np.ones(N) if weight is None else weight
        members = np.split(
            np.argsort(groups, kind="stable"),
            np.flatnonzero(np.diff(np.sort(groups, kind="stable"))) + 1,
        )
        prior = np.where(mask, np.log(np.maximum(P, 1e-300) * mask.sum(axis=0)), NEVER)
        feasible = FeasibleSet(mask, CandidateSimplex(P), constraints)
        Y, trace, status = start, Trace(), Status.DONE
        if Y is None:
            Y = self._start(mask, members, null)
        shown, mentions = np.full(len(mask), self.shown), _mentions(mask, groups, null)
        evidence, other = np.zeros_like(Y), np.zeros(N)
        for _ in range(self.max_iter):
            evidence, other = self._evidence(X, Y, mask, groups, null, weight, known)
            before, Y = Y, np.zeros_like(Y)
            for rows in members:
                self._marginals(Y, evidence, other, prior, mask, rows, null, shown)
            Y = feasible.project(Y)
            change = float(np.abs(Y - before).max(initial=0))
            changed = int((Y.argmax(axis=0) != before.argmax(axis=0)).sum())
            trace.steps.append(Step(change, change, len(X), float("nan"), float("nan"), changed))
            if change <= self.tol:
                status = Status.CONVERGED
                break
            if self.learn_shown and null is not None:  # else everybody is shown
                shown = self._shown(Y, mentions)
        if null is not None:
            evidence[null] = np.where(mask[null], other, 0)
        return Solution(Y, evidence, status, trace, violations=feasible.violations(Y))

    def _start(self, mask, members, null):
        """Return the initial soft labels: names of a group shared out equally, the rest nobody."""
        Y = np.zeros(mask.shape)
        for rows in members:
            named = mask[:, rows].copy()
            if null is not None:
                named[null] = False
            most = max(len(rows), int(named.any(axis=1).sum()), 1)
            Y[:, rows] = named * (self.shown / most)
        if null is not None:
            Y[null] = np.where(mask[null], 1 - Y.sum(axis=0), 0)
        return Y / np.maximum(Y.sum(axis=0), 1e-300)

    def _evidence(self, X, Y, mask, groups, null, weight, known=None):
        """Return the llr of every candidate, and of being somebody known who is not mentioned."""
        R = Y * weight
        if null is not None:
            R[null] = 0
        basis, b = (
            two_covariances(X, R, self.shrinkage * len(X))
            if known is None
            else (known.basis, known.between)
        )
        Z = basis.T @ X
        count, total = R.sum(axis=1), R @ Z.T
        if known is not None:
            count, total = count + known.count, total + known.total
        anybody = _log_normal(Z, 0, 1 + b[:, None])
        i, j = np.nonzero(mask)
        if null is not None:
            i, j = i[i != null], j[i != null]
        # A name is in a group at most once, so the group's other faces say nothing about it.
        pair, place = np.unique(i * (groups.max() + 1) + groups[j], return_inverse=True)
        of_group = sparse.csr_array(
            (R[i, j], (place, np.arange(len(i)))), shape=(len(pair), len(i))
        )
        n = np.maximum(count[i] - (of_group @ np.ones(len(i)))[place], 0)
        v = b / (n[:, None] * b + 1)
        mean = v * (total[i] - (of_group @ Z[:, j].T)[place])
        llr = _log_normal(Z[:, j], mean.T, 1 + v.T) - anybody[j]
        evidence = np.zeros(mask.shape)
        evidence[i, j] = np.where(n < 0.05, 0, self.damping * llr)  # nobody to compare with
        if null is None:
            return evidence, np.zeros(X.shape[1])
        return evidence, self._elsewhere(Z, b, count, total, mask)

    def _elsewhere(self, Z, b, count, total, mask):
        """Return log((1 - e) + e * mean of p(x|i)/p(x)) over known i that are not candidates."""
        known = np.flatnonzero(count > 0.8)
        if not len(known):
            return np.zeros(Z.shape[1])
        llr = self.damping * likelihood_ratios(Z, b, count[known], total[known])
        often = np.log(count[known] / count[known].sum())[:, None]
        llr = np.where(mask[known], NEVER, llr + often)
        known_somewhere = np.log(self.elsewhere) + np.logaddexp.reduce(llr, axis=0)
        return np.logaddexp(np.log1p(-self.elsewhere), known_somewhere)

    def _shown(self, Y, mentions):
        """Return the probability that each name is shown: half the prior, half what labels say."""
        several = mentions > 1  # the others can be named by elimination only
        found = Y[several].sum() / max(mentions[several].sum(), 1)
        return np.where(several, (self.shown + min(found, 0.95)) / 2, self.shown)

    def _marginals(self, Y, evidence, other, prior, mask, rows, null, shown):
        """Write the soft labels of one group into Y."""
        named = mask[:, rows].copy()
        if null is not None:
            named[null] = False
        names = np.flatnonzero(named.any(axis=1))
        odds = np.log(shown[names] / (1 - shown[names]) / len(rows))[:, None]
        block = np.ix_(names, rows)
        free = np.full(len(rows), NEVER)
        if null is not None:
            free = np.where(mask[null, rows], prior[null, rows], NEVER)
        worth = np.where(mask[block], evidence[block] + prior[block] + odds - other[rows], NEVER)
        soft, rest = marginals(worth.T, free, self.max_matchings)
        Y[block] = soft.T
        if null is not None:
            Y[null, rows] = rest


def _mentions(mask, groups, null):
    """Return in how many groups each name is a candidate; 0 for the null class."""
    i, j = np.nonzero(mask)
    pairs = np.unique(np.stack([i, groups[j]]), axis=1)
    mentions = np.bincount(pairs[0], minlength=len(mask))
    if null is not None:
        mentions[null] = 0
    return mentions


def two_covariances(X, R, prior: float = 0.0):
    """Return a basis where pictures of one person have unit variance, and people's variance b.

    R (c x N) says how much of each instance belongs to each name. Few instances in many
    dimensions leave directions in which pictures of one person seem not to differ at all, so
    that a face that does differ would certainly be nobody; ``prior`` further instances, which
    differ equally in all directions, prevent this.
    """
    size = R.sum(axis=1)
    several = size > 1.5
    T = X @ X.T / X.shape[1]
    R, size = R[several], size[several]
    freedom = R.sum() - several.sum()
    W = T
    if freedom > 0:
        M = (R @ X.T) / size[:, None]
        W = ((X * R.sum(axis=0)) @ X.T - (M.T * size) @ M) / freedom
    if prior > 0:
        T, W = _evened(T, X.shape[1], prior), _evened(W, max(freedom, 0), prior)
    ridge = max(1e-3 * np.trace(T) / len(T), 1e-300)
    W = W + ridge * np.eye(len(T))
    b, basis = linalg.eigh(T - W, W)
    return basis, np.maximum(b, 1e-3)


def _evened(C, count, prior):
    """Return a covariance of some instances, and others that differ equally in all directions."""
    even = np.trace(C) / len(C) * np.eye(len(C))
    return (count * C + prior * even) / (count + prior)


def likelihood_ratios(Z, b, count, total):
    """Return the log likelihood ratio of each name against anybody (c x N), for Z in the basis."""
    v = b / (count[:, None] * b + 1)
    mean, precision = v * total, 1 / (1 + v)
    square = (
        precision @ Z**2
        - 2 * (mean * precision) @ Z
        + (mean**2 * precision + np.log(1 + v)).sum(axis=1)[:, None]
    )
    return -square / 2 - _log_normal(Z, 0, 1 + b[:, None])


def _log_normal(Z, mean, variance):
    return -((Z - mean) ** 2 / variance + np.log(variance)).sum(axis=0) / 2
