"""Ties of ICE and changes of the dictionaries: what is counted, and that documents have it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from benchmarks.paper import dictionary_changes, ice_ties
from candidly import MCar, methods
from candidly.datasets import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def digits():
    return load("digits", people=5, each=20, n_extra=2, random_state=0)


@pytest.mark.parametrize(
    ("benchmark", "name"), [(ice_ties, "ice-ties"), (dictionary_changes, "dictionary-changes")]
)
def test_the_document_has_the_stored_figures(benchmark, name):
    stored = json.loads((ROOT / f"results/paper/{name.replace('-', '_')}.json").read_text())
    text = (ROOT / "docs/methods.md").read_text().split(f"<!-- {name}: begin -->\n")[1]
    assert text.split(f"<!-- {name}: end -->")[0] == benchmark.table(stored["rows"])
    assert stored["command"].startswith(f"python -m {benchmark.__name__}")


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
def test_zeros_are_counted_by_instance(digits):
    found = ice_ties.zeros(MCar(classifier=None), digits)
    soft = MCar(classifier=None).fit(digits.X, digits.candidates).label_distributions_
    listed = np.where(digits.candidates.mask, soft, np.inf)
    assert found["ambiguous"] == 100
    assert found["eliminated"] == 50
    assert found["zero"] == (listed.min(axis=1) == 0).sum()
    assert found["two_zeros"] == ((listed == 0).sum(axis=1) > 1).sum()


def test_draws_of_ties_differ_only_where_there_are_ties(digits):
    unambiguous = Bunch(X=digits.X, y=digits.y, candidates=digits.candidates.mask)
    assert len(ice_ties.errors(MCar(), unambiguous, "random", draws=3)) == 3
    sure = Bunch(X=digits.X, y=digits.y, candidates=digits.y)
    assert ice_ties.errors(MCar(), sure, "random", draws=2, noise=1e-12) == [0, 0]


def test_features_of_new_rows_are_learnt_on_the_others():
    X, new = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])
    change = dictionary_changes.Change("centred", features=dictionary_changes.centred)
    np.testing.assert_array_equal(dictionary_changes._featured(change, X, new), [[-2, -3]])
    plain = dictionary_changes.Change("none")
    assert dictionary_changes._featured(plain, X, new) is new


@pytest.mark.parametrize("method", list(dictionary_changes.CHANGES))
def test_every_change_is_one_of_parameters_that_the_method_has(method):
    for change in dictionary_changes.CHANGES[method]:
        methods.get(method).set_params(**change.params)._validate_params()
