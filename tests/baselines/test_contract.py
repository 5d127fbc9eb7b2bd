"""The contract that every compared method keeps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import candidly
from candidly import ICE, Candidates, extras
from candidly.baselines.compared import ComparedMethod
from candidly.testing import check_candidate_estimator

FEWER = {
    "DLHD": {"max_iter": 3},
    "DLSD": {"max_iter": 2},
    "KDLSD": {"max_iter": 2, "sparsity": 2},
    "MC-Pos": {"mu_end": 1e-3},
    "MMS": {"epochs": 20},
    "PL-AGGD": {"max_iter": 3},
    "PL-SVM": {"max_iter": 200},
}
"""Fewer iterations where fits are slow: the contract holds after any number of them."""

COMPARED = {
    name: candidly.methods.get(name).set_params(**FEWER.get(name, {}))
    for name in candidly.methods.names()
    if isinstance(candidly.methods.get(name), ComparedMethod)
    and all(map(extras.installed, filter(None, [candidly.methods.describe(name).extra])))
}
SOFT = [name for name, model in COMPARED.items() if model.tags.priors]
UNGROUPED = [name for name, model in COMPARED.items() if not model.tags.groups]


@pytest.fixture(scope="module")
def digits():
    return candidly.datasets.load("digits", people=5, each=25, n_extra=1, random_state=0)


WEIGHT_CHECKS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_classifiers_one_label_sample_weights",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
)


def refused(estimator):
    """Checks of something that a method refuses rather than ignores."""
    return dict.fromkeys(WEIGHT_CHECKS, "the method takes no sample_weight, and says so")


@pytest.mark.slow
@parametrize_with_checks(list(COMPARED.values()), expected_failed_checks=refused)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", COMPARED)
def test_our_checks_pass(name):
    check_candidate_estimator(COMPARED[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SOFT)
def test_elimination_works_over_what_takes_soft_labels(name):
    check_candidate_estimator(ICE(COMPARED[name], max_rounds=2 if name in FEWER else 5))


@pytest.mark.parametrize("name", [name for name in COMPARED if name not in SOFT])
def test_what_takes_no_soft_labels_says_so(name, digits):
    with pytest.raises(TypeError, match="takes no soft labels in"):
        ICE(COMPARED[name]).fit(digits.X, digits.candidates)
    priors = digits.candidates.mask * np.linspace(1, 2, len(digits.classes))
    with pytest.raises(ValueError, match=r"takes no priors on candidates.*use CandidateClassifier"):
        clone(COMPARED[name]).fit(digits.X, Candidates.from_priors(priors))


@pytest.mark.parametrize("name", UNGROUPED)
def test_groups_and_null_are_refused_rather_than_ignored(name, digits):
    estimator = COMPARED[name]
    with pytest.raises(ValueError, match=r"takes no groups.*use CandidateClassifier"):
        clone(estimator).fit(digits.X, digits.candidates, groups=np.arange(len(digits.X)))
    with_null = Candidates.from_sets(digits.candidates.sets(), null="nobody")
    with pytest.raises(ValueError, match="takes no null class"):
        clone(estimator).fit(digits.X, with_null)
    if estimator.tags.priors:
        with pytest.raises(ValueError, match="takes no null class"):
            ICE(estimator).fit(digits.X, with_null)
        with pytest.raises(ValueError, match=f"ICE over {name} takes no sample_weight"):
            ICE(estimator).fit(digits.X, digits.candidates, sample_weight=np.arange(1.0, 126.0))


def test_elimination_uses_the_methods_own_machine_and_not_its_classifier(digits):
    expected = ICE(candidly.methods.get("CLPL")).fit(digits.X, digits.candidates).predict(digits.X)
    for classifier in (None, DummyClassifier()):
        inner = candidly.methods.get("CLPL").set_params(classifier=classifier)
        found = ICE(inner).fit(digits.X, digits.candidates).predict(digits.X)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", COMPARED)
def test_weights_and_constraints_are_refused_rather_than_ignored(name, digits):
    model, weight = clone(COMPARED[name]), np.ones(len(digits.X))
    with pytest.raises(ValueError, match=f"^{name} takes no sample_weight and would ignore it"):
        model.fit(digits.X, digits.candidates, sample_weight=weight)
    with pytest.raises(ValueError, match="takes no constraints and would ignore them"):
        model.fit(digits.X, digits.candidates, constraints=[candidly.MustLink([(0, 1)])])
