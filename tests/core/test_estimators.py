"""The estimators as scikit-learn users meet them."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import candidly
from candidly import (
    ICE,
    CandidateClassifier,
    Candidates,
    MCar,
    OpenSet,
    RowSpace,
    SelfLabelling,
    WMCar,
    WMCarICE,
    labelling_error,
)
from candidly.solvers import ALM, Solution, Status, Trace
from candidly.solvers.assignment import worth
from candidly.testing import check_candidate_estimator
from problems import captions, entries

ALL = [
    MCar(),
    WMCar(),
    ICE(),
    ICE(MCar()),
    RowSpace(),
    RowSpace(lift="rbf"),
    CandidateClassifier(),
    OpenSet(),
    SelfLabelling(),
]


@pytest.fixture(scope="module")
def digits():
    return candidly.datasets.load("digits", people=5, each=25, n_extra=1, random_state=0)


def not_for(estimator):
    """Checks of scikit-learn that an estimator cannot pass, with the reason."""
    if not isinstance(estimator, CandidateClassifier):
        return {}
    why = "settings are scored on instances left out, and a copy of one is not left out with it"
    return {"check_sample_weight_equivalence_on_dense_data": why}


# Some of their data are noise, and CandidateClassifier says so.
@pytest.mark.filterwarnings("ignore::candidly.DoubtfulLabelsWarning")
@parametrize_with_checks(ALL, expected_failed_checks=not_for)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_our_checks_pass(estimator):
    check_candidate_estimator(estimator)


@pytest.mark.parametrize("seed", range(1, 4))
def test_our_checks_pass_on_other_problems(seed):
    check_candidate_estimator(WMCarICE(), random_state=seed)


def test_our_checks_fail_on_an_estimator_that_breaks_the_contract():
    class FirstColumn(MCar):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)
            self.transduction_ = np.repeat(self.classes_[0], len(X))
            return self

    class Impatient(MCar):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)
            self.label_distributions_ = np.sort(self.label_distributions_, axis=1)
            return self

    class Guess(MCar):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.zeros_like(X), y)

    class Vandal(MCar):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)
            if isinstance(y, list):
                y[0].clear()
            return self

    with pytest.raises(AssertionError, match="where chance gives"):
        check_candidate_estimator(Guess())
    with pytest.raises(AssertionError, match="fit changed the sets"):
        check_candidate_estimator(Vandal())
    with pytest.raises(AssertionError, match="not a candidate"):
        check_candidate_estimator(FirstColumn())
    with pytest.raises(AssertionError, match="not 0 off candidates"):
        check_candidate_estimator(Impatient())


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_fit_stores_what_it_promises(estimator, digits):
    estimator = clone(estimator).set_params(random_state=0)
    model = clone(estimator).fit(digits.X, digits.candidates)
    assert model.transduction_.shape == digits.y.shape
    assert model.label_distributions_.shape == digits.candidates.shape
    np.testing.assert_array_equal(model.classes_, digits.classes)
    assert labelling_error(digits.y, model.transduction_) < 0.05
    np.testing.assert_array_equal(
        clone(estimator).fit_predict(digits.X, digits.candidates), model.transduction_
    )
    assert model.score(digits.X, digits.y) > 0.9


def test_features_and_noise_are_there_only_where_a_solver_recovers_them(digits):
    completed = MCar().fit(digits.X, digits.candidates).solution_
    assert completed.features.shape == completed.noise.shape == digits.X.T.shape
    regressed = RowSpace().fit(digits.X, digits.candidates).solution_
    assert regressed.features is None
    assert regressed.noise is None


def test_n_iter_counts_iterations_and_rounds(digits):
    plain = MCar().fit(digits.X, digits.candidates)
    assert plain.n_iter_ == len(plain.solution_.trace)
    ice = ICE().fit(digits.X, digits.candidates)
    assert ice.n_iter_ == len(ice.solution_.rounds) <= 5


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.parametrize(
    "labeller", [MCar(setting="features"), WMCar(at_least_one=True), RowSpace()], ids=repr
)
def test_elimination_does_not_depend_on_the_last_digits_of_features_or_on_the_order_of_rows(
    labeller,
):
    X, candidates = captions()
    rng = np.random.default_rng(0)
    plain = ICE(labeller).fit(X, candidates)
    moved = X * (1 + 1e-15 * rng.standard_normal(X.shape))
    order = rng.permutation(len(moved))
    mixed = ICE(labeller).fit(moved[order], candidates[order])
    soft = plain.label_distributions_[order]
    np.testing.assert_allclose(mixed.label_distributions_, soft, atol=1e-7)


def test_to_the_letter_scores_decide_what_is_eliminated(digits):
    letter = WMCar(setting="paper", tol=1e-5)
    one = ICE(letter).fit(digits.X, digits.candidates)
    two = ICE(letter, ties="scores").fit(digits.X, digits.candidates)
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)


def test_the_shorthand_is_ice_over_wmcar(digits):
    short = WMCarICE(fraction=0.25, max_rounds=3).fit(digits.X, digits.candidates)
    long = ICE(WMCar(), fraction=0.25, max_rounds=3).fit(digits.X, digits.candidates)
    np.testing.assert_array_equal(short.label_distributions_, long.label_distributions_)
    np.testing.assert_array_equal(short.predict(digits.X), long.predict(digits.X))


def test_labels_are_names_where_there_are_names(digits):
    names = np.array(["zero", "one", "two", "three", "four"])
    named = Candidates.from_mask(digits.candidates.mask, classes=names)
    plain, with_names = WMCar().fit(digits.X, digits.candidates), WMCar().fit(digits.X, named)
    np.testing.assert_array_equal(with_names.transduction_, names[plain.transduction_])
    np.testing.assert_array_equal(with_names.predict(digits.X), names[plain.predict(digits.X)])


def test_score_is_covering_rate_on_candidates_and_accuracy_on_labels(digits):
    model = WMCar().fit(digits.X, digits.candidates)
    predicted = model.predict(digits.X)
    assert model.score(digits.X, digits.y) == np.mean(predicted == digits.y)
    for y in (digits.candidates, digits.candidates.mask, digits.candidates.sets()):
        assert model.score(digits.X, y) == digits.candidates.contain(predicted).mean()
    weight = np.arange(len(digits.y))
    assert model.score(digits.X, digits.y, sample_weight=weight) == pytest.approx(
        np.average(predicted == digits.y, weights=weight)
    )


@pytest.mark.filterwarnings("ignore::candidly.DoubtfulLabelsWarning")  # a bad setting is tried
def test_model_selection_works_on_candidates_without_truth(digits):
    order = np.random.default_rng(0).permutation(len(digits.y))
    X, candidates = digits.X[order], digits.candidates[order]
    assert cross_val_score(WMCar(), X, candidates, cv=3).min() > 0.7
    search = GridSearchCV(WMCar(), {"noise_weight": [0.01, 3.0]}, cv=3).fit(X, candidates)
    assert search.best_params_ == {"noise_weight": 3.0}


def test_any_classifier_can_be_the_second_stage(digits):
    model = MCar(classifier=KNeighborsClassifier(1)).fit(digits.X, digits.candidates)
    np.testing.assert_array_equal(model.predict(digits.X), model.transduction_)
    seeded = MCar(classifier=LinearSVC(), random_state=7).fit(digits.X, digits.candidates)
    assert seeded.classifier_.random_state == 7
    assert not hasattr(MCar(), "predict_proba")
    soft = MCar(classifier=LogisticRegression()).fit(digits.X, digits.candidates)
    proba = soft.predict_proba(digits.X)
    assert proba.shape == digits.candidates.shape
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(soft.classes_[proba.argmax(axis=1)], soft.predict(digits.X))


def test_predict_proba_has_a_column_for_every_class_even_if_none_was_found(digits):
    mask = np.zeros((len(digits.y), 6), bool)
    mask[np.arange(len(digits.y)), digits.y] = True
    mask[0] = True  # class 5 is a candidate once, and never the label
    model = MCar(classifier=LogisticRegression()).fit(digits.X, mask)
    assert model.transduction_[0] != 5
    assert (model.predict_proba(digits.X)[:, 5] == 0).all()


def test_the_paper_setting_is_the_paper_to_the_letter(digits):
    model = MCar(setting="paper").fit(digits.X, digits.candidates)
    assert model.setting_.noise_weight == 1
    assert model.setting_.sparsity_weight == 2
    assert model.setting_.rho == 1.5
    recovered = model.solution_.features + model.solution_.noise
    np.testing.assert_allclose(recovered.T, digits.X, atol=1e-3)  # X itself, not scaled
    plain = SVC(kernel="linear").fit(digits.X, model.transduction_)
    np.testing.assert_array_equal(plain.predict(digits.X), model.predict(digits.X))


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.parametrize("center", [False, True])
def test_a_divisor_divides_the_features_first(digits, center):
    grey = 255 * digits.X
    model = MCar(setting="paper", center=center, divisor=255.0).fit(grey, digits.candidates)
    expected = MCar(setting="paper", center=center).fit(digits.X, digits.candidates)
    np.testing.assert_allclose(model.solution_.labels, expected.solution_.labels, atol=1e-6)
    np.testing.assert_array_equal(model.predict(grey), expected.predict(digits.X))
    with_norm = MCar(divisor=255.0).fit(grey, digits.candidates)
    np.testing.assert_allclose(
        with_norm.solution_.labels, MCar().fit(grey, digits.candidates).solution_.labels
    )


def test_without_a_classifier_predict_says_why(digits):
    model = MCar(classifier=None).fit(digits.X, digits.candidates)
    with pytest.raises(AttributeError, match="classifier=None"):
        model.predict(digits.X)


def test_one_class_and_one_instance_are_answered():
    model = MCar().fit([[1.0, 2.0]], [{"ann"}])
    assert model.predict([[5.0, 5.0]]).tolist() == ["ann"]
    constant = WMCarICE().fit(np.ones((4, 2)), [{"ann", "bob"}] * 4)
    assert set(constant.transduction_) <= {"ann", "bob"}


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_sample_weight_zero_is_absence(estimator, digits):
    weight = np.ones(len(digits.y))
    weight[::3] = 0
    kept = weight > 0
    estimator = clone(estimator).set_params(random_state=0)
    weighted = clone(estimator).fit(digits.X, digits.candidates, sample_weight=weight)
    without = clone(estimator).fit(digits.X[kept], digits.candidates[kept])
    np.testing.assert_allclose(
        weighted.label_distributions_[kept], without.label_distributions_, atol=1e-9
    )
    np.testing.assert_allclose(
        weighted.label_distributions_[~kept], digits.candidates.priors[~kept]
    )
    np.testing.assert_array_equal(weighted.predict(digits.X), without.predict(digits.X))


def test_sample_weights_multiply_the_papers_instance_weights(digits):
    weight = 1.0 + np.arange(len(digits.y)) % 3
    model = WMCar(setting="paper", classifier=None)
    model.fit(digits.X, digits.candidates, sample_weight=weight)
    P, mask = digits.candidates.priors.T, digits.candidates.mask.T
    used = model.setting_
    alm = ALM(used.noise_weight, used.sparsity_weight, used.rho, used.start, tol=used.tol)
    eta = 1 / (P.sum(axis=1) @ P)
    expected = alm.solve(digits.X.T, *entries(P, mask), np.sqrt(weight * eta))
    np.testing.assert_allclose(model.solution_.labels, expected.labels, atol=1e-9)


def test_ties_of_soft_labels_go_by_the_score():
    scores, sets = entries(np.array([[-2.0, -1.0], [-1.0, -2.0]]), np.ones((2, 2), dtype=bool))
    tied = Solution(sets.uniform(), scores, sets, Status.CONVERGED, Trace())
    assert sets.classes[sets.best(worth(tied))].tolist() == [1, 0]


def test_the_default_machine_is_trained_on_scaled_features(digits):
    shifted = digits.X * 1e6 + 1e9
    plain = MCar().fit(digits.X, digits.candidates)
    moved = MCar().fit(shifted, digits.candidates)
    np.testing.assert_array_equal(plain.predict(digits.X), moved.predict(shifted))


def test_none_in_scored_sets_means_any_label(digits):
    model = MCar().fit(digits.X, digits.candidates)
    predicted = model.predict(digits.X)[:3]
    assert model.score(digits.X[:3], [{predicted[0]}, None, {"zoe"}]) == pytest.approx(2 / 3)
    assert model.score(digits.X[:2], [None, None]) == 1
    assert model.score(digits.X[:3], np.eye(5, dtype=bool)[predicted]) == 1


def test_constant_sample_weights_change_nothing(digits):
    plain = WMCar().fit(digits.X, digits.candidates)
    seven = WMCar().fit(digits.X, digits.candidates, sample_weight=np.full(len(digits.y), 7.0))
    np.testing.assert_allclose(plain.label_distributions_, seven.label_distributions_, atol=1e-6)


def test_frames_give_feature_names_and_the_same_answer(digits):
    frame = pd.DataFrame(digits.X, columns=[f"pixel {i}" for i in range(digits.X.shape[1])])
    model = MCar().fit(frame, pd.Series(digits.candidates.sets(), dtype=object))
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(
        model.label_distributions_, MCar().fit(digits.X, digits.candidates).label_distributions_
    )
    np.testing.assert_array_equal(
        model.predict(frame), MCar().fit(digits.X, digits.candidates).predict(digits.X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_models_pickle(digits):
    model = WMCarICE().fit(digits.X, digits.candidates)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(digits.X), model.predict(digits.X))
    assert again.solution_.status is model.solution_.status


def test_stopping_early_warns_and_says_what_to_do(digits):
    with pytest.warns(ConvergenceWarning, match="raise it"):
        MCar(max_iter=3).fit(digits.X, digits.candidates)


def test_verbose_reports_progress(digits, capsys):
    MCar(verbose=1).fit(digits.X, digits.candidates)
    assert "MCar iteration 10: residual" in capsys.readouterr().out
    ICE(verbose=1).fit(digits.X, digits.candidates)
    assert "ICE round 1: " in capsys.readouterr().out
    MCar().fit(digits.X, digits.candidates)
    assert capsys.readouterr().out == ""


def test_ice_over_something_that_takes_no_soft_labels_says_so(digits):
    with pytest.raises(TypeError, match="SVC takes no soft labels in"):
        ICE(SVC()).fit(digits.X, digits.candidates)


def test_bad_input_is_named(digits):
    X, candidates = digits.X, digits.candidates
    with pytest.raises(ValueError, match="X has 124 rows and y 125; give one"):
        MCar().fit(X[:-1], candidates)
    broken = X.copy()
    broken[3, 4] = np.nan
    with pytest.raises(ValueError, match="contains NaN: row 3, column 4"):
        MCar().fit(broken, candidates)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        MCar().fit(sparse.csr_matrix(X), candidates)
    with pytest.raises(ValueError, match="at least one non-zero"):
        MCar().fit(X, candidates, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        MCar(classifier=KNeighborsClassifier()).fit(X, candidates, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="too large to square"):
        MCar(setting="paper").fit(X * 1e200, candidates)
    with pytest.raises(NotFittedError):
        MCar().predict(X)
    assert not hasattr(MCar(), "partial_fit")


def test_methods_are_found_by_name():
    for name in ("MCar", "WMCar", "MCar-ICE", "WMCar-ICE", "RowSpace", "RowSpace-RBF"):
        assert name in candidly.methods.names()
        assert candidly.methods.describe(name).use
    assert isinstance(candidly.methods.get("WMCar-ICE").estimator, WMCar)
    assert isinstance(candidly.methods.get("MCar-ICE").estimator, MCar)
    with pytest.raises(ValueError, match=r"no method 'CLPM'; there are .*MCar"):
        candidly.methods.get("CLPM")
    with pytest.raises(ValueError, match="registered already"):
        candidly.registry.register("MCar", MCar, "", "", "")


def test_without_pytorch_a_device_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    digits = candidly.datasets.load("digits", each=5, n_extra=1, random_state=0)
    with pytest.raises(ImportError, match=r"solves on a GPU.*pip install 'candidly\[torch\]'"):
        MCar(device="cuda").fit(digits.X, digits.candidates)


def test_a_device_that_is_not_there_is_named():
    pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    digits = candidly.datasets.load("digits", each=5, n_extra=1, random_state=0)
    with pytest.raises(ValueError, match="cannot use device 'nowhere' here"):
        MCar(device="nowhere").fit(digits.X, digits.candidates)


@pytest.mark.parametrize(
    ("name", "device"),
    [("MCar", "device"), ("WMCar-ICE", "estimator__device"), ("CandidateClassifier", "device")],
)
def test_labels_are_the_same_on_another_device(name, device):
    pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    digits = candidly.datasets.load("digits", each=15, n_extra=2, random_state=0)
    here = candidly.methods.get(name).set_params(random_state=0)
    there = clone(here).set_params(**{device: "cpu"}).fit(digits.X, digits.candidates)
    here.fit(digits.X, digits.candidates)
    np.testing.assert_array_equal(here.transduction_, there.transduction_)
    # Rounds of elimination magnify rounding: features changed by 1e-15 change labels by 4e-3.
    accuracy = 1e-2 if name == "WMCar-ICE" else 1e-6
    np.testing.assert_allclose(here.label_distributions_, there.label_distributions_, atol=accuracy)
    np.testing.assert_array_equal(here.predict(digits.X), there.predict(digits.X))
