"""Algorithm 2 against loops, and by what it promises."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from candidly.solvers import ALM, CandidateSets, Elimination, Solution, Status, Trace
from candidly.solvers.elimination import fed_back
from candidly.solvers.weights import imbalance_weights
from problems import entries, problem, seeds


def labeller_of(X):
    def label(P, sets):
        return ALM(tol=1e-4, max_iter=30).solve(X, P, sets, imbalance_weights(P, sets))

    return label


@given(seeds, st.sampled_from([0, 0.25, 0.5, 0.75, 1]), st.integers(1, 4))
def test_it_eliminates_what_the_loops_eliminate(seed, fraction, rounds):
    _, P, mask = problem(seed, N=12)
    rng = np.random.default_rng(seed)
    # A solver would magnify the last digits of P; here exact zeros and ties are all there is to it.
    likely, scores = rng.random(P.shape), rng.integers(-1, 2, size=P.shape).astype(float)

    def label(P, sets):
        score = sets.entries_of(scores)
        y = np.where(score >= 0, (P * sets.entries_of(likely)).round(6), 0)
        return Solution(y, score, sets, Status.CONVERGED, Trace())

    found = Elimination(fraction, rounds, "scores").solve(label, *entries(P, mask)).matrix()

    def plain(P, mask):
        solution = label(*entries(P, mask))
        return solution.matrix(), solution.sets.matrix(solution.scores)

    expected, left = reference.algorithm_2(plain, P, mask, fraction, rounds)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[~left].max(initial=0) < 1e-12  # of labels that are rounding alone any may go


def test_ties_go_by_score_then_class_then_instance():
    labels = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    scores = np.array([[1.0, 1.0, 1.0], [-1.0, -2.0, -2.0], [-3.0, -2.0, -2.0]])
    eliminated = []

    def label(P, sets):
        eliminated.append(~sets.mask)
        found = (sets.entries_of(values) for values in (labels, scores))
        return Solution(*found, sets, Status.CONVERGED, Trace())

    scored = Elimination(1 / 3, 4, "scores")
    scored.solve(label, *entries(labels, np.ones((3, 3), bool)))
    order = [np.argwhere(b & ~a).tolist() for a, b in pairwise(eliminated)]
    assert order == [[[2, 0]], [[1, 1]], [[1, 2]]]


def test_evidence_decides_between_equal_labels_and_scores_of_rounding_do_not():
    labels = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    known = np.array([[0.0, 0.0, 0.0], [0.3, 0.2, 0.5], [0.4, 0.6, 0.1]])
    mask = np.ones((3, 3), bool)
    for seed in range(3):
        rounding = 1e-13 * np.random.default_rng(seed).standard_normal((3, 3))
        seen = []

        def label(P, sets, rounding=rounding, seen=seen):
            seen.append(sets.mask)
            scores = sets.entries_of(labels + rounding)
            return Solution(np.clip(scores, 0, 1), scores, sets, Status.CONVERGED, Trace())

        by_evidence = Elimination(1 / 3, 4)
        by_evidence.solve(
            label,
            *entries(labels, mask),
            evidence=lambda solution: solution.sets.entries_of(known),
        )
        order = [np.argwhere(a & ~b).tolist() for a, b in pairwise(seen)]
        assert order == [[[2, 2]], [[1, 1]], [[1, 0]]]


def test_without_evidence_scores_decide_between_equal_labels():
    scores = np.array([[1.0, 1.0], [-2.0, -1.0], [-1.0, -2.0]])
    seen = []

    def label(P, sets):
        seen.append(sets.mask)
        score = sets.entries_of(scores)
        return Solution(np.clip(score, 0, 1), score, sets, Status.CONVERGED, Trace())

    Elimination(1.0, 2).solve(
        label, *entries(np.ones((3, 2)), np.ones((3, 2), bool)), evidence=lambda solution: None
    )
    assert np.argwhere(seen[0] & ~seen[1]).tolist() == [[1, 0], [2, 1]]


def tied(mask):
    """Return a labeller that likes the last class alone, and the sets it was given."""
    seen = []

    def label(P, sets):
        seen.append(sets.mask)
        y = np.where(sets.classes == len(mask) - 1, 1.0, 0.0)
        return Solution(y, -sets.instance.astype(float), sets, Status.CONVERGED, Trace())

    return label, seen


def test_ties_by_index_go_by_instance_then_class():
    mask = np.ones((3, 4), dtype=bool)
    label, seen = tied(mask)
    Elimination(0.5, 3, ties="index").solve(label, *entries(mask / 3, mask))
    order = [np.argwhere(a & ~b).tolist() for a, b in pairwise(seen)]
    assert order == [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]


def test_random_ties_are_drawn_by_their_seed_and_reach_every_tied_entry():
    mask = np.ones((3, 6), dtype=bool)
    gone = []
    for seed in [*range(30), 0]:
        drawn = Elimination(0.5, 1, ties="random", seed=seed)
        gone.append(eliminated_entries(drawn, mask))
    assert gone[0] == gone[-1]
    assert {place for some in gone for place in some} == {(i, j) for i in (0, 1) for j in range(6)}


def eliminated_entries(elimination, mask):
    """Return what the first of two rounds eliminates."""
    label, seen = tied(mask)
    replace(elimination, max_rounds=2).solve(label, *entries(mask / 3, mask))
    return {tuple(place) for place in np.argwhere(seen[0] & ~seen[1]).tolist()}


def test_no_solve_follows_the_last_elimination_and_two_candidates_need_one_round():
    X, P, _ = problem(0, c=2)
    calls = []

    def counted(P, sets):
        calls.append(len(sets))
        return labeller_of(X)(P, sets)

    y, both = entries(P, np.ones(P.shape, bool))
    solution = Elimination(1.0, 5).solve(counted, y, both)
    assert len(calls) == 1
    assert solution.status is Status.RESOLVED
    assert ((solution.matrix() == 1).sum(axis=0) == 1).all()
    assert solution.sets is both  # the candidates as they were given
    assert len(both) == P.size


def test_the_candidates_are_state_of_their_own():
    # A soft label of exactly 0 is still a candidate in the next round.
    _, P, _ = problem(0, c=3)
    sizes = []

    def hard(P, sets):
        sizes.append(len(sets))
        y = np.zeros_like(P)
        y[sets.start[:-1]] = 1
        return Solution(y, y, sets, Status.CONVERGED, Trace())

    Elimination(0.0, 3).solve(hard, *entries(P, np.ones(P.shape, bool)))
    assert sizes == [P.size] * 3


def test_what_was_eliminated_keeps_its_last_score_and_opened_sets_do_not_matter():
    opened = CandidateSets.of_mask(np.ones((4, 1), bool))

    def label(P, sets):
        scores = 0.1 * np.arange(4) + 10 * len(sets)  # those of class 3 are not asked for
        return Solution(np.array([0.5, 0.3, 0.2, 0]), scores, opened, Status.CONVERGED, Trace())

    sets = CandidateSets.of_mask(np.array([[True], [True], [True], [False]]))
    solution = Elimination(1.0, 5).solve(label, sets.uniform(), sets)
    np.testing.assert_allclose(solution.labels, [1, 0, 0])
    np.testing.assert_allclose(solution.scores, [20, 20.1, 30.2])
    assert solution.sets is sets


def test_rounds_tell_what_happened():
    X, P, mask = problem(7, full=0.9)
    label, told = labeller_of(X), []
    solution = Elimination(0.5, 2).solve(label, *entries(P, mask), callback=told.append)
    ambiguous = (mask.sum(axis=0) > 1).sum()
    assert solution.rounds[0].ambiguous == ambiguous
    assert solution.rounds[0].eliminated == -(-ambiguous // 2)
    assert solution.status is Status.MAX_ROUNDS
    assert len(told) == len(solution.rounds) == 2


@pytest.mark.parametrize("fraction", [0, 1])
def test_singletons_are_solved_once_and_kept(fraction):
    X, _, _ = problem(0, c=3)
    truth = np.eye(3, dtype=bool)[:, np.arange(20) % 3]
    solution = Elimination(fraction, 5).solve(labeller_of(X), *entries(truth.astype(float), truth))
    np.testing.assert_array_equal(solution.matrix(), truth)
    assert len(solution.rounds) == 1


def test_rounding_errors_of_labels_are_not_fed_back():
    mask = np.ones((3, 2), dtype=bool)
    seen = []
    for rounding in (0.0, 1e-9):
        given = []

        def label(P, sets, rounding=rounding, given=given):
            given.append(P)
            y = sets.entries_of(np.array([[0.6, 0.2], [0.3, 0.5], [0.1, 0.3]]))
            y = y + rounding * (1 + sets.classes)
            return Solution(y, y, sets, Status.CONVERGED, Trace())

        solution = Elimination(0.5, 2).solve(label, *entries(np.ones((3, 2)), mask))
        seen.append((given[1], solution.labels))
    np.testing.assert_array_equal(seen[0][0], seen[1][0])
    assert (seen[0][1] != seen[1][1]).any()  # what is returned has all digits


def test_labels_among_a_thousand_candidates_are_fed_back_to_the_same_precision():
    P, sets = entries(
        np.full((1000, 2), 1e-3) * np.linspace(0.9, 1.1, 1000)[:, None], np.ones((1000, 2), bool)
    )
    np.testing.assert_allclose(
        fed_back("evidence", P, sets), P / sets.total(P)[sets.instance], rtol=1e-4
    )
    np.testing.assert_array_equal(fed_back("scores", P, sets), P)
