"""Candidate sets that may miss the true label."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from candidly import CandidateClassifier, Candidates, CannotLink, datasets, labelling_error
from candidly.selection.set_noise import SetNoise, Suspects, share_missed
from candidly.solvers.dense_memory import TooDenseError


@pytest.fixture(scope="module")
def broken():
    """Digits of which a fifth of the sets miss the label, and which sets those are."""
    data = datasets.load("digits", each=30, people=6, n_extra=1, random_state=0)
    rng, mask = np.random.default_rng(0), data.candidates.mask.copy()
    rows = rng.choice(len(data.y), len(data.y) // 5, replace=False)
    for j in rows:
        other = rng.choice(np.flatnonzero(~mask[j]))
        mask[j, data.candidates.classes == data.y[j]], mask[j, other] = False, True
    return data.X, data.y, Candidates.from_mask(mask, classes=data.candidates.classes), rows


def _fit(set_noise, X, sets, **options):
    model = CandidateClassifier(widths=(4.0,), ridges=(1e-3,), set_noise=set_noise, random_state=0)
    return model.fit(X, sets, **options)


@pytest.fixture(scope="module")
def found(broken):
    X, _, sets, _ = broken
    return _fit("auto", X, sets)


def test_auto_finds_the_sets_that_miss_the_label(broken, found):
    X, y, sets, rows = broken
    without = labelling_error(y, _fit(0.0, X, sets).transduction_)
    assert without >= 0.2
    assert labelling_error(y, found.transduction_) < without / 2
    assert 0.1 < found.set_noise_ < 0.3
    first = found.suspect_.rows[: len(rows)]
    assert np.isin(first, rows).mean() > 0.75


def test_the_estimated_error_has_the_doubt_about_sets_in_it(broken, found):
    _, y, _, _ = broken
    error, estimate = labelling_error(y, found.transduction_), found.error_estimate_
    assert estimate.low <= error <= estimate.high
    assert estimate.high - estimate.low > found.set_noise_
    assert estimate.error >= error


def test_suspects_are_ranked_and_have_a_label_outside_their_set(found, broken):
    _, _, sets, _ = broken
    suspects = found.suspect_
    assert (np.diff(suspects.probability) <= 0).all()
    column = {name: k for k, name in enumerate(found.classes_.tolist())}
    proposed = [column[name] for name in suspects.proposed.tolist()]
    assert not sets.mask[suspects.rows, proposed].any()
    assert np.allclose(found.label_distributions_.sum(axis=1), 1)


def test_a_proposed_label_is_taken_where_it_is_likelier_than_every_candidate(found, broken):
    _, _, sets, _ = broken
    best = found.label_distributions_.argmax(axis=1)
    assert (found.transduction_ == found.classes_[best]).all()
    assert (~sets.mask[np.arange(len(best)), best]).sum() > 10


def test_a_known_share_is_kept(broken):
    X, y, sets, _ = broken
    model = _fit(0.2, X, sets)
    assert model.set_noise_ == 0.2
    assert labelling_error(y, model.transduction_) < 0.12


def test_clean_sets_stay_as_they_are():
    data = datasets.load("digits", each=30, people=6, n_extra=2, random_state=0)
    auto, plain = (_fit(noise, data.X, data.candidates) for noise in ("auto", 0.0))
    assert auto.set_noise_ == 0
    assert len(auto.suspect_) == 0
    assert (auto.transduction_ == plain.transduction_).all()
    assert np.array_equal(auto.label_distributions_, plain.label_distributions_)
    assert not hasattr(plain, "suspect_")


def test_rows_count_all_instances_also_where_some_have_no_weight(broken):
    X, _, sets, rows = broken
    weight = np.ones(len(X))
    weight[:20] = 0
    suspects = _fit(0.2, X, sets, sample_weight=weight).suspect_
    assert suspects.rows.min() >= 20
    assert np.isin(suspects.rows[:15], rows).mean() > 0.85


def test_constraints_hold_for_proposed_labels(broken, found):
    X, _, sets, _ = broken
    same = np.flatnonzero(found.transduction_ == found.transduction_[found.suspect_.rows[0]])
    pair = [int(found.suspect_.rows[0]), int(same[same != found.suspect_.rows[0]][0])]
    model = _fit("auto", X, sets, constraints=[CannotLink([pair])])
    assert model.transduction_[pair[0]] != model.transduction_[pair[1]]


def test_a_null_class_is_refused():
    X, sets = np.eye(4), [["a", "nobody"]] * 4
    with pytest.raises(ValueError, match="null is what means"):
        _fit("auto", X, Candidates.from_sets(sets, null="nobody"))


@pytest.mark.parametrize("wrong", [-0.1, 1.0, "much", None])
def test_only_a_share_or_auto_is_taken(wrong):
    with pytest.raises(InvalidParameterError, match="set_noise"):
        _fit(wrong, np.eye(4), [["a"], ["b"], ["a"], ["b"]])


def test_sets_of_all_classes_miss_nothing():
    mask = np.ones((3, 60), dtype=bool)
    mask[:, :30] = np.arange(3)[:, None] == np.arange(30) % 3
    hidden = np.full((3, 60), 1 / 3)
    model = SetNoise.of(hidden, mask / mask.sum(axis=0), mask, 0.3)
    outside = np.where(mask, 0, model.posterior(hidden, mask / mask.sum(axis=0), mask))
    assert outside[:, 30:].sum() == 0
    # Without features the chance that a set misses the label is the share itself.
    assert outside[:, 0].sum() == pytest.approx(0.3, abs=0.01)


def test_suspects_leave_out_what_is_improbable():
    labels = np.array([[0.95, 0.3], [0.05, 0.7]])
    suspects = Suspects.of(labels, np.array([[True, True], [False, False]]), np.array(["a", "b"]))
    assert suspects.rows.tolist() == [1]
    assert suspects.proposed.tolist() == ["b"]


def _sure(confidence, outside):
    """Predictions of the first of three classes, some of them outside of their sets of two."""
    n = len(confidence)
    mask = np.tile([[True], [True], [False]], n)
    mask[:, outside] = [[False], [True], [True]]
    rest = (1 - confidence) / 2
    return np.stack([confidence, rest, rest]), mask


def test_only_what_the_surest_predictions_miss_is_ascribed_to_the_sets():
    confidence = np.repeat([0.99, 0.5], [300, 700])
    everywhere, unsure = np.arange(0, 1000, 10), np.arange(300, 1000, 4)
    assert share_missed(*_sure(confidence, everywhere)) == 0.1
    assert share_missed(*_sure(confidence, unsure)) == 0
    assert share_missed(*_sure(np.full(1000, 0.85), everywhere)) == 0  # no more than are unsure
    q, mask = _sure(confidence, everywhere)
    other = np.arange(1000) % 2  # half of the labels found are another candidate
    assert share_missed(q, mask, np.zeros(1000, dtype=int)) == 0.1
    assert share_missed(q, mask, other) == 0


def test_few_that_miss_are_no_evidence_and_sets_of_all_classes_none():
    confidence = np.full(100, 0.99)
    assert share_missed(*_sure(confidence, np.arange(0, 100, 25))) == 0
    q, mask = _sure(confidence, np.arange(0, 100, 5))
    assert share_missed(q, mask) == pytest.approx(0.2, abs=0.02)
    assert share_missed(np.tile(q, 9), np.hstack([mask, np.ones((3, 800), bool)])) == (
        share_missed(q, mask)
    )
    assert share_missed(q, np.ones((3, 100), dtype=bool)) == 0


def test_it_refuses_before_matrices_of_all_labels_outgrow_the_memory(monkeypatch):
    monkeypatch.setattr("candidly.solvers.dense_memory.machine_memory", lambda: 4 * 10**6)
    X = np.random.default_rng(0).normal(size=(400, 3))
    candidates = [{k % 50, (k + 1) % 50} for k in range(400)]
    with pytest.raises(TooDenseError, match=r"set_noise needs 20 matrices of 50 x 400.*leave"):
        CandidateClassifier(set_noise=0.1).fit(X, candidates)
