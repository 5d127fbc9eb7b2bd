"""Checks that every candidate estimator has to pass, including your own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch

from candidly.candidates import Candidates, make_ambiguous


def check_candidate_estimator(estimator: Any, *, random_state: int = 0) -> None:
    """Check that an estimator keeps the contract of candidate labels.

    Labels are candidates, and better than chance; mask, sparse matrix, sets and
    ``Candidates`` give the same answer; permuting rows or classes permutes the answer; single
    candidates give the supervised result; the input is not modified; equal ``random_state``
    gives equal results.

    Parameters
    ----------
    estimator : estimator
        Not modified; clones of it are fitted.
    random_state : int
        Seed of the problem the checks run on.

    Raises
    ------
    AssertionError
        If a property does not hold; the message names it.

    Examples
    --------
    >>> import candidly
    >>> candidly.testing.check_candidate_estimator(candidly.WMCar())
    """
    problem = _problem(random_state)
    plain = _fit_and_leave_alone(estimator, problem, "Candidates", problem.candidates)
    _labels_are_candidates(plain, problem)
    _evidence_is_used(plain, problem)
    for check in (
        _forms_agree,
        _rows_permute,
        _classes_permute,
        _singletons_are_supervised,
        _seeds_repeat,
    ):
        check(estimator, problem, plain)


def _problem(seed: int) -> Bunch:
    X, y = make_blobs(n_samples=90, n_features=6, centers=4, cluster_std=1.5, random_state=seed)
    names = np.array(["ann", "bob", "cas", "dee"])
    candidates = make_ambiguous(names[y], n_extra=1, ambiguous_fraction=0.8, random_state=seed)
    return Bunch(X=X, y=names[y], candidates=candidates, rng=np.random.default_rng(seed))


def _fit(estimator: Any, X: NDArray[Any], y: Any) -> Any:
    model = clone(estimator)
    seeds = {name: 0 for name in model.get_params() if name.split("__")[-1] == "random_state"}
    return model.set_params(**seeds).fit(X, y)


def _fit_and_leave_alone(estimator: Any, p: Bunch, form: str, y: Any) -> Any:
    X, before = p.X.copy(), deepcopy(y)
    X.setflags(write=False)
    model = _fit(estimator, X, y)
    _equal(X, p.X, "fit changed X")
    same = (y != before).nnz == 0 if sparse.issparse(y) else np.all(y == before)
    _require(same, f"fit changed the {form} it was given")
    return model


def _require(holds: Any, message: str) -> None:
    """Raise AssertionError unless all hold, also under ``python -O``."""
    if not np.all(holds):
        raise AssertionError(message)


def _equal(found: Any, expected: Any, message: str) -> None:
    np.testing.assert_array_equal(found, expected, err_msg=message)


def _soft(model: Any) -> NDArray[Any]:
    """Return the soft labels of a model as an array."""
    soft = model.label_distributions_
    return soft.toarray() if sparse.issparse(soft) else soft


def _labels_are_candidates(plain: Any, p: Bunch) -> None:
    soft = _soft(plain)
    _require(p.candidates.contain(plain.transduction_), "a label is not a candidate")
    _require(soft.shape == p.candidates.shape, "label_distributions_ is not N x c")
    _require(np.isfinite(soft), "label_distributions_ has NaN or infinity")
    _require(soft >= 0, "label_distributions_ is negative somewhere")
    _require(soft[~p.candidates.mask] == 0, "label_distributions_ is not 0 off candidates")
    _require(np.abs(soft.sum(axis=1) - 1) < 1e-6, "label_distributions_ does not sum to 1")
    _equal(plain.classes_, p.candidates.classes, "classes_ are not those of the candidates")


def _evidence_is_used(plain: Any, p: Bunch) -> None:
    wrong, by_chance = np.mean(plain.transduction_ != p.y), np.mean(1 - 1 / p.candidates.sizes)
    _require(wrong < by_chance / 2, f"{wrong:.0%} wrong labels where chance gives {by_chance:.0%}")


def _forms_agree(estimator: Any, p: Bunch, plain: Any) -> None:
    names, mask = p.candidates.classes, p.candidates.mask
    for form, y in {
        "boolean mask": mask,
        "0/1 mask": mask.astype(int),
        "sparse mask": sparse.csr_array(mask),
        "sets": p.candidates.sets(),
        "soft matrix": mask / mask.sum(axis=1, keepdims=True),
    }.items():
        model = _fit_and_leave_alone(estimator, p, form, y)
        _equal(_soft(model), _soft(plain), f"a {form} gives another answer")
        if form != "sets":
            inside = p.candidates.contain(names[model.transduction_])
            _require(inside, f"labels of a {form} are not its columns")


def _rows_permute(estimator: Any, p: Bunch, plain: Any) -> None:
    order = p.rng.permutation(len(p.X))
    mixed = _fit(estimator, p.X[order], p.candidates[order])
    _agree(_soft(plain)[order], _soft(mixed), "rows")


def _classes_permute(estimator: Any, p: Bunch, plain: Any) -> None:
    order = p.rng.permutation(len(p.candidates.classes))
    shuffled = Candidates.from_mask(
        p.candidates.mask[:, order], classes=p.candidates.classes[order]
    )
    mixed = _fit(estimator, p.X, shuffled)
    _agree(_soft(plain)[:, order], _soft(mixed), "classes")


def _agree(expected: NDArray[Any], found: NDArray[Any], what: str) -> None:
    _require(np.abs(found - expected) < 1e-6, f"permuting {what} changes the answer")


def _singletons_are_supervised(estimator: Any, p: Bunch, plain: Any) -> None:
    by_label = _fit(estimator, p.X, p.y)
    by_set = _fit(estimator, p.X, Candidates.from_labels(p.y))
    for model in (by_label, by_set):
        _equal(model.transduction_, p.y, "a single candidate is not the label")
    if hasattr(by_label, "predict"):
        predicted = by_label.predict(p.X)
        _equal(predicted, by_set.predict(p.X), "labels and singletons predict differently")
        _require(np.mean(predicted == p.y) > 0.95, "trained on the truth, predict is poor")


def _seeds_repeat(estimator: Any, p: Bunch, plain: Any) -> None:
    again = _fit(estimator, p.X, p.candidates)
    _equal(_soft(again), _soft(plain), "equal seeds give different labels")
