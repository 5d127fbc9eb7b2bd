"""The model of names: its choice of spans, the features and the tagger; what it does with a name.

What does not depend on fitted weights is tested with weights made up here.
"""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly.photos.names import Entity, find_mentions, mention_model_stamp
from candidly.photos.names.reading import LONGEST, Reading
from candidly.photos.names.span_features import SpanFeatures
from candidly.photos.names.span_model import SpanModel, overlapping, shipped_model, solve
from candidly.photos.names.token_tagger import BITS, COLUMNS, hashed, tag
from candidly.photos.records import LEAST

# The choice of spans

SPANS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair))),
    min_size=1,
    max_size=9,
    unique=True,
).map(sorted)


def choices(spans):
    """Return all choices of spans that do not overlap, each as a set of their numbers."""
    sets = chain.from_iterable(
        combinations(range(len(spans)), size) for size in range(len(spans) + 1)
    )
    for chosen in sets:
        own = [spans[at] for at in chosen]
        if all(left[1] < right[0] for left, right in pairwise(own)):
            yield set(chosen)


@given(SPANS, st.data())
def test_probabilities_are_sums_over_all_choices(spans, data):
    scores = data.draw(st.lists(st.floats(-8, 8), min_size=len(spans), max_size=len(spans)))
    weights = [(chosen, exp(sum(scores[at] for at in chosen))) for chosen in choices(spans)]
    total = sum(weight for _, weight in weights)
    z, shares = solve(spans, scores)
    assert z == pytest.approx(log(total))
    for at, share in enumerate(shares):
        assert share == pytest.approx(sum(w for chosen, w in weights if at in chosen) / total)


@given(SPANS, st.data())
def test_groups_that_do_not_overlap_are_solved_apart(spans, data):
    scores = data.draw(st.lists(st.floats(-8, 8), min_size=len(spans), max_size=len(spans)))
    z, shares = solve(spans, scores)
    apart = dict(zip(spans, scores, strict=True))
    solved = [
        (group, *solve(group, [apart[span] for span in group])) for group in overlapping(spans)
    ]
    assert [span for group, _, _ in solved for span in group] == spans
    assert sum(own for _, own, _ in solved) == pytest.approx(z)
    assert [share for _, _, own in solved for share in own] == pytest.approx(shares)


def test_large_scores_do_not_overflow():
    assert solve([(0, 0)], [900.0])[1] == [1.0]
    assert solve([(0, 0)], [-900.0])[1] == [0.0]
    assert solve([(0, 0), (0, 1)], [900.0, 2000.0])[1] == [0.0, 1.0]


# The tagger and the features: shipped weights are of exactly these


def test_features_of_words_are_hashed_as_when_the_tagger_was_learnt():
    found = hashed(["Ann", "Zwölf", "Lee's"], ["en", "de", "en"])
    assert found.shape == (3, 29)
    assert 0 <= found.min() <= found.max() < 2**BITS
    assert found.sum(axis=1).tolist() == [3212953, 3976731, 3911403]


def test_a_tag_has_a_column_for_each_question_and_few_neighbours():
    text = "Yesterday Angela Merkel met Barack Obama in Berlin with many others"
    words = text.split()
    spoken = ["en"] * len(words)
    odds = tag(words, spoken)
    assert odds.shape == (len(words), len(COLUMNS))
    assert np.isfinite(odds).all()
    assert tag([], []).shape == (0, len(COLUMNS))
    person = odds[:, COLUMNS.index("person")]
    assert person[[1, 2, 4, 5]].min() > 0 > person[[0, 3, 6, 8, 9, 10]].max()
    # A word's tag hangs on the two words on either side.
    assert odds[:5] == pytest.approx(tag(words[:7], spoken[:7])[:5])


