"""Checks that every candidate estimator has to pass, ours or yours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch

from candidly.candidates import Candidates, make_ambiguous


def check_candidate_estimator(estimator: Any, *, seed: int = 0) -> None:
    """Check that an estimator keeps the contract of candidate labels.

    The label is always a candidate; mask, sparse matrix, sets and ``Candidates`` give one
    answer; permuting rows or classes permutes the answer; singletons give the supervised
    result; the input is left as it was; equal seeds give equal results.

    Parameters
    ----------
    estimator : estimator
        Left as it is; clones of it are fitted.
    seed : int
        Of the problem the checks run on.

    Raises
    ------
    AssertionError
        With the property that does not hold.

    Examples
    --------
    >>> import candidly
    >>> candidly.testing.check_candidate_estimator(candidly.WMCar())
    """
    problem = _problem(seed)
    for check in (
        _labels_are_candidates,
        _forms_agree,
        _rows_permute,
        _classes_permute,
        _singletons_are_supervised,
        _input_is_left_alone,
        _seeds_repeat,
    ):
        check(estimator, problem)


def _problem(seed: int) -> Bunch:
    X, y = make_blobs(n_samples=90, n_features=6, centers=4, cluster_std=2.0, random_state=seed)
    names = np.array(["ann", "bob", "cas", "dee"])
    candidates = make_ambiguous(names[y], n_extra=1, ambiguous_fraction=0.8, rng=seed)
    return Bunch(X=X, y=names[y], candidates=candidates, rng=np.random.default_rng(seed))


def _fit(estimator: Any, X: NDArray[Any], y: Any) -> Any:
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y)


def _labels_are_candidates(estimator: Any, p: Bunch) -> None:
    model = _fit(estimator, p.X, p.candidates)
    soft = model.label_distributions_
    assert p.candidates.contain(model.transduction_).all(), "a label is not a candidate"
    assert soft.shape == p.candidates.shape, "label_distributions_ is not N x c"
    assert np.isfinite(soft).all(), "label_distributions_ has NaN or infinity"
    assert (soft >= 0).all(), "label_distributions_ is negative somewhere"
    assert (soft[~p.candidates.mask] == 0).all(), "label_distributions_ is not 0 off candidates"
    np.testing.assert_allclose(
        soft.sum(axis=1), 1, rtol=1e-6, err_msg="label_distributions_ does not sum to 1"
    )
    np.testing.assert_array_equal(model.classes_, p.candidates.classes)


def _forms_agree(estimator: Any, p: Bunch) -> None:
    names, mask = p.candidates.classes, p.candidates.mask
    expected = _fit(estimator, p.X, p.candidates).label_distributions_
    for form, y in {
        "boolean mask": mask,
        "0/1 mask": mask.astype(int),
        "sparse mask": sparse.csr_array(mask),
        "sets": p.candidates.sets(),
        "soft matrix": mask / mask.sum(axis=1, keepdims=True),
    }.items():
        model = _fit(estimator, p.X, y)
        np.testing.assert_array_equal(
            model.label_distributions_,
            expected,
            err_msg=f"a {form} gives another answer than Candidates",
        )
        if form != "sets":
            labels = names[model.transduction_]
            assert p.candidates.contain(labels).all(), f"labels of a {form} are not its columns"


def _rows_permute(estimator: Any, p: Bunch) -> None:
    order = p.rng.permutation(len(p.X))
    plain = _fit(estimator, p.X, p.candidates)
    mixed = _fit(estimator, p.X[order], p.candidates[order])
    _agree(plain.label_distributions_[order], mixed.label_distributions_, "rows")


def _classes_permute(estimator: Any, p: Bunch) -> None:
    order = p.rng.permutation(len(p.candidates.classes))
    shuffled = Candidates.from_mask(
        p.candidates.mask[:, order], classes=p.candidates.classes[order]
    )
    plain = _fit(estimator, p.X, p.candidates)
    mixed = _fit(estimator, p.X, shuffled)
    _agree(plain.label_distributions_[:, order], mixed.label_distributions_, "classes")


def _agree(expected: NDArray[Any], found: NDArray[Any], what: str) -> None:
    np.testing.assert_allclose(
        found, expected, atol=1e-6, err_msg=f"permuting {what} changes the answer"
    )


def _singletons_are_supervised(estimator: Any, p: Bunch) -> None:
    by_label = _fit(estimator, p.X, p.y)
    by_set = _fit(estimator, p.X, Candidates.from_labels(p.y))
    np.testing.assert_array_equal(
        by_label.transduction_, p.y, err_msg="a single candidate is not the label"
    )
    np.testing.assert_array_equal(
        by_set.transduction_, p.y, err_msg="a single candidate is not the label"
    )
    if hasattr(by_label, "predict"):
        np.testing.assert_array_equal(
            by_label.predict(p.X),
            by_set.predict(p.X),
            err_msg="labels and singletons predict differently",
        )
        assert by_label.score(p.X, p.y) > 0.8, "trained on the truth, predict is poor"


def _input_is_left_alone(estimator: Any, p: Bunch) -> None:
    X, mask = p.X.copy(), p.candidates.mask
    before = mask.copy()
    X.setflags(write=False)
    mask.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _fit(estimator, X, mask)
    np.testing.assert_array_equal(X, p.X, err_msg="fit changed X")
    np.testing.assert_array_equal(mask, before, err_msg="fit changed the mask")


def _seeds_repeat(estimator: Any, p: Bunch) -> None:
    first, second = (_fit(estimator, p.X, p.candidates) for _ in range(2))
    np.testing.assert_array_equal(
        first.label_distributions_,
        second.label_distributions_,
        err_msg="equal seeds give different labels",
    )
