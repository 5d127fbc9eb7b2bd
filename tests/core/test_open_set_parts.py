"""What open-set labelling is made of: entries, two covariances, starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import multivariate_t

from candidly import Population
from candidly.solvers import AtMostOnce, ContradictionError, assign
from candidly.solvers.constraints.feasible import project_to_simplex
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.kernels.entry_simplex import onto_simplex
from candidly.solvers.labelled_features import LabelledFeatures, folds_of
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import OpenSetLabelling, centre
from candidly.solvers.open_set_shard import OpenSetShard
from candidly.solvers.shards import InMemory
from candidly.solvers.starts import complete, ridge_of, shared_out
from candidly.solvers.two_covariances import TAIL, Covariances, KnownPeople
from problems import entries as entries_of_matrix
from problems import open_entries, problem, seeds


def made_entries(seed, c=5, N=12, groups=5, null: int | None = 2):
    """Random priors, candidates and groups (c x N), and their entries."""
    _, P, mask = problem(seed, c=c, N=N)
    if null is not None:
        mask[null] = np.random.default_rng(seed).random(N) < 0.8
        mask[(null + 1) % c] |= ~mask[null]
        P = np.where(mask, P + 0.1, 0)
        P /= P.sum(axis=0)
    where = np.random.default_rng(seed).integers(groups, size=N)
    return P, mask, where, open_entries(P, mask, where, null)


@given(seeds, st.sampled_from([None, 0, 2]))
def test_entries_are_the_candidates_but_nobody_with_the_odds_of_their_priors(seed, null):
    P, mask, groups, entries = made_entries(seed, null=null)
    named = mask.copy()
    if null is not None:
        named[null] = False
    assert sorted(zip(entries.name, entries.instance, strict=True)) == sorted(
        zip(*np.nonzero(named), strict=True)
    )
    assert (np.diff(entries.instance) >= 0).all()
    may = np.zeros(12, bool) if null is None else mask[null]
    against = 1 / mask.sum(axis=0) if null is None else np.where(may, P[null], 1 / mask.sum(axis=0))
    odds = np.log(P[entries.name, entries.instance] / against[entries.instance])
    np.testing.assert_allclose(entries.prior, odds)
    np.testing.assert_array_equal(entries.free > NEVER, may)
    pairs = {(i, groups[j]) for i, j in zip(*np.nonzero(named), strict=True)}
    assert len(entries.mentioned) == len(pairs)
    np.testing.assert_array_equal(
        entries.mentions, [len([g for i, g in pairs if i == k]) for k in range(5)]
    )
    values = np.random.default_rng(seed).random(len(entries))
    sums = dict.fromkeys(pairs, 0.0)
    for i, j, value in zip(entries.name, entries.instance, values, strict=True):
        sums[i, groups[j]] += value
    found = entries.over_mentions(values)[entries.mention]
    wanted = [sums[i, groups[j]] for i, j in zip(entries.name, entries.instance, strict=True)]
    np.testing.assert_allclose(found, wanted)
    dense = entries.matrix(values).toarray()
    np.testing.assert_array_equal(dense != 0, named)
    np.testing.assert_allclose(
        entries.shares(), (named / np.maximum(named.sum(axis=0), 1)).sum(axis=1)
    )


@given(seeds)
def test_batches_have_every_group_with_candidates_once_in_the_order_of_rows(seed):
    _, mask, groups, entries = made_entries(seed)
    mask[2] = False
    seen = []
    for batch in entries.batches:
        assert len({batch.entries.shape[0], len(batch.instances), len(batch.names)}) == 1
        table = batch.spread(np.arange(len(entries)), -1)
        for rows, names, own in zip(batch.instances, batch.names, table, strict=True):
            np.testing.assert_array_equal(rows, np.flatnonzero(groups == groups[rows[0]]))
            np.testing.assert_array_equal(names, np.flatnonzero(mask[:, rows].any(axis=1)))
            np.testing.assert_array_equal(own >= 0, mask[np.ix_(names, rows)].T)
            j, i = np.nonzero(own >= 0)
            np.testing.assert_array_equal(entries.instance[own[j, i]], rows[j])
            np.testing.assert_array_equal(entries.name[own[j, i]], names[i])
            seen.append(groups[rows[0]])
    assert sorted(seen) == sorted(set(groups[mask.any(axis=0)].tolist()))


@given(seeds, st.sampled_from([None, 2]))
def test_names_are_chosen_as_by_the_general_assignment(seed, null):
    _, mask, groups, entries = made_entries(seed, groups=6, null=null)
    rng = np.random.default_rng(seed)
    merit = rng.random(mask.shape)
    try:
        expected = assign(*entries_of_matrix(merit, mask), [AtMostOnce(groups, null)])
    except ContradictionError:
        assume(False)
    nobody = np.full(12, NEVER) if null is None else np.where(mask[null], merit[null], NEVER)
    chosen = entries.choose(merit[entries.name, entries.instance], nobody)
    if null is not None:
        expected = np.where(expected == null, -1, expected)
    np.testing.assert_array_equal(chosen, expected)


def test_where_no_choice_is_possible_some_have_none():
    mask = np.ones((1, 2), bool)
    entries = open_entries(np.ones((1, 2)), mask, np.zeros(2, int), None)
    assert sorted(entries.choose(np.ones(2), np.full(2, NEVER)).tolist()) == [-1, 0]


def test_two_faces_of_a_photo_are_one_mention_that_may_be_less_likely_shown():
    mask = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]], bool)
    groups = np.array([0, 0, 1, 2, 2])
    entries = open_entries(mask / mask.sum(axis=0), mask, groups, 2)
    np.testing.assert_array_equal(entries.mentions, [3, 1, 0])
    np.testing.assert_array_equal(entries.mention_shown, np.ones(4))
    np.testing.assert_array_equal(entries.size, [2, 2, 1, 2, 2])
    half = CandidateEntries(
        entries.instance,
        entries.name,
        entries.prior,
        entries.free,
        groups,
        3,
        shown=np.where(entries.instance < 2, 0.5, 1.0),
    )
    np.testing.assert_array_equal(half.mention_shown[half.mention], [0.5, 0.5, 1, 1, 1])


def two_level(people=400, each=5, seed=1):
    """Features (k x N) of people who differ by 3, 1 and 0.3, pictures by 1, 0.5 and 0.3; who."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), each)
    spread, noise = np.array([3.0, 1.0, 0.3]), np.array([1, 0.5, 0.3])
    X = (rng.normal(size=(people, 3)) * spread)[who] + rng.normal(size=(len(who), 3)) * noise
    return (X - X.mean(axis=0)).T, who


