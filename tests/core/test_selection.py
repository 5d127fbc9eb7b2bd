"""Choosing without the truth."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification

import candidly
from candidly import CandidateClassifier, datasets, labelling_error
from candidly.base import Context, DoubtfulLabelsWarning
from candidly.selection.family_cost import too_large
from candidly.selection.family_search import FamilySearch
from candidly.selection.hiding import Hiding
from candidly.solvers import CandidateSets
from candidly.solvers.cost import FORECAST
from candidly.telling import listening


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", each=30, n_extra=4, random_state=0)


def test_it_tells_what_was_tried_and_how_it_scored(digits):
    model = CandidateClassifier(widths=[2.0], ridges=[1e-3, 1e-2], random_state=0)
    model.fit(digits.X, digits.candidates)
    results = model.cv_results_
    assert {p["labeller"] for p in results["params"]} >= {"RowSpace", "neighbours", "frequency"}
    assert len({len(column) for column in results.values()}) == 1
    assert sum(results["weight"]) == pytest.approx(1)
    assert results["weight"] == sorted(results["weight"], reverse=True)
    assert model.best_params_ == {**results["params"][0], "sets_follow": "label"}
    told = dict(
        zip((p["labeller"] for p in results["params"]), results["information"], strict=True)
    )
    assert told["frequency"] < 0.1 < told["neighbours"]


def test_a_hopeless_setting_has_no_weight(digits):
    model = CandidateClassifier(widths=[1e-3], ridges=[1e-3], random_state=0)
    model.fit(digits.X, digits.candidates)
    tried = zip(model.cv_results_["params"], model.cv_results_["weight"], strict=True)
    assert all(weight == 0 for params, weight in tried if params.get("width") == 1e-3)


def test_it_reports_each_setting_to_whoever_listens(digits):
    heard: list[str] = []
    with listening(heard.append):
        CandidateClassifier(widths=[], ridges=[1e-3, 1e-2]).fit(digits.X, digits.candidates)
    heard = [text for text in heard if FORECAST not in text]  # said where the machine is slow
    assert heard[0].startswith("screening 1 of ")
    assert any(text.startswith("setting 2 of ") for text in heard)
    assert heard[-1].startswith("solving ")


def test_a_time_budget_leaves_at_least_one_setting(digits):
    model = CandidateClassifier(time_budget=1e-9, random_state=0)
    model.fit(digits.X, digits.candidates)
    tried = [params["labeller"] for params in model.cv_results_["params"]]
    assert tried == ["RowSpace", "frequency"]
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


@pytest.mark.parametrize(
    ("families", "labellers"),
    [(["neighbours"], {"neighbours"}), (["logistic"], {"logistic"}), (["row-space"], {"RowSpace"})],
)
def test_only_the_families_asked_for_count(digits, families, labellers):
    model = CandidateClassifier(families=families, random_state=0)
    model.fit(digits.X, digits.candidates)
    tried = zip(model.cv_results_["params"], model.cv_results_["weight"], strict=True)
    assert {params["labeller"] for params, weight in tried if weight > 0} == labellers
    assert labelling_error(digits.y, model.transduction_) < 0.1
    assert labelling_error(digits.y, model.predict(digits.X)) < 0.1


def test_an_estimator_can_be_a_family(digits):
    given = candidly.methods.get("PL-KNN")
    model = CandidateClassifier(families=["neighbours", given], random_state=0)
    model.fit(digits.X, digits.candidates)
    assert {"neighbours", "PL-KNN 1"} <= {p["labeller"] for p in model.cv_results_["params"]}


@pytest.mark.parametrize(
    ("families", "message"),
    [
        (["nearest"], "no family 'nearest'"),
        (["WMCar"], "starts from labels of another family"),
        ([], "at least one"),
    ],
)
def test_families_that_are_none_are_refused(digits, families, message):
    with pytest.raises(ValueError, match=message):
        CandidateClassifier(families=families).fit(digits.X, digits.candidates)


def test_features_that_say_nothing_leave_the_floor_and_a_warning():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=300)
    X, candidates = rng.normal(size=(300, 6)), candidly.make_ambiguous(y, n_extra=1, random_state=0)
    model = CandidateClassifier(random_state=0)
    with pytest.warns(candidly.DoubtfulLabelsWarning, match="no family of labellers"):
        model.fit(X, candidates)
    assert model.best_params_["labeller"] == "frequency"
    assert model.solution_.status is candidly.solvers.Status.DOUBTFUL
    assert model.error_estimate_.low <= labelling_error(y, model.transduction_)
    assert labelling_error(y, model.transduction_) <= model.error_estimate_.high


@pytest.mark.slow
def test_sets_that_follow_the_input_are_labelled_by_the_partial_likelihood():
    texts = datasets.make_text_like(n_samples=2000, distractors="input", random_state=1)
    model = CandidateClassifier(classifier=None, random_state=0).fit(texts.X, texts.candidates)
    assert model.best_params_["sets_follow"] == "input"
    assert model.best_params_["labeller"] == "logistic"
    other = datasets.make_text_like(n_samples=2000, distractors="label", random_state=1)
    model.fit(other.X, other.candidates)
    assert model.best_params_["sets_follow"] == "label"


def test_verbose_tells_each_setting(digits, capsys):
    CandidateClassifier(widths=[], ridges=[1e-3], verbose=1).fit(digits.X, digits.candidates)
    assert "screening 1 of " in capsys.readouterr().out


def weight_of(model, labeller):
    tried = zip(model.cv_results_["params"], model.cv_results_["weight"], strict=True)
    return sum(weight for params, weight in tried if params["labeller"] == labeller)


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
    assert weight_of(model, "WMCar") == 0.5
    without = CandidateClassifier(denoise=False, random_state=0).fit(X, candidates)
    assert weight_of(without, "WMCar") == 0
    assert labelling_error(y, model.transduction_) <= labelling_error(y, without.transduction_)
    many = CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    assert weight_of(many, "WMCar") == 0


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
    completion = CandidateClassifier(families=["row-space"], random_state=0)
    model = completion.fit(X, candidates)
    assert model.best_params_["class_sizes"]
    assert labelling_error(y, model.transduction_) < 0.08
    without = CandidateClassifier(class_sizes=False, families=["row-space"], random_state=0)
    with warnings.catch_warnings():  # where it is no better than the floor, the floor labels
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)
        without.fit(X, candidates)
    assert labelling_error(y, without.transduction_) > 2 * labelling_error(y, model.transduction_)
    balanced = completion.fit(digits.X, digits.candidates)
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
    X = np.random.default_rng(0).normal(size=(20, 20000))
    tracemalloc.start()
    CandidateClassifier(denoise=False).fit(X, np.arange(20) % 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60 * X.nbytes < 8 * 20000**2 / 10


class TestHiding:
    @pytest.fixture
    def hiding(self):
        rng = np.random.default_rng(0)
        mask = rng.random((4, 50)) < 0.5
        mask[0] |= ~mask.any(axis=0)
        sets = CandidateSets.of_mask(mask)
        return Hiding.of(rng.normal(size=(50, 3)), sets.uniform(), sets, seed=0)

    def test_the_others_are_as_given(self, hiding):
        for view in hiding.views:
            assert len(view.rows) == 10
            np.testing.assert_array_equal(view.sets.mask, hiding.mask[:, view.shown])
            np.testing.assert_array_equal(np.union1d(view.rows, view.shown), np.arange(50))

    def test_a_hidden_instance_may_be_anything_where_a_labeller_cannot_predict(self, hiding):
        for view in hiding.views:
            sets, P = view.opened()
            assert sets.mask[:, view.rows].all()
            np.testing.assert_allclose(sets.matrix(P)[:, view.rows], 0.25)
            np.testing.assert_array_equal(sets.mask[:, view.shown], hiding.mask[:, view.shown])

    def test_scores_become_soft_labels_of_listed_classes(self, hiding):
        view = hiding.views[0]
        soft = view.allowed(np.tile([[2.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.0, 0.0]], 5))
        np.testing.assert_allclose(soft[:, 0], [0.5, 0.5, 0, 0])
        np.testing.assert_allclose(soft[:, 1], 0.25)

    def test_guesses_are_covered_where_the_set_has_them(self, hiding):
        rows = hiding.rows()
        assert len(rows) == len(np.unique(rows)) == 30
        guess = hiding.mask[:, rows].argmax(axis=0)
        assert hiding.covered(guess).all()
        first = np.zeros(len(rows), dtype=int)
        np.testing.assert_array_equal(hiding.covered(first), hiding.mask[0, rows])


@pytest.mark.parametrize(
    ("N", "c", "left_out"),
    [(2000, 100, ()), (20000, 5000, ("logistic",)), (60000, 10, ("neighbours",))],
)
def test_a_family_that_would_take_too_long_is_left_out(N, c, left_out):
    sets = CandidateSets(np.arange(N + 1), np.arange(N) % c, c)
    families = frozenset(["row-space", "neighbours", "logistic"])
    X = np.zeros((N, 128))
    assert too_large(families, X.shape, sets) == list(left_out)
    assert too_large(frozenset(left_out), X.shape, sets) == []  # what is asked for alone is done


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("lost", {}, 6.8),
        ("msrcv2", {}, 18.0),
        ("birdsong", {}, 10.6),
        ("fiw10b", {"n_extra": 3, "random_state": 0}, 4.0),
        ("orl", {"n_extra": 5, "random_state": 0}, 1.2),
        ("pie", {"people": 18, "each": 21, "n_extra": 9, "random_state": 0}, 1.0),
    ],
)
def test_no_argument_beats_the_papers_methods(name, options, most):
    data = datasets.load(name, **options)
    model = CandidateClassifier(classifier=None, random_state=0).fit(data.X, data.candidates)
    assert 100 * labelling_error(data.y, model.transduction_) <= most


def test_neighbours_count_in_the_average_as_sure_as_they_are_right():
    data = datasets.load("digits", each=30, n_extra=2, random_state=0)
    model = CandidateClassifier(widths=(4.0,), families=["row-space", "neighbours"], random_state=0)
    sets = CandidateSets.of_mask(data.candidates.mask.T)
    search = FamilySearch(model._plan(), data.X, sets.uniform(), sets, Context())
    (trial,) = [t for t in search.run().counted if t.setting.labeller == "neighbours"]
    flat, _ = search.everything.solve(trial.setting, search.P, sets)
    found = data.candidates.classes[sets.classes[sets.best(flat)]]
    right = 1 - labelling_error(data.y, found)
    assert sets.largest(flat).mean() < right - 0.05
    assert sets.largest(trial.labels).mean() == pytest.approx(right, abs=0.02)
    assert (sets.best(trial.labels) == sets.best(flat)).all()


LIMITED = """
import resource
import numpy as np
from scipy import sparse
import candidly

N, c = 12_000, 5000
rng = np.random.default_rng(0)
y = rng.integers(c, size=N)
X = rng.normal(size=(c, 32))[y] + 0.3 * rng.normal(size=(N, 32))
listed = np.column_stack([y, rng.integers(c, size=(N, 2))]).ravel()
mask = sparse.csr_array((np.ones(3 * N), listed, np.arange(N + 1) * 3), shape=(N, c)).astype(bool)
small = candidly.CandidateClassifier(widths=[], ridges=[1e-3])
small.fit(X[:200], y[:200] % 3)
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
limit = taken + 2 * 8 * N * c  # two matrices of all labels
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
model = candidly.CandidateClassifier(widths=[], ridges=[1e-3], classifier=None).fit(X, mask)
assert sparse.issparse(model.set_params(sparse_output=True).label_distributions_)
print(candidly.labelling_error(y, model.transduction_))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_many_classes_take_less_than_two_matrices_of_all_labels():
    environment = {**os.environ, "CANDIDLY_KERNELS": "numpy", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.2
