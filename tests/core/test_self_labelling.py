"""Self-labelling: any scikit-learn classifier resolves candidates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

import candidly
from benchmarks.accuracy.any_classifier import mixed_table, one_round, words
from candidly import ICE, Candidates, MustLink, SelfLabelling, labelling_error, make_ambiguous
from candidly.estimators.cross_fitting import Folds
from candidly.estimators.self_labelling import _collapse
from candidly.solvers import CandidateSets, Status
from candidly.telling import listening
from tests.problems import problem, seeds

TREES = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8)


@pytest.fixture(scope="module")
def digits():
    return candidly.datasets.load("digits", people=5, each=25, n_extra=2, random_state=0)


@pytest.fixture(scope="module")
def table():
    return mixed_table(240, random_state=0)


@pytest.fixture(scope="module")
def texts():
    return words(400, random_state=0)


def error(model, data):
    return labelling_error(data.y, model.fit(data.X, data.candidates).transduction_)


@pytest.mark.filterwarnings("ignore::candidly.DoubtfulLabelsWarning")  # features are noise
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(1, 4))
def test_labels_are_candidates_whatever_the_problem(seed, n_folds, max_rounds):
    X, P, mask = problem(seed, N=12)
    candidates = Candidates.from_priors(P.T)
    model = SelfLabelling(GaussianNB(), n_folds=n_folds, max_rounds=max_rounds, random_state=0)
    model.fit(X.T, candidates)
    soft = model.label_distributions_
    assert candidates.contain(model.transduction_).all()
    assert (soft[~mask.T] == 0).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    assert 1 <= model.n_iter_ <= max_rounds
    np.testing.assert_allclose(model.predict_proba(X.T).sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::candidly.DoubtfulLabelsWarning")  # features are noise
@settings(max_examples=5, deadline=None)
@given(seeds)
def test_the_order_of_rows_does_not_matter_even_where_rows_are_equal(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"size": rng.integers(3, size=40) / 2, "kind": rng.choice(["a", "b", "c"], 40)}
    )
    X.loc[rng.random(40) < 0.2, "size"] = np.nan
    X["kind"] = X["kind"].astype("category")
    mask = rng.random((40, 3)) < 0.5
    mask[np.arange(40), rng.integers(3, size=40)] = True
    candidates = Candidates.from_mask(mask)
    order = rng.permutation(40)
    model = SelfLabelling(TREES, max_rounds=2, random_state=0)
    plain = model.fit(X, candidates).label_distributions_
    mixed = model.fit(X.iloc[order], candidates[order]).label_distributions_
    np.testing.assert_allclose(mixed, plain[order], atol=1e-9)


@pytest.mark.slow
def test_missing_values_and_categories_are_resolved_by_trees(table):
    assert table.X.isna().any().any()
    assert table.X["colour"].dtype == "category"
    model = SelfLabelling(TREES, max_rounds=3, random_state=0)
    assert error(model, table) < 0.8 * one_round(TREES, table)
    assert model.predict(table.X).shape == table.y.shape
    numbers = table.X.drop(columns="colour").to_numpy()
    assert np.isnan(numbers).any()
    model.fit(numbers, table.candidates)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.isnan(numbers), np.inf, numbers), table.candidates)
    with pytest.raises(ValueError, match=r"NaN[\s\S]*LogisticRegression"):
        SelfLabelling(LogisticRegression()).fit(numbers, table.candidates)


@pytest.mark.slow
def test_the_default_takes_what_it_is_given(digits, table, texts):
    def chosen(X, data):
        fitted = SelfLabelling(max_rounds=1, random_state=0).fit(X, data.candidates).classifier_
        return type(fitted[-1] if hasattr(fitted, "steps") else fitted)

    assert chosen(digits.X, digits) is LogisticRegression
    assert chosen(pd.DataFrame(digits.X), digits) is LogisticRegression
    assert chosen(texts.X, texts) is LogisticRegression
    few = candidly.datasets.load("digits", people=3, each=8, n_extra=1, random_state=0)
    missing = few.X.copy()
    missing[:3, 20] = np.nan
    assert chosen(missing, few) is HistGradientBoostingClassifier
    small = table.X.iloc[:60], Candidates.from_mask(table.candidates.mask[:60])
    model = SelfLabelling(max_rounds=1, random_state=0).fit(*small)
    assert isinstance(model.classifier_, HistGradientBoostingClassifier)


def test_columns_of_a_frame_reach_a_pipeline_by_name(table):
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]), remainder="drop"
    )
    model = SelfLabelling(make_pipeline(columns, LogisticRegression()), random_state=0)
    model.fit(table.X, table.candidates)
    assert list(model.feature_names_in_) == list(table.X.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.X.rename(columns={"colour": "color"}))


@pytest.mark.slow
def test_sparse_features_give_what_dense_ones_give(texts):
    assert sparse.issparse(texts.X)
    model = SelfLabelling(MultinomialNB(), random_state=0)
    thin = model.fit(texts.X, texts.candidates).label_distributions_
    proba = model.predict_proba(texts.X)
    thick = model.fit(texts.X.toarray(), texts.candidates).label_distributions_
    np.testing.assert_allclose(thin, thick, atol=1e-9)
    np.testing.assert_allclose(proba, model.predict_proba(texts.X.toarray()), atol=1e-9)
    for estimator in (MultinomialNB(), LogisticRegression(tol=0.01)):
        found = error(SelfLabelling(estimator, max_rounds=5, random_state=0), texts)
        assert found < 0.8 * one_round(estimator, texts)


def test_an_estimator_that_remembers_everything_learns_from_the_others(digits):
    tree = DecisionTreeClassifier(random_state=0)
    naive = np.nonzero(digits.candidates.mask)
    remembered = tree.fit(digits.X[naive[0]], naive[1]).predict_proba(digits.X)
    ties = np.isclose(remembered, remembered.max(axis=1, keepdims=True)).sum(axis=1)
    assert (ties > 1).mean() > 0.9  # trained on its own candidates, it cannot tell them apart
    assert error(SelfLabelling(tree, random_state=0), digits) < 0.3


def test_without_weights_likely_candidates_are_repeated(digits):
    model = SelfLabelling(KNeighborsClassifier(5), random_state=0)
    assert error(model, digits) < 0.05
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        model.fit(digits.X, digits.candidates, sample_weight=np.ones(len(digits.y)))


def test_weights_reach_every_step_of_a_pipeline_and_count_as_repetitions(digits):
    times = np.random.default_rng(0).integers(0, 3, len(digits.y))
    repeated = np.repeat(np.arange(len(times)), times)
    regression = LogisticRegression(tol=1e-8, max_iter=1000)
    model = SelfLabelling(make_pipeline(StandardScaler(), regression), max_rounds=2, random_state=0)
    weighted = model.fit(digits.X, digits.candidates, sample_weight=times).label_distributions_
    again = model.fit(digits.X[repeated], digits.candidates[repeated]).label_distributions_
    np.testing.assert_allclose(weighted[repeated], again, atol=1e-4)


def test_what_has_no_probabilities_is_refused_by_name(digits):
    for estimator in (SVC(), Ridge()):
        with pytest.raises(TypeError, match=rf"{type(estimator).__name__} has no predict_proba"):
            SelfLabelling(estimator).fit(digits.X, digits.candidates)


@pytest.mark.parametrize(
    "wrong", [{"max_rounds": 0}, {"n_folds": 1}, {"tol": -1}, {"estimator": "trees"}]
)
def test_wrong_parameters_are_refused_by_name(wrong, digits):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"'{name}' parameter of SelfLabelling"):
        SelfLabelling(**wrong).fit(digits.X, digits.candidates)


@given(seeds, st.integers(2, 6), st.booleans())
def test_folds_label_everything_once_and_keep_groups_and_equal_rows_whole(seed, most, grouped):
    rng = np.random.default_rng(seed)
    X, sets = rng.integers(3, size=(30, 2)).astype(float), CandidateSets.of_mask(np.ones((2, 30)))
    groups = rng.permutation(np.unique(rng.integers(12, size=30), return_inverse=True)[1])
    folds = Folds.of(X, sets.uniform(), sets, groups if grouped else None, most, seed)
    if not folds.possible:
        return
    drawn = list(folds.draw())
    assert 2 <= len(drawn) <= most
    assert sorted(np.concatenate([test for _, test in drawn])) == list(range(30))
    for train, test in drawn:
        assert sorted([*train, *test]) == list(range(30))
        if grouped:
            assert not set(groups[train]) & set(groups[test])
        else:
            assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[test]}


def test_priors_remain_a_factor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)  # features say nothing
    priors = np.full((200, 2), 0.2)
    priors[np.arange(200), y] = 0.8
    model = SelfLabelling(random_state=0).fit(X, Candidates.from_priors(priors))
    assert labelling_error(y, model.transduction_) < 0.2


def test_constraints_and_groups_hold(digits):
    links = [(i, i + 25) for i in range(5)]
    model = SelfLabelling(GaussianNB(var_smoothing=0.01), random_state=0)
    mask = digits.candidates.mask.copy()
    mask[:50] = True
    free = Candidates.from_mask(mask)
    found = model.fit(digits.X, free, constraints=[MustLink(links)]).transduction_
    assert all(found[i] == found[j] for i, j in links)
    groups = np.random.default_rng(0).permutation(len(digits.y)) // 2
    hard = Candidates.from_mask(mask, classes=np.arange(5), groups=groups)
    found = model.fit(digits.X, hard).transduction_
    pairs = [found[groups == group] for group in np.unique(groups)]
    assert all(len(set(pair.tolist())) == len(pair) for pair in pairs)


def test_it_ends_when_hardly_a_label_changes_and_says_how_it_went(digits, capsys):
    model = SelfLabelling(GaussianNB(var_smoothing=0.01), verbose=1, random_state=0)
    model.fit(digits.X, digits.candidates)
    assert model.solution_.status is Status.CONVERGED
    assert model.n_iter_ < 15
    assert (model.solution_.trace.column("changed")[-2:] <= 0.005 * len(digits.y)).all()
    assert capsys.readouterr().out.count("self-labelling round") == model.n_iter_
    lines = []
    with listening(lines.append):
        model.set_params(max_rounds=1, verbose=0).fit(digits.X, digits.candidates)
    assert lines[0].startswith("self-labelling round 1 of at most 1:")
    assert model.solution_.status is Status.MAX_ROUNDS


def test_a_collapse_is_said():
    start = np.full(10, 0.1)
    assert _collapse(start, start) == ()
    assert _collapse(start, np.array([0.5, 0.3, 0.2, *np.zeros(7)])) == ()
    (doubt,) = _collapse(start, np.array([0.97, 0.03, *np.zeros(8)]))
    assert "nearly all in 1 of 10 classes" in doubt
    assert _collapse(np.array([1.0, 0.0]), np.array([1.0, 0.0])) == ()


def test_a_candidate_that_is_everywhere_does_not_take_over():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=250)
    X = np.eye(5)[y] + 0.3 * rng.normal(size=(250, 5))
    mask = make_ambiguous(y, n_extra=1, random_state=0).mask.copy()
    mask[:, 0] = True
    data = Bunch(X=X, y=y, candidates=Candidates.from_mask(mask))
    assert error(SelfLabelling(random_state=0), data) < 0.1
    assert one_round(LogisticRegression(), data) > 0.5


def test_one_instance_and_one_class_are_no_error():
    one = SelfLabelling().fit([[0.0, 1.0]], [{"a", "b"}])
    assert one.transduction_[0] in ("a", "b")
    same = SelfLabelling().fit(np.eye(4), ["a"] * 4)
    assert same.predict(np.eye(4)).tolist() == ["a"] * 4


def test_elimination_and_searches_work_over_it(digits):
    inner = SelfLabelling(GaussianNB(var_smoothing=0.01), max_rounds=3, random_state=0)
    assert error(ICE(inner), digits) < 0.1
    grid = {"estimator__var_smoothing": [1e-9, 0.01]}
    order = np.random.default_rng(0).permutation(len(digits.y))
    search = GridSearchCV(inner, grid, cv=3).fit(digits.X[order], digits.candidates[order])
    assert search.best_params_ == {"estimator__var_smoothing": 0.01}
