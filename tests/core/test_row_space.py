"""Row-space completion by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly import ICE, MustLink, RowSpace, datasets, labelling_error
from candidly.estimators.row_space import LiftedRidge
from candidly.solvers import CandidateSets, Status
from candidly.solvers.kernels import entry_products as entry_products_module
from candidly.solvers.kernels import running_by
from candidly.solvers.kernels.entry_products import class_sums, entry_products
from candidly.solvers.row_space import Basis, LinearLift, RBFLift, RidgeRows, RowSpaceCompletion
from problems import entries, problem, seeds


def centred(X, weight):
    return X - (weight / weight.sum()) @ X


def smoothed(solver, basis, Y):
    """Return the map of labels (c x N) to H, with every class a candidate."""
    sets = CandidateSets.of_mask(np.ones(Y.shape, bool))
    smooth = solver.smoother(RidgeRows.of(basis, solver.ridge), sets)
    return sets.matrix(smooth(sets.entries_of(Y)))


@given(seeds, st.booleans(), st.sampled_from([(4, 15), (20, 9)]))
def test_leaving_an_instance_out_is_fitting_without_it(seed, weighted, shape):
    m, N = shape
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, m))
    Y = rng.random((3, N))
    weight = rng.uniform(0.5, 2, size=N) if weighted else np.ones(N)
    basis = Basis.of(X, weight)
    found = smoothed(RowSpaceCompletion(ridge=0.1), basis, Y)
    F = centred(X, weight)
    size = weight / weight.mean()
    ridge = 0.1 * basis.s[0] ** 2
    for j in range(N):
        others = np.arange(N) != j
        A = (F[others].T * size[others]) @ F[others] + ridge * np.eye(m)
        coefficients = np.linalg.solve(A, (F[others].T * size[others]) @ Y[:, others].T)
        np.testing.assert_allclose(found[:, j], F[j] @ coefficients, atol=1e-8)


@given(seeds)
def test_keeping_it_in_is_ridge_regression(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(12, 4)), rng.random((3, 12))
    basis = Basis.of(X)
    found = smoothed(RowSpaceCompletion(ridge=0.2, leave_one_out=False), basis, Y)
    F = X - X.mean(axis=0)
    A = F.T @ F + 0.2 * basis.s[0] ** 2 * np.eye(4)
    np.testing.assert_allclose(found, Y @ F @ np.linalg.solve(A, F.T), atol=1e-10)


@given(seeds, st.sampled_from([(12, 4), (5, 9)]))
def test_a_basis_maps_features_to_its_columns(seed, shape):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=shape), rng.uniform(0.5, 2, size=shape[0])
    basis = Basis.of(X, weight)
    found = ((X - basis.mean) @ basis.into).T * basis.w
    np.testing.assert_allclose(found, basis.V, atol=1e-8)
    np.testing.assert_allclose(basis.V @ basis.V.T, np.eye(len(basis.s)), atol=1e-8)


@given(seeds, st.sampled_from(["numpy", "numba"]), st.sampled_from([np.float32, np.float64]))
def test_products_of_entries_are_those_of_matrices(seed, library, dtype):
    if library == "numba":
        pytest.importorskip("numba")
    rng = np.random.default_rng(seed)
    c, N, k = 7, 11, 3
    mask = rng.random((c, N)) < 0.3
    mask[0] |= ~mask.any(axis=0)
    sets = CandidateSets.of_mask(mask)
    y, Q, B = rng.random(len(sets)), rng.normal(size=(N, k)).astype(dtype), rng.normal(size=(c, k))
    with running_by(library), pytest.MonkeyPatch.context() as patch:
        np.testing.assert_allclose(class_sums(sets, y, Q), sets.matrix(y) @ Q, atol=1e-6)
        in_order = class_sums(sets, y, Q)
        patch.setattr(entry_products_module, "SUMS_IN_CACHE", 0)
        np.testing.assert_allclose(class_sums(sets, y, Q), in_order, atol=1e-13)
        np.testing.assert_allclose(entry_products(sets, B, Q), sets.entries_of(B @ Q.T), atol=1e-6)


@given(seeds)
def test_products_of_matrices_and_of_entries_give_the_same_labels(seed):
    rng = np.random.default_rng(seed)
    c, N = 60, 25
    mask = np.zeros((c, N), bool)
    mask[rng.integers(c, size=(2, N)), np.arange(N)] = True
    sets = CandidateSets.of_mask(mask)
    basis = Basis.of(rng.normal(size=(N, 6)))
    solver = RowSpaceCompletion()
    found = solver.smoother(RidgeRows.of(basis, solver.ridge), sets)(sets.uniform())
    everything = smoothed(solver, basis, sets.matrix(sets.uniform()))
    np.testing.assert_allclose(found, sets.entries_of(everything), atol=1e-12)


def test_true_labels_in_the_row_space_stay():
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 4
    Y = np.eye(4)[:, truth]
    X = Y.T @ rng.normal(size=(4, 9))  # features that are the classes, exactly
    mask = Y > 0
    mask |= np.eye(4, dtype=bool)[:, rng.integers(4, size=40)]
    sets = CandidateSets.of_mask(mask)
    solution = RowSpaceCompletion(ridge=1e-9).solve(Basis.of(X), sets.uniform(), sets)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.matrix(), Y, atol=1e-5)


@given(seeds)
def test_a_solution_is_feasible(seed):
    X, P, mask = problem(seed, c=3, m=5, N=20)
    solution = RowSpaceCompletion().solve(Basis.of(X.T), *entries(P, mask))
    assert (solution.labels >= 0).all()
    np.testing.assert_allclose(solution.matrix().sum(axis=0), 1)
    assert len(solution.trace) <= 30


def test_features_without_variety_leave_the_priors():
    _, P, mask = problem(0, c=3, N=8)
    solution = RowSpaceCompletion().solve(Basis.of(np.ones((8, 4))), *entries(P, mask))
    np.testing.assert_allclose(solution.matrix(), P)


def test_it_stops_when_labels_are_settled():
    data = datasets.load("digits", each=20, n_extra=2, random_state=0)
    sets, basis = CandidateSets.of_mask(data.candidates.mask.T), Basis.of(data.X)
    whole = RowSpaceCompletion(tol=1e-12).solve(basis, sets.uniform(), sets)
    settled = RowSpaceCompletion(tol=1e-12, settled=2).solve(basis, sets.uniform(), sets)
    assert len(settled.trace) < len(whole.trace)
    assert [step.changed for step in settled.trace.steps[-2:]] == [0, 0]


def test_the_kernel_lift_has_the_kernel_as_inner_products():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 5)), np.full(30, 1 / 30)
    lift = RBFLift(width=2.0).fit(X, weight, rng)
    F = lift.transform(X)
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    expected = np.exp(-distance / (2 * distance.mean()))
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-8)
    few = RBFLift(width=2.0, landmarks=20).fit(X, weight, rng)
    assert np.abs(few.transform(X) @ few.transform(X).T - expected).mean() < 0.1
    assert LinearLift().fit(X, weight, rng).transform(X) is X


def test_instances_of_a_group_and_links_are_kept_apart_and_together():
    data = datasets.load("digits", people=4, each=30, n_extra=1, random_state=0)
    groups = np.arange(len(data.y)) % 30  # one of each class
    model = RowSpace().fit(data.X, data.candidates, groups=groups)
    for k in range(30):
        assert len(set(model.transduction_[groups == k])) == 4
    linked = RowSpace().fit(data.X, data.candidates, constraints=[MustLink([(0, 1), (40, 41)])])
    assert linked.transduction_[0] == linked.transduction_[1]
    assert ICE(RowSpace()).fit(data.X, data.candidates).n_iter_ >= 1


def test_predict_is_the_same_regression_with_probabilities():
    data = datasets.load("digits", people=5, each=40, n_extra=1, random_state=0)
    model = RowSpace(lift="rbf").fit(data.X[::2], data.candidates[::2])
    assert labelling_error(data.y[1::2], model.predict(data.X[1::2])) < 0.05
    proba = model.predict_proba(data.X[1::2])
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(data.X[1::2]))


def test_landmarks_are_drawn_by_the_seed():
    data = datasets.load("digits", each=30, n_extra=2, random_state=0)
    few = [
        RowSpace(lift="rbf", landmarks=50, random_state=s).fit(data.X, data.candidates)
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(few[0].label_distributions_, few[1].label_distributions_)
    assert (few[0].label_distributions_ != few[2].label_distributions_).any()


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("lost", {}, 6.5),
        ("msrcv2", {"lift": "rbf"}, 23.0),
        ("birdsong", {"lift": "rbf", "ridge": 1e-4}, 11.5),
    ],
)
def test_it_beats_the_papers_methods_on_partial_label_sets(name, options, most):
    data = datasets.load(name)
    model = RowSpace(**options, random_state=0, classifier=None).fit(data.X, data.candidates)
    assert 100 * labelling_error(data.y, model.transduction_) <= most


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_labels_that_nobody_else_has_are_not_decided_by_rounding(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)).astype(kind)
    mask, alone = np.zeros((82, 40), dtype=bool), np.arange(20, 40)
    mask[:2, :20] = mask[2 + alone, alone] = mask[42 + alone, alone] = True
    sets = CandidateSets.of_mask(mask)
    P = rng.random(len(sets))
    P /= sets.total(P)[sets.instance]
    found = RowSpaceCompletion().solve(Basis.of(X, rng.uniform(0.5, 2, size=40)), P, sets).labels
    alone = sets.instance >= 20
    np.testing.assert_allclose(found[alone], P[alone])


@given(seeds)
def test_class_sizes_that_predict_as_much_are_left_out_whatever_the_order_of_rows(seed):
    N, rng = 350, np.random.default_rng(seed)
    first, second = rng.permutation(N)[:160].reshape(2, 80)
    column = np.zeros(N, dtype=int)
    column[second] = 1
    scores = np.tile([1.0, 0.0], (N, 1))
    scores[first] = scores[second] = 0.0, 0.5  # sizes mend the first, and break the second
    weight = np.full(N, 1 / N)
    model = LiftedRidge(None)
    pieces = np.array_split(rng.permutation(N), 3)
    judged = [(scores[some], column[some], weight[some]) for some in pieces]
    model.choose_offset(judged, np.array([0.9, 0.1]))
    np.testing.assert_array_equal(model.offset_, 0.5)


def test_a_generator_gives_labels_and_classifier_the_same_landmarks():
    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    seed = int(np.random.RandomState(3).randint(2**31))
    drawn = RowSpace(lift="rbf", landmarks=40, random_state=np.random.RandomState(3))
    one = drawn.fit(digits.X, digits.candidates)
    assert one.classifier_.lifting_.seed == seed
