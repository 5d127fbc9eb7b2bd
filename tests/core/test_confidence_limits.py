"""How sure open-set labels are, and when they are doubtful."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidly import (
    ICE,
    CandidateClassifier,
    Candidates,
    CannotLink,
    DoubtfulLabelsWarning,
    MustLink,
    OpenSet,
    UnlistedClassWarning,
    estimate_population,
    labelling_error,
)
from candidly.solvers import AtMostOnce, Status, assign, confidence_limits
from candidly.solvers.assignment import worth
from candidly.solvers.confidence_limits import Likenesses, Limits, equally_many
from candidly.solvers.confidence_shard import FOUND, ConfidenceShard
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import OpenSetLabelling, OpenSetResult, centre
from candidly.solvers.solution import Trace
from candidly.solvers.two_covariances import Covariances
from problems import open_entries, problem, seeds

DIMENSIONS = 16


class Album:
    """Ten people, shown six times each in changing pairs, and photos that are added to them."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.centres = 3 * self.rng.normal(size=(200, DIMENSIONS))
        self.who: list[int] = []
        self.sets: list[set[str]] = []
        self.photos: list[int] = []
        for _ in range(6):
            for pair in self.rng.permutation(10).reshape(5, 2):
                self.add(pair, {f"person {k}" for k in pair})
        self.rest = len(self.who)

    def add(self, who, names) -> None:
        """Add a photo of some people whose caption mentions names."""
        photo = self.photos[-1] + 1 if self.photos else 0
        for person in who:
            self.who.append(int(person))
            self.sets.append(set(names))
            self.photos.append(photo)

    def fit(self, model=None, **more):
        """Return a model fitted on the photos, and labels and confidence of those added."""
        X = self.centres[self.who] + self.rng.normal(size=(len(self.who), DIMENSIONS))
        candidates = Candidates.from_sets(self.sets, null="nobody", groups=self.photos)
        model = (OpenSet() if model is None else model).fit(X, candidates, **more)
        sure = model.label_distributions_.max(axis=1)
        own = [f"person {k}" for k in self.who[: self.rest]]
        assert np.mean(model.transduction_[: self.rest] == own) > 0.95
        assert np.mean(sure[: self.rest] >= 0.95) > 0.9  # all others are shown in changing pairs
        return model, model.transduction_[self.rest :].tolist(), sure[self.rest :]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_people_who_are_always_together_could_be_exchanged(seed):
    album = Album(seed)
    for _ in range(5):
        album.add([10, 11], {"ann", "bob"})
    _, names, sure = album.fit()
    assert names in (["ann", "bob"] * 5, ["bob", "ann"] * 5)
    assert (sure <= 0.51).all()
    album.add([10], {"ann"})  # one photo of one of them settles it
    _, names, sure = album.fit()
    assert names == [*["ann", "bob"] * 5, "ann"]
    assert (sure >= 0.9).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_name_could_be_that_of_an_unnamed_person_beside_it(seed):
    album = Album(seed)
    for _ in range(5):
        album.add([10, 11], {"ann"})
    _, names, sure = album.fit()
    assert sorted(names) == ["ann"] * 5 + ["nobody"] * 5
    assert (sure <= 0.51).all()  # neither the name nor that the other has none


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nor_is_it_sure_where_that_person_has_a_name_by_elimination_once(seed):
    album = Album(seed)
    for _ in range(5):
        album.add([10, 11], {"ann"})
    album.add([10, 11], {"ann", "zoe"})  # zoe is left, and is who is known from elsewhere then
    _, names, sure = album.fit()
    assert names.count("ann") == 6
    assert (sure[np.array(names) == "ann"] <= 0.6).all()


@pytest.mark.parametrize("seed", [0, 2, 3])
@pytest.mark.parametrize("each", [2, 3, 5])
def test_two_people_under_one_name_are_told_and_not_sure(seed, each):
    album = Album(seed)
    for k in range(2 * each):
        album.add([10 + k % 2], {"ann"})
    with pytest.warns(DoubtfulLabelsWarning, match="do not look alike.* classes_: 0$"):
        model, names, sure = album.fit()
    assert names == ["ann"] * 2 * each
    assert (sure < 0.95).all()
    assert model.classes_[0] == "ann"
    assert model.solution_.status is Status.DOUBTFUL
    (doubt,) = model.solution_.doubts
    assert "several people" in doubt


