"""Class dictionaries: labels from the residuals on them, and dictionaries from the labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.ksvd import joint_residuals, ksvd, squared_residual
from candidly.parameters import COUNT, NOT_NEGATIVE, POSITIVE, Constraints, one_of
from candidly.solvers import Status
from candidly.solvers.arrays import Floats, Mask

Kernel = Callable[[Floats, Floats], Floats]
Members = NDArray[np.intp]
CODINGS = ("class", "joint")


class DictionaryMethod(ComparedMethod):
    """Base of the dictionary methods: dictionaries from confidences, confidences from residuals.

    A round learns a dictionary for each class and takes, as the confidence that x is of
    class j, what is proportional to beta_j * exp(-residual / sigma_j) on the candidates.
    The publication leaves sigma_j and beta_j open; here they are those of Gaussian noise.
    With s_j the mean residual of class j, weighted by confidence, and d degrees of freedom:
    sigma_j = 2 * s_j / d and beta_j = s_j^(-d/2), where d is the participation ratio of the
    features (the number of their principal components, if those were all equal).

    Also assumed: rows get a constant feature and unit norm; a code has at most a quarter as
    many atoms as the features have rank, and a dictionary a quarter as many as instances
    count; K-SVD starts from instances drawn by weight, anew in each round, and makes 8
    iterations. How large dictionaries and codes were in the publication is not known to us;
    15 atoms and 5 in a code are ours.

    A code on one class alone spends its atoms on what all classes share, such as a face in
    general: on pixels of faces this is why residuals tell little, however many atoms there are
    (docs/methods.md has figures). ``coding="joint"`` is ours: one code over the dictionaries of all
    classes, and residuals on each class's part.

    A subclass says on which instances dictionaries are learned, in :meth:`residuals` and
    :meth:`parts`.

    Parameters
    ----------
    n_atoms : int
        Largest number of atoms of a dictionary.
    atom_share : float
        Largest number of atoms for each instance that counts.
    sparsity : int
        Largest number of atoms of a code on one class; a joint code has all.
    coding : {"class", "joint"}
        Codes on each class alone, as published, or on all at once, which is ours.
    max_iter : int
        Rounds.
    tol : float
        Stop when no confidence changes by more.
    classifier, sparse_output, random_state
        As in every compared method.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "n_atoms": COUNT,
        "atom_share": POSITIVE,
        "sparsity": COUNT,
        "coding": one_of(*CODINGS),
        "max_iter": COUNT,
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        *,
        n_atoms: int = 15,
        atom_share: float = 0.25,
        sparsity: int = 5,
        coding: str = "class",
        max_iter: int = 20,
        tol: float = 1e-3,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.n_atoms = n_atoms
        self.atom_share = atom_share
        self.sparsity = sparsity
        self.coding = coding
        self.max_iter = max_iter
        self.tol = tol

    @abstractmethod
    def weights(self, P: Floats, mask: Mask) -> Floats:
        """Return the weight of each instance for the dictionary of each class, (N, c)."""

    @abstractmethod
    def residuals(self, learner: DictionaryLearner, W: Floats, mask: Mask) -> Floats:
        """Return the squared residual of each instance on its candidates' dictionaries, (N, c)."""

    @abstractmethod
    def parts(self, learner: DictionaryLearner) -> Iterator[tuple[Members, Members]]:
        """Yield instances with those whose dictionaries a joint code of theirs is over."""

    def embed(self, X: Floats) -> Embedding:
        """Return the space in which dictionaries are learned: here the features themselves."""
        return Embedding.of(X, None)

    def label(self, problem: CandidateProblem) -> Labelling:
        """Alternate dictionaries and confidences; the labels found give the final dictionaries."""
        P, mask = problem.P, problem.mask
        embedding = self.embed(problem.X)
        rows, _ = embedding.rows(problem.X)
        learner = DictionaryLearner.of(
            rows, int(self.n_atoms), int(self.sparsity), problem.rng, float(self.atom_share)
        )
        joint = self.coding == "joint"
        residuals = self._joint_residuals if joint else self.residuals
        freedom = participation_ratio(rows)
        trace, status = [], Status.DONE
        for _ in range(int(self.max_iter)):
            W = self.weights(P, mask)
            noise = ResidualNoise.of(residuals(learner, W, mask), W, freedom)
            trace.append(noise.mean)
            learner = learner.redrawn(problem.rng)
            before, P = P, softmax_on(mask, noise.scores())
            if np.abs(P - before).max() < self.tol:
                status = Status.CONVERGED
                break
        W = hard_labels(P, mask)
        noise = ResidualNoise.of(residuals(learner, W, mask), W, freedom)
        atoms = [learner.learn(np.flatnonzero(w), w[w > 0]) for w in W.T]
        predictor = Dictionaries(embedding, atoms, learner.sparsity, noise, joint)
        return Labelling(P, predictor, trace, status=status)

    def _joint_residuals(self, learner: DictionaryLearner, W: Floats, mask: Mask) -> Floats:
        """Return the squared residual of each instance on its candidates' parts of a joint code."""
        found = np.zeros(W.shape)
        for inside, others in self.parts(learner):
            atoms = []
            for j, w in enumerate(W.T):
                members = others[mask[others, j]]
                atoms.append(learner.learn(members, w[members]))
            found[inside] = joint_residuals(learner.rows[inside], atoms)
        return np.where(mask, found, 0)