def test_two_covariances_are_those_the_data_were_made_of():
    X, who = two_level()
    R = np.eye(400)[:, who]
    found = Covariances.of(X, R)
    np.testing.assert_allclose(np.sort(found.between), [1, 4, 9], rtol=0.2)
    within = found.basis.T @ np.diag([1, 0.25, 0.09]) @ found.basis
    np.testing.assert_allclose(within, np.eye(3), atol=0.15)
    thin = Covariances.of(X, sparse.csr_array(R))
    np.testing.assert_allclose(thin.between, found.between)


def covariances_behind(found: Covariances):
    """Return the two covariances, within and total, that a basis stands for."""
    inverse = np.linalg.inv(found.basis)
    return inverse.T @ inverse, inverse.T @ np.diag(1 + found.between) @ inverse


def test_few_instances_are_filled_up_with_the_population():
    X, who = two_level(people=10, each=2)
    R = np.eye(10)[:, who]
    population = Population(np.zeros(3), np.diag([1.0, 2, 3]), np.diag([9.0, 8, 7]))
    T = X @ X.T / 20
    off = X - np.repeat((X[:, ::2] + X[:, 1::2]) / 2, 2, axis=1)
    for prior in (10, 1e9):
        within, total = covariances_behind(Covariances.of(X, R, prior, population))
        expected = (20 * T + prior * population.total) / (20 + prior)
        np.testing.assert_allclose(total, expected, atol=1e-8)
        expected = (off @ off.T + prior * population.within) / (10 + prior)
        ridge = 1e-3 * np.trace(total) / 3 * np.eye(3)
        np.testing.assert_allclose(within, expected + ridge, atol=1e-8)
    alone, _ = covariances_behind(Covariances.of(X, np.eye(20), 10, population))
    np.testing.assert_allclose(alone, population.within + ridge, atol=0.01)  # nobody twice


