"""KDLSD: dictionary learning with soft decisions in a kernel space."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import rbf_kernel

from candidly.baselines.dictionaries import Embedding, linear, mean_norm, polynomial
from candidly.baselines.dlsd import DLSD
from candidly.parameters import COUNT, POSITIVE, Constraints, one_of, optional
from candidly.registry import register
from candidly.solvers.arrays import Floats


class KDLSD(DLSD):
    """DLSD with dictionaries in the space of a kernel (Chen et al. 2014).

    The same rounds as :class:`DLSD`, cross-fitted as there, on the coordinates of the
    instances in the span that the kernel gives them. This is K-SVD in the kernel space: every
    atom is a combination of instances.

    Assumed, in addition to DLSD: features are divided by their mean norm; the width of
    the RBF kernel is the mean distance between instances; the polynomial kernel is
    (x.y + 1)^degree; kernels are brought to unit norm. The linear kernel is DLSD.

    Parameters
    ----------
    kernel : "rbf", "poly" or "linear"
    degree : int
        Degree of the polynomial kernel.
    gamma : float or None
        Gamma of the RBF kernel exp(-gamma*d^2), d in units of the mean norm; None takes the mean
        distance as the width.
    n_atoms, atom_share, sparsity, coding, max_iter, tol, classifier, sparse_output, random_state
        As in :class:`DictionaryMethod`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("KDLSD").set_params(max_iter=3, random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **DLSD._parameter_constraints,
        "kernel": one_of("linear", "poly", "rbf"),
        "degree": COUNT,
        "gamma": optional(POSITIVE),
    }

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        degree: int = 2,
        gamma: float | None = None,
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
            n_atoms=n_atoms,
            atom_share=atom_share,
            sparsity=sparsity,
            coding=coding,
            max_iter=max_iter,
            tol=tol,
            classifier=classifier,
            sparse_output=sparse_output,
            random_state=random_state,
        )
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma

    def embed(self, X: Floats) -> Embedding:
        """Return the space of the dictionaries: the span of the instances under the kernel."""
        kernels: dict[str, Callable[[], Callable[[Floats, Floats], Floats]]] = {
            "linear": lambda: linear,
            "poly": self._polynomial,
            "rbf": lambda: partial(rbf_kernel, gamma=self._gamma(X)),
        }
        return Embedding.of(X, kernels[self.kernel]())

    def _polynomial(self) -> Callable[[Floats, Floats], Floats]:
        return partial(polynomial, degree=self.degree)

    def _gamma(self, X: Floats) -> float:
        if self.gamma is not None:
            return float(self.gamma)
        mean = float(pdist(X / mean_norm(X)).mean()) if len(X) > 1 else 0.0
        return 1 / (2 * mean**2) if mean > 0 else 1.0


register(
    "KDLSD",
    KDLSD,
    "Chen et al. (2014), cross-fitted in five folds",
    "20 rounds of five K-SVDs per class, and an eigendecomposition of the kernel matrix",
    "as DLSD, where classes bend",
)
