"""Arrays of PyTorch give the labels that arrays of NumPy give, and stay where they are."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidly import ICE, CandidateClassifier, MCar, OpenSet, RowSpace, WMCar, datasets
from candidly.solvers import AtLeastOneNamed, AtMostOnce, CandidateSets, unmentioned
from candidly.solvers.arrays import copied, here, on_device
from candidly.solvers.confidence_limits import Likenesses
from candidly.solvers.constraints import normalise
from candidly.solvers.constraints.feasible import project_to_simplex
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.kernels import entry_products as products
from candidly.solvers.kernels import likeness_loops
from candidly.solvers.kernels.entry_products import class_sums, entry_products
from candidly.solvers.kernels.entry_simplex import onto_simplex
from candidly.solvers.kernels.likeness_loops import mention_squares
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.matchings import NEVER, weigh
from candidly.solvers.open_set import OpenSetLabelling
from candidly.solvers.open_set_shard import OpenSetShard
from candidly.solvers.ridge_gram import RidgeGram
from candidly.solvers.row_space import Basis, RBFLift, RidgeRows, RowSpaceCompletion
from candidly.solvers.row_space_shard import RowSpaceShard
from candidly.solvers.two_covariances import Covariances, KnownPeople
from candidly.solvers.unmentioned import Elsewhere, KnownNames

torch = pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
torch.set_num_threads(1)  # several only wait for each other on arrays as small as these

DEVICE = os.environ.get("CANDIDLY_TEST_DEVICE", "cpu")
"""Device of PyTorch that is compared with NumPy."""
KINDS = [np.float32, np.float64]
seeds = st.integers(0, 2**32 - 1)
shapes = st.tuples(st.integers(1, 30), st.integers(1, 40), st.integers(1, 9))


def drawn_sets(rng, c, N):
    """Return candidate sets of which some are large, and values of their entries."""
    mask = rng.random((c, N)) < rng.choice([0.05, 0.3, 1.0])
    mask[rng.integers(c, size=N), np.arange(N)] = True
    sets = CandidateSets.of_mask(mask)
    return sets, rng.normal(size=len(sets))


def there(values):
    return torch.from_numpy(np.array(values)).to(DEVICE)


@given(seed=seeds, shape=shapes)
def test_sums_and_bests_of_candidates_are_those_of_numpy(seed, shape):
    rng = np.random.default_rng(seed)
    sets, y = drawn_sets(rng, *shape[:2])
    y = np.where(rng.random(len(y)) < 0.3, y[0], y)  # ties
    twin, values = sets.beside(there(y)), there(y)
    assert sets.beside(values) is twin.beside(values) is twin
    assert sets.beside(y) is sets
    for name in ("sizes", "instance", "by_class", "class_start"):
        np.testing.assert_array_equal(here(getattr(twin, name)), getattr(sets, name))
    for name in ("total", "largest", "best", "class_total", "matrix"):
        found, wanted = (getattr(s, name)(v) for s, v in ((twin, values), (sets, y)))
        np.testing.assert_allclose(here(found), wanted, atol=1e-12)
    np.testing.assert_array_equal(here(twin.entries_of(twin.matrix(values))), y)


@given(seed=seeds, shape=shapes, kind=st.sampled_from(KINDS), run=st.sampled_from([1, 2, 64]))
def test_products_of_entries_are_those_of_numpy(seed, shape, kind, run):
    rng = np.random.default_rng(seed)
    sets, y = drawn_sets(rng, *shape[:2])
    Q, B = (rng.normal(size=(n, shape[2])).astype(kind) for n in (shape[1], shape[0]))
    twin, accuracy = sets.beside(there(y)), float(100 * np.finfo(kind).eps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "RUN", run)
        patch.setattr(products, "AT_ONCE", 7)
        sums, found = class_sums(twin, there(y), there(Q)), entry_products(twin, there(B), there(Q))
    assert sums.dtype == found.dtype == torch.float64
    np.testing.assert_allclose(here(sums), class_sums(sets, y, Q), atol=accuracy)
    np.testing.assert_allclose(here(found), entry_products(sets, B, Q), atol=accuracy)


def test_a_class_of_very_many_instances_is_summed_in_double_precision():
    N = 200_000
    sets = CandidateSets(np.arange(N + 1), np.zeros(N, dtype=np.intp), 1)
    Q = np.random.default_rng(0).random((N, 1), dtype=np.float32)
    found = class_sums(sets.beside(there(Q)), there(np.ones(N)), there(Q))
    right = Q.sum(dtype=np.float64)
    assert float(found) == pytest.approx(right, rel=1e-8)
    assert abs(float(np.cumsum(Q)[-1]) / right - 1) > 1e-6  # what float32 alone would say


@given(seed=seeds, shape=shapes)
def test_projections_are_those_of_numpy(seed, shape):
    rng = np.random.default_rng(seed)
    sets, y = drawn_sets(rng, *shape[:2])
    P = rng.random(len(y)) * (rng.random(len(y)) < 0.7)
    y *= 10.0 ** rng.integers(-3, 4)
    y[rng.random(len(y)) < 0.3] = -1
    twin = sets.beside(there(y))
    found = [
        (onto_simplex(there(y), twin.start), onto_simplex.plain(y, sets.start)),
        (project_to_simplex(there(y), twin), project_to_simplex(y, sets)),
        (normalise(there(y), there(P), twin), normalise(y, P, sets)),
    ]
    for one, other in found:
        np.testing.assert_allclose(here(one), other, atol=1e-10)


def test_instances_without_entries_are_projected_onto_nothing():
    first = np.array([0, 0, 2, 2])
    found = onto_simplex(there([3.0, 1.0]), there(first))
    np.testing.assert_allclose(here(found), [1, 0])


def row_space_problem(seed, c, N, m, kind):
    rng = np.random.default_rng(seed)
    sets, _ = drawn_sets(rng, c, N)
    X = rng.normal(size=(N, m)).astype(kind)
    P = sets.uniform() * rng.uniform(0.5, 1.5, size=len(sets))
    return X, sets, P / sets.total(P)[sets.instance], rng


@settings(max_examples=50)
@given(
    seed=seeds,
    shape=st.tuples(st.integers(2, 60), st.integers(2, 40), st.integers(1, 12)),
    kind=st.sampled_from(KINDS),
    weighted=st.booleans(),
    sizes=st.booleans(),
    left_out=st.booleans(),
    grouped=st.booleans(),
)
def test_row_space_completion_gives_the_labels_of_numpy(
    seed, shape, kind, weighted, sizes, left_out, grouped
):
    X, sets, P, rng = row_space_problem(seed, *shape, kind)
    weight = rng.uniform(0.1, 3, size=len(X)) if weighted else None
    groups = np.unique(rng.integers(8, size=len(X)), return_inverse=True)[1]
    null = shape[0] - 1
    rules = [AtMostOnce(groups, null), AtLeastOneNamed(groups, null)] if grouped else []
    solver = RowSpaceCompletion(1e-2, sizes, left_out, max_iter=5)
    here_, there_ = (
        solver.solve(Basis.of(features, weight), P, sets, rules) for features in (X, there(X))
    )
    accuracy = 1e-8 if kind == np.float64 else 2e-3
    if kind == np.float64:  # in single precision a change is below the tolerance by rounding
        assert len(here_.trace) == len(there_.trace)
    for name in ("labels", "scores"):
        assert isinstance(getattr(there_, name), np.ndarray)
        np.testing.assert_allclose(getattr(there_, name), getattr(here_, name), atol=accuracy)
    assert here_.violations.keys() == there_.violations.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_a_basis_and_its_rows_are_those_of_numpy(kind, shape):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=shape).astype(kind), rng.uniform(0.5, 2, size=shape[0])
    one, other = Basis.of(X, weight), Basis.of(there(X), weight)
    accuracy = float(1000 * np.finfo(kind).eps)
    np.testing.assert_allclose(other.s, one.s, rtol=1e-9)
    np.testing.assert_allclose(other.mean, one.mean, atol=1e-9)
    rows = [RidgeRows.of(basis, 1e-2) for basis in (one, other)]
    S = [here(each.Q @ each.Q.T) for each in rows]
    np.testing.assert_allclose(S[1], S[0], atol=accuracy)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_ridges_by_a_gram_matrix_are_those_of_numpy(kind, shape):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=shape).astype(kind), rng.uniform(0.5, 2, size=shape[0])
    grams = [RidgeGram.of(X, weight), RidgeGram.of(there(X), weight)]
    accuracy = float(1e5 * np.finfo(kind).eps)
    hidden, shown = np.array([0, 3]), np.array([1, 2, 5])
    sets = CandidateSets.of_mask(np.ones((2, 3), dtype=bool))
    turned = [gram.rows(1e-2, hidden=hidden) for gram in grams]
    found = [
        each.predict(each.of_instances(shown).sums(sets, sets.uniform()), hidden) for each in turned
    ]
    np.testing.assert_allclose(found[1], found[0], atol=accuracy)
    own = [here(gram.leverage(1e-2)) for gram in grams]
    np.testing.assert_allclose(own[1], own[0], atol=accuracy)
    label = np.arange(shape[0]) % 3
    regressed = [gram.in_features(gram.regress(1e-2, label)) for gram in grams]
    np.testing.assert_allclose(regressed[1], regressed[0], atol=accuracy)


def test_a_kernel_lift_is_that_of_numpy():
    X = np.random.default_rng(0).normal(size=(60, 5))
    lift = RBFLift(2.0, 20).fit(X, np.full(60, 1 / 60), np.random.default_rng(0))
    np.testing.assert_allclose(here(lift.transform(there(X))), lift.transform(X), atol=1e-9)


COPIES = ("cpu", "numpy", "__array__", "to", "item", "__float__", "__int__", "__bool__", "nonzero")


@pytest.mark.parametrize("c", [3, 200], ids=["few classes", "many classes"])
def test_an_iteration_of_row_space_completion_copies_four_numbers_at_once(monkeypatch, c):
    X, sets, P, rng = row_space_problem(0, c, 60, 5, np.float32)
    mask = np.zeros((c, 60), dtype=bool)
    mask[rng.integers(c, size=(3, 60)), np.arange(60)] = True
    sets = CandidateSets.of_mask(mask)
    rows = RidgeRows.of(Basis.of(there(X)), 1e-2)
    twin, P = sets.beside(rows.Q), there(sets.uniform())
    shard = RowSpaceShard(rows.Q, sets, P, lambda y: normalise(y, P, twin), own=rows.own)
    part = shard.begin()
    copied = []
    tolist = torch.Tensor.tolist
    for way in COPIES:
        monkeypatch.setattr(torch.Tensor, way, lambda *_, way=way, **__: pytest.fail(way))
    monkeypatch.setattr(torch.Tensor, "tolist", lambda A: copied.append(A.shape) or tolist(A))
    for _ in range(3):
        part = shard.step(part.sums["B"])
    assert copied == [(4,)] * 3
    assert isinstance(shard.y, torch.Tensor)


def around_means(N=150, c=6, m=8):
    rng = np.random.default_rng(0)
    y = np.arange(N) % c
    X = rng.normal(size=(c, m))[y] + 0.4 * rng.normal(size=(N, m))
    mask = (y[:, None] == np.arange(c)) | (rng.random((N, c)) < 0.3)
    return X, mask, y


@pytest.mark.parametrize(
    "model",
    [
        RowSpace(),
        RowSpace(lift="rbf", landmarks=40, random_state=0),
        RowSpace(denoise=True),
        RowSpace(class_sizes=True),
        WMCar(),
        MCar(projection="euclidean"),
    ],
    ids=str,
)
@pytest.mark.parametrize("groups", [None, np.arange(150) // 2], ids=["", "groups"])
def test_a_fit_on_a_device_gives_the_labels_and_predictions_of_one_without(model, groups):
    X, mask, _ = around_means()
    params = model.get_params()
    one = type(model)(**params).fit(X, mask, groups=groups)
    other = type(model)(**{**params, "device": DEVICE}).fit(X, mask, groups=groups)
    np.testing.assert_array_equal(other.transduction_, one.transduction_)
    difference = np.abs(other.label_distributions_ - one.label_distributions_).max()
    assert difference < 1e-4, difference
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
def test_elimination_on_a_device_gives_the_labels_of_one_without():
    X, mask, _ = around_means()
    mask[:, :2] = mask[:, :2].any(axis=1)[:, None]  # two classes that are only listed together
    one, other = (ICE(WMCar(device=device)).fit(X, mask) for device in (None, DEVICE))
    np.testing.assert_array_equal(other.transduction_, one.transduction_)
    np.testing.assert_allclose(other.label_distributions_, one.label_distributions_, atol=1e-6)


@pytest.mark.parametrize("N", [520, 1600], ids=["", "sampled"])
def test_the_default_on_a_device_gives_the_labels_and_predictions_of_one_without(N):
    X, mask, _ = around_means(N)
    one, other = (
        CandidateClassifier(random_state=0, landmarks=50, widths=[2.0], device=device).fit(X, mask)
        for device in (None, DEVICE)
    )
    np.testing.assert_array_equal(other.transduction_, one.transduction_)
    difference = np.abs(other.label_distributions_ - one.label_distributions_).max()
    assert difference < 1e-3, difference
    assert (other.predict(X) == one.predict(X)).mean() > 0.999


def test_a_device_that_is_not_there_is_refused_by_name():
    X, mask, _ = around_means(20)
    assert on_device(X, None) is X
    with pytest.raises(ValueError, match="'nowhere'"):
        RowSpace(device="nowhere").fit(X, mask)


def open_problem(seed, names, N, k, kind):
    """Return features, entries of a null class in groups, and values of these."""
    rng = np.random.default_rng(seed)
    mask = rng.random((names + 1, N)) < rng.choice([0.1, 0.4])
    mask[-1] = rng.random(N) < 0.9  # the null class
    mask[rng.integers(names + 1, size=N), np.arange(N)] = True
    sets = CandidateSets.of_mask(mask)
    groups = np.unique(rng.integers(max(N // 2, 1), size=N), return_inverse=True)[1]
    P = rng.random(len(sets))
    P /= sets.total(P)[sets.instance]
    entries = CandidateEntries.of_sets(P, sets, groups, names)
    return rng.normal(size=(N, k)).astype(kind), entries, rng.random(len(entries)), rng


@given(seed=seeds, shape=shapes, kind=st.sampled_from(KINDS), piece=st.sampled_from([1, 3, 1000]))
def test_entries_are_compared_with_their_names_as_numpy_does(seed, shape, kind, piece):
    X, entries, values, rng = open_problem(seed, *shape, kind)
    k, mentions = X.shape[1], np.arange(len(entries.mentioned))
    which = mentions if rng.random() < 0.5 else mentions[rng.random(len(mentions)) < 0.5]
    count = entries.over_names(values) + rng.random(entries.n_names)
    total, between = rng.normal(size=(entries.n_names, k)), rng.uniform(0.1, 3, size=k)
    given = (X, entries.instance, entries.mentioned, *entries.by_mention, which)
    one = mention_squares.plain(*given, values, count, total, between)
    twin = entries.beside(there(X))
    there_ = (there(X), twin.instance, twin.mentioned, *twin.by_mention, there(which))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likeness_loops, "PIECE_THERE", piece)
        other = mention_squares(*there_, there(values), there(count), there(total), between)
    accuracy = float(1000 * np.finfo(kind).eps)
    for found, wanted in zip(other, one, strict=True):
        np.testing.assert_allclose(here(found), wanted, atol=accuracy, rtol=accuracy)


@given(seed=seeds, shape=shapes)
def test_sums_and_groups_of_entries_are_those_of_numpy(seed, shape):
    _, entries, values, _ = open_problem(seed, *shape, np.float64)
    twin = entries.beside(there(values))
    assert twin.beside(there(values)) is twin
    for name in ("over_names", "over_instances", "over_mentions"):
        found, wanted = getattr(twin, name)(there(values)), getattr(entries, name)(values)
        np.testing.assert_allclose(here(found), wanted, atol=1e-12)
    for batch, other in zip(entries.batches, twin.batches, strict=True):
        at, e = batch.listed
        np.testing.assert_array_equal(batch.entries.ravel()[at], e)
        spread = here(other.spread(there(values), -5.0))
        np.testing.assert_array_equal(spread, batch.spread(values, -5.0))


@given(
    seed=seeds,
    shape=st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4)),
    most=st.sampled_from([1, 3000]),
)
def test_marginals_over_matchings_are_those_of_numpy(seed, shape, most):
    rng = np.random.default_rng(seed)
    worth = np.where(rng.random(shape) < 0.2, NEVER, 5 * rng.normal(size=shape))
    free = np.where(rng.random(shape[:2]) < 0.2, NEVER, 0.0)
    wanted = weigh(worth, free, most)
    # Weights of groups in which no matching is possible are rounded to about 1e-7.
    possible = wanted[2] > NEVER / 2
    for one, other in zip(weigh(there(worth), there(free), most), wanted, strict=True):
        found = here(one)
        np.testing.assert_allclose(found[possible], other[possible], atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(found, other, atol=1e-5, rtol=1e-6)


def drawn_faces(seed, names, N, k, kind):
    """Return features that lie around people, with the entries of ``open_problem``."""
    X, entries, _, rng = open_problem(seed, names, N, k, kind)
    who = np.zeros(N, dtype=np.intp)
    who[entries.instance] = entries.name
    X = X + 2 * rng.normal(size=(names + 1, k)).astype(kind)[who]
    return (X - X.mean(axis=0)).astype(kind), entries, rng


@settings(max_examples=25)
@given(
    seed=seeds,
    shape=st.tuples(st.integers(2, 12), st.integers(4, 60), st.integers(1, 6)),
    kind=st.sampled_from(KINDS),
    weighted=st.booleans(),
    known=st.booleans(),
    closed=st.booleans(),
)
def test_open_set_labelling_gives_the_labels_of_numpy(seed, shape, kind, weighted, known, closed):
    X, entries, rng = drawn_faces(seed, *shape, kind)
    if closed:  # nobody is nobody, as far as there are names
        named = np.diff(entries.first) > 0
        entries = replace(entries, free=np.where(named, NEVER, 0.0))
    weight = rng.uniform(0.5, 2, size=len(X)) if weighted else None
    people = None
    if known:
        R = rng.random((entries.n_names, len(X))) / entries.n_names
        people = KnownPeople.of(X.T.astype(np.float64), R, 5.0)
    # Later iterations magnify rounding where two labels are equally likely.
    solver = OpenSetLabelling(max_iter=3)
    one, other = (solver.solve(A.T, entries, weight, known=people) for A in (X, there(X)))
    exact = kind == np.float64 and not closed  # where names are too few, sums round at NEVER
    accuracy = 1e-6 if exact else 1e-2
    for name in ("soft", "rest", "other"):
        found, wanted = getattr(other, name), getattr(one, name)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, wanted, atol=accuracy)
    if exact:
        np.testing.assert_array_equal(other.chosen, one.chosen)
        np.testing.assert_allclose(other.confidence, one.confidence, atol=accuracy)


@pytest.mark.parametrize("piece", [1, 64_000_000])
def test_somebody_known_who_is_not_mentioned_is_found_by_all_names(monkeypatch, piece):
    monkeypatch.setattr(unmentioned, "PAIRS_THERE", piece)
    X, entries, rng = drawn_faces(0, 12, 60, 4, np.float64)
    twin, covariances = entries.beside(there(X)), Covariances(np.eye(4), np.full(4, 2.0))
    count, total = rng.uniform(0, 3, size=13), rng.normal(size=(13, 4))
    anybody = covariances.anybody(X)
    one = KnownNames.of(covariances, count, total, X.dtype)
    other = KnownNames.of(covariances, there(count), there(total), torch.float64)
    rows = np.array([0, 5, 59])
    for some in (np.arange(60), rows):
        own = None if len(some) == 60 else some
        wanted = Elsewhere(entries, 0.4, 0.5).weigh(X[some], anybody[some], one, own)
        found = Elsewhere(twin, 0.4, 0.5).weigh(
            there(X[some]), there(anybody[some]), other, None if own is None else there(own)
        )
        np.testing.assert_allclose(here(found), wanted, atol=1e-9)


def test_where_pairs_are_many_all_names_are_compared_now_and_then(monkeypatch):
    monkeypatch.setattr(unmentioned, "FEW_PAIRS", 0)
    monkeypatch.setattr(unmentioned, "NEAR", 0)
    calls = []
    every = Elsewhere._all_pairs_there
    monkeypatch.setattr(
        Elsewhere, "_all_pairs_there", lambda self, *a: calls.append(a[3]) or every(self, *a)
    )
    X, entries, _ = drawn_faces(0, 12, 60, 4, np.float64)
    start = np.full(len(entries), 0.3)
    found = OpenSetLabelling(max_iter=8, tol=0.0).solve(there(X).T, entries, start=start)
    assert len(found.trace) == 8
    assert [rows is None for rows in calls].count(True) == 2 * 4  # iterations 1, 2, 4, 8; 2 priors
    assert [rows is None for rows in calls].count(False) == 2 * 5  # folds


def test_where_they_are_very_many_instances_that_a_candidate_explains_are_left_out(monkeypatch):
    for name in ("FEW_PAIRS", "NEAR", "SEARCHED_PAIRS"):
        monkeypatch.setattr(unmentioned, name, 0)
    sizes = []
    every = Elsewhere._all_pairs_there
    monkeypatch.setattr(
        Elsewhere, "_all_pairs_there", lambda self, *a: sizes.append(len(a[0])) or every(self, *a)
    )
    X, entries, _ = drawn_faces(0, 12, 60, 4, np.float64)
    found = OpenSetLabelling(max_iter=4, tol=0.0).solve(there(X).T, entries)
    runs = [sizes[at : at + 3] for at in range(0, len(sizes), 3 + 5)]  # searched, and five folds
    assert len(runs) > 1
    for first, second, fourth in runs:
        assert 0 < first < 60
        assert 0 < second < 60
        assert fourth == 60
    assert np.isfinite(found.other).all()


def test_an_iteration_of_open_set_labelling_copies_nothing_of_its_size(monkeypatch):
    X, entries, _ = drawn_faces(0, 30, 200, 4, np.float32)
    sizes, inside = [], []

    def seen(way):
        def look(A, *args, **kwargs):
            if inside and inside[-1]:
                sizes.append(A.numel())
            return way(A, *args, **kwargs)

        return look

    for name in ("cpu", "numpy", "tolist", "item"):
        monkeypatch.setattr(torch.Tensor, name, seen(getattr(torch.Tensor, name)))
    step = OpenSetShard.step

    def watched(self, parts, found, search, kept):
        inside.append(not kept)
        try:
            return step(self, parts, found, search, kept)
        finally:
            inside.pop()

    monkeypatch.setattr(OpenSetShard, "step", watched)
    OpenSetLabelling(max_iter=4, tol=0.0).solve(there(X).T, entries)
    assert len(sizes) > 8
    assert max(sizes) <= 4 + X.shape[1] ** 2


@pytest.mark.parametrize("rule", [False, True], ids=["", "at least one"])
def test_open_set_and_the_default_with_null_are_the_same_on_a_device(rule):
    rng = np.random.default_rng(0)
    who = rng.integers(6, size=120)
    X = 3 * rng.normal(size=(6, 10))[who] + rng.normal(size=(120, 10))
    news = datasets.simulate_captions(
        np.array(list("abcdef"))[who], np.arange(120) // 2, random_state=0
    )
    for kind in (OpenSet, CandidateClassifier):
        options = {"at_least_one": rule} if kind is CandidateClassifier else {}
        one, other = (
            kind(device=device, **options).fit(X, news.candidates) for device in (None, DEVICE)
        )
        np.testing.assert_array_equal(other.transduction_, one.transduction_)
        np.testing.assert_allclose(other.label_distributions_, one.label_distributions_, atol=1e-6)


def test_a_model_fitted_on_a_device_keeps_no_arrays_there():
    X, mask, _ = around_means()
    for model in (RowSpace(device=DEVICE), ICE(RowSpace(device=DEVICE))):
        stored = pickle.dumps(model.fit(X, mask))
        assert b"torch" not in stored
        np.testing.assert_array_equal(pickle.loads(stored).predict(X), model.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_likenesses_of_pairs_are_those_of_numpy(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)).astype(kind)
    covariances = Covariances(rng.normal(size=(6, 6)), rng.uniform(0.5, 9, size=6))
    groups, numbers = rng.integers(30, size=60), rng.permutation(60).reshape(4, 15)
    _, entries, *_ = open_problem(0, 5, 60, 6, kind)
    found = []
    for features in (X, there(X)):
        rows = LabelledFeatures(features, entries).basis_rows(covariances)
        pairs = Likenesses(rows, covariances, 0.5, 0.0)
        alike = dict(pairs.clearly_alike(numbers, groups))
        found.append((pairs.within(numbers, groups), alike, pairs.between(numbers[0], numbers[1])))
    (one, alike, between), (other, others, as_well) = found
    accuracy = 1e-9 if kind == np.float64 else 1e-4
    np.testing.assert_allclose(other, one, atol=accuracy)
    np.testing.assert_allclose(as_well, between, atol=accuracy)
    assert alike.keys() == others.keys()
    for at, ratio in alike.items():
        np.testing.assert_allclose(others[at], ratio, atol=accuracy)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.int64, torch.bool])
def test_what_is_large_is_copied_as_it_is(kind):
    values = torch.arange(40_000).reshape(400, 100).to(kind)
    found = copied(values)
    assert found.base is None
    np.testing.assert_array_equal(found, values.numpy(), strict=True)
