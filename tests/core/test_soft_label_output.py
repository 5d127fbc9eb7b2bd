"""label_distributions_ is made when it is asked for, dense or sparse; dense methods may refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from candidly import (
    ICE,
    CandidateClassifier,
    Candidates,
    MCar,
    OpenSet,
    RowSpace,
    SelfLabelling,
    base,
    datasets,
    methods,
)
from candidly.base import confidence
from candidly.baselines import CLPL
from candidly.solvers import dense_memory
from candidly.solvers.dense_memory import TooDenseError, check_memory, machine_memory
from candidly.testing import check_candidate_estimator

MODELS = [MCar(), ICE(RowSpace()), OpenSet(), SelfLabelling(), CLPL(), CandidateClassifier()]


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", people=4, each=12, n_extra=1, random_state=0)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_sparse_labels_are_the_dense_ones(digits, model):
    model = model.set_params(random_state=0)
    model.set_params(sparse_output=False).fit(digits.X, digits.candidates)
    whole = model.label_distributions_
    model.set_params(sparse_output=True).fit(digits.X, digits.candidates)
    thin = model.label_distributions_
    assert isinstance(whole, np.ndarray)
    assert isinstance(thin, sparse.csr_array)
    np.testing.assert_array_equal(thin.toarray(), whole)
    np.testing.assert_array_equal(model.solution_.matrix().T, whole)
    assert thin.nnz == len(digits.candidates.sparse_priors.data)


def test_auto_is_sparse_above_a_size(digits, monkeypatch):
    model = MCar().fit(digits.X, digits.candidates)
    assert isinstance(model.label_distributions_, np.ndarray)
    monkeypatch.setattr(base, "DENSE_OUTPUT", len(digits.y) * 4 - 1)
    assert sparse.issparse(MCar().fit(digits.X, digits.candidates).label_distributions_)
    monkeypatch.setattr(base, "DENSE_OUTPUT", len(digits.y) * 4)
    assert not sparse.issparse(MCar().fit(digits.X, digits.candidates).label_distributions_)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_nothing_but_asking_for_it_makes_the_matrix(digits, model):
    model = model.set_params(sparse_output="auto", random_state=0)
    model.fit(digits.X, digits.candidates)
    sure = confidence(model)
    model.predict(digits.X)
    check_is_fitted(model)
    again = pickle.loads(pickle.dumps(model))
    for fitted in (model, again):
        assert "label_distributions_" not in vars(fitted)
    column = {name: k for k, name in enumerate(model.classes_.tolist())}
    chosen = [column[name] for name in model.transduction_.tolist()]
    np.testing.assert_array_equal(model.label_distributions_[np.arange(len(chosen)), chosen], sure)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)


def test_a_second_fit_forgets_the_labels_of_the_first(digits):
    model = MCar().fit(digits.X, digits.candidates)
    assert model.label_distributions_.shape == (48, 4)
    model.fit(digits.X[:20], digits.candidates[:20])
    assert model.label_distributions_.shape == (20, 4)


def test_what_is_not_fitted_has_no_labels():
    assert not hasattr(MCar(), "label_distributions_")
    with pytest.raises(NotFittedError):
        check_is_fitted(MCar())


def test_an_estimator_with_sparse_labels_keeps_the_contract():
    check_candidate_estimator(MCar(sparse_output=True))


@pytest.mark.parametrize("wrong", ["sparse", 2, None])
def test_other_values_are_refused(digits, wrong):
    with pytest.raises(ValueError, match="'sparse_output' parameter of MCar"):
        MCar(sparse_output=wrong).fit(digits.X, digits.candidates)


@pytest.mark.parametrize("name", ["MCar", "WMCar-ICE", "CLPL", "PL-KNN", "MMS"])
def test_dense_methods_refuse_what_does_not_fit_and_name_others(digits, monkeypatch, name):
    monkeypatch.setattr(dense_memory, "machine_memory", lambda: 10_000)
    with pytest.raises(TooDenseError, match=r"GB.*use RowSpace or CandidateClassifier"):
        methods.get(name).fit(digits.X, digits.candidates)
    monkeypatch.setattr(dense_memory, "SHARE", 1e6)
    methods.get(name).fit(digits.X, digits.candidates)


def test_with_a_null_class_open_set_labelling_is_named(digits, monkeypatch):
    sets = [row | {-1} for row in digits.candidates.sets()]
    candidates = Candidates.from_sets(sets, null=-1)
    monkeypatch.setattr(dense_memory, "machine_memory", lambda: 10_000)
    with pytest.raises(TooDenseError, match="use OpenSet"):
        MCar().fit(digits.X, candidates)
    OpenSet().fit(digits.X, candidates)


def test_the_size_named_is_that_of_the_matrices(monkeypatch):
    monkeypatch.setattr(dense_memory, "machine_memory", lambda: 4 * 10**9)
    check_memory("it", 1000, 50_000, 5)  # 2.0 GB
    with pytest.raises(TooDenseError, match=r"it needs 5 matrices of 1000 x 50001, about 2\.0 GB"):
        check_memory("it", 1000, 50_001, 5)
    monkeypatch.setattr(dense_memory, "machine_memory", lambda: None)
    check_memory("it", 10**6, 10**6, 5)


def test_a_container_has_the_memory_it_was_given(monkeypatch, tmp_path):
    whole = machine_memory()
    given = tmp_path / "memory.max"
    monkeypatch.setattr(dense_memory, "CGROUP", given)
    assert machine_memory() >= whole  # no such file
    given.write_text("max\n")
    assert machine_memory() >= whole
    given.write_text("123456\n")
    assert machine_memory() == 123456
