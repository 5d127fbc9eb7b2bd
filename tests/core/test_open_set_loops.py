"""Open-set labelling on many instances: all paths and precisions give the same labels."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidly import threads
from candidly.extras import installed
from candidly.solvers import unmentioned
from candidly.solvers.kernels import running_by
from candidly.solvers.kernels.entry_simplex import onto_simplex
from candidly.solvers.kernels.likeness_loops import mention_squares
from candidly.solvers.kernels.matching_loops import listed_marginals
from candidly.solvers.kernels.nearest_loops import keep_least, near_squares
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.matchings import NEVER, matchings
from candidly.solvers.open_set import OpenSetLabelling, centre
from candidly.solvers.two_covariances import TAIL, Covariances, Scatters
from candidly.solvers.unmentioned import Elsewhere, KnownNames, Searches
from problems import open_entries, seeds

needs_numba = pytest.mark.skipif(
    not installed("fast"), reason="needs numba: pip install 'candidly[fast]'"
)
few = settings(max_examples=20)


def captions(seed=0, people=60, photos=300, k=12, dtype=np.float64):
    """Photos of three faces and three names each, some of others: X (N x k), entries, who."""
    rng = np.random.default_rng(seed)
    mentioned = np.array([rng.permutation(people)[:3] for _ in range(photos)])
    shown = rng.random((photos, 3)) < 0.8
    who = np.where(shown, mentioned, rng.integers(people, size=(photos, 3)))
    X = 2 * rng.normal(size=(people, k))[who.ravel()] + rng.normal(size=(3 * photos, k))
    mask = np.zeros((people + 1, 3 * photos), bool)
    for g, names in enumerate(mentioned):
        mask[np.ix_(names, range(3 * g, 3 * g + 3))] = True
    mask[people] = True
    entries = open_entries(mask / mask.sum(axis=0), mask, np.arange(3 * photos) // 3, people)
    truth = np.where(mask[who.ravel(), np.arange(3 * photos)], who.ravel(), -1)
    return (X - centre(X, None)).astype(dtype), entries, truth


def both(kernel, *arguments):
    """Return what the two bodies of a kernel say, each of copies."""
    for body in (kernel.plain, kernel.compiled):
        copies = [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
        found = body(*copies)
        yield copies if found is None else found


@pytest.mark.slow  # compiles
@needs_numba
@few
@given(seeds, st.sampled_from([np.float32, np.float64]))
def test_entries_are_compared_with_their_names_as_in_numpy(seed, dtype):
    X, entries, _ = captions(seed, 6, 8, 3, dtype)
    rng = np.random.default_rng(seed)
    R, b = rng.random(len(entries)), rng.random(3) * 5
    count = entries.over_names(R)
    total = LabelledFeatures(X, entries).sums(R)
    which = np.flatnonzero(rng.random(len(entries.mentioned)) < 0.7)
    arguments = (X, entries.instance, entries.mentioned, *entries.by_mention, which)
    plain, loops = both(mention_squares, *arguments, R, count, total, b)
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    for one, other in zip(plain, loops, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.slow  # compiles
@needs_numba
@few
@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_matchings_are_listed_as_in_numpy(seed, faces, names):
    table = 5 * np.random.default_rng(seed).normal(size=(4, faces, names + 1))
    table[table < -6] = NEVER
    for one, other in zip(*both(listed_marginals, table, matchings(faces, names)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.slow  # compiles
@needs_numba
@few
@given(seeds)
def test_simplices_and_distances_of_near_names_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    first = np.append(0, np.cumsum(rng.integers(4, size=6)))
    one, other = both(onto_simplex, 2 * rng.normal(size=first[-1]), first)
    np.testing.assert_allclose(one, other, atol=1e-12)
    Z, mean, precision = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.random((4, 3))
    near = rng.integers(-1, 4, size=(5, 2)).astype(np.int32)
    one, other = both(near_squares, Z, near, mean, precision)
    np.testing.assert_allclose(one, other)


@pytest.mark.slow  # compiles
@needs_numba
@few
@given(seeds, st.integers(1, 20))
def test_the_least_values_are_kept_and_candidates_left_out(seed, many):
    rng = np.random.default_rng(seed)
    N, L = 6, 3
    first = np.append(0, np.cumsum(rng.integers(3, size=N)))
    names = np.sort(rng.permutation(30)[:many])
    own = rng.integers(30, size=first[-1])
    least, name = np.full((N, L), np.inf), np.full((N, L), -1, dtype=np.int32)
    least[:, 0], name[:, 0] = 0.5, 99
    rows = np.flatnonzero(rng.random(N) < 0.7)
    values = rng.random((len(rows), many))
    plain, loops = both(keep_least, values, rows, names, least, name, first, own)
    for found in (plain, loops):
        for r, j in enumerate(rows):
            taken = own[first[j] : first[j + 1]]
            pairs = [(v, n) for v, n in zip(values[r], names, strict=True) if n not in taken]
            pairs = sorted([(0.5, 99), *pairs])[:L]
            np.testing.assert_array_equal(found[4][j, : len(pairs)], [n for _, n in pairs])
            np.testing.assert_allclose(found[3][j, : len(pairs)], [v for v, _ in pairs])


@pytest.mark.slow  # compiles
@needs_numba
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_equal_values_but_for_rounding_the_first_names_are_kept(dtype):
    rng, eps = np.random.default_rng(0), np.finfo(dtype).eps
    N, L, many = 20, 4, 24
    plain = np.repeat(rng.integers(1, 7, size=(N, many // 3)), 3, axis=1).astype(dtype)
    values = plain * (1 + eps * rng.integers(-3, 4, size=plain.shape)).astype(dtype)
    least, name = np.full((N, L), np.inf, dtype=dtype), np.full((N, L), -1, dtype=np.int32)
    none = np.zeros(N + 1, dtype=np.intp), np.zeros(0, dtype=np.intp)
    for found in both(keep_least, values, np.arange(N), np.arange(many), least, name, *none):
        wanted = np.argsort(plain, axis=1, kind="stable")[:, :L]
        np.testing.assert_array_equal(found[4], wanted)


def test_the_nearest_names_say_what_all_names_say(monkeypatch):
    X, entries, truth = captions(people=80, photos=400, k=12)
    features = LabelledFeatures(X, entries)
    R = 0.9 * (entries.name == truth[entries.instance])
    sums = features.sums(R)
    matrix = entries.matrix(R)
    scatters = Scatters.of(X.T, matrix)
    covariances = Covariances.of_scatters(scatters, 12.0)
    Z = features.coordinates(covariances)
    anybody = covariances.anybody(Z)
    known = KnownNames.of(covariances, entries.over_names(R), sums @ covariances.basis, Z.dtype)
    exact = Elsewhere(entries, 0.4, 0.5).weigh(Z, anybody, known)
    assert (exact > 1).sum() > 20  # people who are known and not mentioned
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    bounded = Elsewhere(entries, 0.4, 0.5)
    searches, mass = Searches(), entries.over_names(R)
    bounded.refresh(Z, known, R, None, searches.next(len(X), known, mass, mass))
    # All the others are in the sample, so that nothing is left out.
    np.testing.assert_allclose(bounded.weigh(Z, anybody, known), exact, atol=1e-9)
    rows = np.arange(5, 200, 3)
    found = bounded.weigh(Z[rows], anybody[rows], known, rows)
    np.testing.assert_allclose(found, exact[rows], atol=1e-9)
    monkeypatch.setattr(unmentioned, "SAMPLED", 20)
    bounded.far = None
    sampled = bounded.weigh(Z, anybody, known)
    near_alone = np.log(
        0.6 + 0.4 * np.exp(bounded._near_pairs(Z, anybody, known, None, bounded.near.names))
    )
    assert (near_alone <= exact + 1e-9).all()
    assert (exact - near_alone).max() < 0.05
    assert np.abs(exact - sampled).mean() < 0.6 * (exact - near_alone).mean()
    # Labels that change a little later: the names that moved are found again.
    later = R.copy()
    later[np.isin(entries.name, [3, 4])] = 0.3
    sums = features.sums(later)
    moved = KnownNames.of(covariances, entries.over_names(later), sums @ covariances.basis, Z.dtype)
    searches.calls = 2
    change = entries.over_names(np.abs(later - R))
    search = searches.next(len(X), moved, change, entries.over_names(later))
    assert set(np.flatnonzero(search.moved)) == {3, 4}
    bounded.refresh(Z, moved, later, None, search)
    wanted = Elsewhere(entries, 0.4, 0.5).weigh(Z, anybody, moved)
    assert (wanted - bounded.weigh(Z, anybody, moved)).max() < 0.05


def test_names_that_are_searched_have_one_table_for_all_shards(monkeypatch):
    made, real = [], KnownNames._table
    monkeypatch.setattr(KnownNames, "_table", lambda *some: made.append(1) or real(*some))
    rng = np.random.default_rng(0)
    mean, precision = rng.normal(size=(2, 50, 6)).astype(np.float32)
    known = KnownNames(np.arange(50), mean, precision**2, np.zeros(50), -np.ones(50))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: known.table(0.5, mean.dtype), range(8)))
    assert len(made) == 1
    directions, table = found[0]
    assert table.dtype == np.float32
    Z = rng.normal(size=(3, 6))
    z = np.column_stack([Z[:, directions], (Z**2).sum(axis=1), np.ones(3)])
    square = ((Z[:, None] - mean) ** 2).sum(axis=2)
    w = (precision**2).mean(axis=1)  # all are as wide and as frequent
    np.testing.assert_allclose(z @ table, square * w + TAIL, rtol=1e-4)


def test_which_of_two_names_mentioned_only_together_is_nearest_changes_nothing(monkeypatch):
    X, entries, truth = captions(people=80, photos=400, k=12)
    features = LabelledFeatures(X, entries)
    R = 0.9 * (entries.name == truth[entries.instance])
    scatters = Scatters.of(X.T, entries.matrix(R))
    covariances = Covariances.of_scatters(scatters, 12.0)
    Z = features.coordinates(covariances)
    sums, count = features.sums(R) @ covariances.basis, entries.over_names(R)
    for i in range(0, 80, 2):  # names in pairs that cannot be told apart
        sums[i : i + 2], count[i : i + 2] = sums[i : i + 2].mean(axis=0), count[i : i + 2].mean()
    known = KnownNames.of(covariances, count, sums, Z.dtype)
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    monkeypatch.setattr(unmentioned, "NEAR", 5)
    monkeypatch.setattr(unmentioned, "SAMPLED", 20)
    found = Elsewhere(entries, 0.4, 0.5)
    found.refresh(Z, known, R, None, Searches().next(len(X), known, count, count))
    one = found.weigh(Z, covariances.anybody(Z), known)
    near = found.near.names
    taken = np.zeros((len(X), 80), dtype=bool)
    taken[entries.instance, entries.name] = True
    np.put_along_axis(taken, near, True, axis=1)
    twin = near[:, -1] ^ 1
    turned = ~taken[np.arange(len(X)), twin]
    assert turned.sum() > 50
    near[turned, -1] = twin[turned]
    found.far = None
    other = found.weigh(Z, covariances.anybody(Z), known)
    np.testing.assert_allclose(other, one, atol=1e-12)


def test_instances_with_few_names_near_are_compared_without_a_warning(monkeypatch):
    X, entries, truth = captions(people=80, photos=400, k=12)
    R = 0.9 * (entries.name == truth[entries.instance])
    features = LabelledFeatures(X, entries)
    covariances = Covariances.of_scatters(Scatters.of(X.T, entries.matrix(R)), 12.0)
    Z, count = features.coordinates(covariances), entries.over_names(R)
    known = KnownNames.of(covariances, count, features.sums(R) @ covariances.basis, Z.dtype)
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    monkeypatch.setattr(unmentioned, "SAMPLED", 70)
    found = Elsewhere(entries, 0.4, 0.5)
    found.refresh(Z, known, R, None, Searches().next(len(X), known, count, count))
    found.near.names[:50, -1] = -1
    assert np.isfinite(found.weigh(Z, covariances.anybody(Z), known)).all()


def test_an_instance_that_a_candidate_explains_is_searched_for_last(monkeypatch):
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    monkeypatch.setattr(unmentioned, "SEARCHED_PAIRS", 0)
    X, entries, truth = captions()
    found = OpenSetLabelling(max_iter=6).solve(X.T, entries)
    assert (found.chosen != truth).mean() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_loops_and_bounds_give_the_same_labels(monkeypatch, dtype):
    X, entries, truth = captions(people=100, photos=600, k=16)
    exact = OpenSetLabelling().solve(X.T, entries)
    assert (exact.chosen != truth).mean() < 0.05
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    monkeypatch.setattr(threads, "_blas_threads", lambda: 2)
    for library in ("numpy", *["numba"] * installed("fast")):
        with running_by(library):
            found = OpenSetLabelling().solve(X.T.astype(dtype), entries)
        assert (found.chosen == exact.chosen).mean() > 0.999
        np.testing.assert_allclose(found.confidence, exact.confidence, atol=0.01)


MANY_NAMES = """
import resource
import numpy as np
from candidly.solvers import CandidateSets
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.open_set import OpenSetLabelling
resource.setrlimit(resource.RLIMIT_DATA, (1_500_000_000,) * 2)  # a matrix of all labels: 2 GB
rng = np.random.default_rng(0)
N, names, k = 49_998, 5_000, 64
mentioned = rng.integers(names - 3, size=N // 3)[:, None] + np.arange(3)
who = mentioned.ravel()
X = rng.normal(size=(names, k)).astype(np.float32)[who]
X += 0.4 * rng.normal(size=(N, k)).astype(np.float32)
rows = np.column_stack([np.repeat(mentioned, 3, axis=0), np.full(N, names)])
sets = CandidateSets(4 * np.arange(N + 1), rows.ravel(), names + 1)
entries = CandidateEntries.of_sets(np.full(4 * N, 0.25), sets, np.arange(N) // 3, names)
found = OpenSetLabelling(max_iter=2).solve(X.T, entries)
print((found.chosen == who).mean())
with open("/proc/self/status") as status:  # ru_maxrss begins at that of the process before
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_names_times_instances():
    run = subprocess.run(
        [sys.executable, "-c", MANY_NAMES], capture_output=True, text=True, check=True
    )
    right, gigabytes = map(float, run.stdout.split())
    assert right > 0.95
    assert gigabytes < 1
