"""The made-up captions: well-formed, consistent in themselves, and no copies of real ones."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

MADE_UP = Path(__file__).parents[2] / "benchmarks" / "captions" / "made_up.jsonl"
KINDS = {
    *("news", "headline", "military", "science", "sport", "roster", "archive", "family"),
    *("celebrity", "product", "word-names", "odd-signs", "cue", "sequel"),
}
SIDES = {"left", "right", "centre", "front", "back", "top", "bottom"}
KEYS = {"text", "lang", "kind", "names", "optional", "credits", "cues"}


def words(text):
    """Return the words of a text in small letters, without hyphens of typesetting."""
    return re.findall(r"\w+", text.replace("\u00ad", "").lower())


@pytest.fixture(scope="module")
def captions():
    return [json.loads(line) for line in MADE_UP.read_text(encoding="utf-8").splitlines()]


def test_every_caption_has_its_keys_and_a_known_language_and_kind(captions):
    for caption in captions:
        assert set(caption) - {"inside", "rows"} == KEYS, caption["text"]
        assert caption["lang"] in {"en", "de", "es", "fr"}
        assert caption["kind"] in KINDS
    assert {caption["kind"] for caption in captions} == KINDS


def test_there_are_enough_in_each_language_and_two_of_five_name_nobody(captions):
    count = Counter(caption["lang"] for caption in captions)
    wanted = {"en": 170, "de": 110, "es": 80, "fr": 60}
    assert all(count[lang] >= least for lang, least in wanted.items())
    nobody = sum(not caption["names"] for caption in captions)
    assert 0.35 < nobody / len(captions) < 0.45
    assert sum(bool(caption["cues"]) for caption in captions) >= 35


def test_the_words_of_every_name_are_in_the_text(captions):
    for caption in captions:
        said = set(words(caption["text"]))
        for name in caption["names"] + caption["optional"] + caption["credits"]:
            assert words(name), caption["text"]
            assert set(words(name)) <= said, (name, caption["text"])


def test_a_person_has_one_label_and_no_name_twice(captions):
    for caption in captions:
        labels = caption["names"] + caption["optional"]
        assert len(set(labels)) == len(labels), caption["text"]
        assert set(caption.get("inside", [])) <= set(labels), caption["text"]


def test_cues_are_of_people_named_and_places_lie_in_their_list(captions):
    for caption in captions:
        assert set(caption["cues"]) <= set(caption["names"]), caption["text"]
        assert set(caption.get("rows", {})) <= set(caption["cues"]), caption["text"]
        assert set(caption.get("rows", {}).values()) <= {"front", "middle", "back"}
        taken = Counter()
        for name, (side, place, of) in caption["cues"].items():
            assert side in SIDES
            assert 1 <= place <= (of or 20), (name, caption["text"])
            if of is not None:
                taken[side, place, caption.get("rows", {}).get(name)] += 1
        assert all(number == 1 for number in taken.values()), caption["text"]


def test_no_two_texts_are_alike(captions):
    texts = Counter(" ".join(words(caption["text"])) for caption in captions)
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.real_data
def test_no_text_is_a_real_one_nor_shares_nine_words_in_a_row(captions):
    folder = Path(os.environ["CANDIDLY_DATA"]) / "captions"
    if not folder.is_dir():
        pytest.skip("needs the real captions")
    lines = (folder / "real.jsonl").read_text(encoding="utf-8").splitlines()
    with gzip.open(folder / "pool.jsonl.gz", "rt", encoding="utf-8") as pool:
        lines += pool.read().splitlines()
    real = [words(json.loads(line)["text"]) for line in lines]
    whole = {" ".join(text) for text in real}
    runs = {tuple(text[k : k + 9]) for text in real for k in range(len(text) - 8)}
    for caption in captions:
        own = words(caption["text"])
        assert " ".join(own) not in whole, caption["text"]
        assert not runs & {tuple(own[k : k + 9]) for k in range(len(own) - 8)}, caption["text"]