def test_a_stranger_in_other_photos_could_have_a_name_as_well():
    album = Album(1)
    for k in range(4):
        album.add([10 + k % 2], {"ann"})
    _, names, sure = album.fit()
    assert names == ["nobody", "ann"] * 2  # one of the two is taken for a stranger
    assert (sure <= 0.51).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_name_by_elimination_is_likely_and_one_with_likeness_is_sure(seed):
    album = Album(seed)
    album.add([10, 0], {"ann", "person 0"})
    for _ in range(4):
        album.add([11], {"bob"})
    _, names, sure = album.fit()
    assert names == ["ann", "person 0", *["bob"] * 4]
    assert 0.5 < sure[0] < 0.95
    assert np.median(sure[2:]) > 0.99


def test_what_was_decided_stays_certain():
    album = Album()
    for _ in range(5):
        album.add([10, 11], {"ann", "bob"})
    X = album.centres[album.who] + album.rng.normal(size=(len(album.who), DIMENSIONS))
    album.sets[-2:] = [{"ann"}, {"nobody"}]
    last = len(X) - 1
    decided = Candidates.from_sets(
        album.sets, null="nobody", groups=album.photos, decided=[last - 1, last]
    )
    model = OpenSet().fit(X, decided)
    assert model.transduction_[-2:].tolist() == ["ann", "nobody"]
    np.testing.assert_allclose(model.label_distributions_[-2:].max(axis=1), 1)
    assert model.transduction_[album.rest :: 2].tolist() == ["ann"] * 5  # and says who bob is


def result_of(entries, soft, rest, chosen, confidence):
    """Return a result with these labels, of which nothing else is known."""
    nothing = Covariances(np.eye(1), np.ones(1))
    return OpenSetResult(
        soft, rest, soft, rest, chosen, confidence, nothing, Status.DONE, Trace(), 1.0, chosen[:0]
    )


@given(seeds)
def test_limited_labels_have_the_confidence_and_none_more_than_the_chosen_one(seed):
    rng = np.random.default_rng(seed)
    c, N, null = 5, 15, 4
    _, P, mask = problem(seed, c=c, N=N)
    mask[null] = rng.random(N) < 0.7
    mask[0] |= ~mask[null]
    P = np.where(mask, rng.random((c, N)) ** 4 + 1e-3, 0)
    P /= P.sum(axis=0)
    entries = open_entries(P, mask, np.arange(N), null)
    chosen = np.array([rng.choice(np.flatnonzero(column)) for column in mask.T])
    now = P[chosen, np.arange(N)]
    confidence = now * np.where(rng.random(N) < 0.5, 1, rng.random(N))
    soft, rest = result_of(
        entries,
        P[entries.name, entries.instance],
        P[null],
        np.where(chosen == null, -1, chosen),
        confidence,
    ).limited(entries)
    Y = entries.matrix(soft).toarray()
    Y[null] = rest
    np.testing.assert_allclose(Y.sum(axis=0), 1)
    assert (Y >= 0).all()
    assert (Y[~mask] == 0).all()
    own = Y[chosen, np.arange(N)]
    assert (own >= Y.max(axis=0)).all()
    wanted = np.maximum(confidence, 1 / mask.sum(axis=0))
    np.testing.assert_allclose(own, wanted, atol=1e-5)
    first = (now == P.max(axis=0)) & (confidence == now)  # nothing to limit
    np.testing.assert_array_equal(Y[:, first], P[:, first])


def test_the_confidence_of_a_fit_is_its_soft_label():
    album = Album()
    for _ in range(3):
        album.add([10, 11, 12], {"ann", "bob"})
    model, _, _ = album.fit()
    Y = model.label_distributions_
    np.testing.assert_array_equal(model.classes_[Y.argmax(axis=1)], model.transduction_)
    np.testing.assert_allclose(Y.sum(axis=1), 1)


def clouds(c, k, each, *, scale=1.0, seed=0):
    """Photos of three with one wrong name each, and one person in ten not mentioned."""
    rng = np.random.default_rng(seed)
    centres = scale * rng.normal(size=(c, k))
    who = rng.permutation(np.repeat(np.arange(c), each))
    X = centres[who] + rng.normal(size=(len(who), k))
    photos, mentioned = np.arange(len(who)) // 3, rng.random(len(who)) < 0.9
    captions = [
        {*who[(photos == g) & mentioned].tolist(), int(rng.integers(c))}
        for g in range(photos[-1] + 1)
    ]
    y = np.array([k if k in captions[g] else -1 for k, g in zip(who, photos, strict=True)])
    sets = [captions[g] for g in photos]
    return X, Candidates.from_sets(sets, null=-1, groups=photos), y


