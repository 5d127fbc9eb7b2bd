"""Algorithm 1 against the paper line by line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from candidly import datasets
from candidly.estimators.scaling import FeatureScaler, choose_setting
from candidly.extras import installed
from candidly.solvers import ALM, AtLeastOneNamed, AtMostOnce, Status, Trace
from candidly.solvers.kernels import running_by
from candidly.solvers.weights import imbalance_weights
from problems import entries, problem, seeds

needs_numba = pytest.mark.skipif(
    not installed("fast"), reason="needs numba: pip install 'candidly[fast]'"
)


def _on_entries(*args, **shape):
    X, P, mask = problem(*args, **shape)
    return X, *entries(P, mask)


@given(
    seed=seeds,
    c=st.integers(1, 5),
    m=st.integers(1, 30),
    N=st.integers(1, 25),
    mu=st.floats(0.01, 100),
    weighted=st.booleans(),
)
def test_one_step_from_any_state_is_the_papers(seed, c, m, N, mu, weighted):
    rng = np.random.default_rng(seed)
    X, P, mask = problem(seed, c, m, N)
    p, sets = entries(P, mask)
    w = imbalance_weights(p, sets) if weighted else np.ones(N)
    given_problem = ALM(rho=1.3).problem(X, p, sets, w)
    Y = np.where(mask, rng.random((c, N)), 0) * w
    Z, L = rng.normal(size=(m, N)), rng.normal(size=(c + m, N))
    expected, residual, gap, objective, unprojected = reference.algorithm_1_step(
        (Y, Z, L.copy(), mu),
        P,
        X,
        mask,
        w,
        given_problem.shard.lam,
        given_problem.shard.gamma,
        1.3,
        given_problem.scale.mu_max,
    )
    after = given_problem.shard
    after.H, after.L = np.vstack([Y, Z]), L.copy()
    following, step = given_problem.step(mu)
    expected_scores = unprojected / w
    size = max(1, np.abs(expected_scores).max(), np.abs(X).max())
    assert np.abs(after.scores - sets.entries_of(expected_scores)).max() < 1e-10 * size
    mass = np.where(mask, np.maximum(expected_scores, 0), 0).sum(axis=0)
    clear = mass > 1e-3  # normalising divides by the mass, and magnifies rounding with it
    assert np.abs(after.H[:c] - expected[0])[:, clear].max(initial=0) < 1e-10 * 1e3 * size
    empty = np.where(mask, expected_scores, -1).max(axis=0) < -1e-9
    np.testing.assert_allclose(after.H[:c, empty], (P * w)[:, empty], rtol=1e-12)
    assert np.abs(after.H[c:] - expected[1]).max() < 1e-10 * size
    assert np.abs(after.L - expected[2]).max() < 1e-10 * size * max(mu, 1)
    assert following == expected[3]
    assert step.residual == pytest.approx(residual, rel=1e-8)
    assert step.gap == pytest.approx(gap, rel=1e-6)
    assert step.objective == pytest.approx(objective, rel=1e-8)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", ["lost", "msrcv2", "birdsong"])
def test_a_whole_solve_is_the_papers_to_1e_7(name):
    data = datasets.load(name)
    setting = choose_setting(data.X)
    scaler = FeatureScaler(standardize=setting.standardize, norm=setting.norm)
    X, P, mask = (
        scaler.fit(data.X).transform(data.X).T,
        data.candidates.priors.T,
        data.candidates.mask.T,
    )
    p, sets = entries(P, mask)
    w = imbalance_weights(p, sets)
    alm = ALM(setting.noise_weight, setting.sparsity_weight, setting.rho, tol=1e-7)
    solution, given_problem = alm.solve(X, p, sets, w), alm.problem(X, p, sets, w)
    sigma = np.linalg.svd(np.vstack([P, X]) * w, compute_uv=False)
    lambda_0 = 1 / np.sqrt(max(len(P) + len(X), len(w)))
    Y, Z, iterations = reference.algorithm_1(
        P,
        X,
        mask,
        w,
        setting.noise_weight * lambda_0,
        setting.sparsity_weight * lambda_0,
        setting.rho,
        1 / sigma[min(len(P), len(X)) - 1],
        given_problem.scale.mu_max,
        1e-7,
        500,
    )
    assert len(solution.trace) == iterations
    assert np.abs(solution.matrix() - Y).max() < 1e-7
    assert np.abs(solution.features - Z).max() < 1e-7
    noise = np.abs(X - solution.features - solution.noise)
    assert noise.max() < 1e-6
    assert (solution.noise == 0).mean() > 0.01  # shrunk, not just what is left of X


@given(seeds, st.booleans(), st.floats(0.05, 20))
def test_the_noise_of_a_solution_is_that_of_the_papers_lines(seed, weighted, mu):
    rng = np.random.default_rng(seed)
    X, P, mask = problem(seed, c=4, m=9, N=15)
    p, sets = entries(P, mask)
    w = imbalance_weights(p, sets) if weighted else np.ones(15)
    given_problem = ALM().problem(X, p, sets, w)
    Y, Z = np.where(mask, rng.random(P.shape), 0) * w, rng.normal(size=X.shape)
    L = rng.normal(size=(13, 15))
    shard = given_problem.shard
    shard.H, shard.L, shard.scores = np.vstack([Y, Z]), L, sets.entries_of(Y / w)
    solution = given_problem.solution(mu, Status.CONVERGED, Trace())
    lam, gamma = shard.lam, shard.gamma
    E_P, E_X = reference.noise((Y, Z, L, mu), P, X, w, lam, gamma)
    np.testing.assert_allclose(solution.label_noise, E_P, atol=1e-12 * max(1, 1 / mu))
    np.testing.assert_allclose(solution.noise, E_X, atol=1e-12 * max(1, 1 / mu))


@given(seeds, st.booleans())
def test_a_solution_is_feasible_converged_and_complete(seed, euclidean):
    X, P, mask = problem(seed, c=3, m=8, N=30)
    alm = ALM(projection="euclidean" if euclidean else "simple", tol=1e-5)
    p, sets = entries(P, mask)
    solution = alm.solve(X, p, sets)
    assert solution.sets is sets
    np.testing.assert_allclose(sets.total(solution.labels), 1)
    assert solution.features.shape == solution.noise.shape == X.shape
    assert solution.status is Status.CONVERGED
    last = solution.trace.steps[-1]
    assert last.residual <= 1e-5
    assert last.gap <= 1e-5
    scale = np.linalg.norm(np.vstack([P, X]))
    assert np.linalg.norm(X - solution.features - solution.noise) <= 1e-4 * scale
    assert np.linalg.norm(P - solution.matrix() - solution.label_noise) <= 1e-4 * scale


@pytest.mark.parametrize("shape", [(40, 25), (8, 60)], ids=["tall", "wide"])
def test_arrays_of_pytorch_give_what_arrays_of_numpy_give(shape):
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    X, P, sets = _on_entries(3, 4, *shape)
    w = imbalance_weights(P, sets)
    alm = ALM(rho=1.5, start="rpca", tol=1e-8)
    here, there = alm.solve(X, P, sets, w), alm.solve(torch.from_numpy(X), P, sets, w)
    assert here.status is there.status is Status.CONVERGED
    assert len(here.trace) == len(there.trace)
    for name in ("labels", "scores", "features", "noise", "label_noise"):
        assert isinstance(getattr(there, name), np.ndarray)
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=1e-8)
    for values in (P, w):
        values.setflags(write=False)
    single = alm.solve(torch.from_numpy(X).float(), P, sets, w)
    assert single.labels.dtype == np.float32


def as_numpy(X):
    return X


def as_torch(X):
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    return torch.from_numpy(X.copy())


PATHS = [
    pytest.param(as_numpy, "numpy", id="numpy"),
    pytest.param(as_numpy, "numba", id="numba", marks=needs_numba),
    pytest.param(as_torch, "numpy", id="torch"),
]


@pytest.mark.parametrize(("array", "library"), PATHS)
@given(
    seed=seeds,
    shape=st.tuples(st.integers(2, 5), st.integers(2, 30), st.integers(2, 25)),
    weighted=st.booleans(),
    grouped=st.booleans(),
)
def test_every_path_gives_the_labels_of_the_paper(array, library, seed, shape, weighted, grouped):
    c, _, N = shape
    X, P, mask = problem(seed, *shape)
    p, sets = entries(P, mask)
    w = imbalance_weights(p, sets) if weighted else np.ones(N)
    groups = np.unique(np.random.default_rng(seed).integers(4, size=N), return_inverse=True)[1]
    rules = [AtLeastOneNamed(groups, c - 1), AtMostOnce(groups, c - 1)] if grouped else []
    with running_by(library):
        here = ALM(rho=1.3).problem(array(X), p, sets, w, rules)
        now = mu = here.start(0.3)
        state = here.shard
        Y, Z, L = np.zeros_like(P), np.zeros_like(X), as_array(state.L).copy()
        for _ in range(3):  # more would magnify rounding: the projection is not non-expansive
            settings = (P, X, mask, w, state.lam, state.gamma, 1.3, here.scale.mu_max)
            (Y, Z, L, mu), *_, scores = reference.algorithm_1_step((Y, Z, L, mu), *settings)
            if grouped:
                Y = w * reference.algorithm_3_projection(scores / w, P, mask, groups, c - 1)
            now, _ = here.step(now)
            assume(clearly_labelled(scores / w, mask))
    np.testing.assert_allclose(as_array(state.H[:c]), Y, atol=1e-9)
    np.testing.assert_allclose(as_array(state.H[c:]), Z, atol=1e-9)


def as_array(A):
    return np.asarray(A)


def clearly_labelled(scores, mask):
    """Whether no column has next to no mass, which magnifies rounding."""
    mass = np.where(mask, np.maximum(scores, 0), 0).sum(axis=0)
    nothing = np.where(mask, scores, -1).max(axis=0) < -1e-9
    return ((mass > 1e-5) | nothing | (mass == 0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("array", "library"), PATHS)
def test_every_path_and_precision_ends_at_the_same_labels(array, library, dtype):
    digits = datasets.load("digits", each=15, n_extra=2, random_state=0)
    X = np.ascontiguousarray((digits.X - digits.X.mean(axis=0)).T) / 3
    p, sets = entries(digits.candidates.priors.T, digits.candidates.mask.T)
    alm = ALM(noise_weight=3, rho=1.5, tol=1e-5)
    with running_by("numpy"):
        expected = alm.solve(X, p, sets)
    with running_by(library):
        found = alm.solve(array(X.astype(dtype)), p, sets)
    accuracy = 1e-9 if dtype is np.float64 else 1e-4
    assert found.labels.dtype == found.features.dtype == dtype
    assert found.status is expected.status is Status.CONVERGED
    assert abs(len(found.trace) - len(expected.trace)) <= (dtype is np.float32)
    np.testing.assert_array_equal(sets.best(found.labels), sets.best(expected.labels))
    np.testing.assert_allclose(found.labels, expected.labels, atol=accuracy)


def test_an_iteration_copies_nothing_from_the_device(monkeypatch):
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    X, P, sets = _on_entries(0)
    there = ALM().problem(torch.from_numpy(X), P, sets)
    mu = there.start("rank")
    for way in ("cpu", "numpy", "__array__", "to"):
        monkeypatch.setattr(torch.Tensor, way, lambda *_, **__: pytest.fail("it is copied"))
    for _ in range(3):
        mu, _ = there.step(mu)
    assert isinstance(there.shard.H, torch.Tensor)


def test_a_solve_does_not_round_to_tf32_and_leaves_the_choice_as_it_was():
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    X, P, sets = _on_entries(0)
    seen = []
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        ALM(max_iter=2).solve(
            torch.from_numpy(X),
            P,
            sets,
            callback=lambda _: seen.append(torch.get_float32_matmul_precision()),
        )
        assert seen == ["highest"] * 2
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_weights_of_one_are_mcar():
    X, P, sets = _on_entries(1)
    plain, ones = ALM().solve(X, P, sets), ALM().solve(X, P, sets, np.ones(X.shape[1]))
    np.testing.assert_array_equal(plain.labels, ones.labels)


def test_the_scale_of_the_weights_does_not_matter():
    X, P, sets = _on_entries(2)
    w = imbalance_weights(P, sets)
    one, seven = ALM().solve(X, P, sets, w), ALM().solve(X, P, sets, 7 * w)
    np.testing.assert_allclose(one.labels, seven.labels, atol=1e-8)


def test_max_iter_stops_with_a_status_that_says_what_to_do():
    X, P, sets = _on_entries(3)
    steps = []
    solution = ALM(max_iter=3).solve(X, P, sets, callback=steps.append)
    assert solution.status is Status.MAX_ITER
    assert "raise" in solution.status.value
    assert steps == solution.trace.steps
    assert len(solution.trace) == 3
    assert solution.trace.column("rank").shape == (3,)
    assert solution.trace.labels_changed >= X.shape[1]  # the first step counts every label


@pytest.mark.parametrize("start", ["rank", "rpca", 0.5])
def test_every_start_gives_its_threshold(start):
    X, P, mask = problem(4)
    given_problem = ALM().problem(X, *entries(P, mask))
    sigma = np.linalg.svd(np.vstack([P, X]), compute_uv=False)
    threshold = {"rank": sigma[3], "rpca": sigma[0] / 1.25, 0.5: sigma[0] / 2}[start]
    assert 1 / given_problem.start(start) == pytest.approx(threshold)


def test_float32_features_give_the_labels_of_float64():
    X, P, sets = _on_entries(5, c=3, m=8, N=60)
    single = ALM(tol=1e-5).solve(X.astype(np.float32), P, sets)
    double = ALM(tol=1e-5).solve(X.astype(np.float32).astype(float), P, sets)
    assert single.features.dtype == np.float32
    assert single.status is Status.CONVERGED
    np.testing.assert_array_equal(sets.best(single.labels), sets.best(double.labels))