@pytest.mark.parametrize("each", [2, 4])
def test_without_a_population_all_directions_become_equal(each):
    X, who = two_level(people=10, each=each)
    R = np.eye(10)[:, who]
    spread = []
    for prior in (0, 10, 1e9):
        within, total = covariances_behind(Covariances.of(X, R, prior))
        assert np.trace(total) == pytest.approx(np.trace(X @ X.T / len(who)), rel=0.05)
        spread.append([np.ptp(np.linalg.eigvalsh(C)) / np.trace(C) for C in (within, total)])
    assert (np.diff(spread, axis=0) < 0).all()
    assert max(spread[-1]) < 1e-6


def test_evidence_is_the_ratio_of_students_t():
    X, who = two_level(people=40)
    found = Covariances.of(X, np.eye(40)[:, who])
    Z = found.coordinates(X.T)
    count = np.array([1.0, 5.0, 0.4])
    total = np.stack([Z[0], Z[:5].sum(axis=0), 0.4 * Z[9]])
    b = found.between
    for n, s in zip(count, total, strict=True):
        v = b / (n * b + 1)
        somebody = multivariate_t(v * s, np.diag(1 + v), df=TAIL)
        anybody = multivariate_t(np.zeros(3), np.diag(1 + b), df=TAIL)
        for z in Z[[3, 77]]:
            ratio = found.somebody(z[None], n[None], s[None]) - found.anybody(z[None])
            assert ratio == pytest.approx(somebody.logpdf(z) - anybody.logpdf(z))
    far = 1e3 * Z[:1]
    ratio = found.somebody(far, count[:1], total[:1]) - found.anybody(far)
    assert np.abs(ratio).max() < 50  # a Gaussian would be thousands sure


def test_all_pairs_have_the_ratio_of_each_pair():
    X, who = two_level(people=40)
    found = Covariances.of(X, np.eye(40)[:, who])
    sets = found.coordinates(X.T)[:24].reshape(2, 12, -1)
    ratios = found.all_pairs(sets[:, :5], sets)
    assert ratios.shape == (2, 5, 12)
    for one, of_one in zip(sets, ratios, strict=True):
        for some, ratio in zip(one, of_one, strict=False):
            np.testing.assert_allclose(ratio, found.pairs(one, np.tile(some, (12, 1))))


def test_known_people_are_counts_and_sums_in_the_basis():
    X, who = two_level(people=6)
    R = np.eye(6)[:, who]
    known = KnownPeople.of(X, R)
    np.testing.assert_allclose(known.count, np.full(6, 5))
    np.testing.assert_allclose(known.total, R @ (X.T @ known.basis))
    more = known.counting(X[:, :5], R[:, :5])
    np.testing.assert_array_equal(more.basis, known.basis)
    assert more.count.tolist() == [5, 0, 0, 0, 0, 0]


