from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import train_test_split

from candidly import Candidates, UnlistedClassWarning
from candidly.candidates import JoinedLabelsWarning

NAMES = ["ann", "bob", "eve"]
MASK = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1]])
SETS = [{"ann", "bob"}, {"eve"}, None]


@pytest.mark.parametrize(
    "made",
    [
        Candidates.from_mask(MASK, classes=NAMES),
        Candidates.from_mask(MASK.astype(bool), classes=NAMES),
        Candidates.from_mask(sparse.csr_array(MASK), classes=NAMES),
        Candidates.from_mask(sparse.coo_matrix(MASK.astype(float)), classes=NAMES),
        Candidates.from_mask(pd.DataFrame(MASK, columns=NAMES)),
        Candidates.from_sets(SETS),
        Candidates.from_sets([["bob", "ann", "ann"], ("eve",), None], classes=NAMES),
        Candidates.from_priors(MASK * 2.0, classes=NAMES),
        Candidates(MASK.astype(bool), classes=NAMES),
        Candidates(MASK, classes=NAMES),
        Candidates(sparse.csc_matrix(MASK), classes=NAMES),
        Candidates(SETS),
        Candidates([["ann", "bob"], ["eve"], NAMES]),
        Candidates(pd.Series(SETS)),
        Candidates(np.array([{"ann", "bob"}, {"eve"}, None], dtype=object)),
        Candidates(MASK / MASK.sum(axis=1, keepdims=True), classes=NAMES),
    ],
)
def test_every_form_gives_the_same_candidates(made):
    assert made == Candidates.from_mask(MASK, classes=NAMES)
    assert made.sets() == [{"ann", "bob"}, {"eve"}, {"ann", "bob", "eve"}]
    np.testing.assert_allclose(made.priors, MASK / MASK.sum(axis=1, keepdims=True))


def test_labels_are_singletons_and_named_by_themselves():
    made = Candidates(np.array([7, 3, 7]))
    np.testing.assert_array_equal(made.classes, [3, 7])
    np.testing.assert_array_equal(made.mask, [[False, True], [True, False], [False, True]])


def test_without_names_a_class_is_its_column_number():
    np.testing.assert_array_equal(Candidates.from_mask(MASK).classes, [0, 1, 2])


@pytest.mark.parametrize(
    "unclear",
    [
        [[0, 1], [1, 0]],  # a mask, or sets of class numbers
        [[0.5, 0.5], [1.0, 0.0]],
        np.array([[2, 3], [1, 4]]),  # counts, or class numbers
        np.array([["ann", "bob"], ["bob", "eve"]]),
        np.ones((3, 1)),
        np.zeros((3, 1), dtype=int),
    ],
)
def test_what_could_be_read_two_ways_is_refused_with_the_way_out(unclear):
    with pytest.raises(ValueError, match=r"Candidates\.from_"):
        Candidates(unclear)