def test_features_say_what_the_words_are_and_what_stands_beside_them():
    reading = Reading("Photo: Ann Lee (L); Smith, John in Paris")
    features = SpanFeatures(reading)
    words = [token.text for token in reading.tokens]
    ann = words.index("Ann")
    own = features.of((ann, ann + 1))
    assert {
        "first kind=Cg",
        "first word before=:",
        "first photo before",
        "last cue after",
        "last owned=False",
        "span words=2",
        "span first word=ann",
        "tagged mean 2",
    } <= own.keys()
    assert "first photo before" not in features.of((words.index("Paris"),) * 2)
    smith = words.index("Smith")
    turned = features.of((smith, smith + 2))
    assert {"turned given=True", "turned words=0 0"} <= turned.keys()
    assert not any(name.startswith(("span", "tagged")) for name in turned)
    assert not any(name.startswith("turned") for name in own)


def test_possible_names_are_capitalised_words_with_particles_between():
    reading = Reading("Ludwig van Beethoven in Bonn")
    written = {" ".join(t.text for t in reading.tokens[a : b + 1]) for a, b in reading.spans}
    assert written == {"Ludwig", "Ludwig van Beethoven", "Beethoven", "Bonn"}
    many = Reading("Anna " * 30)
    assert max(last - first for first, last in many.spans) == LONGEST


def test_the_stamp_changes_with_the_weights():
    assert mention_model_stamp() == shipped_model().stamp
    assert SpanModel({"a": 1.0}).stamp != SpanModel({"a": 1.1}).stamp
    assert SpanModel({"a": 1.0, "b": 2.0}).stamp == SpanModel({"b": 2.0, "a": 1.0}).stamp


def test_no_weights_leave_the_same_chance_to_every_choice():
    (found,) = find_mentions("Anna waves", model=SpanModel({}))
    assert (found.name, found.probability) == ("Anna", 0.5)
    assert find_mentions("Anna waves", model=SpanModel({"span words=1": log(LEAST) - 0.1})) == []


# How a name is written out, whichever words the model takes for one

