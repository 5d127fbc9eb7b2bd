"""Texts with the people that they name: real captions, image texts of public pages, made-up ones.

The real captions and the image texts are in ``captions/`` of the folder that ``CANDIDLY_DATA``
names; ``pool_labels.jsonl`` has our labels of the image texts, without the texts.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class LabelledText:
    """A text and its people.

    ``spans`` are (start, end, kind) in the text; kind is "p" for a person, "o" for what is neither
    right nor wrong, "c" for somebody credited. ``names`` and ``optional`` are whole names, where
    they are known.
    """

    text: str
    spans: tuple[tuple[int, int, str], ...]
    source: str
    language: str = ""
    kind: str = ""
    names: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    cues: dict[str, Any] | None = None


def data_folder() -> Path:
    """Return the folder of the data."""
    if not (root := os.environ.get("CANDIDLY_DATA")):
        raise SystemExit("set CANDIDLY_DATA to the data folder, which has captions/ and ner/")
    return Path(root)


def real_captions() -> list[LabelledText]:
    """Return the real captions with labels."""
    path = data_folder() / "captions" / "real.jsonl"
    return [_labelled(line, line["source"]) for line in _lines(path.read_text(encoding="utf-8"))]


def made_up_captions() -> list[LabelledText]:
    """Return the captions made up for this project."""
    text = (HERE / "made_up.jsonl").read_text(encoding="utf-8")
    return [_labelled(line, f"made up: {line['kind']}") for line in _lines(text)]


def earlier_captions() -> list[LabelledText]:
    """Return the captions made up before, which are easy and in more languages."""
    text = (HERE.parents[1] / "tests" / "data" / "captions-more.jsonl").read_text(encoding="utf-8")
    return [_labelled(line, f"earlier: {line['kind']}") for line in _lines(text)]


def image_texts() -> list[LabelledText]:
    """Return the image texts of public pages that we have labelled."""
    path = data_folder() / "captions" / "pool.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = list(_lines(file.read()))
    labels = _lines((HERE / "pool_labels.jsonl").read_text(encoding="utf-8"))
    found = []
    for label in labels:
        stored = texts[label["text"]]
        spans = tuple((start, end, kind) for start, end, kind in label["spans"])
        found.append(LabelledText(stored["text"], spans, stored["source"]))
    return found


def _lines(text: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, filter(None, text.splitlines()))


def _labelled(line: dict[str, Any], source: str) -> LabelledText:
    """Return a caption with its names found in the text."""
    text = line["text"]
    inside = set(line.get("inside", ())) - set(line["names"])
    optional = [name for name in line.get("optional", ()) if name not in inside]
    wanted = [(name, "p") for name in line["names"]] + [(name, "o") for name in optional]
    credited = [name for name in line.get("credits", ()) if name not in line["names"]]
    wanted += [(name, "c") for name in credited]
    return LabelledText(
        text,
        tuple(sorted(_find(text, wanted))),
        source,
        line["lang"],
        line["kind"],
        frozenset(line["names"]),
        frozenset(line.get("optional", ())),
        line.get("cues"),
    )


def _find(text: str, names: Iterable[tuple[str, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield where names are written, or their parts: a surname later, a shared one."""
    forms = [(form, kind) for name, kind in names for form in _forms(name)]
    taken: list[tuple[int, int]] = []
    for form, kind in sorted(forms, key=lambda pair: -len(pair[0])):
        for match in re.finditer(rf"(?<!\w){form}(?!\w)", text):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                taken.append(match.span())
                yield *match.span(), kind


def _forms(name: str) -> Iterator[str]:
    """Yield the patterns of a name and of its parts, also with the surname first."""
    words = [re.escape(word) for word in name.split()]
    between = r"\.?,?(?:\s|\u00ad)+"
    # Soft hyphens may stand anywhere in a word.
    words = ["\u00ad?".join(re.findall(r"\\.|.", word)) for word in words]
    yield between.join(words)
    for cut in range(1, len(words)):
        yield rf"{between.join(words[cut:])}, {between.join(words[:cut])}"
    if len(words) > 1:
        yield from (words[0], words[-1], between.join(words[:-1]), between.join(words[1:]))
