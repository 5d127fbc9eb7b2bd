from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import Bunch

import candidly
from candidly import covering_rate, datasets, imbalance_factor, labelling_error
from candidly.datasets.images import equalise
from candidly.datasets.store import data_folder
from candidly.solvers import CandidateSets, Solution, Status, Trace


def test_metrics_on_hand_worked_labels():
    assert labelling_error([1, 2, 3, 4], [1, 2, 3, 0]) == 0.25
    assert covering_rate([{1, 2}, {1}, {3}], [1, 2, 3]) == pytest.approx(2 / 3)
    assert covering_rate([{1}, {1}], [1, 2], sample_weight=[1, 3]) == 0.25
    assert imbalance_factor(np.array([[True, True], [True, False], [True, False]])) == 3
    with pytest.raises(ValueError, match="inconsistent"):
        labelling_error([1, 2], [1])


def test_digits_take_all_their_options():
    data = datasets.load(
        "digits", people=4, each=7, n_extra=2, ambiguous_fraction=0.5, random_state=1
    )
    assert data.X.shape == (28, 64)
    assert data.images.shape == (28, 8, 8)
    np.testing.assert_array_equal(np.bincount(data.y), 7)
    assert np.bincount(data.candidates.sizes).tolist() == [0, 14, 0, 14]
    assert data.groups is None
    assert data.candidates.contain(data.y).all()
    assert (
        datasets.load("digits", each=7, random_state=1).candidates
        == datasets.load("digits", each=7, random_state=1).candidates
    )
    assert datasets.load("digits", each=7, n_extra=1, cooccurrence=1.0).candidates.sizes.max() == 2
    assert data.citation.startswith("Alpaydin")
    assert data.terms
    for wrong in ({"people": 0}, {"people": 11}, {"each": 1.5}, {"each": 1000}):
        with pytest.raises(ValueError, match="is a whole number from 1 to"):
            datasets.load("digits", **wrong)
    with pytest.raises(TypeError, match="the data set 'lost' takes no options, not 'random_state'"):
        datasets.load("lost", random_state=1)
    with pytest.raises(ValueError, match="no data set 'faces'; there are digits"):
        datasets.load("faces")


def test_equalised_images_spread_over_zero_to_one_in_the_same_order():
    rng = np.random.default_rng(0)
    images = rng.integers(40, 60, size=(3, 9, 9))
    images[2] = 7
    result = equalise(images)
    assert (result[2] == 0).all()
    for image, out in zip(images[:2], result[:2], strict=True):
        assert out.min() == 0
        assert out.max() == 1
        order = np.argsort(image, axis=None, kind="stable")
        assert (np.diff(out.ravel()[order]) >= 0).all()


def test_a_missing_file_says_where_it_comes_from_and_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"lost\.mat is not there.*Cour.*CANDIDLY_DATA"):
        datasets.load("lost")


def test_a_wrong_file_is_refused_by_its_checksum(tmp_path, monkeypatch):
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    (tmp_path / "pll").mkdir()
    (tmp_path / "pll" / "lost.mat").write_bytes(b"not it")
    with pytest.raises(ValueError, match="SHA-256"):
        datasets.load("lost")


def test_without_a_folder_named_the_cache_is_used(tmp_path, monkeypatch):
    monkeypatch.delenv("CANDIDLY_DATA", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "candidly"


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "shape", "classes", "candidates"),
    [
        ("lost", (1122, 108), 16, 2.23),
        ("msrcv2", (1758, 48), 23, 3.16),
        ("birdsong", (4998, 38), 13, 2.18),
        ("pie", (2856, 1024), 68, 4),
        ("fiw10b", (500, 2475), 10, 4),
        ("orl", (400, 1024), 40, 4),
    ],
)
def test_real_sets_are_what_they_are_known_to_be(name, shape, classes, candidates):
    data = datasets.load(name)
    assert data.X.shape == shape
    assert data.candidates.shape == (shape[0], classes)
    assert data.candidates.sizes.mean() == pytest.approx(candidates, abs=0.01)
    assert data.candidates.contain(data.y).all()
    np.testing.assert_array_equal(data.classes, data.candidates.classes)
    if name in ("pie", "fiw10b", "orl"):
        assert data.X.min() == 0
        assert data.X.max() == 1


def test_calibration_error_and_risk_coverage_are_those_worked_by_hand():
    right = [True, False, True, True, False]
    sure = [0.95, 0.95, 0.55, 0.55, 0.15]
    # Bins of a tenth: (0.95 claimed, 1/2 right) x 2, (0.55, 1) x 2, (0.15, 0) x 1.
    expected = (2 * 0.45 + 2 * 0.45 + 0.15) / 5
    assert candidly.expected_calibration_error(right, sure, bins=10) == pytest.approx(expected)
    # Errors of the first two count half each, since nothing orders them.
    risk = np.mean([0.5, 1 / 2, 1 / 3, 1 / 4, 2 / 5])
    assert candidly.risk_coverage_area(right, sure) == pytest.approx(risk)


@pytest.mark.parametrize("measure", ["expected_calibration_error", "risk_coverage_area"])
def test_confidence_that_is_none_is_refused(measure):
    with pytest.raises(ValueError, match="from 0 to 1"):
        getattr(candidly, measure)([True], [1.2])
    with pytest.raises(ValueError, match="True or False"):
        getattr(candidly, measure)([3], [0.2])


def test_features_and_candidates_are_resolved_as_a_data_set_is():
    data = datasets.load("digits", people=3, each=10, n_extra=1, random_state=0)
    rows = candidly.resolve(data, "RowSpace").rows
    assert candidly.resolve(data.X, data.candidates, "RowSpace").rows == rows
    assert candidly.resolve(data.X, data.candidates.sets(), method="RowSpace").rows == rows
    assert candidly.resolve(data, method="RowSpace").rows == rows


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.zeros((2, 1)),), "ndarray is no data set, and there are no candidates"),
        ((np.zeros((2, 1)), "RowSpace"), r"use resolve\(X, y, 'RowSpace'\)"),
        ((Bunch(X=[[0]], candidates=[0]), [0]), "a data set has its candidates"),
        ((Bunch(data=[[0]], target=[0]),), r"but data, target; use resolve\(X, y\)"),
    ],
)
def test_what_cannot_be_resolved_is_told(given, message):
    with pytest.raises(TypeError, match=message):
        candidly.resolve(*given)


def test_a_solution_is_shown_in_a_line():
    sets = CandidateSets.of_mask(np.ones((3, 20), dtype=bool))
    labels = sets.uniform()
    short = repr(Solution(labels, labels, sets, Status.DONE, Trace(), doubts=("why",)))
    assert short == "Solution(DONE, labels (3, 20), 0 iterations, 1 doubts)"
    whole = Solution(labels, labels, sets, Status.CONVERGED, Trace(), features=np.zeros((5, 20)))
    assert repr(whole) == "Solution(CONVERGED, labels (3, 20), features (5, 20), 0 iterations)"
