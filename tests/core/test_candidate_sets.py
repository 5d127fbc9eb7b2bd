"""Candidate sets as entries: against matrices of all classes and instances."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import dense_constraints as dense
from candidly import CannotLink, ClassProportions, MustLink
from candidly.solvers import AtLeastOneNamed, AtMostOnce, CandidateSets
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet, normalise
from candidly.solvers.constraints.feasible import project_to_simplex
from candidly.solvers.constraints.proportions import SWEEPS
from candidly.solvers.own_order import own_order, places
from problems import entries, problem, seeds

shapes = st.tuples(st.integers(1, 6), st.integers(1, 12))


def made(seed, shape):
    """Return random numbers (c x N), a mask with a candidate in each column, and its sets."""
    c, N = shape
    _, _, mask = problem(seed, c=c, N=N)
    return (
        np.random.default_rng(seed).normal(size=shape).round(1),
        mask,
        CandidateSets.of_mask(mask),
    )


@given(seeds, shapes)
def test_sums_largest_and_best_are_those_of_the_matrix(seed, shape):
    Y, mask, sets = made(seed, shape)
    y = sets.entries_of(Y)
    inside, low = np.where(mask, Y, 0), np.where(mask, Y, -np.inf)
    np.testing.assert_array_equal(sets.mask, mask)
    np.testing.assert_array_equal(sets.matrix(y), inside)
    np.testing.assert_array_equal(sets.rows(y).toarray(), inside.T)
    np.testing.assert_array_equal(sets.sizes, mask.sum(axis=0))
    np.testing.assert_array_equal(sets.listed, mask.any(axis=1))
    np.testing.assert_allclose(sets.total(y), inside.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sets.class_total(y), inside.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(sets.largest(y), low.max(axis=0))
    best = sets.best(y)
    np.testing.assert_array_equal(sets.classes[best], low.argmax(axis=0))
    np.testing.assert_array_equal(sets.instance[best], np.arange(shape[1]))
    np.testing.assert_allclose(sets.matrix(sets.uniform()), mask / mask.sum(axis=0))
    for k, (start, stop) in enumerate(pairwise(sets.class_start)):
        own = sets.by_class[start:stop]
        assert (sets.classes[own] == k).all()
        np.testing.assert_array_equal(sets.instance[own], np.flatnonzero(mask[k]))


@given(seeds, shapes)
def test_entries_are_found_by_class_and_instance(seed, shape):
    _, mask, sets = made(seed, shape)
    i, j = np.indices(shape).reshape(2, -1)
    found = sets.number(i, j)
    np.testing.assert_array_equal(found >= 0, mask[i, j])
    np.testing.assert_array_equal(sets.classes[found[found >= 0]], i[found >= 0])
    np.testing.assert_array_equal(sets.instance[found[found >= 0]], j[found >= 0])


@given(seeds, shapes)
def test_parts_and_other_sets_are_those_of_the_mask(seed, shape):
    Y, mask, sets = made(seed, shape)
    rng = np.random.default_rng(seed)
    some = rng.integers(shape[1], size=4)
    part, at = sets.of_instances(some)
    np.testing.assert_array_equal(part.mask, mask[:, some])
    np.testing.assert_array_equal(
        part.matrix(sets.entries_of(Y)[at]), np.where(mask, Y, 0)[:, some]
    )

    keep = rng.random(len(sets)) < 0.5
    keep[sets.start[:-1]] = True
    np.testing.assert_array_equal(sets.kept(keep).mask, sets.matrix(keep))

    other, theirs, others = made(seed + 1, shape)
    moved = others.values_on(others.entries_of(other), sets)
    np.testing.assert_array_equal(sets.matrix(moved), np.where(mask & theirs, other, 0))

    replaced = rng.random(shape[1]) < 0.5
    new, _ = others.of_instances(np.flatnonzero(replaced))
    mixed, inside = sets.with_sets(replaced, new)
    np.testing.assert_array_equal(mixed.mask, np.where(replaced, theirs, mask))
    np.testing.assert_array_equal(inside, replaced[mixed.instance])

    again = CandidateSets.of_rows(sparse.csr_array(mask.T.astype(float)))
    np.testing.assert_array_equal(again.classes, sets.classes)
    np.testing.assert_array_equal(again.start, sets.start)


def test_only_the_sets_are_pickled_and_not_what_follows_from_them():
    sets = CandidateSets.of_mask(np.ones((3, 4), bool))
    assert len(sets.instance) == len(sets.by_class) == 12
    again = pickle.loads(pickle.dumps(sets))
    assert set(again.__dict__) == {"start", "classes", "n_classes"}
    np.testing.assert_array_equal(again.mask, sets.mask)


@given(seeds, shapes)
def test_the_simplex_is_that_of_the_columns(seed, shape):
    Y, mask, sets = made(seed, shape)
    rng = np.random.default_rng(seed)
    P = np.where(mask & (rng.random(shape) < 0.5), rng.random(shape), 0)  # some columns have none
    y, p = sets.entries_of(Y), sets.entries_of(P)
    np.testing.assert_allclose(
        sets.matrix(normalise(y, p, sets)), dense.normalise(Y, P, mask), atol=1e-12
    )
    nearest = sets.matrix(project_to_simplex(10 * y, sets))
    np.testing.assert_allclose(nearest, dense.project_to_simplex(10 * Y, mask), atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_projections_keep_the_precision_of_the_labels(kind):
    y, sets = entries(
        np.array([[0.9, 0.6, 0.3], [0.1, 0.4, 0.7]], dtype=kind), np.ones((2, 3), bool)
    )
    groups = np.zeros(3, int)
    rules = [
        AtLeastOneNamed(groups, 1),
        AtMostOnce(groups, 1),
        MustLink([(0, 1)]),
        CannotLink([(1, 2)]),
        ClassProportions([0.5, 0.5]),
    ]
    for rule in rules:
        assert rule.project(y, sets).dtype == kind
    for euclidean in (False, True):
        assert FeasibleSet(sets, CandidateSimplex(y, euclidean), rules).project(y).dtype == kind


@given(seeds, st.sampled_from([None, 0, 2]))
def test_constraints_on_entries_are_those_on_matrices(seed, null):
    rng = np.random.default_rng(seed)
    N = 12
    _, P, mask = problem(seed, c=4, N=N)
    y, sets = entries(P, mask)
    groups = np.unique(rng.integers(5, size=N), return_inverse=True)[1]
    linked = np.split(rng.permutation(N)[:5], [2])
    pairs = [(a, b) for a, b in rng.integers(N, size=(4, 2)).tolist() if a != b]
    wanted = rng.random(4) + 0.1
    links = [pair for own in linked for pair in pairwise(own.tolist())]
    cases = [
        (AtMostOnce(groups, null), dense.at_most_once(P, groups, null)),
        (MustLink(links), dense.must_link(P, mask, linked)),
        (CannotLink(pairs, null), dense.cannot_link(P, pairs, null)),
        (ClassProportions(wanted), dense.proportions(P, wanted, SWEEPS)),
    ]
    if null is not None:
        exempt = frozenset([0])
        named = AtLeastOneNamed(groups, null, exempt)
        cases.append((named, dense.at_least_one_named(P, mask, groups, null, exempt)))
    for rule, (expected, worst) in cases:
        np.testing.assert_allclose(sets.matrix(rule.project(y, sets)), expected, atol=1e-12)
        assert rule.violation(y, sets) == pytest.approx(max(worst, 0), abs=1e-12)


def some_rules():
    groups = np.arange(12) // 3
    links = [MustLink([(0, 1)]), CannotLink([(1, 2)])]
    return [AtMostOnce(groups, 0), AtLeastOneNamed(groups, 0), *links]


@given(seeds)
def test_a_constraint_does_not_remember_the_sets_before(seed):
    problems = [entries(*problem(draw, c=4, N=12)[1:]) for draw in (seed, seed + 1)]
    used = some_rules()
    for y, sets in problems:
        for rule, fresh in zip(used, some_rules(), strict=True):
            np.testing.assert_array_equal(rule.project(y, sets), fresh.project(y, sets))
            assert rule.violation(y, sets) == fresh.violation(y, sets)


@given(seeds)
def test_rows_and_classes_have_an_order_of_their_own(seed):
    rng = np.random.default_rng(seed)
    _, P, mask = problem(seed, c=4, N=12)
    X = rng.integers(2, size=(12, 1)).astype(float)  # many equal rows: then labels decide
    order = rng.permutation(4), rng.permutation(12)
    ordered = []
    for classes, rows in ((np.arange(4), np.arange(12)), order):
        place = np.ix_(classes, rows)
        first, second, _ = own_order(places(X[rows]), *entries(P[place], mask[place]))
        ordered.append(np.vstack([X[rows][first].T, P[place][np.ix_(second, first)]]))
    np.testing.assert_array_equal(*ordered)


LIMITED = """
import resource
import numpy as np
from candidly import Candidates, CannotLink, ClassProportions, MustLink
from candidly.solvers import AtMostOnce, CandidateSets, assign
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet

N, c = 20_000, 5_000
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {more}, taken + {more}))
rng = np.random.default_rng(0)
listed = rng.integers(c, size=(N, 3))
listed[3] = listed[0]
candidates = Candidates.from_sets(listed.tolist(), groups=np.arange(N) // 3, classes=range(c))
priors = candidates.sparse_priors
sets, P = CandidateSets.of_rows(priors), priors.data
rules = [
    AtMostOnce(candidates.group_numbers),
    MustLink([(0, 3)]),
    CannotLink([(k, k + 1) for k in range(0, N - 1, 7)]),
    ClassProportions(np.ones(c)),
]
feasible = FeasibleSet(sets, CandidateSimplex(P), rules)
y = feasible.project(P * rng.random(len(P)))
assert feasible.violations(y)
labels = assign(y, sets, rules)
assert (sets.number(labels, np.arange(N)) >= 0).all()
try:
    candidates.priors
except MemoryError:
    print("in time")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by what Linux says is taken")
def test_constraints_and_assignment_hold_no_matrix_of_all_classes():
    code = LIMITED.format(more=80_000_000)  # a mask of 20,000 x 5,000 is 100 MB
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "in time\n", done.stderr
