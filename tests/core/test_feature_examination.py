"""Features that cannot be meant: rows far outside, codes for missing values, NaN."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from candidly import CandidateClassifier, Candidates, datasets, labelling_error
from candidly.base import BrokenFeaturesWarning
from candidly.datasets import names
from candidly.datasets.store import SOURCES, available
from candidly.estimators.feature_examination import examine, listed
from problems import seeds

ORDINARY = {
    "normal": lambda rng, n: rng.normal(size=(n, 8)) * 10.0 ** rng.integers(-6, 6, size=8),
    "lognormal": lambda rng, n: rng.lognormal(0, 2, (n, 8)),
    "Student": lambda rng, n: rng.standard_t(3, (n, 8)),
    "text": lambda rng, n: (rng.random((n, 200)) < 0.01).astype(float),
    "one-hot": lambda rng, n: np.eye(12)[rng.integers(12, size=n)],
    "counts": lambda rng, n: rng.poisson(rng.gamma(0.1, 5, (n, 30))).astype(float),
    "sparse amounts": lambda rng, n: (rng.random((n, 3)) < 0.03) * rng.lognormal(0, 1, (n, 3)),
    "amounts in one column": lambda rng, n: np.c_[
        rng.normal(size=(n, 4)), (rng.random(n) < 0.08) * rng.lognormal(8, 1, n)
    ],
    "constant": lambda rng, n: np.ones((n, 3)),
    "two classes far apart": lambda rng, n: (
        rng.normal(size=(n, 5)) + 1e5 * (np.arange(n) < 0.15 * n)[:, None]
    ),
}


@given(seeds, st.sampled_from(sorted(ORDINARY)), st.sampled_from([3, 60, 400]))
def test_ordinary_features_are_left_as_they_are(seed, kind, n):
    X = ORDINARY[kind](np.random.default_rng(seed), n)
    examination, same = examine(X)
    assert same is X
    assert examination.warnings == ()


@pytest.mark.real_data
@pytest.mark.parametrize("name", names())
def test_real_features_are_left_as_they_are(name):
    if name in SOURCES and not available(name):
        pytest.skip(f"needs the files of {name} in the folder that CANDIDLY_DATA names")
    X = datasets.load(name).X
    examination, same = examine(X)
    assert same is X
    assert examination.warnings == ()


@given(seeds, st.sampled_from([1e4, 1e8, 1e30]), st.integers(1, 6), st.booleans())
def test_rows_in_another_unit_are_found_and_become_like_the_others(seed, factor, n, single):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6)).astype(np.float32 if single else np.float64)
    rows = np.sort(rng.choice(80, n, replace=False))
    broken = X.copy()
    broken[rows] *= factor
    examination, repaired = examine(broken)
    np.testing.assert_array_equal(examination.broken_rows, rows)
    assert repaired.dtype == X.dtype
    others = np.delete(np.arange(80), rows)
    np.testing.assert_array_equal(repaired[others], X[others])
    cosine = (repaired * X).sum(axis=1) / np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(cosine, np.linalg.norm(repaired, axis=1), rtol=1e-5)
    assert np.linalg.norm(repaired[rows], axis=1).max() < 10


@given(seeds)
def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    X[:3] *= 1e6
    X[3:9, 2] = -9999
    order = rng.permutation(120)
    before, repaired = examine(X)
    after, moved = examine(X[order])
    np.testing.assert_array_equal(np.sort(order[after.broken_rows]), before.broken_rows)
    np.testing.assert_array_equal(moved, repaired[order])
    assert [code.value for code in after.coded] == [-9999]


def test_one_bad_cell_does_not_cost_the_rest_of_its_row():
    X = np.random.default_rng(0).normal(size=(100, 6))
    broken = X.copy()
    broken[5, 2], broken[70, 0] = 1e20, -3e12
    examination, repaired = examine(broken)
    assert examination.broken_rows.tolist() == [5, 70]
    assert len(examination.empty_rows) == 0
    changed = np.argwhere(repaired != X).tolist()
    assert changed == [[5, 2], [70, 0]]
    assert repaired[5, 2] == examination.medians[2]


def test_a_huge_value_in_a_constant_column_is_found():
    X = np.random.default_rng(0).normal(size=(100, 6))
    X[:, 3] = 5
    X[8, 3] = 1e20
    examination, repaired = examine(X)
    assert examination.broken_rows.tolist() == [8]
    assert examination.constant_columns.tolist() == [3]
    assert (repaired[:, 3] == 5).all()


def test_codes_are_missing_values():
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[:40, 1], X[50:70, 3], X[90, 3] = -9999, 1e20, -9999
    examination, repaired = examine(X)
    assert [(c.value, c.cells, c.columns.tolist()) for c in examination.coded] == [
        (-9999, 41, [1, 3]),
        (1e20, 20, [3]),
    ]
    assert len(examination.broken_rows) == 0
    assert (repaired[:40, 1] == np.median(X[40:, 1])).all()
    np.testing.assert_array_equal(examination.fill(X), repaired)
    assert "-9999 stands in 41 cells of X" in examination.warnings[0]
    assert "columns 1, 3" in examination.warnings[0]


@pytest.mark.parametrize("value", [0.0, 1.0, 5.0, 99.0])
def test_a_value_that_may_be_real_is_no_code(value):
    X = np.random.default_rng(0).uniform(0, 30 if value == 99 else 1e-3, size=(100, 4))
    X[:30, 1] = value
    assert examine(X)[0].coded == ()


def test_rows_filled_with_a_code_say_nothing():
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[[3, 50]] = -999
    examination, repaired = examine(X)
    assert examination.broken_rows.tolist() == examination.empty_rows.tolist() == [3, 50]
    np.testing.assert_array_equal(repaired[3], examination.medians)


def test_constant_and_duplicated_columns_are_noted_without_a_warning():
    X = np.random.default_rng(0).normal(size=(50, 6))
    X[:, 1], X[:, 4], X[:, 5] = 3, X[:, 2], X[:, 2]
    examination, same = examine(X)
    assert same is X
    assert examination.warnings == ()
    assert examination.notes == ("constant: column 1", "equal to one before: columns 4, 5")


def test_rows_that_do_not_count_teach_nothing():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[::2] *= 1e9
    X[0, 0] = np.nan
    examination, repaired = examine(X, np.arange(60) % 2 == 1)
    assert len(examination.broken_rows) == 0
    assert repaired[0, 0] == np.median(X[1::2, 0])
    np.testing.assert_array_equal(repaired[2:], X[2:])
    assert np.isnan(examination.distances[::2]).all()


def test_a_note_lists_ten_numbers():
    assert listed("row", range(10)).endswith("8, 9")
    assert listed("row", range(11)).endswith("8, 9 and 1 more")


# In the estimator


def fast(**options):
    return CandidateClassifier(widths=[4.0], ridges=[1e-3], random_state=0, **options)


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", each=30, n_extra=3, random_state=0)


@pytest.fixture(scope="module")
def broken(digits):
    """Digits of which every twentieth is in another unit."""
    X, rows = digits.X.copy(), np.arange(0, 300, 20)
    X[rows] *= 1000
    return X, rows


def test_broken_rows_do_no_harm_and_are_labelled_last(digits, broken):
    X, rows = broken
    with pytest.warns(BrokenFeaturesWarning, match=r"^15 rows .* rows 0, 20, .*, 180 and 5 more"):
        model = fast().fit(X, digits.candidates)
    assert labelling_error(digits.y, model.transduction_) < 0.03
    assert labelling_error(digits.y[rows], model.transduction_[rows]) < 0.2
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert (model.label_distributions_[~digits.candidates.mask] == 0).all()
    np.testing.assert_array_equal(model.feature_report_.broken_rows, rows)
    others = np.delete(np.arange(300), rows)
    alone = fast().fit(digits.X[others], digits.candidates[others])
    np.testing.assert_array_equal(model.transduction_[others], alone.transduction_)
    np.testing.assert_array_equal(model.predict(digits.X), alone.predict(digits.X))


def test_rows_that_say_nothing_get_their_most_frequent_candidate():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 30, 10])
    X = rng.normal(size=(100, 4)) + 5 * np.eye(3, 4)[y]
    sets = [{label} for label in y]
    X[[0, 99]] = -9999
    sets[0], sets[99] = {1, 2}, {0, 1, 2}
    with pytest.warns(BrokenFeaturesWarning):
        model = fast().fit(X, sets)
    assert model.transduction_[[0, 99]].tolist() == [1, 0]
    np.testing.assert_allclose(model.label_distributions_[99], [0.6, 0.3, 0.1], atol=0.02)


def test_constraints_hold_for_broken_rows_too(digits, broken):
    X, rows = broken
    sets = [set(range(10)) if j in rows else {int(digits.y[j])} for j in range(300)]
    groups = np.random.default_rng(1).permutation(300) // 2
    keep = np.array([len({digits.y[j] for j in np.flatnonzero(groups == g)}) == 2 for g in groups])
    candidates = Candidates([s for s, k in zip(sets, keep, strict=True) if k])
    with pytest.warns(BrokenFeaturesWarning):
        model = fast().fit(X[keep], candidates, groups=groups[keep])
    for group in np.unique(groups[keep]):
        assert len(set(model.transduction_[groups[keep] == group])) == 2
    assert labelling_error(digits.y[keep], model.transduction_) < 0.03


def test_a_classifier_of_the_user_gets_no_broken_rows(digits, broken):
    X, rows = broken
    with pytest.warns(BrokenFeaturesWarning):
        model = fast(classifier=KNeighborsClassifier(1)).fit(X, digits.candidates)
    assert model.classifier_.n_samples_fit_ == 300 - len(rows)


def test_weights_and_broken_rows_go_together(digits, broken):
    X, _ = broken
    weight = np.where(np.arange(300) % 30 == 7, 0.0, 2.0)
    with pytest.warns(BrokenFeaturesWarning):
        model = fast().fit(X, digits.candidates, sample_weight=weight)
    counted = weight > 0
    assert labelling_error(digits.y[counted], model.transduction_[counted]) < 0.05
    silent = np.flatnonzero(~counted)
    priors = digits.candidates.priors[silent]
    np.testing.assert_allclose(model.label_distributions_[silent], priors)


def test_nan_is_an_error_unless_it_is_imputed(digits):
    X = digits.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*impute=True"):
        fast().fit(X, digits.candidates)
    model = fast(impute=True).fit(X, digits.candidates)
    assert labelling_error(digits.y, model.transduction_) < 0.03
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(filled))
    assert model.feature_report_.notes[0] == (
        f"{np.isnan(X).sum()} NaN in X are replaced by the median of their column"
    )
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fast(impute=True).fit(X, digits.candidates)
    with pytest.raises(ValueError, match="NaN"):
        fast().fit(digits.X, digits.candidates).predict(np.full((1, 64), np.nan))


def test_codes_found_in_fit_are_filled_in_predict(digits):
    X = digits.X.copy()
    X[:100, 20] = -9999
    with pytest.warns(BrokenFeaturesWarning, match="-9999 stands in 100 cells .* column 20 "):
        model = fast().fit(X, digits.candidates)
    assert labelling_error(digits.y, model.transduction_) < 0.03
    new = digits.X.copy()
    new[:, 20] = -9999
    assert labelling_error(digits.y, model.predict(new)) < 0.05
