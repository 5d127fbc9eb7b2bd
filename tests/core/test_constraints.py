"""Links and proportions, and exact hard labels against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly import (
    Candidates,
    CannotLink,
    ClassProportions,
    ContradictionError,
    MustLink,
    WMCar,
    datasets,
    labelling_error,
)
from candidly.solvers import AtLeastOneNamed, AtMostOnce, assign
from candidly.solvers.assignment import merits
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from problems import entries, problem, seeds


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits", people=4, each=30, n_extra=1, random_state=0)


def test_linked_instances_share_their_mean_on_shared_candidates():
    mask = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1]], dtype=bool)
    Y = np.array([[0.6, 0.2, 1], [0.0, 0.8, 0], [0.4, 0.0, 0]])
    y, sets = entries(Y, mask)
    link = MustLink([(0, 1)])
    assert link.violation(y, sets) == pytest.approx(0.8)
    projected = sets.matrix(link.project(y, sets))
    np.testing.assert_allclose(projected[:, 0], [0.4, 0.4, 0])
    np.testing.assert_allclose(projected[:, 1], projected[:, 0])
    np.testing.assert_array_equal(projected[:, 2], Y[:, 2])
    rule = FeasibleSet(sets, CandidateSimplex(sets.uniform()), [link])
    assert link.violation(rule.project(y), sets) == pytest.approx(0)


def test_pairs_that_differ_divide_by_their_largest_sum():
    Y = np.array([[0.9, 0.6, 0.9], [0.1, 0.4, 0.1]])
    y, sets = entries(Y, np.ones((2, 3), dtype=bool))
    link = CannotLink([(0, 1), (1, 2)])
    assert link.violation(y, sets) == pytest.approx(0.5)
    projected = link.project(y, sets)
    np.testing.assert_allclose(sets.matrix(projected)[0], [0.6, 0.4, 0.6])
    assert link.violation(projected, sets) <= 1e-12
    assert CannotLink([(0, 1)], null=0).violation(y, sets) == 0


@given(seeds)
def test_proportions_are_reached_where_candidates_allow(seed):
    rng = np.random.default_rng(seed)
    wanted = ClassProportions([0.5, 0.3, 0.2])
    y, sets = entries(rng.random((3, 40)) + 0.05, np.ones((3, 40), dtype=bool))
    rule = FeasibleSet(sets, CandidateSimplex(sets.uniform()), [wanted])
    assert wanted.violation(rule.project(y), sets) < 1e-3


@given(seeds, st.booleans(), st.booleans(), st.sampled_from(["", "linked", "apart"]))
def test_hard_labels_are_the_best_of_all_that_obey(seed, grouped, named, pairs):
    rng = np.random.default_rng(seed)
    _, P, mask = problem(seed, c=3, N=5)
    mask[2] |= rng.random(5) < 0.8
    groups = np.unique(rng.integers(3, size=5), return_inverse=True)[1]
    rules = [AtMostOnce(groups, 2)] if grouped else []
    if named:
        rules.append(AtLeastOneNamed(groups, 2))
    a, b, c, d = rng.permutation(5)[:4].tolist()
    if pairs == "linked":
        rules += [MustLink([(a, b)]), CannotLink([(b, c)], null=2)]
    if pairs == "apart":  # a chain, whose ends may have one class
        rules += [CannotLink([(a, b), (b, c), (c, d)])]
    merit = rng.normal(size=P.shape)
    values, sets = entries(merit, mask)

    def obeys(labels):
        y = (sets.classes == np.asarray(labels)[sets.instance]).astype(float)
        return all(rule.violation(y, sets) <= 1e-9 for rule in rules)

    choices = [np.flatnonzero(mask[:, j]) for j in range(5)]
    allowed = [labels for labels in product(*choices) if obeys(labels)]
    if not allowed:
        with pytest.raises(ContradictionError, match="instances"):
            assign(values, sets, rules)
        return
    found = assign(values, sets, rules)
    assert obeys(found)
    worth = [sum(merit[i, j] for j, i in enumerate(labels)) for labels in allowed]
    assert merit[found, np.arange(5)].sum() == pytest.approx(max(worth))


def test_groups_with_a_conflict_are_matched_one_by_one(monkeypatch):
    monkeypatch.setattr("candidly.solvers.assignment._solve", None)  # the integer program
    merit = np.array([[0.9, 0.8, 0.9, 0.7, 0.2], [0.1, 0.5, 0.8, 0.1, 0.8]])
    groups = np.array([0, 0, 1, 1, 2])
    values, sets = entries(merit, np.ones((2, 5), dtype=bool))
    np.testing.assert_array_equal(assign(values, sets, [AtMostOnce(groups)]), [0, 1, 1, 0, 1])


def test_groups_without_a_name_get_the_one_that_costs_least_without_a_program(monkeypatch):
    monkeypatch.setattr("candidly.solvers.assignment._solve", None)
    merit = np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.3, 0.2, 0.9], [0.2, 0.1, 0.6, 0.9]])
    values, sets = entries(merit, np.ones((3, 4), dtype=bool))
    groups = np.array([0, 0, 1, 1])
    rules = [AtLeastOneNamed(groups, 0), AtMostOnce(groups, 0)]
    np.testing.assert_array_equal(assign(values, sets, rules), [0, 1, 0, 1])


@given(seeds)
def test_labels_of_a_group_do_not_depend_on_other_groups(seed):
    """Merits of an integer program are close to each other, within its tolerance."""
    rng = np.random.default_rng(seed)
    merit = np.array([0.0, 1.0, 0.3])[:, None] + 1e-6 * rng.random((3, 24))
    merit[0, ::4] = 2.0  # of some groups nobody would be named, of others one person twice
    merit[0, 1::4] = 2.0
    groups = np.arange(24) // 2
    values, sets = entries(merit, np.ones((3, 24), dtype=bool))
    found = assign(values, sets, [AtLeastOneNamed(groups, 0), AtMostOnce(groups, 0)])
    for k in range(12):
        own, alone = entries(merit[:, 2 * k : 2 * k + 2], np.ones((3, 2), dtype=bool))
        rules = [AtLeastOneNamed(np.zeros(2, int), 0), AtMostOnce(np.zeros(2, int), 0)]
        np.testing.assert_array_equal(found[2 * k : 2 * k + 2], assign(own, alone, rules))


def test_names_that_are_only_mentioned_together_are_not_decided_by_rounding():
    Y = np.array([[0.4, 0.2], [0.4 + 1e-15, 0.4], [0.2, 0.4 + 1e-14]])
    y, sets = entries(Y, np.ones((3, 2), dtype=bool))
    zeros = np.zeros(len(y))
    found = assign(merits(y, zeros, None, 1.0, 1.0), sets)
    np.testing.assert_array_equal(found, [0, 1])


def test_links_hold_in_the_labels_of_a_fit(digits):
    free = WMCar().fit(digits.X, digits.candidates)
    rng = np.random.default_rng(0)
    linked = [
        tuple(rng.permutation(np.flatnonzero(digits.y == name))[:2].tolist()) for name in range(4)
    ]
    apart = [(0, 30), (1, 61), (2, 92)]
    model = WMCar().fit(
        digits.X, digits.candidates, constraints=[MustLink(linked), CannotLink(apart)]
    )
    for a, b in linked:
        assert model.transduction_[a] == model.transduction_[b]
    for a, b in apart:
        assert model.transduction_[a] != model.transduction_[b]
    assert (
        labelling_error(digits.y, model.transduction_)
        <= labelling_error(digits.y, free.transduction_) + 0.02
    )


def test_known_proportions_guide_the_soft_labels(digits):
    skewed = np.concatenate([np.flatnonzero(digits.y == k)[: 10 * (k + 1)] for k in range(4)])
    X, candidates = digits.X[skewed], digits.candidates[skewed]
    wanted = ClassProportions({0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4})
    free, guided = WMCar(), WMCar()
    free.fit(X, candidates)
    guided.fit(X, candidates, constraints=[wanted])
    bound = wanted.bind(candidates.classes, None)
    guided, free = guided.solution_, free.solution_
    assert bound.violation(guided.labels, guided.sets) <= bound.violation(free.labels, free.sets)


def test_classes_a_mapping_leaves_out_share_the_rest():
    bound = ClassProportions({"a": 0.4}).bind(np.array(["a", "b", "c"]), None)
    np.testing.assert_allclose(bound.proportions, [0.4, 0.3, 0.3])


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            [MustLink([(0, 1)]), CannotLink([(0, 1)])],
            r"instances 0, 1 \(counted from 0\) cannot be labelled",
        ),
        ([MustLink([(0, 2)])], r"instances 0, 2 \(counted"),
        ([MustLink([(0, 1), (1, 2)])], r"instances 1, 2 \(counted"),
        ([MustLink([(0, 99)])], "MustLink names instance 99, but there are 4"),
        ([CannotLink([(-1, 0)])], "CannotLink names instance -1"),
        ([ClassProportions([1, 1, 1, 1])], "4 proportions for 3 classes"),
        ([ClassProportions({"zoe": 1.0})], "there is no class 'zoe'"),
    ],
)
def test_contradictions_and_wrong_numbers_name_the_instances(constraints, message):
    candidates = Candidates.from_sets([{"a", "b"}, {"a", "b"}, {"c"}, {"a", "c"}])
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.raises(ValueError, match=message):
        WMCar().fit(X, candidates, constraints=constraints)


def test_senseless_constraints_are_refused_when_made():
    with pytest.raises(ValueError, match="instance 3 is paired with itself"):
        MustLink([(3, 3)])
    for wrong in ([(0, 1, 2), (3, 4, 5)], [(0.7, 1.2)], [("a", "b")], [0, 1]):
        with pytest.raises(ValueError, match="a pair is two row numbers, got"):
            CannotLink(wrong)
    with pytest.raises(ValueError, match="not negative"):
        ClassProportions([0.5, -0.1])


def test_constraints_are_a_list(digits):
    with pytest.raises(TypeError, match="put the one you have in brackets"):
        WMCar().fit(digits.X, digits.candidates, constraints=MustLink([(0, 1)]))
    assert WMCar().fit(digits.X, digits.candidates, constraints=None).solution_.violations == {}


def test_only_the_guilty_are_named_of_a_long_chain():
    sets = [{"a", "b", "c"}] * 40
    sets[25] = sets[26] = {"a"}
    candidates = Candidates.from_sets(sets)
    chain = CannotLink([(k, k + 1) for k in range(39)])
    X = np.random.default_rng(0).normal(size=(40, 3))
    message = r"instances 25, 26 \(counted from 0\).*obeys 'pairs have different labels'\."
    with pytest.raises(ContradictionError, match=message):
        WMCar().fit(X, candidates, constraints=[MustLink([(0, 5)]), chain])


def test_a_class_without_mass_does_not_wipe_out_proportions():
    wanted = ClassProportions([0.5, 0.5])
    Y = np.array([[1e-310, 0, 0], [1, 1, 1]])
    y, sets = entries(Y, Y >= 0)
    np.testing.assert_allclose(sets.matrix(wanted.project(y, sets))[1], 1)


def test_two_constraints_of_a_kind_report_the_worse(digits):
    model = WMCar(max_iter=1000).fit(
        digits.X, digits.candidates, constraints=[MustLink([(0, 1)]), MustLink([(2, 3)])]
    )
    assert len(model.solution_.violations) == 1


def test_a_constraint_of_ones_own_needs_no_change_elsewhere(digits):
    class FirstIsZero:
        name = "the first instance is class 0 or 1"

        def project(self, y, sets):
            return np.where(self.wrong(sets), 0, y)

        def violation(self, y, sets):
            return float(y[self.wrong(sets)].sum())

        def rows(self, sets):
            return None

        def wrong(self, sets):
            return (sets.instance == 0) & (sets.classes >= 2)

    model = WMCar().fit(digits.X, digits.candidates, constraints=[FirstIsZero()])
    assert model.solution_.violations == {FirstIsZero.name: 0.0}


def test_weights_of_zero_and_constraints_exclude_each_other(digits):
    weight = np.ones(len(digits.y))
    weight[0] = 0
    with pytest.raises(ValueError, match="leave these instances out"):
        WMCar().fit(digits.X, digits.candidates, weight, constraints=[MustLink([(1, 2)])])
