"""Open-set labelling by its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import multivariate_t
from sklearn.base import clone

from candidly import (
    ICE,
    CandidateClassifier,
    Candidates,
    DoubtfulLabelsWarning,
    OpenSet,
    datasets,
)
from candidly.estimators.open_set import Recognition
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.open_set import OpenSetLabelling
from candidly.solvers.open_set_shard import OpenSetShard
from candidly.solvers.two_covariances import TAIL, Covariances
from problems import open_entries


def entries_of(mask, groups, null):
    """Return entries of candidates (c x N) with equal priors."""
    return open_entries(mask / mask.sum(axis=0), mask, groups, null)


def test_likeness_is_the_ratio_against_anybody_with_the_photo_left_out():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(30), 8)
    X = (rng.normal(size=(30, 4)) * 3)[who] + rng.normal(size=(240, 4))
    X = (X - X.mean(axis=0)).T
    mask = np.zeros((31, 240), bool)
    mask[who, np.arange(240)] = True
    mask[5] = mask[30] = True
    solver = OpenSetLabelling(damping=0.7, shrinkage=0, max_iter=1)

    def likeness(groups):
        entries = entries_of(mask, groups, 30)
        start = (who[entries.instance] == entries.name).astype(float)
        return entries.matrix(solver.solve(X, entries, start=start).likeness).toarray()

    found = likeness(np.arange(240))
    covariances = Covariances.of(X, np.eye(30)[:, who])
    Z, b = covariances.coordinates(X.T), covariances.between
    j, i = 100, 5  # a face of somebody else, compared with the eight faces of name 5
    v = b / (8 * b + 1)
    somebody = multivariate_t(v * Z[who == i].sum(axis=0), np.diag(1 + v), df=TAIL)
    anybody = multivariate_t(np.zeros(4), np.diag(1 + b), df=TAIL)
    expected = 0.7 * (somebody.logpdf(Z[j]) - anybody.logpdf(Z[j]))
    assert found[i, j] == pytest.approx(expected)
    assert np.mean(found[who, np.arange(240)] > 0) > 0.95
    assert found[5, who != 5].mean() < -1
    groups = np.arange(240)
    groups[who == 5] = groups[100]  # the eight faces are in its own photo: no evidence at all
    assert likeness(groups)[5, 100] == 0


def test_two_faces_and_a_name_mentioned_once_stay_undecided():
    rng = np.random.default_rng(0)
    who = np.array([*np.repeat(np.arange(20), 4), 20, 21])
    X = (rng.normal(size=(22, 6)) * 3)[who] + rng.normal(size=(82, 6))
    sets = [{f"person {p}"} for p in who[:80]] + [{"once"}, {"once"}]
    photos = [*range(80), 80, 80]
    y = Candidates.from_sets(sets, null="nobody", groups=photos)
    model = OpenSet().fit(X, y)
    once = model.label_distributions_[80:, list(model.classes_).index("once")]
    np.testing.assert_allclose(once, 0.45, atol=0.1)


def test_how_often_names_are_shown_is_believed_two_thirds():
    mask = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]], bool)
    entries = entries_of(mask, np.array([0, 0, 1, 2, 2]), 2)
    features = LabelledFeatures(np.zeros((5, 2)), entries)
    shard = OpenSetShard(features, OpenSetLabelling(shown=0.9))
    R = np.where(entries.name == 1, 0.7, [0.5, 0.25, 0, 0, 0])
    asked = shard.divide(entries.mentions > 1, None, np.array([0, 3])).sums["asked"]
    found = R[shard.state["several"][entries.name]].sum() / asked
    assert found == pytest.approx(0.25)  # of three mentions; name 1 has only one
    shown = shard.shown(0.25)
    several = entries.mentions[entries.mentioned] > 1
    np.testing.assert_allclose(shown[several], (0.9 + 2 * 0.25) / 3)
    np.testing.assert_allclose(shown[~several], 0.9)


def test_names_that_are_mostly_absent_are_given_less_once_that_is_seen():
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(400, 24)) * 2
    there = rng.random(300) < 0.5  # else the face is of somebody nobody mentions
    who = np.where(there, np.arange(300) % 6, np.arange(300) + 6)
    X = centres[who] + rng.normal(size=(300, 24))
    names = [f"person {k % 6}" for k in range(300)]
    candidates = Candidates.from_sets([{n} for n in names], null="nobody", groups=range(300))
    y = np.where(there, names, "nobody")
    learnt = OpenSet().fit(X, candidates)
    assumed = OpenSet(learn_shown=False).fit(X, candidates)
    assert np.mean(learnt.transduction_ != y) < np.mean(assumed.transduction_ != y) - 0.2


@pytest.fixture(scope="module")
def album():
    """People in photos of one and two, with one photo whose second person is named once."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(12, 8)) * 3
    who, photos, sets = [], [], []
    for k in range(60):
        a, b = rng.permutation(10)[:2]
        shown = [a, b] if k % 2 else [a]
        for person in shown:
            who.append(person)
            photos.append(k)
            sets.append({f"person {p}" for p in shown})
    for person in (0, 10):  # person 10 is mentioned here only
        who.append(person)
        photos.append(60)
        sets.append({"person 0", "person 10"})
    who.append(11)  # and person 11 nowhere
    photos.append(61)
    sets.append({"person 1"})
    X = centres[who] + rng.normal(size=(len(who), 8))
    candidates = Candidates.from_sets(sets, null="nobody", groups=photos)
    y = np.array([f"person {p}" if p < 11 else "nobody" for p in who])
    return X, candidates, y