LONGER = SpanModel({f"span words={size}": 9.0 * size**2 for size in (1, 2, 3, 4, 5)})
"""All capitalised words are names, as long as they can be."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with Bill and Hillary Clinton", ["Bill Clinton", "Hillary Clinton"]),
        ("Anna, Tom and Eva Miller", ["Anna Miller", "Tom Miller", "Eva Miller"]),
        ("Karl und Eva von der Heide", ["Karl von der Heide", "Eva von der Heide"]),
        ("Kofi Annan spoke, Annan left, Kofi too", ["Kofi Annan"] * 3),
        ("Kofi Annan and Nane Annan; Annan left", ["Kofi Annan", "Nane Annan", "Annan"]),
        ('with Dwayne "The Rock" Johnson', ["Dwayne Johnson"]),
        ("with Oliver [Babe] Hardy", ["Oliver Hardy"]),
        ("with TONY BLAIR, JOHN O'NEILL", ["Tony Blair", "John O'Neill"]),
        ("with PAUL MCCARTNEY, LUDWIG VAN DYCK", ["Paul McCartney", "Ludwig van Dyck"]),
        ("with Walter Pruitt, Jr., here", ["Walter Pruitt Jr"]),
        ("with Kofi Annan's car", ["Kofi Annan"]),
    ],
)
def test_a_name_is_written_out(text, expected):
    assert [mention.name for mention in find_mentions(text, model=LONGER)] == expected


def test_a_doubtful_full_name_completes_no_other():
    weights = {
        "span word=bush": 5.0,
        "span first word=shepherds": -2.0,
        "span word=shepherds": -9.0,
    }
    text = "in Shepherds Bush stood Bush"
    pinned = {"first word before=shepherds": -9.0}
    found = find_mentions(text, model=SpanModel(weights | pinned))
    assert [(m.name, m.probability > 0.9) for m in found] == [
        ("Shepherds Bush", False),
        ("Bush", True),
    ]


def test_a_surname_before_a_comma_goes_last():
    more = {"turned words=0 1": 20.0, "turned words=1 0": 20.0}
    turned = SpanModel({"turned given=True": 20.0} | more)
    text = "SMITH, John Henry; Van Dyck, Anna"
    found = [m for m in find_mentions(text, model=turned) if m.probability > 0.9]
    assert [m.name for m in found] == ["John Henry Smith", "Anna Van Dyck"]
    assert [text[m.start : m.end] for m in found] == ["SMITH, John Henry", "Van Dyck, Anna"]


def test_a_royal_title_belongs_to_a_given_name():
    weights = {"span word=anna": 20.0, "span first word=peter": 20.0, "span first word=mary": 20.0}
    text = "with Queen Anna, King Peter II and Queen Mary Smith"
    found = [m for m in find_mentions(text, model=SpanModel(weights)) if m.probability > 0.9]
    assert [m.name for m in found] == ["Queen Anna", "King Peter II", "Mary Smith"]
    assert [text[m.start : m.end] for m in found] == [m.name for m in found]


def test_spans_are_of_the_text_as_it_is_with_its_soft_hyphens():
    text = "mit Wolf\u00adgang\u200b Schäu\u00adble \u00adund Char\u00adlotte"
    found = find_mentions(text, model=LONGER)
    assert [m.name for m in found] == ["Wolfgang Schäuble", "Charlotte"]
    written = [text[m.start : m.end] for m in found]
    assert written == ["Wolf\u00adgang\u200b Schäu\u00adble", "Char\u00adlotte"]


PIECES = "Queen King Anna Lee , . ( ) \" van de II Jr. and y O'Neill ANNA's \u00ad ; :"


@given(
    st.lists(st.sampled_from(PIECES.split()), max_size=25).map(" ".join),
    st.sampled_from([SpanModel({}), LONGER]),
)
def test_spans_never_overlap_whatever_the_weights(text, model):
    found = find_mentions(text, model=model)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(LEAST <= mention.probability <= 1 for mention in found)


# A second opinion


class Says:
    """A finder that takes some words for a person and others for something else."""

    def __init__(self, *people, others=(), language="en"):
        self.people, self.others, self.language = people, others, language

    def find(self, text):
        found = [(word, True) for word in self.people] + [(word, False) for word in self.others]
        spans = [(text.index(word), text.index(word) + len(word), who) for word, who in found]
        return [Entity(*span) for span in sorted(spans)]


TEXT = "the kiosk was run by President Aruba Smith for years"
BOTH = "Aruba Smith"


def chance(finder=None, weights=None):
    """Return the probability of a name, without weights or with some for the finder."""
    plain = {"span words=1": -3.0, "span words=3": -6.0, "first word before=president": 1.0}
    model = SpanModel(plain | (weights or {}))
    found = {m.name: m.probability for m in find_mentions(TEXT, finder=finder, model=model)}
    return found.get(BOTH, 0.0)


SAYS = {
    "finder says person": 2.0,
    "finder says part of a person": -1.0,
    "finder says other": -2.0,
    "finder says nothing": -1.5,
}


def test_a_finder_counts_by_the_weights_that_the_model_has_for_it():
    assert chance(Says(BOTH)) == chance(Says(others=[BOTH])) == chance()
    plain, person = chance(None, SAYS), chance(Says(BOTH), SAYS)
    assert plain == chance()
    assert chance(Says(others=[BOTH]), SAYS) < chance(Says(), SAYS) < plain < person
    # It may have a title in the name.
    assert chance(Says("President Aruba Smith"), SAYS) == pytest.approx(person, abs=0.2)


def test_a_finder_is_not_asked_about_another_language():
    assert chance(Says(BOTH, language="de"), SAYS) == chance(None, SAYS)
    for language in ("", "xx"):
        assert chance(Says(BOTH, language=language), SAYS) == chance(Says(BOTH), SAYS)
