"""What a fit says about itself: the report of CandidateClassifier, and doubts of WMCar."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import candidly
from candidly import (
    CandidateClassifier,
    Candidates,
    DoubtfulLabelsWarning,
    MCar,
    WMCar,
    datasets,
    labelling_error,
)
from candidly.selection import family_cost
from candidly.selection.report import ChoiceSummary
from candidly.solvers import Status


def fitted(X, candidates, **parameters):
    parameters = {"widths": [4.0], "ridges": [1e-3], "random_state": 0, **parameters}
    return CandidateClassifier(**parameters).fit(X, candidates)


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", each=20, n_extra=2, random_state=0)


@pytest.fixture(scope="module")
def report(digits):
    return fitted(digits.X, digits.candidates).report()


def made_up(n, k, seed=0, spread=0.2, apart=()):
    """Return blobs with two or three candidates each; classes of ``apart`` have one centre."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    centres = rng.normal(size=(k, 2 * k))
    for one, other in apart:
        centres[other] = centres[one]
    X = centres[y] + spread * rng.normal(size=(n, 2 * k))
    mask = np.arange(k) == y[:, None]
    mask[np.arange(n)[:, None], rng.integers(k, size=(n, 2))] = True
    return X, mask, y


def test_there_is_no_report_before_a_fit():
    with pytest.raises(NotFittedError, match="not fitted"):
        CandidateClassifier().report()


def test_it_says_what_was_chosen_and_how_sure_it_is(digits, report):
    model = fitted(digits.X, digits.candidates)
    scores = {family.labeller: family for family in report.families}
    assert {"RowSpace", "neighbours", "frequency"} <= set(scores)
    tried = [params["labeller"] for params in model.cv_results_["params"]]
    assert scores["RowSpace"].settings == tried.count("RowSpace") > 2
    assert scores["RowSpace"].information > 0.5 > 0.1 > scores["frequency"].information
    assert scores["RowSpace"].agreement > 0.9 > 0.6 > scores["frequency"].agreement
    assert sum(family.weight for family in report.families) == pytest.approx(1)
    assert scores[report.chosen.split(":")[0]].weight > 0
    assert (report.follows, report.beats_floor, report.doubts) == ("label", True, ())
    assert report.agreement > 0.9
    assert report.error == model.error_estimate_
    assert sum(report.histogram) == report.n_rows == 200
    assert report.confidence == pytest.approx(candidly.base.confidence(model).mean())
    assert report.advice == ()
    text = str(report)
    assert f"estimated without truth: {model.error_estimate_}" in text
    assert "candidate sets follow the label" in text
    assert "frequency (floor)" in text
    assert "try:" not in text


