"""Choosing without the truth."""

from __future__ import annotations

import numpy as np
import pytest

from candidly import CandidateClassifier, datasets, labelling_error
from candidly.estimators.progress import listening


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", each=30, n_extra=4, seed=0)


def test_it_tells_what_was_tried_and_how_it_scored(digits):
    model = CandidateClassifier(widths=[2.0], ridges=[1e-3, 1e-2], random_state=0)
    model.fit(digits.X, digits.candidates)
    results = model.cv_results_
    assert [p["lift"] for p in results["params"]] == ["linear", "linear", "rbf", "rbf"]
    assert len(results["covering_rate"]) == len(results["seconds"]) == 4
    assert sum(results["weight"]) == pytest.approx(1)
    best = int(np.argmax(results["covering_rate"]))
    assert model.best_params_ == results["params"][best]
    assert results["weight"][best] == max(results["weight"])


def test_a_hopeless_setting_has_next_to_no_weight(digits):
    model = CandidateClassifier(widths=[1e-3], ridges=[1e-3], random_state=0)
    model.fit(digits.X, digits.candidates)
    good, hopeless = model.cv_results_["covering_rate"]
    assert good > hopeless + 0.2
    assert model.cv_results_["weight"][1] < 0.01


def test_it_reports_each_setting_to_whoever_listens(digits):
    heard: list[str] = []
    with listening(heard.append):
        CandidateClassifier(widths=[], ridges=[1e-3, 1e-2]).fit(digits.X, digits.candidates)
    assert heard == ["setting 1 of 2", "setting 2 of 2"]


def test_a_time_budget_leaves_at_least_one_setting(digits):
    model = CandidateClassifier(time_budget=1e-9, random_state=0)
    model.fit(digits.X, digits.candidates)
    assert len(model.cv_results_["params"]) == 1
    assert labelling_error(digits.y, model.transduction_) < 0.2


def test_predict_comes_with_probabilities(digits):
    model = CandidateClassifier(random_state=0).fit(digits.X[::2], digits.candidates[::2])
    predicted = model.predict(digits.X[1::2])
    assert labelling_error(digits.y[1::2], predicted) < 0.1
    proba = model.predict_proba(digits.X[1::2])
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], predicted)


@pytest.mark.parametrize("options", [{"ridges": []}, {"ridges": [0.0]}, {"widths": [-1.0]}])
def test_bad_grids_are_named(options, digits):
    with pytest.raises(ValueError, match="ridges and widths are positive"):
        CandidateClassifier(**options).fit(digits.X, digits.candidates)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("lost", {}, 7.5),
        ("msrcv2", {}, 22.0),
        ("birdsong", {}, 11.5),
        ("fiw10b", {"n_extra": 3, "seed": 0}, 6.0),
        ("orl", {"n_extra": 5, "seed": 0}, 1.2),
        ("pie", {"people": 18, "each": 21, "n_extra": 9, "seed": 0}, 1.0),
    ],
)
def test_no_argument_beats_the_papers_methods(name, options, most):
    data = datasets.load(name, **options)
    model = CandidateClassifier(classifier=None, random_state=0).fit(data.X, data.candidates)
    assert 100 * labelling_error(data.y, model.transduction_) <= most