def test_people_named_once_are_named_by_elimination_and_strangers_are_nobody(album):
    X, candidates, y = album
    model = OpenSet().fit(X, candidates)
    assert np.mean(model.transduction_ != y) < 0.05
    assert model.transduction_[-3:].tolist() == ["person 0", "person 10", "nobody"]
    sure, eliminated = model.label_distributions_[-3].max(), model.label_distributions_[-2].max()
    assert eliminated < sure  # by elimination only, and it says so


def test_a_decision_binds(album):
    X, candidates, _ = album
    sets = candidates.sets()
    sets[-1] = {"person 1"}
    decided = Candidates.from_sets(
        sets, null="nobody", decided=[len(sets) - 1], groups=candidates.groups
    )
    assert OpenSet().fit(X, decided).transduction_[-1] == "person 1"


def test_priors_bind_as_far_as_they_are_sure(album):
    X, candidates, _ = album
    priors = candidates.priors
    nobody, eliminated = candidates.null_column, -2
    priors[eliminated, nobody] = 1e4
    tilted = Candidates.from_priors(
        priors, classes=candidates.classes, null="nobody", groups=candidates.groups
    )
    assert OpenSet().fit(X, tilted).transduction_[eliminated] == "nobody"


def test_without_a_null_class_everybody_gets_a_name(album):
    X, candidates, y = album
    known = y != "nobody"
    sets = [names - {"nobody"} for names in candidates[known].sets()]
    closed = Candidates.from_sets(sets, groups=candidates.groups[known])
    model = OpenSet().fit(X[known], closed)
    assert np.mean(model.transduction_ != y[known]) < 0.05


def test_the_one_call_takes_it_where_there_is_a_null_class(album):
    X, candidates, _ = album
    model = CandidateClassifier().fit(X, candidates)
    assert model.best_params_["labeller"] == "OpenSet"
    np.testing.assert_array_equal(model.transduction_, OpenSet().fit(X, candidates).transduction_)
    assert model.predict_proba(X).shape == candidates.shape


def test_new_faces_get_the_names_that_were_found_and_strangers_none():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 16)) * 2
    who = np.r_[np.repeat(np.arange(10), 12), 10 + np.arange(20)]  # twenty are seen once
    X = centres[who] + rng.normal(size=(len(who), 16))
    sets = [{f"person {k}" if k < 10 else "nobody"} for k in who]
    model = OpenSet().fit(X, Candidates.from_sets(sets, null="nobody", groups=range(len(who))))
    asked = np.r_[np.repeat(np.arange(10), 5), np.repeat(np.arange(30, 40), 5)]
    new = centres[asked] + rng.normal(size=(100, 16))
    y = np.array([f"person {k}" if k < 10 else "nobody" for k in asked])
    assert np.mean(model.predict(new) == y) > 0.9
    P = model.predict_proba(new)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(new))