def test_a_few_instances_lean_on_the_mean_of_the_population():
    X = np.random.default_rng(0).normal(size=(500, 2)) + 4
    np.testing.assert_allclose((X - centre(X, None)).T.mean(axis=1), 0, atol=1e-12)
    population = Population(np.zeros(2), np.eye(2), np.eye(2))
    np.testing.assert_allclose((X - centre(X, population)).T.T, X - X.mean(axis=0) / 2)
    np.testing.assert_allclose(X[:1] - centre(X[:1], population), X[:1] * 500 / 501)
    assert centre(np.zeros((0, 2)), None).shape == (2,)


@given(seeds)
def test_entries_are_projected_onto_the_simplex_as_columns_are(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((5, 8)) < 0.6
    mask[:, 3] = False  # an instance without entries
    Y = np.where(mask, 2 * rng.normal(size=(5, 8)), 0)
    j, i = np.nonzero(mask.T)
    some = mask.any(axis=0)
    y, sets = entries_of_matrix(Y[:, some], mask[:, some])
    full = np.zeros((5, 8))
    full[:, some] = sets.matrix(project_to_simplex(y, sets))
    first = np.searchsorted(j, np.arange(9))
    np.testing.assert_allclose(onto_simplex(Y[i, j], first), full[i, j], atol=1e-12)


def blobs(c, each, k, scale, seed=0):
    """Photos of three, all mentioned, with a wrong name each: X (N x k), who, mask, photos."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(c), each))
    X = scale * rng.normal(size=(c, k))[who] + rng.normal(size=(len(who), k))
    photos = np.arange(len(who)) // 3
    mask = np.zeros((c + 1, len(who)), bool)
    for g in range(photos[-1] + 1):
        rows = photos == g
        mask[np.ix_([*who[rows], rng.integers(c)], np.flatnonzero(rows))] = True
    mask[c] = True
    return X, who, mask, photos


def test_the_completed_start_finds_most_names_where_sharing_out_finds_few():
    X, who, mask, photos = blobs(40, 12, 24, 1.0)
    entries = open_entries(mask / mask.sum(axis=0), mask, photos, 40)
    own = entries.name == who[entries.instance]
    features = LabelledFeatures(X - centre(X, None), entries)
    shard = OpenSetShard(features, OpenSetLabelling(shown=0.9))
    sums = shard.begin(np.ones(24)).sums
    complete(InMemory(shard), ridge_of(sums["mean"], sums["gram"], len(X)))
    completed = shard.state["completed"]
    assert set(completed.tolist()) == {0.0, 1.0}
    assert completed[own].mean() > 0.9
    assert entries.over_mentions(completed).max() == 1
    shared = shared_out(entries, 0.9)
    assert shared[own].mean() < 0.35
    shard.take("completed")
    np.testing.assert_allclose(shard.state["R"], 0.9 * completed)
    shard.take("mixed")
    first = shard.state["R"]
    np.testing.assert_allclose(first, (0.9 * completed + shared) / 2)


def test_names_are_shared_out_so_that_no_face_and_no_name_has_more_than_one():
    _, _, _, entries = made_entries(3)
    R = shared_out(entries, 1.0)
    assert (R > 0).all()
    assert entries.matrix(R).sum(axis=0).max() <= 1 + 1e-12
    assert entries.over_mentions(R).max() <= 1 + 1e-12


@given(seeds, st.integers(1, 12))
def test_copies_of_a_group_are_in_one_fold_and_folds_are_about_as_large(seed, copies):
    rng = np.random.default_rng(seed)
    first = rng.random(40)
    quantity = np.repeat(first, copies) * (1 + 1e-15 * rng.standard_normal(40 * copies))
    order = rng.permutation(len(quantity))
    folds = folds_of(quantity[order])
    by_group = np.empty(len(order), dtype=int)
    by_group[order] = folds
    by_group = by_group.reshape(40, copies)
    assert (by_group == by_group[:, :1]).all()
    np.testing.assert_array_equal(np.bincount(folds, minlength=5), 8 * copies)


def test_groups_that_are_all_alike_have_no_folds():
    assert folds_of(np.ones(100)) is None
    assert folds_of(np.arange(5.0)) is None
