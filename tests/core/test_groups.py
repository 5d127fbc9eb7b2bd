"""Algorithm 3: constraints within photos, by hand, against loops, and at random."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference
from candidly import (
    ICE,
    Candidates,
    ContradictionError,
    MCar,
    OpenSet,
    PartialGroupWarning,
    RiskControlled,
    RowSpace,
    WMCar,
    WMCarICE,
    datasets,
)
from candidly.base import confidence
from candidly.solvers import ALM, AtLeastOneNamed, AtMostOnce, Solution, Status, Trace
from candidly.solvers.assignment import worth as worth_of
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.solvers.row_space import LeftOutEvidence
from candidly.solvers.weights import imbalance_weights
from problems import entries, problem, seeds

ANN, BOB, NOBODY = 0, 1, 2


def photo(*faces):
    """Soft labels of one photo, a face a row, as c x N."""
    return np.array(faces, dtype=float).T


def feasible(constraint, Y):
    y, sets = entries(Y, np.ones(Y.shape, dtype=bool))
    return FeasibleSet(sets, CandidateSimplex(sets.uniform()), [constraint]), y, sets


def test_two_faces_share_a_name_out():
    once = AtMostOnce(np.array([0, 0]), NOBODY)
    rule, y, sets = feasible(once, photo([0.9, 0, 0.1], [0.6, 0.3, 0.1]))
    assert once.violation(y, sets) == pytest.approx(0.5)
    divided = photo([0.6, 0, 0.1], [0.4, 0.3, 0.1])  # ann by 1.5; nobody may stay twice
    np.testing.assert_allclose(sets.matrix(once.project(y, sets)), divided)
    np.testing.assert_allclose(sets.matrix(rule.project(y)), divided / divided.sum(axis=0))


def test_nobody_may_be_as_many_as_needed():
    once = AtMostOnce(np.zeros(3, int), NOBODY)
    rule, y, sets = feasible(once, photo([0, 0, 1], [0, 0, 1], [0.2, 0, 0.8]))
    assert once.violation(y, sets) == 0
    np.testing.assert_allclose(rule.project(y), y)


def test_a_photo_of_three_gets_somebody_named():
    named = AtLeastOneNamed(np.zeros(3, int), NOBODY)
    rule, y, sets = feasible(named, photo([0.2, 0, 0.8], [0.1, 0.1, 0.8], [0, 0, 1]))
    assert named.violation(y, sets) == pytest.approx(0.6)
    raised = photo([0.5, 0, 0.8], [0.25, 0.25, 0.8], [0, 0, 1])  # names by 1/0.4
    np.testing.assert_allclose(sets.matrix(named.project(y, sets)), raised)
    np.testing.assert_allclose(sets.matrix(rule.project(y)), raised / raised.sum(axis=0))


def test_photos_that_are_explicitly_null_or_exempt_or_without_mass_are_left_alone():
    groups = np.array([0, 1, 2])
    named = AtLeastOneNamed(groups, NOBODY, exempt=frozenset([1]))
    mask = np.array([[False, True, True], [False, True, True], [True, True, True]])
    y, sets = entries(photo([0, 0, 1], [0.1, 0, 0.9], [0, 0, 1]), mask)
    np.testing.assert_array_equal(named.project(y, sets), y)
    assert named.violation(y, sets) == 1  # the third could be named and is not


@pytest.mark.parametrize(("kind", "rounding"), [(np.float64, 1e-12), (np.float32, 5e-7)])
def test_names_that_are_rounding_errors_do_not_name_a_photo(kind, rounding):
    named = AtLeastOneNamed(np.zeros(2, int), NOBODY)
    Y = photo([rounding, 0, 1 - rounding], [0, rounding, 1 - rounding])
    y, sets = entries(Y, np.ones(Y.shape, dtype=bool))
    np.testing.assert_array_equal(named.project(y.astype(kind), sets), y.astype(kind))


@given(seeds)
def test_the_projection_is_the_papers_loops(seed):
    rng = np.random.default_rng(seed)
    _, P, mask = problem(seed, c=4, N=12)
    groups = rng.integers(5, size=12)
    groups = np.unique(groups, return_inverse=True)[1]
    p, sets = entries(P, mask)
    rule = FeasibleSet(
        sets, CandidateSimplex(p), [AtLeastOneNamed(groups, 3), AtMostOnce(groups, 3)]
    )
    scores = rng.normal(size=P.shape)
    scores *= 10.0 ** -rng.choice([0, 6, 12, 17], size=scores.shape)  # names next to nothing
    found = sets.matrix(rule.project(sets.entries_of(scores)))
    expected = reference.algorithm_3_projection(scores, P, mask, groups.tolist(), null=3)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seeds)
def test_one_step_of_algorithm_3_is_the_papers(seed):
    rng = np.random.default_rng(seed)
    c, m, N = 4, 7, 12
    X, P, mask = problem(seed, c, m, N)
    groups = np.unique(rng.integers(5, size=N), return_inverse=True)[1]
    p, sets = entries(P, mask)
    w = imbalance_weights(p, sets)
    rules = [AtLeastOneNamed(groups, 3), AtMostOnce(groups, 3)]
    given_problem = ALM(rho=1.3).problem(X, p, sets, w, rules)
    Y, Z = np.where(mask, rng.random((c, N)), 0) * w, rng.normal(size=(m, N))
    L, mu = rng.normal(size=(c + m, N)), 2.0
    _, _, _, _, scores = reference.algorithm_1_step(
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
    expected = reference.algorithm_3_projection(scores / w, P, mask, groups.tolist(), null=3)
    after = given_problem.shard
    after.H, after.L = np.vstack([Y, Z]), L.copy()
    given_problem.step(mu)
    mass = np.where(mask, np.maximum(scores / w, 0), 0).sum(axis=0)
    # Normalising magnifies rounding by the mass, and a photo shares it.
    clear = np.array([mass[groups == k].min() > 1e-3 for k in groups])
    assert np.abs(after.H[:c] / w - expected)[:, clear].max(initial=0) < 1e-10 * 1e3
    unprojected = sets.entries_of(scores / w)
    assert np.abs(after.scores - unprojected).max() < 1e-10 * max(1, np.abs(scores / w).max())


def test_projections_can_leave_violations_and_they_are_reported():
    rng = np.random.default_rng(0)
    _, P, mask = problem(3, c=4, m=5, N=30, full=0.9)
    groups = np.arange(30) // 3
    X = rng.normal(size=(5, 30))
    rules = [AtLeastOneNamed(groups, 3), AtMostOnce(groups, 3)]
    solution = ALM(max_iter=200).solve(X, *entries(P, mask), None, rules)
    assert set(solution.violations) == {rule.name for rule in rules}
    for rule in rules:
        assert solution.violations[rule.name] == rule.violation(solution.labels, solution.sets)


def faces(n_photos=12, seed=0, null="nobody"):
    """Faces of four people in photos of one to three, with captions and nobody."""
    rng = np.random.default_rng(seed)
    who = np.concatenate([rng.permutation(4)[: 1 + k % 3] for k in range(n_photos)])
    photos = np.repeat(np.arange(n_photos), [1 + k % 3 for k in range(n_photos)])
    centres = rng.normal(size=(4, 8)) * 4
    X = centres[who] + rng.normal(size=(len(who), 8))
    news = datasets.simulate_captions(
        np.array(["ann", "bob", "cas", "dee"])[who],
        photos,
        named=0.9,
        absent=0.3,
        random_state=seed,
    )
    return X, news.candidates, news.y


def twice(labels, groups, null="nobody"):
    """Names that two faces of one group carry."""
    count = Counter(
        (g, name) for g, name in zip(groups.tolist(), labels.tolist(), strict=True) if name != null
    )
    return [key for key, n in count.items() if n > 1]


@pytest.mark.parametrize("model", [MCar(), WMCar(), ICE(MCar()), WMCarICE()], ids=repr)
@pytest.mark.parametrize("at_least_one", [True, False])
def test_every_combination_labels_photos_without_naming_two_faces_alike(model, at_least_one):
    X, candidates, _ = faces()
    if isinstance(model, ICE):
        model.set_params(estimator__at_least_one=at_least_one)
    else:
        model.set_params(at_least_one=at_least_one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, candidates)
    assert not twice(model.transduction_, candidates.groups)
    assert "a name at most once in a group" in model.solution_.violations
    assert ("at least one named in a group" in model.solution_.violations) == at_least_one
    if at_least_one:
        named = candidates.sizes > 1
        for k in np.unique(candidates.groups[named]):
            assert (model.transduction_[candidates.groups == k] != "nobody").any()


def test_at_most_once_can_be_switched_off():
    X, candidates, _ = faces()
    model = WMCar(at_most_once=False).fit(X, candidates)
    assert model.solution_.violations == {}


def test_the_paper_setting_asks_for_somebody_named():
    X, candidates, _ = faces()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MCar(setting="paper").fit(X, candidates)
    assert "at least one named in a group" in model.solution_.violations


@pytest.mark.parametrize("rounds", [0, 2])
def test_the_paper_setting_reads_labels_by_the_largest_soft_label(rounds):
    X, candidates, _ = faces(n_photos=60, seed=1)
    model = MCar(setting="paper", max_iter=8)
    model = ICE(model, max_rounds=rounds) if rounds else model
    found = {}
    for how in (None, "argmax", "assignment"):
        name = "estimator__hard_labels" if rounds else "hard_labels"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found[how] = clone(model).set_params(**{name: how}).fit(X, candidates)
    letter = found[None]
    np.testing.assert_array_equal(confidence(letter), letter.label_distributions_.max(axis=1))
    np.testing.assert_array_equal(letter.transduction_, found["argmax"].transduction_)
    assert twice(letter.transduction_, candidates.groups)  # the projections do not guarantee it
    assigned = found["assignment"]
    np.testing.assert_array_equal(assigned.label_distributions_, letter.label_distributions_)
    assert not twice(assigned.transduction_, candidates.groups)


def test_our_settings_assign_labels_unless_told_otherwise():
    X, candidates, _ = faces(n_photos=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = WMCar(max_iter=4).fit(X, candidates)
        free = WMCar(max_iter=4, hard_labels="argmax").fit(X, candidates)
    assert not twice(ours.transduction_, candidates.groups)
    np.testing.assert_array_equal(confidence(free), free.label_distributions_.max(axis=1))


def test_labels_by_the_largest_soft_label_need_no_labelling_that_obeys():
    X, _, _ = faces()
    candidates = Candidates.from_sets([{"ann", "bob"}] * len(X), groups=np.arange(len(X)) // 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = WMCar(hard_labels="argmax").fit(X, candidates)
    assert candidates.contain(model.transduction_).all()
    assert model.solution_.violations["a name at most once in a group"] > 0


def test_groups_come_with_the_candidates_or_to_fit_but_not_both():
    X, candidates, _ = faces()
    bare = Candidates.from_sets(candidates.sets(), null="nobody")
    together = WMCar().fit(X, candidates)
    apart = WMCar().fit(X, bare, groups=candidates.groups)
    np.testing.assert_array_equal(together.label_distributions_, apart.label_distributions_)
    np.testing.assert_array_equal(
        WMCar().fit_predict(X, bare, groups=candidates.groups), apart.transduction_
    )
    with pytest.raises(ValueError, match="have groups already; give groups once"):
        WMCar().fit(X, candidates, groups=candidates.groups)
    with pytest.raises(ValueError, match="groups have one entry per instance: 24"):
        WMCar().fit(X, bare, groups=candidates.groups[:-1])


def test_groups_are_routed_as_metadata():
    X, candidates, _ = faces()
    bare = Candidates.from_sets(candidates.sets(), null="nobody")
    with config_context(enable_metadata_routing=True):
        model = WMCar().set_fit_request(groups=True)
        chain = make_pipeline(StandardScaler(), model)
        chain.fit(X, bare, groups=candidates.groups)
        assert "a name at most once in a group" in chain[-1].solution_.violations
        scores = cross_val_score(
            model, X, bare, cv=GroupKFold(3), params={"groups": candidates.groups}
        )
    assert np.isfinite(scores).all()


def test_a_fold_with_part_of_a_photo_drops_somebody_named_for_it_and_says_so():
    X, candidates, _ = faces()
    part = candidates[1:]  # photo 1 has faces 1 and 2, photo 2 has 3, 4, 5
    assert not part.in_partial_group.any()
    part = candidates[2:]
    assert part.in_partial_group.tolist() == [True] + [False] * (len(part) - 1)
    with pytest.warns(PartialGroupWarning, match="1 groups are here in part"):
        WMCar(at_least_one=True).fit(X[2:], part)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartialGroupWarning)
        WMCar().fit(X[2:], part)
    with pytest.warns(PartialGroupWarning):
        cross_val_score(
            WMCar(at_least_one=True),
            X,
            candidates,
            cv=KFold(3, shuffle=True, random_state=0),
        )


def test_routed_groups_of_a_selection_may_all_be_partial():
    X, candidates, _ = faces()
    bare = Candidates.from_sets(candidates.sets(), null="nobody")
    assert not bare.with_groups(candidates.groups).in_partial_group.any()
    assert bare[1:].with_groups(candidates.groups[1:]).in_partial_group.all()
    with pytest.warns(PartialGroupWarning):
        WMCar(at_least_one=True).fit(X[1:], bare[1:], groups=candidates.groups[1:])


@pytest.mark.parametrize("model", [MCar(), WMCar(), RowSpace()], ids=repr)
def test_the_order_of_rows_does_not_decide_who_gets_a_name(model):
    X, candidates, _ = faces(n_photos=30, seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        straight = clone(model).fit(X, candidates).transduction_
        mixed = clone(model).fit(X[order], candidates[order]).transduction_
    np.testing.assert_array_equal(straight[order], mixed)


def test_of_two_sure_faces_the_likelier_gets_the_name():
    labels = np.array([[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]])
    features = np.array([[3.0, 3.1, 2.9, 0.2, -3.0, -3.1], [0.1, -0.1, 0.0, 2.0, 0.1, -0.1]])
    y, sets = entries(labels, np.ones((2, 6), dtype=bool))
    sure = Solution(y, y, sets, Status.CONVERGED, Trace(), features)
    worth = sets.matrix(worth_of(sure, LeftOutEvidence(features.T)(y, sets)))
    assert worth[0, 0] > worth[0, 3]  # among the others of its kind, and away from them
    np.testing.assert_allclose(worth, labels, atol=2e-3)


def test_elimination_reports_violations_of_the_labels_it_returns():
    X, candidates, _ = faces()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = WMCarICE(max_rounds=1, fraction=1.0, max_iter=3).fit(X, candidates)
    once = AtMostOnce(candidates.group_numbers, candidates.null_column)
    found = model.solution_
    assert found.violations[once.name] == once.violation(found.labels, found.sets)


def test_two_faces_decided_to_be_one_person_in_one_photo_are_named_in_the_error():
    X, _, _ = faces()
    sets = [{"ann", "bob", "nobody"}] * len(X)
    sets[4] = sets[5] = {"ann"}
    groups = np.arange(len(X)) // 6
    candidates = Candidates.from_sets(sets, null="nobody", decided=[4, 5], groups=groups)
    message = r"instances 4, 5 \(counted from 0\) .* obeys 'a name at most once in a group'\. "
    with pytest.raises(ContradictionError, match=message):
        WMCar().fit(X, candidates)


def test_more_faces_than_names_without_nobody_is_a_contradiction():
    X, _, _ = faces()
    sets = [{"ann", "bob"}] * len(X)
    candidates = Candidates.from_sets(sets, groups=np.arange(len(X)) // 3)
    with pytest.raises(ContradictionError, match="null class"):
        WMCar().fit(X, candidates)


def test_the_null_class_is_for_everybody_unless_somebody_decided():
    everybody = Candidates.from_sets([{"ann"}, {"ann", "bob"}], null="nobody")
    assert everybody.sets() == [{"ann", "nobody"}, {"ann", "bob", "nobody"}]
    np.testing.assert_allclose(everybody.priors[1], 1 / 3)
    decided = Candidates.from_sets([{"ann"}, {"bob"}], null="nobody", decided=[0])
    assert decided.sets() == [{"ann"}, {"bob", "nobody"}]
    again = Candidates.from_mask(decided.mask, classes=decided.classes, null="nobody")
    assert again == decided
    some = Candidates.from_sets([{"ann"}, {"nobody"}, None], null="nobody")
    assert some.sets() == [{"ann", "nobody"}, {"nobody"}, {"ann", "nobody"}]
    column = Candidates.from_mask([[1, 0, 0], [1, 1, 0]], classes=["ann", "bob", "no"], null="no")
    assert column.sets() == [{"ann", "no"}, {"ann", "bob", "no"}]


@st.composite
def group_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    N, c = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    mask = rng.random((N, c)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    mask[:, -1] = True  # nobody
    X = rng.normal(size=(N, draw(st.integers(1, 6)))) * 10.0 ** draw(st.sampled_from([-9, 0, 9]))
    if draw(st.booleans()):
        X[:] = X[0]
    groups = rng.integers(draw(st.integers(1, N)), size=N)
    options = {
        "at_least_one": draw(st.booleans()),
        "setting": draw(st.sampled_from(["auto", "pixels", "features", "paper"])),
        "max_iter": 60,
        "tol": 1e-3,
        "classifier": None,
        "hard_labels": draw(st.sampled_from([None, "argmax", "assignment"])),
    }
    return X, mask, groups, draw(st.sampled_from([MCar, WMCar, WMCarICE]))(**options)


@pytest.mark.slow
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(group_problems())
def test_no_random_photo_collection_is_labelled_twice_or_nan(given_problem):
    X, mask, groups, model = given_problem
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # classes nobody lists
        candidates = Candidates.from_mask(mask, null=mask.shape[1] - 1, groups=groups)
        model.fit(X, candidates)  # everybody may be nobody, so that there is always an answer
    soft = model.label_distributions_
    assert np.isfinite(soft).all()
    assert (soft[~mask] == 0).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    assert candidates.contain(model.transduction_).all()
    if model._assigns():
        assert not twice(model.transduction_, groups, null=mask.shape[1] - 1)


@pytest.mark.slow
@pytest.mark.real_data
def test_newsroom_never_names_two_faces_of_a_photo_alike():
    data = datasets.load("newsroom")
    with pytest.warns(ConvergenceWarning):
        model = WMCar(max_iter=8, classifier=None).fit(data.X, data.candidates)
    assert model.solution_.status is Status.MAX_ITER
    free = model.label_distributions_.argmax(axis=1)
    assert twice(data.classes[free], data.groups)  # soft labels alone would
    assert not twice(model.transduction_, data.groups)


@pytest.mark.parametrize("model", [OpenSet(), RiskControlled(OpenSet(), random_state=0)])
def test_null_given_to_fit_is_null_given_to_the_candidates(model):
    X, candidates, _ = faces()
    photos, sets = candidates.groups, [row - {"nobody"} for row in candidates.sets()]
    expected = model.fit(X, Candidates.from_sets(sets, null="nobody", groups=photos))
    expected = expected.transduction_.copy()
    for y in (sets, Candidates(candidates.sets()), Candidates.from_sets(sets, null="nobody")):
        found = model.fit(X, y, groups=photos, null="nobody").transduction_
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"no class 'nobody'.*from_sets\(sets, null='nobody'\)"):
        model.fit(X, Candidates(sets), null="nobody")