@dataclass(frozen=True)
class DictionaryLearner:
    """Learner of dictionaries from parts of the rows.

    Attributes
    ----------
    rows : (N, r) array
        Of unit norm, or 0.
    order : (N,) array of int
        A random order; folds follow it.
    luck : (N,) array
        Gumbel noise: the rows where log weight plus luck is largest are a random draw by
        weight. Equal weights then give equal dictionaries in every class.
    n_atoms, sparsity : int
    share : float
        Largest number of atoms for each row that counts.
    """

    rows: Floats
    order: NDArray[np.intp]
    luck: Floats
    n_atoms: int
    sparsity: int
    share: float = 0.25

    N_ITER = 8  # iterations of K-SVD; the error falls little afterwards

    @classmethod
    def of(
        cls,
        rows: Floats,
        n_atoms: int,
        sparsity: int,
        rng: np.random.Generator,
        share: float = 0.25,
    ) -> DictionaryLearner:
        """Return a learner whose codes are too short for an exact fit: a quarter of the rank."""
        N, rank = len(rows), int(np.linalg.matrix_rank(rows))
        shortest = min(sparsity, max(1, rank // 4))
        return cls(rows, np.arange(N), np.zeros(N), n_atoms, shortest, share).redrawn(rng)

    def redrawn(self, rng: np.random.Generator) -> DictionaryLearner:
        """Return the learner with folds and first atoms drawn anew."""
        N = len(self.rows)
        return replace(self, order=rng.permutation(N), luck=np.asarray(rng.gumbel(size=N)))

    def learn(self, members: NDArray[np.intp], weight: Floats) -> Floats | None:
        """Return a dictionary of some rows by weighted K-SVD; None if no row counts.

        It has at most ``share`` times as many atoms as rows that count.
        """
        largest = weight.max(initial=0)
        counts = weight > 1e-3 * largest
        if not counts.any():
            return None
        members, weight = members[counts], weight[counts] / largest
        effective = weight.sum() ** 2 / (weight**2).sum()
        n_atoms = int(np.clip(effective * self.share, 1, min(self.n_atoms, len(members))))
        first = np.argsort(-(np.log(weight) + self.luck[members]), kind="stable")[:n_atoms]
        X = self.rows[members]
        # Weights scale the rows: the sum of weighted squares is that of the scaled residuals.
        return ksvd(X * np.sqrt(weight)[:, None], X[first], self.sparsity, self.N_ITER)[0]

    def residual(self, members: NDArray[np.intp], atoms: Floats | None) -> Floats:
        """Return the squared residual of some rows on a dictionary; without one, their norm."""
        return squared_residual(self.rows[members], atoms, self.sparsity)


@dataclass(frozen=True)
class ResidualNoise:
    """Residuals of every instance and class, and the Gaussian noise they are scaled by."""

    residual: Floats
    scale: Floats
    freedom: float
    mean: float

    @classmethod
    def of(cls, residual: Floats, W: Floats, freedom: float) -> ResidualNoise:
        """Return the noise whose scale in each class is the weighted mean residual there."""
        total = W.sum(axis=0)
        scale = (W * residual).sum(axis=0) / np.where(total > 0, total, 1)
        mean = float((W * residual).sum() / total.sum())
        # A class that fits exactly would win or lose everything: a thousandth of the largest.
        largest = scale.max() if scale.max() > 0 else 1.0
        scale = np.where(total > 0, np.maximum(scale, 1e-3 * largest), largest)
        return cls(residual, scale, freedom, mean)

    def scores(self, residual: Floats | None = None) -> Floats:
        """Return the logarithm of beta_j * exp(-residual / sigma_j)."""
        residual = self.residual if residual is None else residual
        return -self.freedom / 2 * (np.log(self.scale) + residual / self.scale)


@dataclass(frozen=True)
class Embedding:
    """Unit rows that dictionaries are learned from: linear, or of a kernel.

    Features are divided by their mean norm and get a constant 1 beside them, so that place
    counts and not only direction; then rows get unit norm. Where a row of features is longer
    than there are instances, or there is a kernel, rows are the coordinates of the instances
    in the space they span. That is exact: no atom reaches outside of it.

    Attributes
    ----------
    unit : float
        What features are divided by.
    kernel : function or None
        Of scaled features, of unit norm; None is linear without a change of coordinates.
    base : (N, m) array
        The instances, scaled.
    project : (N, r) array
        From kernel values with the base to coordinates.
    """

    unit: float
    kernel: Kernel | None
    base: Floats
    project: Floats

    @classmethod
    def of(cls, X: Floats, kernel: Kernel | None) -> Embedding:
        """Return the embedding of the rows of X, with a kernel or without."""
        unit = mean_norm(X)
        if kernel is None and X.shape[1] < len(X):
            nothing = np.zeros((0, 0))
            return cls(unit, None, nothing, nothing)
        kernel = linear if kernel is None else kernel
        base = X / unit
        values, vectors = np.linalg.eigh(kernel(base, base))
        keep = values > 1e-10 * values[-1]
        return cls(unit, kernel, base, vectors[:, keep] / np.sqrt(values[keep]))

    def rows(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the coordinates of rows of X, and the squared norm that they leave out."""
        scaled = np.clip(X / self.unit, -1e100, 1e100)  # squares of new rows stay finite
        if self.kernel is None:
            rows = np.column_stack([scaled, np.ones(len(X))])
            return rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(len(X))
        rows = self.kernel(scaled, self.base) @ self.project
        return rows, np.maximum(1 - (rows**2).sum(axis=1), 0)


@dataclass(frozen=True)
class Dictionaries:
    """Predictor that scores new instances by their residuals on the class dictionaries."""

    embedding: Embedding
    atoms: list[Floats | None]
    sparsity: int
    noise: ResidualNoise
    joint: bool = False

    def scores(self, X: Floats) -> Floats:
        """Return the logarithm of the confidence, up to a constant; -inf for an empty class."""
        rows, outside = self.embedding.rows(X.astype(np.float64))
        if self.joint:
            residual = joint_residuals(rows, self.atoms)
        else:
            each = [squared_residual(rows, D, self.sparsity) for D in self.atoms]
            residual = np.stack(each, axis=1)
        known = np.array([D is not None for D in self.atoms])
        return np.where(known, self.noise.scores(residual + outside[:, None]), -np.inf)


def mean_norm(X: Floats) -> float:
    """Return the root of the mean squared norm of the rows; 1 where all are 0."""
    peak = float(np.abs(X).max(initial=0)) or 1.0
    return peak * (float(np.sqrt(((X / peak) ** 2).sum(axis=1).mean())) or 1.0)


def linear(X: Floats, Y: Floats) -> Floats:
    """Return the kernel x.y + 1, scaled to unit norm."""
    return polynomial(X, Y, 1)


def polynomial(X: Floats, Y: Floats, degree: float) -> Floats:
    """Return the kernel (x.y + 1)^degree, scaled to unit norm."""
    norms = np.sqrt(np.outer((X**2).sum(axis=1) + 1, (Y**2).sum(axis=1) + 1))
    return ((X @ Y.T + 1) / norms) ** degree


def participation_ratio(rows: Floats) -> float:
    """Return (sum of variances)^2 / sum of their squares, along principal axes; at least 1."""
    centred = rows - rows.mean(axis=0)
    gram = centred @ centred.T if len(rows) < rows.shape[1] else centred.T @ centred
    squares = float((gram**2).sum())
    return max(float(np.trace(gram)) ** 2 / squares, 1.0) if squares > 0 else 1.0


def hard_labels(P: Floats, mask: Mask) -> Floats:
    """Return 1 where the confidence of an instance is largest, including ties, else 0."""
    largest = P.max(axis=1, keepdims=True)
    return (mask & (largest * (1 - 1e-9) <= P)).astype(np.float64)


def softmax_on(mask: Mask, scores: Floats) -> Floats:
    """Return the softmax of the scores on the candidates."""
    top = np.where(mask, scores, -np.inf).max(axis=1, keepdims=True)
    weight = np.where(mask, np.exp(np.where(mask, scores - top, 0)), 0)
    return weight / weight.sum(axis=1, keepdims=True)
