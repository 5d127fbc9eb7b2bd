"""python -m benchmarks.captions.train_tagger: learn the tagger of words that the package ships.

Multinomial logistic regression on the hashed features of ``token_tagger``, by AdaGrad with dropout,
on WikiANN (Wikipedia's text, CC BY-SA; en, de, es, fr) and WikiGold (CC BY 4.0) in ``ner/`` of the
folder that ``CANDIDLY_DATA`` names. A twentieth of the sentences is held out and scored.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.captions.labelled_texts import data_folder
from candidly.photos.names import token_tagger
from candidly.photos.names.token_tagger import BITS, TAGS, hashed

FILES = ("wikiann-de", "wikiann-en", "wikiann-es", "wikiann-fr", "wikigold-en")
_MARKUP = re.compile(r"'{2,}|\*+|#?(?:REDIREC\w*|WEITERLEITUNG)")


def sentences(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words and the tags of each sentence of a file."""
    words: list[str] = []
    tags: list[str] = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            word, _, kind = line.rstrip("\n").rpartition("\t")
            if not word and words:
                yield words, tags
                words, tags = [], []
            elif word and not _MARKUP.fullmatch(word):
                words.append(word)
                tags.append(kind)
    if words:
        yield words, tags


def number_of(kind: str) -> int:
    """Return the number of an IOB tag in ``TAGS``."""
    if kind.endswith("PER"):
        return TAGS.index("first" if kind.startswith("B") else "person")
    return TAGS.index({"LOC": "place", "ORG": "body"}.get(kind[2:], "other"))


def read(folder: Path) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the features of all words, their tags, and the number of their sentences."""
    features, tags, numbers = [], [], []
    for name in FILES:
        for words, kinds in sentences(folder / f"{name}.txt.xz"):
            language = name.rpartition("-")[2]
            features.append(hashed(words, [language] * len(words)).astype(np.int32))
            tags += [number_of(kind) for kind in kinds]
            numbers += [len(features)] * len(words)
    return np.concatenate(features), np.array(tags), np.array(numbers)


def learn(
    features: NDArray[np.int32],
    tags: NDArray[np.int64],
    *,
    rounds: int,
    rate: float = 0.1,
    shrink: float = 1e-6,
    dropout: float = 0.3,
    batch: int = 4096,
    seed: int = 0,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the weights and the bias."""
    rng = np.random.default_rng(seed)
    size, count = 2**BITS, len(TAGS)
    weights = np.zeros((size, count), dtype=np.float32)
    bias = np.zeros(count)
    seen, seen_bias = np.full_like(weights, 1e-8), np.full(count, 1e-8)
    for _ in range(rounds):
        order = rng.permutation(len(tags))
        for start in range(0, len(order), batch):
            own = order[start : start + batch]
            places = features[own]
            kept = (rng.random(places.shape) >= dropout).astype(np.float32) / (1 - dropout)
            scores = np.einsum("nfc,nf->nc", weights[places], kept) + bias
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            shares[np.arange(len(own)), tags[own]] -= 1
            shares /= batch
            flat = places.ravel()
            for tag in range(count):
                summed = np.bincount(flat, (kept * shares[:, tag : tag + 1]).ravel(), size)
                slope = summed.astype(np.float32) + shrink * weights[:, tag]
                seen[:, tag] += slope * slope
                weights[:, tag] -= rate * slope / np.sqrt(seen[:, tag])
            step = shares.sum(axis=0)
            seen_bias += step * step
            bias -= rate * step / np.sqrt(seen_bias)
    return weights, bias


def score(
    weights: NDArray[np.float32],
    bias: NDArray[np.float64],
    features: NDArray[np.int32],
    tags: NDArray[np.int64],
) -> Iterator[str]:
    """Yield precision and recall of each tag, by words."""
    found = (weights[features].sum(axis=1) + bias).argmax(axis=1)
    for at, tag in enumerate(TAGS):
        hit = ((found == at) & (tags == at)).sum()
        yield f"{tag}: {hit / max(1, (found == at).sum()):.3f} / {hit / (tags == at).sum():.3f}"


def main(
    out: Annotated[Path, typer.Option(help="File of the weights.")] = (
        Path(token_tagger.__file__).parent / "data" / "tagger.npz"
    ),
    rounds: Annotated[int, typer.Option(help="Passes over the sentences.")] = 5,
) -> None:
    """Learn the tagger; print precision and recall of words held out; write the weights."""
    console = Console()
    with console.status("reading the sentences"):
        features, tags, numbers = read(data_folder() / "ner")
    held = np.random.default_rng(0).random(numbers.max() + 1)[numbers] < 0.05
    with console.status(f"learning from {(~held).sum():,} words"):
        weights, bias = learn(features[~held], tags[~held], rounds=rounds)
    # One byte per weight: the largest is about 2, so a step is about 0.015.
    scale = float(np.abs(weights).max()) / 127
    small = np.round(weights / scale).astype(np.int8)
    console.print(f"{held.sum():,} words held out, precision / recall")
    for line in score(small.astype(np.float32) * scale, bias, features[held], tags[held]):
        console.print("  " + line)
    np.savez_compressed(out, weights=small, scale=np.float32(scale), bias=bias)
    console.print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    typer.run(main)
