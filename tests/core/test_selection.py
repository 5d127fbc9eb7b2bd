"""Choosing without the truth."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_classification

import candidly
from candidly import CandidateClassifier, datasets, labelling_error
from candidly.estimators.progress import listening
from candidly.selection.hiding import Hiding


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", each=30, n_extra=4, random_state=0)


def test_it_tells_what_was_tried_and_how_it_scored(digits):
    model = CandidateClassifier(widths=[2.0], ridges=[1e-3, 1e-2], random_state=0)
    model.fit(digits.X, digits.candidates)
    results = model.cv_results_
    assert [p["lift"] for p in results["params"]] == ["linear", "linear", "rbf", "rbf"]
    assert len(results["covering_rate"]) == len(results["seconds"]) == 4
    assert sum(results["weight"]) == pytest.approx(1)
    best = int(np.argmax(results["covering_rate"]))
    assert model.best_params_ == results["params"][best]
    assert results["by_covering_rate"][best] == max(results["by_covering_rate"])
    assert np.argmax(results["weight"]) == np.argmax(results["agreement"])


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


def test_threads_change_nothing(digits):
    models = [
        CandidateClassifier(n_jobs=n, random_state=0).fit(digits.X, digits.candidates)
        for n in (None, 2)
    ]
    np.testing.assert_array_equal(*(model.label_distributions_ for model in models))


def test_verbose_tells_each_setting(digits, capsys):
    CandidateClassifier(widths=[], ridges=[1e-3], verbose=1).fit(digits.X, digits.candidates)
    assert "setting 1 of 1" in capsys.readouterr().out


def noisy(seed=0):
    """Few instances of many features, of which a tenth was replaced by noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(6), 15)
    X = rng.normal(size=(6, 3))[y] @ rng.normal(size=(3, 300)) + 0.1 * rng.normal(size=(90, 300))
    spoilt = rng.random(X.shape) < 0.1
    X[spoilt] = rng.normal(size=spoilt.sum()) * 6
    return X, candidly.make_ambiguous(y, n_extra=3, random_state=seed), y


def test_noise_is_taken_off_where_features_outnumber_instances(digits):
    X, candidates, y = noisy()
    model = CandidateClassifier(random_state=0).fit(X, candidates)
    last = model.cv_results_["params"][-1]
    assert last["denoise"]
    assert model.cv_results_["weight"][-1] == 0.5
    without = CandidateClassifier(denoise=False, random_state=0).fit(X, candidates)
    assert not any(p["denoise"] for p in without.cv_results_["params"])
    assert labelling_error(y, model.transduction_) <= labelling_error(y, without.transduction_)
    many = CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    assert not any(p["denoise"] for p in many.cv_results_["params"])


def test_completion_on_features_without_noise_beats_that_on_noisy_ones():
    errors = []
    for denoise in (False, True):
        found = [
            labelling_error(y, candidly.RowSpace(denoise=denoise).fit_predict(X, candidates))
            for X, candidates, y in (noisy(seed) for seed in range(3))
        ]
        errors.append(np.mean(found))
    assert errors[1] < errors[0]


def one_large_class(seed=0):
    X, y = make_classification(
        600, 12, n_informative=8, n_classes=4, n_clusters_per_class=1,
        weights=[0.88, 0.04, 0.04, 0.04], random_state=seed,
    )  # fmt: skip
    return X, candidly.make_ambiguous(y, n_extra=1, random_state=seed), y


@pytest.mark.slow
def test_class_sizes_count_where_one_class_holds_nearly_everything(digits):
    X, candidates, y = one_large_class()
    model = CandidateClassifier(random_state=0).fit(X, candidates)
    assert model.best_params_["class_sizes"]
    assert labelling_error(y, model.transduction_) < 0.08
    without = CandidateClassifier(class_sizes=False, random_state=0).fit(X, candidates)
    assert labelling_error(y, without.transduction_) > 0.15
    balanced = CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    assert not balanced.best_params_["class_sizes"]