@pytest.mark.parametrize("c", [100, 150])
def test_many_people_do_not_all_become_nobody(c):
    X, candidates, y = clouds(c, 32, 20)
    model = CandidateClassifier(classifier=None).fit(X, candidates)
    wrong = model.transduction_ != y
    assert wrong.mean() <= 0.04
    sure = (model.transduction_ != -1) & (model.label_distributions_.max(axis=1) >= 0.95)
    assert sure.mean() > 0.5
    assert wrong[sure].mean() <= 0.01


@pytest.mark.parametrize("model", [OpenSet(), ICE(OpenSet())], ids=["OpenSet", "ICE"])
def test_features_that_say_nothing_are_told(model):
    X, candidates, _ = clouds(60, 16, 8)
    X = np.random.default_rng(1).normal(size=X.shape)
    with pytest.warns(DoubtfulLabelsWarning, match="nearly everybody is nobody.* only 0%"):
        model.set_params(classifier=None).fit(X, candidates)
    assert model.solution_.doubts
    if isinstance(model, OpenSet):
        assert model.solution_.status is Status.DOUBTFUL
    named = model.transduction_ != -1
    assert not (model.label_distributions_.max(axis=1)[named] >= 0.95).any()


def test_a_caption_with_few_names_allows_many_nobodies():
    album = Album()
    for _ in range(30):  # thirty crowds of strangers around one person who is mentioned
        album.add([0, *album.rng.permutation(np.arange(20, 200))[:5]], {"person 0"})
    model, names, _ = album.fit()
    assert np.mean(np.array(names) == "nobody") > 0.8
    assert model.solution_.status is not Status.DOUBTFUL


def another_collection(seed, people, each):
    """Features that vary unequally, and who they are of: what a population is estimated from."""
    spread, noise = np.linspace(3, 0.1, 24), np.linspace(0.3, 2.0, 24)
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(people), each))
    means = rng.normal(size=(people, 24)) * spread + 5
    return means[who] + rng.normal(size=(len(who), 24)) * noise, who


@pytest.fixture(scope="module")
def population():
    return estimate_population(*another_collection(0, 400, 3))


@pytest.fixture(scope="module")
def few():
    """Twelve people in twenty-four photos of two, with a wrong name each."""
    X, who = another_collection(1, 12, 4)
    photos, rng = np.arange(48) // 2, np.random.default_rng(2)
    captions = [{*who[2 * g : 2 * g + 2].tolist(), int(rng.integers(12))} for g in range(24)]
    return X, Candidates.from_sets([captions[g] for g in photos], null=-1, groups=photos), who


@pytest.mark.parametrize("model", [OpenSet(), CandidateClassifier()])
def test_a_population_helps_where_there_are_few(model, few, population):
    X, candidates, y = few
    alone = model.fit(X, candidates).transduction_
    known = model.set_params(population=population).fit(X, candidates)
    assert labelling_error(y, known.transduction_) < 0.1
    assert labelling_error(y, known.transduction_) <= labelling_error(y, alone)
    if isinstance(model, CandidateClassifier):
        assert model.best_params_["population"] is population


def test_a_population_that_does_not_fit_is_told_and_not_used(few, population):
    X, candidates, _ = few
    for features, why in ((X * 3, "their mean is"), (X + 9, "their mean is")):
        with pytest.warns(DoubtfulLabelsWarning, match=f"which is not used: {why}"):
            model = OpenSet(population=population).fit(features, candidates)
        assert model.solution_.status is Status.DOUBTFUL
        alone = OpenSet().fit(features, candidates)
        np.testing.assert_array_equal(model.label_distributions_, alone.label_distributions_)


def test_a_population_of_other_features_is_refused(few, population):
    X, candidates, _ = few
    with pytest.raises(ValueError, match="population is of 24 features, and X has 20"):
        OpenSet(population=population).fit(X[:, :20], candidates)
    closed = Candidates.from_sets([names - {-1} for names in candidates.sets()])
    with pytest.raises(ValueError, match="population is for candidates with a null class"):
        CandidateClassifier(population=population).fit(X, closed)


