"""Tools of scikit-learn on candidate sets: they work, or say what to use instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB

from candidly import Candidates, RowSpace, WMCar, datasets, labelling_error
from candidly.base import SortedFoldsWarning
from candidly.interop import CandidateBagging, CandidateKFold

digits = datasets.load("digits", people=5, each=40, n_extra=1, random_state=0)
X, candidates = digits.X, digits.candidates
LABELS = [VotingClassifier([("a", RowSpace())]), StackingClassifier([("a", RowSpace())])]


def test_folds_spread_the_classes_and_shuffle():
    folds = list(CandidateKFold(4, random_state=0).split(X, candidates))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(200))
    for train, test in folds:
        assert len(test) == 50
        assert not set(train) & set(test)
        listed, expected = candidates[test].counts / 50, candidates.counts / 200
        np.testing.assert_allclose(listed, expected, atol=0.1)
    again = list(CandidateKFold(4, random_state=0).split(X, candidates))
    other = list(CandidateKFold(4, random_state=1).split(X, candidates))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(folds, other, strict=True))


def test_a_rare_candidate_is_spread_over_the_folds():
    rare = Candidates([{"rare", "b"}] * 4 + [{"a", "b"}] * 36)
    for _, test in CandidateKFold(4, random_state=0).split(np.zeros((40, 1)), rare):
        assert rare[test].counts[list(rare.classes).index("rare")] == 1


@pytest.mark.parametrize("to_split", [True, False])
def test_folds_keep_groups_together(to_split):
    photos = np.arange(200) // 3
    given = candidates if to_split else candidates.with_groups(photos)
    splitter = CandidateKFold(5, random_state=0)
    for train, test in splitter.split(X, given, photos if to_split else None):
        assert not set(photos[train]) & set(photos[test])
        assert 30 <= len(test) <= 50


@pytest.mark.parametrize("n_splits", [1, 3])
def test_folds_without_instances_are_refused(n_splits):
    with pytest.raises(ValueError, match=f"n_splits is from 2 to 2.*got {n_splits}"):
        list(CandidateKFold(n_splits).split([[0.0], [1.0]], [{"a"}, {"a", "b"}]))


def test_searches_and_scores_take_candidates_and_the_folds():
    folds = CandidateKFold(3, random_state=0)
    assert cross_val_score(RowSpace(), X, candidates, cv=folds).min() > 0.9
    search = GridSearchCV(RowSpace(), {"ridge": [1e-3, 1e3]}, cv=folds).fit(X, candidates)
    assert search.best_params_ == {"ridge": 1e-3}


@pytest.mark.parametrize("model", [RowSpace(), WMCar()], ids=repr)
def test_bags_of_a_candidate_estimator(model):
    names = candidates.with_classes(list("vwxyz"))
    bags = CandidateBagging(model, 5, max_samples=0.7, random_state=0).fit(X, names)
    truth = names.classes[np.searchsorted(candidates.classes, digits.y)]
    assert labelling_error(truth, bags.predict(X)) < 0.1
    assert bags.score(X, truth) == np.mean(bags.predict(X) == truth)
    assert bags.score(X, names) == names.contain(bags.predict(X)).mean()
    assert len(bags.estimators_) == 5
    assert bags.predict_proba(X).shape == names.shape
    with pytest.raises(ValueError, match="oob_score needs true labels"):
        CandidateBagging(model, oob_score=True).fit(X, names)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: BaggingClassifier(RowSpace()).fit(X, candidates), "use .*CandidateBagging"),
        *[(lambda m=m: m.fit(X, candidates), "CandidateClassifier.classifier=") for m in LABELS],
        (lambda: CalibratedClassifierCV(RowSpace()).fit(X, candidates), "as classifier="),
        (lambda: list(StratifiedKFold(3).split(X, candidates)), "use .*CandidateKFold"),
        (
            lambda: list(StratifiedGroupKFold(3).split(X, candidates, digits.y)),
            "use .*CandidateKFold",
        ),
        (lambda: accuracy_score(candidates, digits.y), "leave scoring out"),
        (
            lambda: cross_val_score(
                RowSpace(),
                X,
                candidates,
                cv=CandidateKFold(3),
                scoring="accuracy",
                error_score="raise",
            ),
            "leave scoring out for the covering rate",
        ),
    ],
)
def test_what_needs_labels_says_what_to_use(use, message):
    with pytest.raises(ValueError, match=f"candidates, not labels: .*{message}"):
        use()


@pytest.mark.parametrize(
    "inside",
    [
        VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression(max_iter=1000))]),
        CalibratedClassifierCV(GaussianNB(), cv=3),
        BaggingClassifier(GaussianNB(), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_needs_labels_works_inside(inside):
    model = RowSpace(classifier=inside).fit(X, candidates)
    assert labelling_error(digits.y, model.predict(X)) < 0.2


def test_sorted_folds_are_warned_of_and_shuffled_ones_are_not():
    with pytest.warns(SortedFoldsWarning, match="cv=KFold"):
        cross_val_score(RowSpace(), X, candidates, cv=KFold(5))
    for seed in range(5):
        shuffled = KFold(5, shuffle=True, random_state=seed)
        cross_val_score(RowSpace(), X, candidates, cv=shuffled)  # a warning would be an error
    photos = candidates.with_groups(np.arange(200) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SortedFoldsWarning)
        RowSpace().fit(X[:100], photos[:100].with_classes(list("abcde"))).score(X, digits.y)


def test_a_method_without_probabilities_names_one_that_has_them():
    easy = datasets.load("digits", people=3, each=40, n_extra=1, random_state=0)
    X, candidates = easy.X, easy.candidates
    model = WMCar().fit(X, candidates)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"WMCar has no predict_proba.*CandidateClassifier"):
        model.predict_proba(X)
    logistic = WMCar(classifier=LogisticRegression(max_iter=1000)).fit(X, candidates)
    np.testing.assert_allclose(logistic.predict_proba(X).sum(axis=1), 1)
