"""RPCA, MC-Pos, DLHD, DLSD and KDLSD, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import orthogonal_mp

from candidly import ICE, Candidates, datasets, labelling_error, make_ambiguous, methods
from candidly.baselines.compared import CandidateProblem
from candidly.baselines.dictionaries import (
    DictionaryLearner,
    Embedding,
    ResidualNoise,
    hard_labels,
    participation_ratio,
)
from candidly.baselines.feature_scaling import to_unit_interval
from candidly.baselines.ksvd import RIDGE, joint_residuals, ksvd, pursue, squared_residual
from candidly.baselines.mc_pos import CompletionLosses, chi2, chi2_slope
from candidly.baselines.rpca import robust_pca
from candidly.baselines.stacked import positive

STACKED = ["RPCA", "MC-Pos"]
DICTIONARIES = ["DLHD", "DLSD", "KDLSD"]
VARIANTS = [
    *((name, {}) for name in [*STACKED, *DICTIONARIES]),
    *((name, {"coding": "joint"}) for name in DICTIONARIES),
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def subspaces(rng, *, classes=3, each=20, m=12, dimension=2, noise=0.05):
    """Classes that are subspaces, each with an offset; features and labels."""
    y = np.repeat(np.arange(classes), each)
    bases, places = rng.normal(size=(classes, dimension, m)), rng.normal(size=(classes, m))
    X = np.einsum("nd,ndm->nm", rng.normal(size=(len(y), dimension)), bases[y]) + places[y]
    return X + noise * rng.normal(size=X.shape), y


def few_rounds(name):
    """The method, with 3 rounds where they are slow."""
    few = {"max_iter": 3} if name in DICTIONARIES else {}
    return methods.get(name).set_params(random_state=0, **few)


def problem(X, P, mask):
    return CandidateProblem(X, P, mask, np.arange(len(X)), None, np.random.default_rng(0))


# Robust PCA


def planted(rng):
    low_rank = rng.normal(size=(100, 5)) @ rng.normal(size=(5, 120))
    sparse = np.where(rng.random((100, 120)) < 0.05, rng.uniform(-10, 10, (100, 120)), 0)
    return low_rank, sparse


def test_robust_pca_recovers_a_low_rank_and_a_sparse_matrix(rng):
    low_rank, sparse = planted(rng)
    parts = robust_pca(low_rank + sparse, 1 / np.sqrt(120))
    assert np.linalg.norm(parts.low_rank - low_rank) < 1e-5 * np.linalg.norm(low_rank)
    assert np.linalg.norm(parts.sparse - sparse) < 1e-5 * np.linalg.norm(sparse)
    assert parts.status.name == "CONVERGED"


def test_the_residual_of_the_constraint_falls(rng):
    residuals = np.array(robust_pca(sum(planted(rng)), 1 / np.sqrt(120)).residuals)
    assert residuals[-1] < 1e-7
    assert (residuals[5:] < 0.9 * residuals[:-5]).all()


def test_robust_pca_meets_its_optimality_conditions(rng):
    D, lam = sum(planted(rng)), 1 / np.sqrt(120)
    parts = robust_pca(D, lam, tol=1e-10, rho=1.2, max_iter=500)
    best = np.linalg.norm(parts.low_rank, "nuc") + lam * np.abs(parts.sparse).sum()
    for size in (1e-3, 1e-1):
        shift = size * rng.normal(size=D.shape)
        A, E = parts.low_rank + shift, D - parts.low_rank - shift
        assert best <= np.linalg.norm(A, "nuc") + lam * np.abs(E).sum()


def test_nothing_is_split_into_nothing():
    parts = robust_pca(np.zeros((3, 4)), 0.5)
    assert not parts.low_rank.any()
    assert not parts.sparse.any()


# MC-Pos


def test_chi2_slope_is_the_derivative_of_chi2(rng):
    x, z, step = rng.random((4, 30)), rng.random((4, 30)) + 0.01, 1e-6
    numeric = (chi2(z + step, x) - chi2(z - step, x)) / (2 * step)
    np.testing.assert_allclose(chi2_slope(z, x), numeric, atol=1e-4, rtol=1e-5)


def test_chi2_of_two_zeros_is_no_nan():
    zero = np.zeros(1)
    assert chi2(zero, zero) == 0
    assert chi2_slope(zero, zero) == 0
    assert chi2_slope(np.ones(1), zero) == 1


def test_the_gradient_of_the_losses_is_that_of_finite_differences(rng):
    P, X = rng.dirichlet(np.ones(3), 5).T, rng.random((4, 5))
    losses, shape = CompletionLosses(P, X, 0.7, 15.0), (8, 5)
    Z = rng.random(shape) + 0.05

    def value(z):
        fixed = z.reshape(shape).copy()
        fixed[-1] = Z[-1]
        return losses.value(fixed)

    error = check_grad(value, lambda z: losses.gradient(z.reshape(shape)).ravel(), Z.ravel())
    assert error < 1e-6


@pytest.mark.parametrize("mu", [1.0, 1e-2, 1e-4])
def test_the_objective_of_mc_pos_never_rises_for_a_fixed_mu(rng, mu):
    P, X = rng.dirichlet(np.ones(3), 40).T, rng.random((10, 40))
    losses = CompletionLosses(P, X, 1.0, 15.0)
    Z, trace = losses.minimise(np.vstack([2 * P - 1, X, np.ones(40)]), mu, 1e-6, 100)
    assert (np.diff(trace) <= 0).all()
    assert trace[-1] < trace[0]
    assert trace[-1] == losses.objective(Z, mu)
    assert (Z[3:-1] >= 0).all()
    assert (Z[-1] == 1).all()


def test_a_soft_label_is_recovered_as_its_own_log_odds():
    P = np.array([[0.9, 0.5, 0.2]])
    losses = CompletionLosses(P, np.zeros((1, 3)), 1.0, 15.0)
    Z = np.vstack([np.log(P / (1 - P)) / 15, np.zeros(3), np.ones(3)])
    np.testing.assert_allclose(losses.gradient(Z)[0], 0, atol=1e-12)


def test_mc_pos_objective_falls_as_mu_does(rng):
    X, y = subspaces(rng)
    model = methods.get("MC-Pos").fit(X, make_ambiguous(y, n_extra=1, random_state=0))
    trace = model.solution_.trace.column("objective")
    assert (np.diff(trace) < 0).all()


# What both do with the stacked matrix


def test_features_are_scaled_to_the_unit_interval(rng):
    X = np.column_stack([rng.normal(size=9) * 1e300, np.full(9, 7.0), rng.normal(size=9) * 1e-300])
    scaled = to_unit_interval(X)(X)
    np.testing.assert_array_equal(scaled.min(axis=0), 0)
    np.testing.assert_allclose(scaled.max(axis=0), [1, 0, 1])


def test_rows_below_zero_keep_the_order_of_their_candidates():
    mask = np.array([[True, True, True], [True, True, False]])
    rows = np.array([[-3.0, -1.0, -2.0], [0.5, -1.0, 9.0]])
    expected = [[3.0, 5.0, 4.0], [0.5, -1.0, 0.0]]
    np.testing.assert_array_equal(positive(rows, mask), expected)


@pytest.mark.parametrize("name", STACKED)
def test_the_label_is_the_largest_recovered_row_within_the_candidates(rng, name):
    X, y = subspaces(rng)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    model = methods.get(name).set_params(random_state=0).fit(X, candidates)
    unit_X = to_unit_interval(X)(X)
    rows = model.recover(candidates.priors.T, unit_X.T).rows.T
    chosen = rows[np.arange(len(rows)), np.searchsorted(candidates.classes, model.transduction_)]
    largest = np.where(candidates.mask, rows, -np.inf).max(axis=1)
    np.testing.assert_allclose(chosen, largest, atol=1e-6)  # less does not count
    assert (candidates.mask.sum(axis=1) > 1).any()


@pytest.mark.parametrize("name", STACKED)
def test_the_classifier_sees_features_in_the_unit_interval(rng, name):
    X, y = subspaces(rng, noise=0.01)
    far = methods.get(name).fit(1e6 * X, y)
    assert np.mean(far.predict(1e6 * X) == y) > 0.9


# Matching pursuit and K-SVD


@pytest.mark.parametrize(("r", "K", "sparsity"), [(20, 15, 5), (10, 30, 8), (6, 15, 6), (8, 3, 5)])
def test_the_pursuit_equals_that_of_scikit_learn(rng, r, K, sparsity):
    atoms, X = unit(rng.normal(size=(K, r))), rng.normal(size=(40, r))
    expected = orthogonal_mp(atoms.T, X.T, n_nonzero_coefs=min(sparsity, K)).T
    np.testing.assert_allclose(pursue(X, atoms, sparsity), expected, atol=1e-9)


def test_the_pursuit_copes_with_twins_zeros_and_exact_fits(rng):
    atoms = unit(rng.normal(size=(4, 6)))
    atoms[1] = atoms[0]
    X = np.vstack([np.zeros(6), 3 * atoms[0], atoms[2] - atoms[3], 1e-200 * atoms[2]])
    codes = pursue(X, atoms, 4)
    assert np.isfinite(codes).all()
    np.testing.assert_allclose(codes @ atoms, X, atol=1e-12)


def test_the_weighted_error_of_ksvd_never_rises_and_atoms_have_unit_norm(rng):
    X, _ = subspaces(rng, each=40)
    weighted = X * np.sqrt(rng.random(len(X)))[:, None]
    first = unit(X[rng.choice(len(X), 12, replace=False)])
    atoms, errors = ksvd(weighted, first, 2, 25)
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    assert errors[-1] < 0.9 * errors[0]
    np.testing.assert_allclose(np.linalg.norm(atoms, axis=1), 1)


def test_an_atom_is_fitted_as_by_the_plain_formulas(rng):
    X, first = rng.normal(size=(15, 6)), unit(rng.normal(size=(4, 6)))
    atoms, codes = first.copy(), pursue(X, first, 2)
    for k in range(4):
        users = codes[:, k] != 0
        target = X[users] - codes[users] @ atoms + np.outer(codes[users, k], atoms[k])
        atoms[k] = unit(codes[users, k] @ target)
        codes[users, k] = target @ atoms[k]
    np.testing.assert_allclose(ksvd(X, first, 2, 1)[0], atoms, atol=1e-12)


def test_ksvd_finds_the_atoms_that_made_the_rows(rng):
    true = unit(rng.normal(size=(4, 30)))
    X = rng.normal(size=(200, 1)) * true[rng.integers(4, size=200)]
    atoms, errors = ksvd(X, unit(X[rng.choice(200, 8, replace=False)]), 1, 20)
    assert errors[-1] < 1e-12
    assert squared_residual(X, atoms, 1).sum() < 1e-20
    np.testing.assert_allclose(np.abs(true @ atoms.T).max(axis=1), 1)


def test_weights_are_what_the_dictionary_is_learned_from(rng):
    X, y = subspaces(rng, classes=2, dimension=1, noise=1e-7)
    learner = DictionaryLearner.of(unit(X), 4, 2, rng)
    atoms = learner.learn(np.arange(len(X)), np.where(y == 0, 1.0, 1e-9))
    residual = learner.residual(np.arange(len(X)), atoms)
    assert residual[y == 0].max() < 1e-12
    assert residual[y == 1].min() > 0.01
    assert learner.learn(np.arange(3), np.zeros(3)) is None


def test_a_joint_code_is_ridge_over_all_atoms_and_a_residual_has_the_classes_part(rng):
    X = unit(rng.normal(size=(5, 9)))
    first, second = unit(rng.normal(size=(3, 9))), unit(rng.normal(size=(4, 9)))
    found = joint_residuals(X, [first, None, second])
    every = np.vstack([first, second])
    for x, residual in zip(X, found, strict=True):
        rows = np.vstack([every.T, np.sqrt(RIDGE) * np.eye(7)])
        code = np.linalg.lstsq(rows, np.concatenate([x, np.zeros(7)]))[0]
        expected = [((x - code[:3] @ first) ** 2).sum(), 1, ((x - code[3:] @ second) ** 2).sum()]
        np.testing.assert_allclose(residual, expected)
    np.testing.assert_allclose(joint_residuals(X, [None, None]), 1)
    assert joint_residuals(X[:0], [first]).shape == (0, 1)


def shared_and_own(rng, *, classes=6, each=20, m=60):
    """Rows that are mostly what all classes share, and a little of their class."""
    y = np.repeat(np.arange(classes), each)
    shared, own = rng.normal(size=(8, m)), rng.normal(size=(classes, m))
    return 3 * rng.normal(size=(len(y), 8)) @ shared + 3 * own[y] + rng.normal(size=(len(y), m)), y


@pytest.mark.parametrize("name", DICTIONARIES)
def test_a_joint_code_tells_classes_apart_that_share_most_of_their_features(rng, name):
    X, y = shared_and_own(rng)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    errors = {}
    for coding in ("class", "joint"):
        model = methods.get(name).set_params(coding=coding, max_iter=8, random_state=0)
        errors[coding] = labelling_error(y, model.fit(X, candidates).transduction_)
    assert errors["joint"] < 0.1 < errors["class"]


def test_atoms_grow_with_the_instances_that_count(rng):
    rows = unit(rng.normal(size=(40, 30)))
    sizes = [
        len(DictionaryLearner.of(rows, 30, 3, rng, share).learn(np.arange(40), np.ones(40)))
        for share in (0.1, 0.25, 0.5, 2.0)
    ]
    assert sizes == [4, 10, 20, 30]


def test_joint_codes_of_a_fold_are_over_dictionaries_that_never_saw_it(rng):
    learner = DictionaryLearner.of(unit(rng.normal(size=(13, 5))), 5, 2, rng)
    parts = list(methods.get("DLSD").parts(learner))
    assert sorted(np.concatenate([inside for inside, _ in parts]).tolist()) == list(range(13))
    for inside, others in parts:
        assert set(inside.tolist()) | set(others.tolist()) == set(range(13))
        assert not set(inside.tolist()) & set(others.tolist())


def test_participation_counts_equal_components(rng):
    frame = np.linalg.qr(rng.normal(size=(40, 5)))[0]
    frame = np.linalg.qr(frame - frame.mean(axis=0))[0]
    assert participation_ratio(frame) == pytest.approx(5, rel=1e-6)
    assert participation_ratio(np.ones((3, 2))) == 1


# The dictionary methods


def test_confidences_are_those_of_the_formula():
    residual = np.array([[1.0, 2.0], [3.0, 1.0]])
    W = np.array([[1.0, 0.5], [1.0, 0.5]])
    noise = ResidualNoise.of(residual, W, freedom=2.0)
    np.testing.assert_allclose(noise.scale, [2, 1.5])
    beta = noise.scale**-1.0
    expected = beta * np.exp(-residual / noise.scale)
    np.testing.assert_allclose(np.exp(noise.scores()), expected)


def test_ties_belong_to_all_their_classes():
    P = np.array([[0.5, 0.5, 0], [0.2, 0.7, 0.1]])
    np.testing.assert_array_equal(hard_labels(P, P > 0), [[1, 1, 0], [0, 1, 0]])


def test_a_class_without_members_starts_again_from_its_candidates():
    mask = np.array([[True, True], [True, True], [True, False]])
    W = methods.get("DLHD").weights(np.array([[0.9, 0.1], [0.8, 0.2], [1, 0]]), mask)
    np.testing.assert_array_equal(W, [[1, 1], [1, 1], [1, 0]])


def test_a_fold_is_scored_by_dictionaries_that_never_saw_it(rng):
    X, y = subspaces(rng)
    mask = np.eye(3, dtype=bool)[y]
    learner = DictionaryLearner.of(unit(X), 5, 2, rng)
    dlsd = methods.get("DLSD")
    plain = dlsd.residuals(learner, mask.astype(float), mask)
    inside = learner.order[mask[learner.order, 0]][::5]  # the first fold of class 0
    weight = mask.astype(float)
    weight[inside, 0] = 1e6  # what they weigh cannot matter to themselves
    np.testing.assert_array_equal(
        dlsd.residuals(learner, weight, mask)[inside, 0], plain[inside, 0]
    )
    others = np.setdiff1d(np.flatnonzero(mask[:, 0]), inside)
    assert (dlsd.residuals(learner, weight, mask)[others, 0] != plain[others, 0]).any()


def test_with_a_linear_kernel_kdlsd_has_the_residuals_of_dlsd(rng):
    X, y = subspaces(rng, each=10)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    P, mask = candidates.priors, candidates.mask
    found = []
    for model in (methods.get("DLSD"), methods.get("KDLSD").set_params(kernel="linear")):
        rows, outside = model.embed(X).rows(X)
        learner = DictionaryLearner.of(rows, 6, 3, np.random.default_rng(1))
        found.append(model.residuals(learner, P, mask))
        np.testing.assert_allclose(outside, 0, atol=1e-12)
    np.testing.assert_allclose(*found, atol=1e-8)


def test_with_a_linear_kernel_kdlsd_labels_and_predicts_as_dlsd(rng):
    X, y = subspaces(rng)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    settings = {"max_iter": 4, "random_state": 0}
    dlsd = methods.get("DLSD").set_params(**settings).fit(X, candidates)
    kernel = methods.get("KDLSD").set_params(kernel="linear", **settings).fit(X, candidates)
    np.testing.assert_allclose(kernel.label_distributions_, dlsd.label_distributions_, atol=1e-5)
    new = subspaces(np.random.default_rng(0))[0] + 0.1
    np.testing.assert_array_equal(kernel.predict(new), dlsd.predict(new))


def test_coordinates_keep_distances_and_what_they_leave_out(rng):
    X, new = rng.normal(size=(8, 20)), rng.normal(size=(5, 20))
    embedding = Embedding.of(X, None)
    rows, outside = embedding.rows(np.vstack([X, new]))
    plain = unit(np.column_stack([np.vstack([X, new]) / embedding.unit, np.ones(13)]))
    assert rows.shape == (13, 8)
    np.testing.assert_allclose(rows[:8] @ rows.T, plain[:8] @ plain.T, atol=1e-10)
    np.testing.assert_allclose((rows**2).sum(axis=1) + outside, 1)
    assert outside[8:].min() > 0.01


@pytest.mark.parametrize("name", DICTIONARIES)
def test_singletons_give_the_supervised_dictionary_classifier(rng, name):
    X, y = subspaces(rng)
    model = methods.get(name).set_params(random_state=0)
    mask = np.eye(3, dtype=bool)[y]
    found = model.label(problem(X, mask.astype(float), mask)).predictor
    rows, _ = found.embedding.rows(X)
    for j, atoms in enumerate(found.atoms):
        # K-SVD on the class alone, from other starts, fits about as well.
        alone = [
            DictionaryLearner.of(rows, 15, 5, np.random.default_rng(s)).learn(
                np.flatnonzero(y == j), np.ones(20)
            )
            for s in range(3)
        ]
        fits = [squared_residual(rows[y == j], D, found.sparsity).mean() for D in alone]
        own = squared_residual(rows[y == j], atoms, found.sparsity).mean()
        assert min(fits) / 2 < own < 2 * max(fits)
    new, truth = subspaces(np.random.default_rng(0), each=40)
    assert np.mean(model.fit(X, y).predict(new) == truth) > 0.9


@pytest.mark.parametrize("name", DICTIONARIES)
def test_predict_takes_the_smallest_scaled_residual(rng, name):
    X, y = subspaces(rng)
    mask = np.eye(3, dtype=bool)[y]
    model = methods.get(name).set_params(random_state=0)
    found = model.label(problem(X, mask.astype(float), mask)).predictor
    rows, outside = found.embedding.rows(X)
    for j, atoms in enumerate(found.atoms):
        left = ((rows - pursue(rows, atoms, found.sparsity) @ atoms) ** 2).sum(axis=1) + outside
        scale = found.noise.scale[j]
        expected = -found.noise.freedom / 2 * (left / scale + np.log(scale))
        np.testing.assert_allclose(found.scores(X)[:, j], expected)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_one_candidate_set_for_all_is_left_at_chance(rng, name, options):
    X, _ = subspaces(rng)
    model = methods.get(name).set_params(random_state=0, **options)
    model.fit(X, np.ones((60, 3), dtype=bool))
    np.testing.assert_allclose(model.label_distributions_, 1 / 3, atol=1e-6)


@pytest.mark.parametrize("name", [*STACKED, *DICTIONARIES])
def test_candidates_are_resolved_far_better_than_by_chance(rng, name):
    X, y = subspaces(rng, classes=4, m=20)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    model = methods.get(name).set_params(random_state=0).fit(X, candidates)
    assert labelling_error(y, model.transduction_) < 0.25


@pytest.mark.parametrize("name", [*STACKED, *DICTIONARIES])
def test_soft_labels_count(rng, name):
    X, y = subspaces(rng, classes=4, m=20)
    mask = make_ambiguous(y, n_extra=2, random_state=0).mask
    sure = np.where(mask, 0.1, 0)
    sure[np.arange(len(y)), y] = 0.8
    model = few_rounds(name)
    errors = [labelling_error(y, model.fit(X, P).transduction_) for P in (mask, sure)]
    assert errors[1] < errors[0]
    assert ICE(model, max_rounds=1).fit(X, mask).transduction_.shape == y.shape


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_odd_problems_work(rng, name, options):
    model = few_rounds(name).set_params(**options)
    X, y = subspaces(rng, each=4)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    odd = {
        "one instance": (X[:1], [["a", "b"]]),
        "two instances": (X[:2], [["a", "b"], ["a"]]),
        "one class": (X, ["a"] * 12),
        "one feature": (X[:, :1], candidates),
        "constant features": (np.ones((12, 4)), candidates),
        "nothing but zeros": (np.zeros((12, 4)), candidates),
        "one row repeated": (np.repeat(X[:1], 12, axis=0), candidates),
        "every row twice": (np.repeat(X[:6], 2, axis=0), candidates),
        "huge": (1e200 * X, candidates),
        "tiny": (1e-200 * X, candidates),
        "far from 0": (1e6 + X, candidates),
        "more features than instances": (rng.normal(size=(12, 40)), candidates),
        "a class that nobody else has": (X, [*candidates.sets()[:-1], ["new"]]),
    }
    for what, (features, sets) in odd.items():
        if not isinstance(sets, Candidates):
            sets = Candidates([[str(a) for a in np.atleast_1d(row)] for row in map(list, sets)])
        fitted = model.fit(features, sets)
        assert np.isfinite(fitted.label_distributions_).all(), what
        assert sets.contain(fitted.transduction_).all(), what
        assert len(fitted.predict(features)) == len(features), what


def test_kernels_and_widths_are_taken(rng):
    X, y = subspaces(rng, each=10)
    candidates = make_ambiguous(y, n_extra=1, random_state=0)
    for setting in ({"kernel": "poly", "degree": 3}, {"gamma": 0.5}):
        model = methods.get("KDLSD").set_params(random_state=0, max_iter=3, **setting)
        assert labelling_error(y, model.fit(X, candidates).transduction_) < 0.4


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("RPCA", 25, 51.5), ("MC-Pos", 20, 42), ("DLHD", 10, 42), ("DLSD", 10, 40)],
)
def test_labels_of_lost_are_behind_wmcar_and_better_than_chance(name, least, most):
    data = datasets.load("lost")
    model = methods.get(name).set_params(random_state=0, classifier=None)
    error = 100 * labelling_error(data.y, model.fit_predict(data.X, data.candidates))
    assert least < error < most
