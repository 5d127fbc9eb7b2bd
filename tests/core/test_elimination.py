"""Algorithm 2 against loops, and by what it promises."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from candidly.solvers import ALM, Elimination, Solution, Status, Trace
from candidly.solvers.weights import imbalance_weights
from problems import problem, seeds


def labeller_of(X):
    def label(P, mask):
        return ALM(tol=1e-4, max_iter=30).solve(X, P, mask, imbalance_weights(P))

    return label


@pytest.mark.slow
@given(seeds, st.sampled_from([0, 0.25, 0.5, 0.75, 1]), st.integers(1, 4))
def test_it_eliminates_what_the_loops_eliminate(seed, fraction, rounds):
    X, P, mask = problem(seed, N=12)
    label = labeller_of(X)
    found = Elimination(fraction, rounds).solve(label, P, mask)

    def plain(P, mask):
        solution = label(P, mask)
        return solution.labels, solution.scores

    expected, left = reference.algorithm_2(plain, P, mask, fraction, rounds)
    np.testing.assert_allclose(found.labels, expected, atol=1e-12)
    assert (found.labels[~left] == 0).all()


def test_ties_go_by_score_then_class_then_instance():
    labels = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    scores = np.array([[1.0, 1.0, 1.0], [-1.0, -2.0, -2.0], [-3.0, -2.0, -2.0]])
    mask = np.ones((3, 3), bool)
    eliminated = []

    def label(P, current):
        eliminated.append(~current)
        return Solution(np.where(current, labels, 0), scores, Status.CONVERGED, Trace())

    Elimination(1 / 3, 4).solve(label, labels, mask)
    order = [np.argwhere(b & ~a).tolist() for a, b in pairwise(eliminated)]
    assert order == [[[2, 0]], [[1, 1]], [[1, 2]]]


def test_no_solve_follows_the_last_elimination_and_two_candidates_need_one_round():
    X, P, _ = problem(0, c=2)
    calls = []

    def counted(P, mask):
        calls.append(mask.sum())
        return labeller_of(X)(P, mask)

    both = np.ones(P.shape, bool)
    solution = Elimination(1.0, 5).solve(counted, P, both)
    assert len(calls) == 1
    assert solution.status is Status.RESOLVED
    assert ((solution.labels == 1).sum(axis=0) == 1).all()
    assert both.all()  # the caller's mask is left as it was


def test_the_mask_is_state_of_its_own():
    # A soft label of exactly 0 is still a candidate in the next round.
    _, P, _ = problem(0, c=3)
    masks = []

    def hard(P, mask):
        masks.append(mask.copy())
        Y = np.zeros_like(P)
        Y[mask.argmax(axis=0), np.arange(P.shape[1])] = 1
        return Solution(Y, Y, Status.CONVERGED, Trace())

    Elimination(0.0, 3).solve(hard, P, np.ones(P.shape, bool))
    assert all(mask.all() for mask in masks)


def test_rounds_tell_what_happened():
    X, P, mask = problem(7, full=0.9)
    told = []
    solution = Elimination(0.5, 2).solve(labeller_of(X), P, mask, callback=told.append)
    ambiguous = (mask.sum(axis=0) > 1).sum()
    assert solution.rounds[0].ambiguous == ambiguous
    assert solution.rounds[0].eliminated == -(-ambiguous // 2)
    assert solution.status is Status.MAX_ROUNDS
    assert len(told) == len(solution.rounds) == 2


@pytest.mark.parametrize("fraction", [0, 1])
def test_singletons_are_solved_once_and_kept(fraction):
    X, _, _ = problem(0, c=3)
    truth = np.eye(3, dtype=bool)[:, np.arange(20) % 3]
    solution = Elimination(fraction, 5).solve(labeller_of(X), truth.astype(float), truth)
    np.testing.assert_array_equal(solution.labels, truth)
    assert len(solution.rounds) == 1
