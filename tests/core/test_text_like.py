from __future__ import annotations

import numpy as np
import pytest

from candidly import datasets, labelling_error, methods
from candidly.datasets import make_text_like

KINDS = ("frequency", "label", "input")


@pytest.mark.parametrize("seed", range(3))
def test_clpl_halves_the_error_of_the_candidate_listed_most_often(seed):
    texts = make_text_like(random_state=seed)
    mask = texts.candidates.mask
    floor = labelling_error(texts.y, np.where(mask, mask.sum(axis=0), -1).argmax(axis=1))
    clpl = methods.get("CLPL").set_params(classifier=None)
    found = labelling_error(texts.y, clpl.fit_predict(texts.X, texts.candidates))
    assert 0.4 < found / floor < 0.6
    assert floor > 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_binary_classes_skewed_and_the_truth_listed(kind):
    texts = make_text_like(4000, distractors=kind, random_state=0)
    assert set(np.unique(texts.X)) == {0, 1}
    assert texts.candidates.contain(texts.y).all()
    share = np.bincount(texts.y) / 4000
    assert share[0] == pytest.approx(0.39, abs=0.03)
    assert share[-1] == pytest.approx(0.005, abs=0.003)
    steps = np.log(share[:5])
    assert np.diff(steps) == pytest.approx(-np.log(80) / 9, abs=0.25)
    again = make_text_like(4000, distractors=kind, random_state=0)
    np.testing.assert_array_equal(again.X, texts.X)
    assert again.candidates == texts.candidates
    alone = make_text_like(400, distractors=kind, ambiguous_fraction=0.25, random_state=0)
    assert (alone.candidates.sizes > 1).sum() <= 100


def test_a_few_words_of_each_class_are_more_frequent():
    texts = make_text_like(20000, n_classes=4, random_state=0)
    everywhere = np.median([texts.X[texts.y == k].mean(axis=0) for k in range(4)], axis=0)
    for k in range(4):
        lifted = texts.X[texts.y == k].mean(axis=0) > everywhere + 0.1
        assert 3 <= lifted.sum() <= 6


def test_distractors_by_frequency_are_frequent_classes():
    texts = make_text_like(20000, n_extra=1, random_state=0)
    np.testing.assert_array_equal(texts.candidates.sizes, 2)
    wrong = texts.candidates.mask.copy()
    wrong[np.arange(20000), texts.y] = False
    share = np.bincount(texts.y) / 20000
    for k in (0, 3):  # given the label, in proportion to the shares of the others
        expected = np.delete(share, k) / (1 - share[k])
        found = np.delete(wrong[texts.y == k].mean(axis=0), k)
        np.testing.assert_allclose(found, expected, atol=0.03)


def test_companions_follow_the_label():
    texts = make_text_like(20000, distractors="label", n_extra=2, random_state=0)
    for k in range(4):
        listed = np.delete(texts.candidates.mask[texts.y == k].mean(axis=0), k)
        company = listed[listed > 0]
        assert len(company) == 3
        assert company.min() > 0.37
        assert company.max() < 0.93


@pytest.mark.parametrize("n_extra", [0, 2])
def test_the_set_is_a_function_of_the_first_word(n_extra):
    texts = make_text_like(distractors="input", n_extra=n_extra, random_state=1)
    key, mask = texts.X.argmax(axis=1), texts.candidates.mask
    assert texts.X.any(axis=1).all()
    assert len(np.unique(key)) > 20
    for word in np.unique(key):
        listed = mask[key == word]
        assert (listed == listed[0]).all()
        assert listed[0].sum() <= n_extra + 1


def test_it_is_loaded_by_name():
    texts = datasets.load("text-like", n_samples=100, n_words=50, distractors="label")
    assert texts.X.shape == (100, 50)
    assert texts.groups is None
    with pytest.raises(TypeError, match="takes ambiguous_fraction, distractors"):
        datasets.load("text-like", each=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_classes": 1}, "n_classes is a whole number of at least 2, got 1"),
        ({"n_samples": 9}, "n_samples is a whole number of at least 10, got 9"),
        ({"n_words": 9}, "n_words is a whole number of at least 10, got 9"),
        ({"n_extra": 0.5}, "n_extra is a whole number of at least 0, got 0.5"),
        ({"n_extra": 10}, "n_extra is less than the number of classes, got 10"),
        ({"ambiguous_fraction": 2}, "ambiguous_fraction is between 0 and 1, got 2"),
        ({"distractors": "word"}, "distractors is 'frequency' or 'label' or 'input', got 'word'"),
    ],
)
def test_impossible_wishes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_text_like(**options)