def test_html_has_the_table_and_escapes_names():
    X, mask, _ = made_up(60, 3)
    mask[:, 1] = mask[:, 2] = mask[:, 1] | mask[:, 2]
    candidates = Candidates(mask, classes=["a", "<b>", "c"])
    page = fitted(X, candidates).report()._repr_html_()
    assert page.count("<tr>") == page.count("</tr>") > 3
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_the_picture_has_families_and_confidence(report, tmp_path):
    figure = report.plot()
    families, sure = figure.axes
    assert [tick.get_text() for tick in families.get_yticklabels()] == [
        family.labeller for family in report.families
    ]
    assert sum(bar.get_height() for bar in sure.patches) == report.n_rows
    figure.savefig(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 5000


def test_classes_that_are_always_together_are_told():
    X, mask, _ = made_up(60, 3)
    mask[:, 1] = mask[:, 2] = mask[:, 1] | mask[:, 2]
    report = fitted(X, Candidates(mask, classes=["a", "b", "c"])).report()
    assert report.inseparable == (("b", "c"),)
    assert "always together, cannot be told apart: b, c" in report.lines
    assert any("single label" in sentence for sentence in report.advice)


def test_classes_with_the_same_features_are_confused_and_no_others():
    X, mask, _ = made_up(400, 6, apart=[(1, 4)])
    report = fitted(X, Candidates(mask, classes=list("abcdef"))).report()
    assert [(pair.one, pair.other) for pair in report.confused] == [("b", "e")]
    assert 0.2 <= report.confused[0].share <= 0.6
    assert any(line.startswith("confused: b and e, ") for line in report.lines)
    assert any("merge classes" in sentence for sentence in report.advice)


def test_noise_does_not_beat_the_floor_and_it_says_so():
    _, mask, _ = made_up(200, 5)
    X = np.random.default_rng(1).normal(size=(200, 6))
    with pytest.warns(DoubtfulLabelsWarning, match="no family"):
        report = fitted(X, Candidates(mask)).report()
    assert not report.beats_floor
    assert report.confused == ()
    assert report.advice[0].startswith("no family beats the floor: check")
    assert any(line.startswith("doubtful: no family") for line in report.lines)


@pytest.mark.slow
def test_sets_that_follow_the_input_are_told():
    data = datasets.make_text_like(800, distractors="input", random_state=0)
    report = fitted(data.X, data.candidates).report()
    assert report.follows == "input"
    assert any("SelfLabelling" in sentence for sentence in report.advice)


def test_families_that_would_take_too_long_are_named(digits, monkeypatch):
    monkeypatch.setattr(family_cost, "MOST_WORK", 1e7)
    report = fitted(digits.X, digits.candidates).report()
    assert report.told_by_features is None
    assert "too long on all rows: logistic" in str(report)
    assert "the features themselves" not in str(report)
    assert {family.labeller for family in report.families} >= {"RowSpace", "neighbours"}


def test_broken_rows_are_told():
    X, mask, _ = made_up(120, 4)
    X[7] *= 1e7
    with pytest.warns(match="far outside"):
        report = fitted(X, Candidates(mask)).report()
    assert report.n_broken == 1
    assert any("row 7" in line for line in report.rows)
    assert "mend broken rows, or leave them out (1)" in report.advice


def test_suspect_sets_are_told_where_there_are_any(digits):
    model = fitted(digits.X, digits.candidates)
    assert model.report().suspects == ()
    model.suspect_ = ["row 3: 8", "row 5: 1"]
    assert "2 sets may lack the true label: row 3: 8; row 5: 1" in str(model.report())


def test_a_null_class_has_a_report_of_what_there_is():
    X, mask, _ = made_up(80, 4)
    candidates = Candidates(mask, classes=["a", "b", "c", "nobody"], null="nobody")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)
        model = CandidateClassifier(random_state=0).fit(X, candidates)
    report = model.report()
    assert report.chosen.startswith("OpenSet: ")
    assert (report.families, report.follows, report.error) == ((), None, None)
    assert report.doubts == model.solution_.doubts
    assert "confidence" in str(report)
    assert len(report.plot().axes) == 1
    assert "<table>" not in report._repr_html_()


def test_what_is_kept_for_the_report_is_small(digits):
    kept = fitted(digits.X, digits.candidates).choice_
    assert isinstance(kept, ChoiceSummary)
    assert len(repr(kept)) < 5000


def test_resolve_prints_the_report_and_nothing_twice(digits):
    found = candidly.resolve(digits, widths=[4.0], ridges=[1e-3])
    lines = found.summary
    assert set(found.model.report().lines) <= set(lines)
    assert len(set(lines)) == len(lines)


def small_digits(seed):
    return datasets.load("digits", people=5, each=20, n_extra=2, random_state=seed)


@pytest.mark.parametrize("method", [MCar, WMCar])
def test_sure_and_wrong_labels_are_doubted_and_right_ones_are_not(method):
    wrong = caught = 0
    for seed in range(12):
        data = small_digits(seed)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = method(classifier=None).fit(data.X, data.candidates)
        doubted = any(issubclass(each.category, DoubtfulLabelsWarning) for each in told)
        assert doubted == bool(model.solution_.doubts)
        assert doubted == (model.solution_.status is Status.DOUBTFUL)
        error = labelling_error(data.y, model.transduction_)
        assert not (doubted and error < 0.1), seed
        assert model.label_distributions_.max(axis=1).mean() > 0.9
        wrong, caught = wrong + (error > 0.2), caught + (error > 0.2 and doubted)
    assert wrong >= 3
    assert caught >= wrong - 1


def test_the_doubts_of_a_method_are_in_the_summary():
    with pytest.warns(DoubtfulLabelsWarning, match="no more about the candidate sets"):
        found = candidly.resolve(small_digits(0), "WMCar")
    assert any(line.startswith("doubtful: WMCar found labels") for line in found.summary)


def test_labels_that_were_given_are_not_doubted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), rng.integers(3, size=120)
    assert WMCar(classifier=None).fit(X, y).solution_.doubts == ()


@pytest.mark.real_data
@pytest.mark.parametrize("seed", range(3))
def test_good_labels_of_real_data_are_not_doubted(seed):
    lost = datasets.load("lost")
    rows = np.random.default_rng(seed).permutation(len(lost.X))[:700]
    assert not WMCar(classifier=None).fit(lost.X[rows], lost.candidates[rows]).solution_.doubts
