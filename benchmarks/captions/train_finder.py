"""python -m benchmarks.captions.train_finder: weigh what a second reader says of possible names.

Fits four weights, of a finder that says person, part of a person, other or nothing, on the real
captions in the languages of the installed spaCy pipelines, with all other weights fitted without
these captions. Prints precision and recall with and without, the weights fitted on one half of the
sources and scored on the other, and adds the weights to those of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from scipy.optimize import minimize

from benchmarks.captions.labelled_texts import LabelledText, real_captions
from benchmarks.captions.span_fitting import Example, example
from benchmarks.captions.train_mentions import SHIPPED, names_of, scores, write
from candidly.photos.names import Spacy
from candidly.photos.names.mentions import second_opinion
from candidly.photos.names.span_model import SpanModel, overlapping, read_weights, solve
from candidly.photos.records import NAMED

SAYS = tuple(f"finder says {what}" for what in ("person", "part of a person", "other", "nothing"))


def fit(
    examples: Sequence[tuple[Example, dict[tuple[int, int], str]]], model: SpanModel
) -> SpanModel:
    """Return the model with weights of what a finder says."""

    def objective(w: NDArray[np.float64]) -> float:
        own = SpanModel(model.weights | dict(zip(SAYS, w, strict=True)))
        value = 0.5 * float(w @ w)
        for one, said in examples:
            score = own.scores(one.reading, said)
            for group in overlapping(one.reading.spans):
                value += solve(group, [score[span] for span in group])[0]
            for span, kind in one.kinds.items():
                value -= score[span] if kind == "p" else float(np.logaddexp(0, score[span]))
        return value

    start = np.zeros(len(SAYS))
    found = minimize(objective, start, method="L-BFGS-B", options={"maxiter": 12})
    weights = {name: round(float(w), 3) for name, w in zip(SAYS, found.x, strict=True)}
    return SpanModel(model.weights | weights)


def main(
    base: Annotated[Path, typer.Argument(help="Weights fitted without the real captions.")],
) -> None:
    """Fit the weights of what a second reader says."""
    console = Console(width=160)
    without = SpanModel(read_weights(base.read_bytes()))
    finders = {finder.language: finder for finder in map(Spacy, Spacy.installed())}
    captions = [one for one in real_captions() if one.language in finders]
    read = []
    for caption in captions:
        one = example(caption)
        read.append((one, second_opinion(finders[caption.language], one.reading)))
    sources = sorted({caption.source for caption in captions})
    halves = set(sources[::2]), set(sources[1::2])
    plain: list[tuple[LabelledText, dict[str, float]]] = []
    with_finder: list[tuple[LabelledText, dict[str, float]]] = []
    for fitted, scored in (halves, halves[::-1]):
        model = fit([pair for pair in read if pair[0].text.source in fitted], without)
        for caption in captions:
            if caption.source in scored:
                finder = finders[caption.language]
                plain.append((caption, names_of(caption.text, without)))
                with_finder.append((caption, names_of(caption.text, model, finder)))
    for title, found in (("without", plain), ("with", with_finder)):
        own = scores(found, NAMED)
        console.print(title, own["all"], "calibration error", own["calibration error"])
    model = fit(read, without)
    weights = {name: model.weights[name] for name in SAYS}
    console.print(sorted(finders), weights)
    write(SpanModel(read_weights(SHIPPED.read_bytes()) | weights), SHIPPED)


if __name__ == "__main__":
    typer.run(main)