def made_people(people, each, strangers, seed=0):
    """Features of people, several of each, and of strangers seen once; who they are, 99 nobody."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(people + strangers, 16)) * 2
    who = np.r_[np.repeat(np.arange(people), each), people + np.arange(strangers)]
    X = centres[who] + rng.normal(size=(len(who), 16))
    return X, np.where(who < people, who, 99)


@pytest.mark.parametrize("people", [1, 2, 10])
def test_strangers_are_nobody_however_few_are_known(people):
    X, y = made_people(people, 12, 40)
    learn = np.arange(len(y)) < 12 * people + 20
    model = Recognition(null=99).fit(X[learn], y[learn])
    assert np.mean(model.predict(X[~learn]) == 99) > 0.8
    assert np.mean(model.predict(X[learn]) == y[learn]) > 0.8


@pytest.mark.parametrize("row", [0, -1], ids=["of a person", "of nobody"])
def test_no_weight_makes_others_unknown(row):
    X, y = made_people(10, 12, 20)
    weight = np.ones(len(y))
    weight[row] = 1e4
    model = Recognition(null=99).fit(X, y, sample_weight=weight)
    assert len(model.recogniser_.names) == 10
    rare = np.where(y == 3, 0.03, 1.0)
    model = Recognition(null=99).fit(X, y, sample_weight=rare)
    assert np.mean(model.predict(X[y == 3]) == 3) > 0.5
    few = np.where(y == 99, 1.0, 0.001)  # weights are relative: a thousand strangers to a person
    assert len(Recognition(null=99).fit(X, y, sample_weight=few).recogniser_.names) == 10


def test_how_often_names_are_shown_is_no_question_without_nobody():
    X, y = made_people(6, 15, 0)
    sets = [{f"p{k}", f"p{(k + 1) % 6}"} for k in y]
    sets[0] = {"p0", "once"}
    candidates = Candidates.from_sets(sets)
    one, other = (
        OpenSet(learn_shown=learn).fit(X, candidates).label_distributions_
        for learn in (True, False)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "model", [CandidateClassifier(), ICE(OpenSet())], ids=["CandidateClassifier", "ICE"]
)
def test_predict_after_captions_that_leave_it_open(model):
    X, y = made_people(8, 14, 40)
    names = np.array([f"person {k}" if k < 99 else "unknown" for k in y])
    photos = np.random.default_rng(0).permutation(len(y)) // 2
    news = datasets.simulate_captions(names, photos, named=1.0, absent=0.3, random_state=0)
    learn = photos < 60
    place = list(news.candidates.classes).index("unknown")  # 40 strangers under one name
    with pytest.warns(DoubtfulLabelsWarning, match=f"do not look alike, .* classes_: {place}$"):
        model = clone(model).fit(X[learn], news.candidates[learn])
    known = ~learn & (y < 99)
    assert np.mean(model.predict(X[known]) == names[known]) > 0.8


@pytest.mark.parametrize(
    "y",
    [[0, 1, 2, 3, 3, 3], [0, 0, 1, 1, 3, 3], [0, 0, 0, 1, 1, 1]],
    ids=["nobody twice", "two people", "no stranger"],
)
def test_few_people_and_features_that_say_nothing_are_no_problem(y):
    X = np.random.default_rng(0).normal(size=(6, 3))
    for features in (X, np.ones((6, 3)), X * 1e150, X * 1e-150):
        model = Recognition(null=3).fit(features, np.array(y))
        P = model.predict_proba(features)
        assert P.shape == (6, len(set(y) | {3}))
        np.testing.assert_allclose(P.sum(axis=1), 1)
    labels = Recognition(null=3).fit(X, np.array(y), sample_weight=np.full(6, 7.0)).predict(X)
    np.testing.assert_array_equal(labels, Recognition(null=3).fit(X, np.array(y)).predict(X))


@pytest.mark.slow
@pytest.mark.real_data
def test_newsroom_without_an_argument():
    data = datasets.load("newsroom")
    model = CandidateClassifier(classifier=None).fit(data.X, data.candidates)
    wrong = model.transduction_ != data.y
    photo = dict(zip(data.groups.tolist(), data.candidates.sets(), strict=True))
    mentioned = Counter(name for names in photo.values() for name in names)
    null = data.y == "nobody"
    often = np.array([mentioned[name] > 1 for name in data.y.tolist()]) & ~null
    assert 100 * wrong.mean() <= 13.5
    assert 100 * wrong[often].mean() <= 2
    assert 100 * wrong[null].mean() <= 15