def test_constraints_are_obeyed():
    album = Album()
    album.add([10, 0], {"ann", "person 0"})
    album.add([11, 0], {"ann", "person 0"})
    album.add([12], {"bob"})
    n = album.rest
    _, names, _ = album.fit()
    assert names[1::2][:2] == ["person 0"] * 2
    _, names, _ = album.fit(constraints=[MustLink([(n, n + 2)])])
    assert names[0] == names[2]
    _, names, _ = album.fit(constraints=[CannotLink([(n, n + 2)])])
    assert not names[0] == names[2] == "ann"
    for model in (CandidateClassifier(), ICE(OpenSet())):
        linked = album.fit(model, constraints=[MustLink([(0, n + 4)])])[0].transduction_
        assert linked[0] == linked[n + 4]


def test_once_in_a_group_that_only_a_constraint_knows():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 4)) * 4, 10, axis=0)
    X += np.random.default_rng(1).normal(size=X.shape)
    sets = [{f"p{k // 10}"} for k in range(60)]
    candidates = Candidates.from_sets(sets, null="nobody")
    pairs = np.arange(60) // 2
    model = OpenSet().fit(X, candidates, constraints=[AtMostOnce(pairs, candidates.null_column)])
    named = model.transduction_ != "nobody"
    assert np.bincount(pairs[named]).max() == 1
    assert np.bincount(pairs[OpenSet().fit(X, candidates).transduction_ != "nobody"]).max() == 2


def test_weights_count_and_weight_0_is_left_out():
    X, who = another_collection(3, 6, 10)
    rng = np.random.default_rng(0)
    sets = [{int(k), int(rng.integers(6))} for k in who]
    weight = np.ones(60)
    weight[::6] = 0
    candidates = Candidates.from_sets(sets, null=-1)
    model = OpenSet().fit(X, candidates, sample_weight=weight)
    part = OpenSet().fit(X[weight > 0], candidates[weight > 0])
    np.testing.assert_allclose(model.label_distributions_[weight > 0], part.label_distributions_)
    np.testing.assert_array_equal(model.transduction_[weight > 0], part.transduction_)
    np.testing.assert_allclose(model.label_distributions_[::6], candidates.priors[::6])
    equal = OpenSet().fit(X, candidates, sample_weight=np.full(60, 7.0))
    np.testing.assert_allclose(
        equal.label_distributions_, OpenSet().fit(X, candidates).label_distributions_
    )
    other = OpenSet().fit(X, candidates, sample_weight=np.where(who == 0, 9.0, 1.0))
    assert not np.allclose(other.label_distributions_, equal.label_distributions_, atol=1e-3)


def test_single_precision_gives_the_same_names():
    X, candidates, _ = clouds(20, 16, 10)
    one, other = (OpenSet().fit(X.astype(kind), candidates) for kind in (np.float64, np.float32))
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_allclose(one.label_distributions_, other.label_distributions_, atol=1e-3)


def test_the_better_explanation_is_kept_wherever_it_comes_from():
    X, candidates, y = clouds(100, 32, 10)
    classes = candidates.classes.tolist()
    truth = np.array([classes.index(k) for k in y])
    entries = open_entries(
        candidates.priors.T, candidates.mask.T, candidates.group_numbers, candidates.null_column
    )
    solver = OpenSetLabelling()
    features = (X - centre(X, None)).T
    wrong = solver.solve(features, entries, start=np.full(len(entries), 1e-3))
    right = solver.solve(features, entries)
    null = candidates.null_column
    assert np.mean(np.where(wrong.chosen < 0, null, wrong.chosen) != truth) > 0.5
    assert wrong.few_found
    assert np.mean(np.where(right.chosen < 0, null, right.chosen) != truth) < 0.04
    assert not right.few_found
    assert right.trace.steps[-1].objective > wrong.trace.steps[-1].objective


@settings(max_examples=15)
@given(seeds, st.integers(1, 3))
def test_people_in_another_order_have_the_same_labels(seed, faces):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3)) * 3
    groups = np.arange(24) // faces
    mask = rng.random((5, 24)) < 0.4
    mask[4] = True
    solver, features = OpenSetLabelling(max_iter=5), (X - centre(X, None)).T
    order = np.r_[rng.permutation(4), 4]

    def labels(candidates):
        entries = open_entries(candidates / candidates.sum(axis=0), candidates, groups, 4)
        found = solver.solve(features, entries)
        return entries.matrix(found.soft).toarray()

    np.testing.assert_allclose(labels(mask)[order], labels(mask[order]), atol=1e-6)


