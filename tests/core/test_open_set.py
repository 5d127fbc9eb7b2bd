"""Open-set labelling by its definition."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.base import clone

from candidly import ICE, CandidateClassifier, Candidates, OpenSet, datasets
from candidly.estimators.open_set import Recognition
from candidly.solvers import matchings, open_set
from candidly.solvers.matchings import matchings_of
from candidly.solvers.open_set import OpenSetLabelling, two_covariances
from problems import seeds


@given(seeds, st.integers(1, 4), st.integers(0, 4), st.booleans())
def test_marginals_are_sums_over_all_ways_to_name_a_group(seed, faces, names, decided):
    rng = np.random.default_rng(seed)
    worth, free = rng.normal(size=(faces, names)), np.zeros(faces)
    if decided and names:
        free[0] = matchings.NEVER
    soft, rest, _ = matchings.exact(worth, free)
    expected = np.zeros((faces, names + 1))
    ways = 0
    for way in product(range(names + 1), repeat=faces):
        used = [name for name in way if name < names]
        if len(set(used)) == len(used):
            ways += 1
            weight = np.exp(sum(worth[j, i] if i < names else free[j] for j, i in enumerate(way)))
            for j, i in enumerate(way):
                expected[j, i] += weight
    assert ways == matchings_of(faces, names)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.column_stack([soft, rest]), expected, atol=1e-12)
    assert (soft.sum(axis=0) <= 1 + 1e-9).all()


def test_large_groups_use_a_name_about_once():
    rng = np.random.default_rng(0)
    soft, rest, _ = matchings.balanced(rng.normal(size=(30, 6)) * 2, np.zeros(30))
    assert (soft.sum(axis=0) <= 1.1).all()
    np.testing.assert_allclose(soft.sum(axis=1) + rest, 1)


def test_evidence_is_the_ratio_of_the_two_covariance_model():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(30), 8)
    X = (rng.normal(size=(30, 4)) * 3)[who] + rng.normal(size=(240, 4))
    X = (X - X.mean(axis=0)).T
    R = np.eye(30)[:, who]
    basis, b = two_covariances(X, R)
    solver = OpenSetLabelling(damping=1.0, shrinkage=0)
    mask = np.zeros((31, 240), bool)
    mask[who, np.arange(240)] = True
    mask[5] = mask[30] = True
    Y = np.vstack([R, np.zeros(240)])
    groups = np.arange(240)
    evidence, _ = solver._evidence(X, Y, mask, groups, 30, np.ones(240))
    Z = basis.T @ X
    j, i = 100, 5  # a face of somebody else, compared with the eight faces of name 5
    faces = Z[:, who == i]
    v = b / (8 * b + 1)
    mean = v * faces.sum(axis=1)
    expected = multivariate_normal(mean, np.diag(1 + v)).logpdf(Z[:, j])
    expected -= multivariate_normal(np.zeros(4), np.diag(1 + b)).logpdf(Z[:, j])
    assert evidence[i, j] == pytest.approx(expected)
    own = evidence[who, np.arange(240)]
    assert np.mean(own > 0) > 0.95
    assert evidence[5, who != 5].mean() < -1
    groups[who == 5] = groups[100]  # the eight faces are in its own photo: no evidence at all
    evidence, _ = solver._evidence(X, Y, mask, groups, 30, np.ones(240))
    assert evidence[5, 100] == 0


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


def test_labels_are_believed_half_on_how_often_names_are_shown():
    solver = OpenSetLabelling(shown=0.9)
    mask = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]], bool)
    mentions = open_set._mentions(mask, np.array([0, 0, 1, 2, 2]), null=2)
    np.testing.assert_array_equal(mentions, [3, 1, 0])  # two faces of a photo are one mention
    Y = np.array([[0.5, 0.25, 0, 0, 0], [0, 0, 0, 0, 0], [0.5, 0.75, 1, 1, 1]])
    shown = solver._shown(Y, mentions)
    np.testing.assert_allclose(shown[:2], [(0.9 + 0.25) / 2, 0.9])


def test_names_that_are_mostly_absent_are_given_less_once_that_is_seen():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(400, 24)) * 2
    there = rng.random(300) < 0.5  # else the face is of somebody nobody mentions
    who = np.where(there, np.arange(300) % 6, np.arange(300) + 6)
    X = centres[who] + rng.normal(size=(300, 24))
    names = [f"person {k % 6}" for k in range(300)]
    candidates = Candidates.from_sets([{n} for n in names], null="nobody", groups=range(300))
    y = np.where(there, names, "nobody")
    wrong = {
        learn: np.mean(OpenSet(learn_shown=learn).fit(X, candidates).transduction_ != y)
        for learn in (True, False)
    }
    assert wrong[True] < wrong[False] - 0.05


def test_two_covariances_are_those_the_data_were_made_of():
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(400), 5)
    spread = np.array([3.0, 1.0, 0.3])
    X = (rng.normal(size=(400, 3)) * spread)[who] + rng.normal(size=(2000, 3)) * [1, 0.5, 0.3]
    X = (X - X.mean(axis=0)).T
    basis, b = two_covariances(X, np.eye(400)[:, who])
    np.testing.assert_allclose(np.sort(b), [1, 4, 9], rtol=0.2)
    within = basis.T @ np.diag([1, 0.25, 0.09]) @ basis
    np.testing.assert_allclose(within, np.eye(3), atol=0.15)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shown": 1.0}, "shown is between 0 and 1, got 1.0"),
        ({"elsewhere": 0}, "elsewhere is between 0 and 1"),
        ({"damping": -1}, "damping is positive"),
        ({"shrinkage": -1}, "shrinkage is not negative, got -1"),
    ],
)
def test_bad_parameters_are_named(options, message, album):
    with pytest.raises(ValueError, match=message):
        OpenSet(**options).fit(album[0], album[1])


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
