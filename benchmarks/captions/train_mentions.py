"""python -m benchmarks.captions.train_mentions: fit how likely words are a name, and score it.

Fits on image texts of public pages that we labelled, on captions made up for this project, both
also with the people exchanged, and on the real captions. ``--score`` prints precision, recall and
calibration on the real captions, each fitted without its source: text files from the same source,
real or of the pool, are left out. Without it the weights are written into the package.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from benchmarks.captions.exchanged_names import exchanged, people_of
from benchmarks.captions.labelled_texts import (
    LabelledText,
    data_folder,
    earlier_captions,
    image_texts,
    made_up_captions,
    real_captions,
)
from benchmarks.captions.span_fitting import Example, example, fit
from benchmarks.documents import RESULTS, put_into
from candidly.photos.names import span_model
from candidly.photos.names.mentions import Finder, find_mentions
from candidly.photos.names.span_model import SpanModel, read_weights
from candidly.photos.records import NAMED

SHIPPED = Path(span_model.__file__).parent / "data" / "mentions.txt.gz"
"""Weights of the package."""
COPIES = 4
"""How often a text is repeated with other people."""
FOLDS = 8


def examples_of(texts: Sequence[LabelledText], seed: int = 0) -> list[Example]:
    """Return the examples of texts, and of copies with other people, which count as one."""
    rng = np.random.default_rng(seed)
    people = people_of(data_folder() / "ner")
    found = [example(text) for text in texts]
    for _ in range(COPIES):
        copies = (exchanged(text, people, rng) for text in texts)
        found += [example(copy, 1 / COPIES) for copy in copies if copy is not None]
    return found


def training_texts(*, without_real: bool = False) -> list[LabelledText]:
    """Return all labelled texts, perhaps without the real captions."""
    real = [] if without_real else real_captions()
    return [*image_texts(), *made_up_captions(), *earlier_captions(), *real]


def fitted(texts: Sequence[LabelledText]) -> SpanModel:
    """Return the model fitted to texts."""
    return fit(examples_of(texts))


def folds_of(captions: Sequence[LabelledText]) -> list[set[str]]:
    """Return the sources of each fold, about as many captions in each."""
    sizes: dict[str, int] = defaultdict(int)
    for caption in captions:
        sizes[caption.source] += 1
    folds: list[set[str]] = [set() for _ in range(FOLDS)]
    load = [0] * FOLDS
    for source in sorted(sizes, key=lambda name: (-sizes[name], name)):
        least = load.index(min(load))
        folds[least].add(source)
        load[least] += sizes[source]
    return folds


def left_out_mentions(
    captions: Sequence[LabelledText], training: Sequence[Example]
) -> Iterator[tuple[LabelledText, dict[str, float]]]:
    """Yield the names of each real caption with their probability, fitted without its source."""
    for sources in track(folds_of(captions), "fitting without a source"):
        model = fit([own for own in training if own.text.source not in sources])
        for caption in captions:
            if caption.source in sources:
                yield caption, names_of(caption.text, model)


def names_of(text: str, model: SpanModel | None, finder: Finder | None = None) -> dict[str, float]:
    """Return the names of a text, each with its largest probability."""
    found: dict[str, float] = {}
    for mention in find_mentions(text, model=model, finder=finder):
        found[mention.name] = max(mention.probability, found.get(mention.name, 0.0))
    return found


def scores(
    found: Sequence[tuple[LabelledText, dict[str, float]]], threshold: float
) -> dict[str, Any]:
    """Return precision and recall overall, by language and by kind, and the calibration error."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    told: list[tuple[float, bool]] = []
    for caption, names in found:
        got = {name for name, share in names.items() if share >= threshold} - caption.optional
        for key in ("all", caption.language, caption.kind):
            counts[key][0] += len(got & caption.names)
            counts[key][1] += len(got - caption.names)
            counts[key][2] += len(caption.names - got)
        told += [(p, n in caption.names) for n, p in names.items() if n not in caption.optional]
    result: dict[str, Any] = {
        key: {
            "names": right + missed,
            "precision": round(right / max(1, right + wrong), 3),
            "recall": round(right / max(1, right + missed), 3),
        }
        for key, (right, wrong, missed) in sorted(counts.items())
    }
    return result | {"calibration error": round(calibration_error(told), 3)}


def calibration_error(told: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error over ten equal bins."""
    shares = np.array([share for share, _ in told])
    right = np.array([hit for _, hit in told])
    bins = np.minimum((shares * 10).astype(int), 9)
    gaps = [
        abs(shares[bins == at].mean() - right[bins == at].mean()) * (bins == at).mean()
        for at in np.unique(bins)
    ]
    return float(sum(gaps))


def table(found: dict[str, Any]) -> str:
    """Return the table in Markdown: precision and recall over all, by language and by kind."""
    lines = ["| captions | names | precision | recall |", "|---|---:|---:|---:|"]
    lines += [
        f"| {key} | {row['names']} | {row['precision']:.3f} | {row['recall']:.3f} |"
        for key, row in found.items()
        if isinstance(row, dict)
    ]
    error = found["calibration error"]
    return "\n".join([*lines, "", f"The expected calibration error is {error:.3f}.", ""])


def write(model: SpanModel, out: Path) -> None:
    """Write the weights, in the same order and bytes each time."""
    lines = [f"{name}\t{weight:g}" for name, weight in sorted(model.weights.items())]
    head = "# Weights of the features of possible names: benchmarks.captions.train_mentions"
    stored = "\n".join((head, *lines)) + "\n"
    with gzip.GzipFile(filename="", fileobj=out.open("wb"), mode="wb", mtime=0) as file:
        file.write(stored.encode())


def main(
    score: Annotated[bool, typer.Option("--score", help="Score; write no weights.")] = False,
    without_real: Annotated[
        bool, typer.Option("--without-real", help="Fit without the real captions.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Print every mistake.")] = False,
    out: Annotated[Path, typer.Option(help="File of the weights.")] = SHIPPED,
    results: Annotated[Path, typer.Option(help="File of the scores.")] = Path(
        "results/captions-real.json"
    ),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Fit the model of names."""
    console = Console(width=200)
    captions = real_captions()
    texts = training_texts(without_real=without_real)
    with console.status("reading the texts"):
        training = examples_of(texts)
    console.print(f"{len(texts):,} texts, {sum(len(own.kinds) for own in training):,} names")
    if not score:
        # What a second reader says is weighed by train_finder.
        known = read_weights(SHIPPED.read_bytes()).items()
        said = {name: weight for name, weight in known if name.startswith("finder says")}
        model = SpanModel(fit(training).weights | said)
        write(model, out)
        console.print(f"{len(model.weights):,} weights, {out.stat().st_size / 1e3:.0f} kB: {out}")
        return
    found = list(left_out_mentions(captions, training))
    stored = {}
    for threshold in (0.3, NAMED, 0.5, 0.6):
        stored[f"{threshold:g}"] = own = scores(found, threshold)
        console.print(threshold, own)
    results.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    put_into(document, table(stored[f"{NAMED:g}"]), "captions-real")
    if show:
        for caption, names in found:
            got = {name for name, share in names.items() if share >= NAMED} - caption.optional
            for name in sorted(got ^ caption.names):
                sign = "+" if name in got else "-"
                text = caption.text[:150].replace("\n", " ")
                console.print(f"{sign} {name} {names.get(name, 0):.2f} | {text}", markup=False)


if __name__ == "__main__":
    typer.run(main)
