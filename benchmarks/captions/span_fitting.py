"""Weights of the semi-Markov model of names, by penalised maximum likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from benchmarks.captions.labelled_texts import LabelledText
from candidly.photos.names.reading import Reading, Span
from candidly.photos.names.span_features import Features, SpanFeatures
from candidly.photos.names.span_model import SpanModel, overlapping, solve

PENALTY = 1.0
LEARNT = 0.1
"""Penalty of the tagger's features, against all others."""
PRUNED = 0.02
"""Weights smaller than this are left out."""


@dataclass(frozen=True)
class Example:
    """The possible names of a text, their features, and which are names ("p") or may be ("o")."""

    text: LabelledText
    reading: Reading
    features: dict[Span, Features]
    kinds: dict[Span, str]
    weight: float


def example(labelled: LabelledText, weight: float = 1.0) -> Example:
    """Return an example of a labelled text."""
    text = labelled.text
    gaps = np.cumsum([letter == "\u00ad" for letter in text])
    moved = [(s - int(gaps[s]), e - int(gaps[e - 1]), kind) for s, e, kind in labelled.spans]
    reading = Reading(text.replace("\u00ad", ""))
    starts = {token.start: at for at, token in enumerate(reading.tokens)}
    # "Jr." ends with its dot, and a label may end with that of a sentence.
    ends = {token.end + more: at for at, token in enumerate(reading.tokens) for more in (-1, 1, 0)}
    ends |= {token.end: at for at, token in enumerate(reading.tokens)}
    kinds = {
        (starts[start], ends[end]): kind
        for start, end, kind in moved
        if start in starts and end in ends and kind in {"p", "o"}
    }
    features = SpanFeatures(reading)
    return Example(
        labelled,
        reading,
        {span: features.of(span) for span in reading.spans},
        {span: kind for span, kind in kinds.items() if span in set(reading.spans)},
        weight,
    )


def fit(examples: Sequence[Example], *, penalty: float = PENALTY, rounds: int = 80) -> SpanModel:
    """Return the model that makes the labels likely.

    With P(choice) as in ``span_model``, the objective is the sum over texts of log Z minus the
    scores of the names, plus half the penalty times the squared weights. What is neither right nor
    wrong may be a name or not: log(1 + exp(score)) takes the place of its score.
    """
    number: dict[str, int] = {}
    rows: list[Features] = []
    sure: list[float] = []
    open_: list[bool] = []
    weights: list[float] = []
    single: list[int] = []
    groups: list[tuple[NDArray[np.int64], list[Span], float]] = []
    for own in examples:
        for group in overlapping(own.reading.spans):
            places = np.arange(len(rows), len(rows) + len(group))
            for span in group:
                rows.append(own.features[span])
                kind = own.kinds.get(span, "")
                sure.append(float(kind == "p"))
                open_.append(kind == "o")
                weights.append(own.weight)
            if len(group) == 1:
                single.append(int(places[0]))
            else:
                groups.append((places, group, own.weight))
    for row in rows:
        for name in row:
            number.setdefault(name, len(number))
    matrix = _matrix(rows, number)
    turned = matrix.T.tocsr()
    named, weight = np.array(sure), np.array(weights)
    loose, alone = np.flatnonzero(open_), np.array(single, dtype=np.int64)
    shrink = penalty * np.array([LEARNT if "tagged" in name else 1.0 for name in number])

    def objective(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = matrix @ w
        shares = np.zeros_like(scores)
        value = float(weight[alone] @ np.logaddexp(0, scores[alone]))
        shares[alone] = 1 / (1 + np.exp(-scores[alone]))
        for places, group, much in groups:
            z, own = solve(group, scores[places].tolist())
            value += much * z
            shares[places] = own
        value -= float(weight @ (named * scores))
        value -= float(weight[loose] @ np.logaddexp(0, scores[loose]))
        slope = shares - named
        slope[loose] -= 1 / (1 + np.exp(-scores[loose]))
        return value + 0.5 * float(shrink @ w**2), turned @ (weight * slope) + shrink * w

    start = np.zeros(len(number))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": rounds})
    return SpanModel(
        {
            name: round(float(found.x[at]), 3)
            for name, at in number.items()
            if abs(found.x[at]) >= PRUNED
        }
    )


def _matrix(rows: Iterable[Features], number: dict[str, int]) -> csr_array:
    """Return the features as a sparse matrix, one row per possible name."""
    ends = [0]
    columns: list[int] = []
    values: list[float] = []
    for row in rows:
        columns += [number[name] for name in row]
        values += row.values()
        ends.append(len(columns))
    return csr_array((values, columns, ends), shape=(len(ends) - 1, len(number)))
