"""Labels under a promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator

from candidly import CandidateClassifier, RiskControlled, datasets, labelling_error
from candidly.estimators.error_bound import ErrorBound
from problems import seeds


class Labelled(BaseEstimator):
    """Stands for a fitted estimator: labels 0, of which some are 1, and how sure it is."""

    def __init__(self, sure):
        self.sure = sure
        self.classes_ = np.array([0, 1])
        self.transduction_ = np.zeros(len(sure), dtype=int)
        self.label_distributions_ = np.stack([sure, 1 - sure], axis=1)

    def fit(self, X, y):
        return self


def asked_to_the_end(sure, wrong, most=300, **options):
    model = RiskControlled(FrozenEstimator(Labelled(sure)), **options).fit([[0.0]], [0])
    truth = wrong.astype(int)
    while len(model.ask_) and (model._wrong >= 0).sum() + len(model.ask_) <= most:
        model.answer(truth[model.ask_])
    return model


def broken(model, wrong):
    kept = model.accepted_
    return np.mean(model.transduction_[kept] != wrong[kept]) > model.max_error


@given(seeds, st.integers(1, 60), st.integers(0, 60), st.floats(0.001, 0.4))
def test_the_bound_on_errors_is_never_below_those_found_and_falls_to_them(seed, size, D, expected):
    D = min(D, size)
    drawn = np.random.default_rng(seed).permutation(size) < D
    bound = ErrorBound(size, 0.05, expected)
    most = [bound.most(t, int(drawn[:t].sum())) for t in range(size + 1)]
    assert all(found <= m <= size for found, m in zip(np.cumsum([0, *drawn]), most, strict=True))
    assert most[-1] == D


@pytest.mark.parametrize("expected", [0.001, 0.02, 0.3])
def test_the_bound_holds_at_all_times_at_once(expected):
    rng = np.random.default_rng(0)
    size, D, draws = 80, 6, 2000
    bound = ErrorBound(size, 0.1, expected)
    ever_wrong = 0
    most = {}
    for _ in range(draws):
        found = np.cumsum(rng.permutation(size) < D)
        pairs = list(zip(range(1, size + 1), found.tolist(), strict=True))
        for pair in pairs:
            most.setdefault(pair, bound.most(*pair) if pair not in most else None)
        ever_wrong += any(most[pair] < D for pair in pairs)
    assert ever_wrong / draws <= 0.1


def test_without_errors_the_bound_is_not_far_from_that_of_a_sample_fixed_beforehand():
    size, drawn = 1000, 250
    exact = next(D for D in range(size) if hypergeom.cdf(0, size, D, drawn) <= 0.05) - 1
    assert exact <= ErrorBound(size, 0.05, 0.001).most(drawn, 0) <= exact + 3


def test_needed_is_the_least_number_that_suffices():
    bound = ErrorBound(400, 0.05, 0.002)
    more = bound.needed(4, checked=50, found=1)
    assert bound.most(50 + more, 1) - 1 <= 4 < bound.most(50 + more - 1, 1) - 1
    assert ErrorBound(5).needed(0) == 5


@pytest.mark.slow
@pytest.mark.parametrize("calibrated", [True, False], ids=["honest", "boasting"])
def test_the_promise_is_kept(calibrated):
    rng = np.random.default_rng(0)
    chance = rng.beta(0.3, 4, size=1500)
    sure = 1 - chance if calibrated else 1 - chance**2
    failed, kept = 0, []
    for seed in range(100):
        wrong = rng.random(1500) < chance
        model = asked_to_the_end(sure, wrong, max_error=0.02, random_state=seed)
        failed += broken(model, wrong)
        kept.append(model.accepted_.mean())
    assert failed <= 5
    assert np.mean(kept) > 0.3


def test_where_confidence_says_nothing_it_abstains():
    rng = np.random.default_rng(0)
    wrong = rng.random(2000) < 0.1
    model = asked_to_the_end(np.ones(2000), wrong, random_state=0)
    assert model.accepted_.sum() == (model._wrong >= 0).sum() <= 300
    assert model.more_answers_ > 50
    assert len(model.ask_) == model.more_answers_  # and says whom to ask to go on


def test_going_on_after_the_budget_ends_with_the_promise():
    rng = np.random.default_rng(1)
    chance = rng.beta(0.2, 2, size=900)
    wrong = rng.random(900) < chance
    model = asked_to_the_end(1 - chance, wrong, most=900, n_questions=100, random_state=0)
    assert model.more_answers_ == 0
    assert not len(model.ask_)
    assert not broken(model, wrong)
    assert model.error_bound_ <= model.max_error


def test_asked_instances_get_the_label_answered_and_the_questions_are_all_different():
    rng = np.random.default_rng(2)
    chance = rng.beta(0.5, 2, size=500)
    wrong = rng.random(500) < chance
    model = RiskControlled(FrozenEstimator(Labelled(1 - chance)), n_questions=80, random_state=0)
    model.fit([[0.0]], [0])
    asked = []
    while len(model.ask_) and len(asked) < 80:
        asked += model.ask_.tolist()
        model.answer(wrong[model.ask_].astype(int))
    assert 10 < len(set(asked)) == len(asked) <= 80
    np.testing.assert_array_equal(model.transduction_[asked], wrong[asked])
    assert model.accepted_[asked].all()


def test_fewer_instances_than_questions_are_all_asked():
    wrong = np.arange(40) % 3 == 0
    model = asked_to_the_end(np.linspace(0.5, 1, 40), wrong, random_state=0)
    assert model.accepted_.all()
    assert (model.transduction_ == wrong).all()


def test_it_works_over_a_real_estimator():
    digits = datasets.load("digits", each=30, n_extra=3, random_state=0)
    estimator = CandidateClassifier(widths=[4.0], ridges=[1e-3])
    model = RiskControlled(estimator, max_error=0.05, n_questions=100, random_state=0)
    model.fit(digits.X, digits.candidates)
    while len(model.ask_):
        model.answer(digits.y[model.ask_])
    kept = model.accepted_
    assert kept.mean() > 0.7
    assert labelling_error(digits.y[kept], model.transduction_[kept]) <= 0.05


def test_bad_input_is_named():
    model = asked_to_the_end(np.linspace(0.5, 1, 500), np.zeros(500, bool), most=0)
    with pytest.raises(ValueError, match="rows were asked about, and 1 labels answered"):
        model.answer([0])
    fitted = FrozenEstimator(DummyClassifier().fit([[0.0]], [0]))
    with pytest.raises(TypeError, match="no label_distributions_"):
        RiskControlled(fitted).fit([[0.0]], [0])


def test_somebody_whom_no_set_lists_is_an_answer_too():
    model = RiskControlled(FrozenEstimator(Labelled(np.linspace(0.5, 1, 500))), random_state=0)
    model.fit([[0.0]], [0])
    asked = model.ask_
    model.answer(["zoe", *[0] * (len(asked) - 1)])
    assert model.transduction_[asked[0]] == "zoe"
    assert model._wrong.sum() + (model._wrong == -1).sum() == 1


def test_no_more_is_asked_than_may_suffice():
    model = RiskControlled(
        FrozenEstimator(Labelled(np.full(20000, 0.99))), max_error=0.1, random_state=0
    )
    model.fit([[0.0]], [0]).answer(np.zeros(37, dtype=int))
    assert len(model.ask_) == model.more_answers_ < 150
    model.answer(np.zeros(len(model.ask_), dtype=int))
    assert model.accepted_.all()


def test_too_few_questions_tell_how_many_are_missing():
    model = RiskControlled(
        FrozenEstimator(Labelled(np.full(5000, 0.999))), n_questions=20, random_state=0
    )
    model.fit([[0.0]], [0])
    for _ in range(2):
        model.answer(np.zeros(len(model.ask_), dtype=int))
    assert 200 < model.more_answers_ < 500
    assert len(model.ask_) == model.more_answers_