@pytest.mark.parametrize("senseless", ["ann", 3, {"ann", "bob"}, None, b"x"])
def test_what_is_no_list_of_candidates_is_refused(senseless):
    with pytest.raises(TypeError):
        Candidates(senseless)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Candidates.from_mask([[1, 0], [0, 0]]), "row 1 has an empty candidate set"),
        (lambda: Candidates.from_sets([{"ann"}, set()]), "row 1 has an empty candidate set"),
        (lambda: Candidates.from_mask([[1, 2]]), "row 0 holds 2"),
        (lambda: Candidates.from_mask([[1, np.nan]]), "row 0 holds nan"),
        (lambda: Candidates.from_mask([1, 0]), "two dimensions"),
        (lambda: Candidates.from_mask(np.array([["a"]])), "numbers or booleans"),
        (lambda: Candidates.from_mask(np.ones((2, 0))), "no classes"),
        (lambda: Candidates.from_mask([[1, 1]], classes=["ann"]), "1 class names for 2 columns"),
        (lambda: Candidates.from_mask([[1, 1]], classes=["a", "a"]), "'a' is named twice"),
        (lambda: Candidates.from_mask([[1, 1]], null=5), "null class 5 is not one of"),
        (lambda: Candidates.from_mask([[1, 1]], groups=[1, 2]), "groups have one entry"),
        (lambda: Candidates([0, 1], groups=[1, np.nan]), "row 1 has no group but nan"),
        (lambda: Candidates([0, 1], groups=["p", None]), "row 1 has no group but None"),
        (lambda: Candidates([0, 1], groups=["p", np.nan]), "row 1 has no group but nan"),
        (lambda: Candidates.from_strings(["a|b", 3]), "row 1 is 3, not a string of names"),
        (lambda: Candidates.from_strings(["a|b", " |"]), "row 1 has an empty candidate set"),
        (lambda: Candidates(["a", "b"]).with_null("c"), "null class 'c' is not one of"),
        (lambda: Candidates(["a"], null="a").with_null("a"), "null is 'a' already"),
        (lambda: Candidates.from_priors([[0.5, -0.1]]), "row 0 holds -0.1"),
        (lambda: Candidates.from_priors([[0.5, np.inf]]), "row 0 holds inf"),
        (lambda: Candidates.from_priors([[1.0, 0.0], [0.0, 0.0]]), "row 1 has an empty"),
        (lambda: Candidates.from_priors([[1e300, 1e-300]]), "row 0 cannot be normalised"),
        (lambda: Candidates.from_sets([{"ann"}], classes=["bob"]), "row 0 lists 'ann'"),
        (lambda: Candidates.from_sets(["ann"]), "row 0 is 'ann', not a collection"),
        (lambda: Candidates.from_sets([None]), "pass classes="),
        (lambda: Candidates.from_sets([{"a"}, [None]]), "row 1 lists None or NaN"),
        (lambda: Candidates.from_sets([{"a"}, {float("nan")}]), "row 1 lists None or NaN"),
        (lambda: Candidates.from_labels(pd.Series(["a", pd.NA])), "row 1 has no label"),
        (lambda: Candidates.from_sets([{"a"}], classes={"a"}), "classes need an order"),
        (lambda: Candidates(np.array([["a", "b"]], dtype=object)), "a matrix of names"),
        (lambda: Candidates.from_labels([["a"]]), "one dimension"),
        (lambda: Candidates.from_labels(["a", None]), "row 1 has no label"),
        (lambda: Candidates.from_labels([1.0, np.nan]), "row 1 has no label"),
        (lambda: Candidates.from_labels(["a"], classes=["b"]), "row 0 lists 'a'"),
        (lambda: Candidates([{"a"}, "b"]), "row 1 is 'b' where other rows are collections"),
        (lambda: Candidates(Candidates(["a"]), null="a"), "Candidates already"),
        (lambda: Candidates(np.ones((1, 1, 1))), "one or two dimensions"),
    ],
)
def test_errors_name_the_row_and_the_fix(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_what_is_missing_means_any_label(nothing):
    sets = [{"ann", "bob"}, nothing, {"eve"}]
    expected = [{"ann", "bob"}, {"ann", "bob", "eve"}, {"eve"}]
    for made in (
        Candidates.from_sets(sets),
        Candidates(sets),
        Candidates([["ann", "bob"], nothing, ["eve"]]),
        Candidates(pd.Series(sets)),
        Candidates.from_strings(["ann|bob", nothing, "eve"]),
        Candidates.from_strings(pd.Series(["ann; bob", nothing, "eve"], dtype=object), sep=";"),
    ):
        assert made.sets() == expected


@pytest.mark.parametrize(
    ("labels", "sep"),
    [(["a|b", "b|c", "c"], "|"), (["a; b", "b; a", "b"], ";"), (["a, b", "b,a", "a"], ",")],
)
@pytest.mark.parametrize("form", [list, np.array, pd.Series])
def test_labels_that_are_several_names_in_one_string_are_warned_of(form, labels, sep):
    with pytest.warns(JoinedLabelsWarning, match=re.escape(f"from_strings(y, sep={sep!r})")):
        taken = Candidates(form(labels))
    assert taken.sizes.tolist() == [1, 1, 1]
    split = Candidates.from_strings(form(labels), sep)
    assert split.sizes.tolist() == [2, 2, 1]
    assert Candidates.from_labels(form(labels)) == taken  # asked for by name: no warning


@pytest.mark.parametrize(
    "labels",
    [["Doe, Jane", "Roe, John", "Poe, Edgar"], ["a", "b", "c", "d", "a", "e|f"], [1, 2], ["x y"]],
)
def test_ordinary_labels_are_no_several_names(labels):
    assert (Candidates(labels).sizes == 1).all()


def test_a_class_becomes_the_null_class_of_candidates_that_have_none():
    made = Candidates.from_sets([{"ann", "?"}, {"bob"}], groups=[1, 1]).with_null("?")
    assert made == Candidates.from_mask(made.mask, classes=made.classes, null="?", groups=[1, 1])
    assert made.sets() == [{"ann", "?"}, {"bob"}]  # some set lists it: the sets are as they are
    with pytest.warns(UnlistedClassWarning):
        unlisted = Candidates.from_sets([{"ann"}, {"ann"}], classes=["ann", "?"])
    assert unlisted.with_null("?").sets() == [{"ann", "?"}, {"ann", "?"}]


def test_notebooks_show_counts_and_the_first_rows():
    html = Candidates([{"<b>", "ann"}, *[{"ann"}] * 9])._repr_html_()
    assert "10 instances, 2 classes, 1.10 candidates each), 1 ambiguous" in html
    assert "&lt;b&gt;, ann" in html
    assert html.count("<tr>") == 7
    assert "5 more" in html


def test_a_class_that_nobody_lists_is_a_warning_and_stays_at_zero():
    with pytest.warns(UnlistedClassWarning, match="1 of the 3 classes \\('eve'\\)"):
        made = Candidates.from_sets([{"ann"}, {"bob"}], classes=NAMES)
    assert made.shape == (2, 3)
    assert not made.mask[:, 2].any()


def test_rows_are_indexed_with_their_groups_and_keep_all_classes():
    made = Candidates.from_sets(SETS, null="eve", groups=["p", "p", "q"])
    for key in ([2, 0], np.array([2, 0]), (np.array([2, 0]), Ellipsis)):
        part = made[key]
        np.testing.assert_array_equal(part.groups, ["q", "p"])
        np.testing.assert_array_equal(part.mask, made.mask[[2, 0]])
        assert part.null == "eve"
    assert made[np.array([False, True, False])].sets() == [{"eve"}]
    assert len(made[1]) == 1
    assert len(made[1:]) == 2
    with pytest.raises(IndexError):
        made[0, 1]


def test_scikit_learn_splits_candidates():
    made = Candidates.from_mask(np.eye(10, dtype=int), groups=np.arange(10))
    left, right = train_test_split(made, random_state=0)
    assert sorted([*left.groups, *right.groups]) == list(range(10))


def test_it_is_a_value():
    made = Candidates.from_sets(SETS, groups=[1, 1, 2])
    assert pickle.loads(pickle.dumps(made)) == made
    assert made != Candidates.from_sets(SETS)
    assert made != "candidates"
    made.mask[:] = False
    made.classes[:] = "zoe"
    made.groups[:] = 9
    assert made == Candidates.from_sets(SETS, groups=[1, 1, 2])
    assert np.asarray(made).dtype == bool
    assert np.asarray(made, dtype=float).dtype == float
    assert "3 instances, 3 classes" in repr(made)
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(made, copy=False)


def test_names_may_be_of_any_kind():
    made = Candidates.from_sets([{("a", 1), 3}, {"x"}, {2.5, "x"}])
    assert made.sets() == [{("a", 1), 3}, {"x"}, {2.5, "x"}]
    mixed = Candidates([1, "1", 1])
    assert mixed.sets() == [{1}, {"1"}, {1}]
    assert mixed == Candidates([{1}, {"1"}, {1}])
    assert Candidates(np.array(["b", 3, "a"], dtype=object)).classes.tolist() == [3, "a", "b"]


def test_reports_on_hand_worked_sets():
    made = Candidates.from_sets(
        [{"a", "b", "n"}, {"a", "b", "n"}, {"c", "n"}, {"c", "d", "n"}], null="n"
    )
    assert made.null == "n"
    assert made.null_column == 4
    assert made.imbalance_factor == 4
    assert made.max_cooccurrence == 1
    assert made.inseparable == [("a", "b")]
    assert made.everywhere == ["n"]
    assert "cannot be told apart: a, b" in made.describe()
    assert "in every candidate set: n" in made.describe()
    assert made.degree_of_ambiguity(["a", "b", "c", "c"]) == 1
    assert made[2:].degree_of_ambiguity(["c", "c"]) == 1  # n is in both sets
    assert Candidates([{"c"}, {"c", "d"}]).degree_of_ambiguity(["c", "c"]) == 0.5
    with pytest.raises(ValueError, match="row 0 is not among its candidates"):
        made.degree_of_ambiguity(["c", "b", "c", "c"])


def test_contain_tells_each_label():
    made = Candidates.from_sets(SETS)
    np.testing.assert_array_equal(made.contain(["ann", "bob", "zoe"]), [True, False, False])
    with pytest.raises(ValueError, match="as many labels"):
        made.contain(["ann"])


@given(st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=1))
def test_sets_survive_the_round_trip_and_the_reports_match_their_definitions(sets):
    made = Candidates.from_sets(sets)
    assert made.sets() == sets
    assert Candidates.from_mask(made.mask, classes=made.classes) == made
    counts = {a: sum(a in s for s in sets) for s in sets for a in s}
    assert made.imbalance_factor == max(counts.values()) / min(counts.values())
    shared = {
        (a, b): sum(a in s and b in s for s in sets) for a in counts for b in counts if a != b
    }
    cooccurrence = max([n / counts[a] for (a, b), n in shared.items()], default=0)
    assert made.max_cooccurrence == pytest.approx(cooccurrence)
    pairs = {(a, b) for (a, b), n in shared.items() if a < b and n == counts[a] == counts[b]}
    found = {(a, b) for names in made.inseparable for a in names for b in names if a < b}
    assert found == pairs
