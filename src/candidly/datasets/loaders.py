"""Data sets by name, each a Bunch with features, candidates, truth, classes and groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from candidly.candidates import Candidates, make_ambiguous
from candidly.datasets.images import equalise
from candidly.datasets.store import SOURCES, locate


def load(name: str, **options: Any) -> Bunch:
    """Load a data set.

    Parameters
    ----------
    name : {"digits", "lost", "msrcv2", "birdsong", "pie", "fiw10b", "orl"}
        "digits" comes with scikit-learn; the others are read from the folder that
        ``CANDIDLY_DATA`` names, or the user's cache, and checked by SHA-256.
    **options
        For "digits", "pie", "fiw10b" and "orl", whose candidates are synthetic: ``people``
        and ``each`` (the first so many classes, and instances of each; all by default),
        ``n_extra``, ``ambiguous_fraction``, ``cooccurrence`` and ``seed``, as in
        :func:`candidly.make_ambiguous`.

    Returns
    -------
    Bunch
        ``X`` (N x m), ``candidates``, ``y`` (true labels, in the terms of
        ``transduction_``), ``classes``, ``groups`` (or None), and ``images`` where the
        features are grey values.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=2, seed=0)
    >>> digits.X.shape, digits.candidates
    ((200, 64), Candidates(200 instances, 10 classes, 3.00 candidates each))
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(_LOADERS)}")
    return _LOADERS[name](**options)


def names() -> list[str]:
    """Names of all data sets.

    Examples
    --------
    >>> import candidly
    >>> "digits" in candidly.datasets.names()
    True
    """
    return list(_LOADERS)


def _digits(**options: Any) -> Bunch:
    digits = load_digits()
    return _synthetic(digits.data / 16, digits.target, digits.images, **options)


def _faces(name: str) -> Callable[..., Bunch]:
    def load_faces(**options: Any) -> Bunch:
        with np.load(locate(SOURCES[name])) as stored:
            images, labels = stored["images"], stored["labels"]
            y = stored["names"][labels] if "names" in stored else labels.astype(int)
        return _synthetic(None, y, images, **options)

    return load_faces


def _synthetic(
    X: NDArray[Any] | None,
    y: NDArray[Any],
    images: NDArray[Any],
    *,
    people: int | None = None,
    each: int | None = None,
    n_extra: int = 3,
    ambiguous_fraction: float = 1.0,
    cooccurrence: float | None = None,
    seed: int | np.random.Generator | None = 0,
) -> Bunch:
    """The first ``each`` of the first ``people`` classes, with candidates made up."""
    classes = np.unique(y)[:people]
    rows = np.concatenate([np.flatnonzero(y == name)[:each] for name in classes])
    y, images = y[rows], images[rows]
    candidates = make_ambiguous(
        y,
        ambiguous_fraction=ambiguous_fraction,
        n_extra=n_extra,
        cooccurrence=cooccurrence,
        rng=seed,
    )
    features = equalise(images).reshape(len(y), -1) if X is None else X[rows]
    return Bunch(
        X=features,
        candidates=candidates,
        y=y,
        classes=candidates.classes,
        groups=None,
        images=images,
    )


def _mat(name: str) -> Callable[..., Bunch]:
    def load_mat() -> Bunch:
        stored = io.loadmat(locate(SOURCES[name]))
        X, listed, target = (_dense(stored[k]) for k in ("data", "partial_target", "target"))
        candidates = Candidates.from_mask(listed.T != 0)
        return Bunch(
            X=X.astype(np.float64),
            candidates=candidates,
            y=target.argmax(axis=0),
            classes=candidates.classes,
            groups=None,
        )

    return load_mat


def _dense(matrix: Any) -> NDArray[Any]:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


_LOADERS: dict[str, Callable[..., Bunch]] = {
    "digits": _digits,
    "lost": _mat("lost"),
    "msrcv2": _mat("msrcv2"),
    "birdsong": _mat("birdsong"),
    "pie": _faces("pie"),
    "fiw10b": _faces("fiw10b"),
    "orl": _faces("orl"),
}
