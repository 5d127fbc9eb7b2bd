"""MM-SVM: the most likely names of a photo's faces under one Gaussian per name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from candidly.baselines.compared import CandidateProblem
from candidly.baselines.photo_groups import AssignmentMethod, AssignmentRound, PhotoGroups, one_hot
from candidly.parameters import COUNT, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats
from candidly.solvers.two_covariances import Covariances


class MMSVM(AssignmentMethod):
    """Maximum likelihood assignment of names to faces (Berg 2004), then a linear machine.

    In a discriminant space every name has a Gaussian. Each photo takes its most likely
    assignment of names, or null, to faces, a name at most once; the Gaussians are fitted to
    the faces assigned to them, and so on until nothing changes. No language model. Without
    groups every instance is its own photo.

    Assumed: features are taken as they come, reduced to principal components; the discriminant
    space is that of the soft labels to start with (uniform on the candidates), as many
    directions as names less one, and stays; the names' Gaussians share one variance, the
    same in all directions, after whitening within names; null is a Gaussian with the mean
    and the variances of all faces, and stays. A name without faces keeps its mean.

    Parameters
    ----------
    n_components : int
        Largest number of principal components.
    max_iter, C, classifier, sparse_output, random_state
        As in :class:`AssignmentMethod`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("MM-SVM").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **AssignmentMethod._parameter_constraints,
        "n_components": COUNT,
    }

    def __init__(
        self,
        *,
        n_components: int = 100,
        max_iter: int = 100,
        C: float = 1.0,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            max_iter=max_iter,
            C=C,
            classifier=classifier,
            sparse_output=sparse_output,
            random_state=random_state,
        )
        self.n_components = n_components

    def rounds(self, problem: CandidateProblem, photos: PhotoGroups) -> Iterator[AssignmentRound]:
        """Alternate assigning and fitting; the objective is the negative log likelihood."""
        R = problem.P.copy()
        if problem.null is not None:
            R[:, problem.null] = 0
        Z, variance = self._discriminant(problem.X, R)
        model = Gaussians.start(Z, variance, problem.null, R)
        scores, before = model.log_likelihoods(Z), np.full(len(Z), -1)
        while not np.array_equal(before, chosen := photos.best(scores)):
            model, before = model.fit(Z, chosen), chosen
            scores = model.log_likelihoods(Z)
            likelihood = float(scores[np.arange(len(Z)), chosen].sum())
            yield AssignmentRound(chosen, -likelihood, scores)

    def _discriminant(self, X: Floats, R: Floats) -> tuple[Floats, Floats]:
        """Return faces in the discriminant space, and the variance of all along each direction.

        Within names the variance is about 1 everywhere.
        """
        Z = X / max(np.abs(X).max(), 1e-300)  # squares of huge or tiny values would not fit
        size = min(self.n_components, len(Z) - 1, Z.shape[1])
        if size < 1 or not (np.ptp(Z, axis=0) > 1e-12).any():
            return np.zeros((len(X), 1)), np.ones(1)
        Z = PCA(size, svd_solver="full").fit_transform(Z)
        Z = Z[:, Z.std(axis=0) > 1e-9 * Z.std(axis=0).max()]
        covariances = Covariances.of(Z.T, R.T)
        directions = max(1, min(int((R.sum(axis=0) > 0).sum()) - 1, len(covariances.between)))
        basis, between = covariances.basis, covariances.between
        return Z @ basis[:, -directions:], 1 + between[-directions:]


@dataclass(frozen=True)
class Gaussians:
    """One Gaussian per class: means with one variance for names, and null fixed.

    Attributes
    ----------
    mean : (c, d) array
    variance : float
        Of every name in every direction.
    null : int or None
    everybody : (d,) array
        Variances of null, whose mean is 0.
    """

    mean: Floats
    variance: float
    null: int | None
    everybody: Floats

    @classmethod
    def start(cls, Z: Floats, everybody: Floats, null: int | None, R: Floats) -> Gaussians:
        """Return Gaussians with the means and variance of the names under soft labels R (N, c)."""
        size = R.sum(axis=0)
        mean = R.T @ Z / np.maximum(size, 1e-300)[:, None]
        around = (R * _squared(Z, mean)).sum() / max(R.sum(), 1e-300)
        return cls(mean, _bounded(around / Z.shape[1], Z), null, everybody)

    def log_likelihoods(self, Z: Floats) -> Floats:
        """Return log p(z | class) of each row and class, (N, c), up to a constant."""
        d = Z.shape[1]
        found = -(_squared(Z, self.mean) / self.variance + d * np.log(self.variance)) / 2
        if self.null is not None:
            found[:, self.null] = -(Z**2 / self.everybody + np.log(self.everybody)).sum(axis=1) / 2
        return found

    def fit(self, Z: Floats, chosen: NDArray[np.intp]) -> Gaussians:
        """Return the Gaussians most likely for the labels chosen."""
        hard = one_hot(chosen, len(self.mean))
        if self.null is not None:
            hard[:, self.null] = 0
        size = hard.sum(axis=0)[:, None]
        mean = np.where(size > 0, hard.T @ Z / np.maximum(size, 1), self.mean)
        named = hard.any(axis=1)
        if not named.any():
            return self
        around = ((Z[named] - mean[chosen[named]]) ** 2).mean()
        return replace(self, mean=mean, variance=_bounded(around, Z))


def _squared(Z: Floats, mean: Floats) -> Floats:
    """Return the squared distance of every row to every mean."""
    cross = (Z**2).sum(axis=1)[:, None] - 2 * Z @ mean.T + (mean**2).sum(axis=1)
    return np.maximum(cross, 0)


def _bounded(variance: float, Z: Floats) -> float:
    """Return a variance above 0: names with one face each would have none, and no likelihood."""
    return max(float(variance), 1e-6 * float((Z**2).mean()), 1e-12)


register(
    "MM-SVM",
    MMSVM,
    "Berg et al. (2004)",
    "one assignment per photo and round; memory instances times classes",
    "photos with captions; names that form one round cluster each",
)