def test_predict_knows_class_sizes_where_they_help():
    X, _, y = one_large_class()
    model = CandidateClassifier(random_state=0).fit(X[::2], y[::2])
    assert labelling_error(y[1::2], model.predict(X[1::2])) < 0.1


def test_two_classes_have_probabilities_between():
    X, y = make_classification(400, 10, n_informative=5, flip_y=0.2, random_state=0)
    model = CandidateClassifier(random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.mean((proba > 0.01) & (proba < 0.99)) > 0.5


def test_the_order_of_rows_does_not_matter_with_landmarks_and_twins():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(150, 4)).astype(float)  # many rows are equal
    candidates = candidly.make_ambiguous(X[:, 0].astype(int), n_extra=1, random_state=0)
    order = rng.permutation(150)
    model = CandidateClassifier(landmarks=40, random_state=0)
    plain = model.fit(X, candidates).label_distributions_
    mixed = model.fit(X[order], candidates[order]).label_distributions_
    np.testing.assert_allclose(mixed, plain[order], atol=1e-6)


def test_wide_data_need_no_matrix_of_their_width_squared():
    X = np.random.default_rng(0).normal(size=(20, 5000))
    tracemalloc.start()
    CandidateClassifier(denoise=False).fit(X, np.arange(20) % 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * X.nbytes < 8 * 5000**2 / 10


class TestHiding:
    @pytest.fixture
    def hiding(self):
        rng = np.random.default_rng(0)
        mask = rng.random((4, 50)) < 0.5
        mask[0] |= ~mask.any(axis=0)
        return Hiding.of(rng.normal(size=(50, 3)), mask / mask.sum(axis=0), mask, seed=0)

    def test_a_hidden_instance_may_be_anything_and_the_others_are_as_given(self, hiding):
        for view in hiding.views:
            assert len(view.rows) == 10
            assert view.mask[:, view.rows].all()
            np.testing.assert_allclose(view.P[:, view.rows], 0.25)
            others = np.setdiff1d(np.arange(50), view.rows)
            np.testing.assert_array_equal(view.mask[:, others], hiding.mask[:, others])

    def test_rates_are_counted_by_hand(self, hiding):
        perfect = [hiding.mask.astype(float) for _ in hiding.views]
        assert hiding.covering_rate(hiding.guesses(perfect)) == pytest.approx(1)
        first = np.zeros((4, 50))
        first[0] = 1
        guesses = hiding.guesses([first, first])
        assert hiding.covering_rate(guesses) == pytest.approx(hiding.mask[0, hiding.rows].mean())
        assert hiding.agreement(guesses, first * hiding.mask + 1e-3) == pytest.approx(
            np.mean(np.where(hiding.mask[0], 0, hiding.mask.argmax(axis=0))[hiding.rows] == 0)
        )

    def test_ties_share(self, hiding):
        guesses = hiding.guesses([np.ones((4, 50))] * 2)
        np.testing.assert_allclose(guesses, 0.25)

    def test_weights_fall_by_standard_errors(self, hiding):
        error = hiding.standard_error(0.8)
        assert error == pytest.approx(np.sqrt(0.16 / 20))
        weight = hiding.weights([0.8, 0.8 - 3 * error])
        assert weight[0] / weight[1] == pytest.approx(np.e)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("lost", {}, 7.0),
        ("msrcv2", {}, 22.0),
        ("birdsong", {}, 11.5),
        ("fiw10b", {"n_extra": 3, "random_state": 0}, 4.0),
        ("orl", {"n_extra": 5, "random_state": 0}, 1.2),
        ("pie", {"people": 18, "each": 21, "n_extra": 9, "random_state": 0}, 1.0),
    ],
)
def test_no_argument_beats_the_papers_methods(name, options, most):
    data = datasets.load(name, **options)
    model = CandidateClassifier(classifier=None, random_state=0).fit(data.X, data.candidates)
    assert 100 * labelling_error(data.y, model.transduction_) <= most