def test_covariances_that_fit_their_own_labels_make_nothing_sure():
    X, candidates, _ = clouds(20, 60, 8)
    noise = np.random.default_rng(0).normal(size=X.shape)
    entries = open_entries(
        candidates.priors.T, candidates.mask.T, candidates.group_numbers, candidates.null_column
    )
    solver = OpenSetLabelling(shrinkage=0, learn_shown=False)
    found = solver.solve((noise - centre(noise, None)).T, entries)
    own = found.chosen[entries.instance] == entries.name
    assert own.sum() > 100
    assert found.soft[own].mean() > 0.9  # by covariances estimated from these labels
    sure = found.confidence[
        entries.instance[own]
    ]  # half of it by those estimated without the group
    assert sure.mean() < 0.7
    assert np.mean(sure >= 0.95) < 0.01


def test_only_what_has_one_candidate_is_sure_without_likeness():
    mask = np.array([[True, True, False], [False, True, True]])
    entries = open_entries(mask / mask.sum(axis=0), mask, np.arange(3), None)
    found = OpenSetLabelling().solve(np.zeros((1, 3)), entries)
    np.testing.assert_allclose(found.confidence[[0, 2]], 1)
    assert found.confidence[1] <= 0.51


@settings(max_examples=10)
@given(seeds)
def test_elimination_leaves_the_choice_among_the_candidates_given(seed):
    rng = np.random.default_rng(seed)
    X, photos = rng.normal(size=(18, 2)), np.arange(18) // 3
    mask = rng.random((18, 5)) < 0.5
    mask[:, 4] = True
    candidates = Candidates(mask, classes=list("abcd-"), null="-", groups=photos)
    link = CannotLink([(0, 3), (1, 4)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)
        warnings.simplefilter("ignore", UnlistedClassWarning)
        for rules in ([], [link]):
            model = ICE(OpenSet(classifier=None, max_iter=3), classifier=None)
            model.fit(X, candidates, constraints=rules)
            once = AtMostOnce(candidates.group_numbers, candidates.null_column)
            bound = [rule.bind(candidates.classes, 4) for rule in rules if hasattr(rule, "bind")]
            expected = assign(
                worth(model.solution_), model.solution_.sets, [once, *(bound or rules)]
            )
            np.testing.assert_array_equal(model.transduction_, candidates.classes[expected])


@given(seed=seeds, N=st.integers(0, 60), many=st.integers(1, 12))
def test_sets_of_equally_many_are_the_places_of_every_value_that_is_there_twice(seed, N, many):
    values = np.random.default_rng(seed).integers(-1, many, size=N)
    found = {}
    for sets in equally_many(values):
        found |= {int(values[rows[0]]): rows.tolist() for rows in sets}
    wanted = {k: np.flatnonzero(values == k).tolist() for k in range(many)}
    assert found == {k: rows for k, rows in wanted.items() if len(rows) > 1}


def pairs_in_groups(rng, N):
    """Return likenesses of instances of few people, and the groups of these."""
    k = 5
    people = 3 * rng.normal(size=(4, k))
    Z = people[rng.integers(4, size=N)] + rng.normal(size=(N, k))
    covariances = Covariances(np.eye(k), rng.uniform(0.5, 9, size=k))
    return Likenesses(Z, covariances, 0.5, 0.1), rng.integers(max(N // 2, 1), size=N)


@settings(max_examples=50)
@given(seed=seeds, N=st.integers(2, 40))
def test_likeness_to_the_others_is_the_median_over_other_groups(seed, N):
    rng = np.random.default_rng(seed)
    pairs, groups = pairs_in_groups(rng, N)
    numbers = np.stack([rng.permutation(N)[: N // 2 + 1] for _ in range(3)])
    compared = int(rng.integers(1, N + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence_limits, "COMPARED", compared)
        patch.setattr(confidence_limits, "PAIRS", int(rng.choice([1, 4 * compared, 10_000])))
        found = pairs.within(numbers, groups)
    Z, covariances = pairs.Z, pairs.covariances
    for own, middle in zip(numbers, found, strict=True):
        for j, value in zip(own, middle, strict=True):
            some = [i for i in own[:compared] if groups[i] != groups[j]]
            ratio = [covariances.pairs(Z[[j]], Z[[i]]).item() for i in some]
            wanted = np.median(0.5 * (np.array(ratio) - 0.1)) if ratio else np.nan
            np.testing.assert_allclose(value, wanted, atol=1e-9)


class Several:
    """Shards that are called one after another, in this process."""

    def __init__(self, shards):
        self.shards = shards

    def each(self, method, *broadcast):
        first, *rest = (getattr(shard, method)(*broadcast) for shard in self.shards)
        return sum(rest, start=first)


class Named:
    """Rules that leave no choice."""

    def __init__(self, chosen):
        self.chosen = chosen

    def choose(self, worth, nobody):
        return self.chosen


def named_photos(rng, photos, names=5):
    """Return photos of two with some names chosen, and what the best solution might have."""
    groups = np.repeat(np.arange(photos), 2)
    N = 2 * photos
    pairs, _ = pairs_in_groups(rng, N)
    listed = rng.random((photos, names)) < 0.6
    instance, name = np.nonzero(listed[groups])
    free = np.where(rng.random(N) < 0.2, NEVER, 0.0)
    entries = CandidateEntries(instance, name, rng.normal(size=len(name)), free, groups, names)
    own = rng.random(len(name)) < 0.3
    chosen = np.full(N, -1)
    chosen[instance[own]] = name[own]
    best = {kind: rng.random(N if kind in INSTANCES else len(name)) for kind in FOUND}
    best |= {"other": rng.normal(size=N), "shown": rng.uniform(0.5, 0.95, len(entries.mentioned))}
    return pairs, entries, chosen, best


def on_shards(entries, chosen, best, count):
    """Return shards of whole photos, with sums over the instances of each name."""
    shards = []
    for rows in np.array_split(np.arange(len(chosen)).reshape(-1, 2), count):
        j = rows.ravel()
        at = np.flatnonzero(np.isin(entries.instance, j))
        own = CandidateEntries(
            entries.instance[at] - j[0],
            entries.name[at],
            entries.prior[at],
            entries.free[j],
            entries.groups[j] - entries.groups[j[0]],
            entries.n_names,
        )
        state = {
            "best_" + kind: v[j if kind in INSTANCES else at]
            for kind, v in best.items()
            if kind != "shown"
        }
        mine = np.isin(entries._pairs[1], entries.groups[j])
        state["best_shown"] = best["shown"][mine]
        shards.append(ConfidenceShard(own, own, state, j, Named(chosen[j])))
    shards = Several(shards)
    sums = shards.each("decide").sums
    return shards, sums


INSTANCES = ("rest", "other", "honest_rest")


def exchanges_by_definition(entries, chosen, best, pairs, elsewhere, known):
    """Return the odds for exchanging each name, and the most each instance may be sure of."""
    N, c = len(chosen), entries.n_names
    shown, e = best["shown"][entries.mention], range(len(entries))
    odds = {
        (entries.instance[k], entries.name[k]): np.log(shown[k] / (1 - shown[k]) / 2) for k in e
    }
    prior = {(entries.instance[k], entries.name[k]): entries.prior[k] for k in e}
    of = [np.flatnonzero(chosen == i) for i in range(c)]
    fixed, total = entries.free <= NEVER, max(1, sum(map(len, of)))
    unmentioned = [np.log(elsewhere * max(len(of[i]), 1) / total) for i in range(c)]

    def lost(i, k):
        """Return odds and priors that the instances of i lose if they are k."""
        odd = log = 0.0
        for j in of[i]:
            log += prior[j, i] - prior.get((j, k), 0.0)
            nowhere = -50.0 if fixed[j] else unmentioned[i]
            odd += odds[j, i] - odds.get((j, k), nowhere)
        return odd, log

    def together(odd, log, count):
        return np.exp(-np.clip(odd + log / np.sqrt(max(count, 1)), -20, 50))

    against, limit = np.zeros(c), np.ones(N)
    for i in range(c):
        for k in range(c):
            if i != k and any((j, k) in odds for j in of[i]):
                both = np.add(lost(i, k), lost(k, i))
                against[i] += together(*both, len(of[i]) + len(of[k]))
    for i in range(c):
        if len(of[i]) < 2 or fixed[of[i]].any() or known[i] > 0.5:
            continue

        def once(j):
            return chosen[j] >= 0 and len(of[chosen[j]]) == 1 and known[chosen[j]] <= 0.5

        some = np.array(
            [
                j
                for j in range(N)
                if (j, i) in odds and (chosen[j] < 0 or (once(j) and not fixed[j]))
            ]
        )
        if len(some) < 2:
            continue
        ratio = pairs.between(some, some)
        taken = chosen[some] >= 0
        familiar = ~taken & (best["other"][some] > 0)
        if taken.any():
            familiar &= ratio[taken].max(axis=0) < confidence_limits.CLEAR
        some, ratio = some[~familiar], ratio[np.ix_(~familiar, ~familiar)]
        there = entries.groups[some]
        ratio[there[:, None] == there] = -np.inf
        beside = some[confidence_limits._one_person(ratio, there)] if len(some) else some
        if len(beside) < 2:
            continue
        other = np.log(elsewhere * len(beside) / total)
        odd = sum(odds[j, i] - unmentioned[i] for j in of[i]) + sum(
            other - odds[j, i] for j in beside
        )
        log = sum(prior[j, i] for j in of[i]) - sum(prior[j, i] for j in beside)
        for j in beside[chosen[beside] >= 0]:
            odd += odds[j, chosen[j]] - other
            log += prior[j, chosen[j]]
            for left in of[i]:
                if entries.groups[left] == entries.groups[j] and (left, chosen[j]) in odds:
                    odd -= odds[left, chosen[j]] - unmentioned[i]
                    log -= prior[left, chosen[j]]
        for_them = together(odd, log, len(of[i]) + len(beside))
        against[i] += for_them
        limit[beside] = np.minimum(limit[beside], 1 - for_them / (1 + against[i]))
    return against, limit


@settings(max_examples=100)
@given(
    seed=seeds,
    photos=st.integers(3, 30),
    count=st.integers(1, 3),
    rows=st.sampled_from([1, 20, 1e6]),
)
def test_exchanges_are_found_over_shards_as_they_are_defined(seed, photos, count, rows):
    rng = np.random.default_rng(seed)
    pairs, entries, chosen, best = named_photos(rng, photos)
    known = np.where(rng.random(5) < 0.2, 1.0, 0.0)
    against, limit = exchanges_by_definition(entries, chosen, best, pairs, 0.4, known)
    shards, sums = on_shards(entries, chosen, best, count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence_limits, "ROWS", rows)
        patch.setattr(confidence_limits, "TIMES", 100)
        limits = Limits(shards, chosen, entries.groups, 0.4, known)
        found = limits.exchanges(sums, pairs)
    np.testing.assert_allclose(found[0], against, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1], limit, atol=1e-9)


@settings(max_examples=50)
@given(seed=seeds, photos=st.integers(3, 30), compared=st.sampled_from([3, 500]))
def test_exchanges_are_found_in_the_names_that_are_looked_at_alone(seed, photos, compared):
    rng = np.random.default_rng(seed)
    pairs, entries, chosen, best = named_photos(rng, photos)

    def everyone(self, numbers, groups):
        return ((at, None) for at in range(len(numbers)))

    def exchanges():
        shards, sums = on_shards(entries, chosen, best, 2)
        return Limits(shards, chosen, entries.groups, 0.4, np.zeros(5)).exchanges(sums, pairs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence_limits, "COMPARED", compared)
        found = exchanges()
        patch.setattr(Likenesses, "clearly_alike", everyone)
        for one, as_well in zip(found, exchanges(), strict=True):
            np.testing.assert_allclose(one, as_well)


@given(seed=seeds, photos=st.integers(3, 30), count=st.integers(1, 3), most=st.integers(1, 20))
def test_likeness_is_found_for_some_names_at_a_time(seed, photos, count, most):
    rng = np.random.default_rng(seed)
    pairs, entries, chosen, best = named_photos(rng, photos)
    shards, sums = on_shards(entries, chosen, best, count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence_limits, "INSTANCES", most)
        middle = Limits(shards, chosen, entries.groups, 0.4, np.zeros(5)).middle(sums, [pairs] * 2)
    for j, value in enumerate(middle):
        own = np.flatnonzero((chosen == chosen[j]) & (entries.groups != entries.groups[j]))
        if chosen[j] < 0 or not len(own):
            assert np.isnan(value)
        else:
            np.testing.assert_allclose(
                value, np.median(pairs.between(own, np.array([j]))), atol=1e-9
            )
