"""How likely each possible name of a text is one: a semi-Markov model of which of them are names.

Possible names overlap, and only one of those that do can be a name. A choice of names that do not
overlap has the probability exp(sum of their scores) / Z, where a score is a weighted sum of
features; the probability of one name is the sum over all choices that have it::

    before[t] = log sum over choices among the spans that end before t
    after[t]  = log sum over choices among the spans that start at t or later
    P(span)   = exp(before[start] + score + after[end] - Z)

``python -m benchmarks.captions.train_mentions`` fits the weights in ``data/mentions.txt.gz``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from math import exp, log

from candidly.photos.names.reading import Reading, Span
from candidly.photos.names.span_features import SpanFeatures


class SpanModel:
    """Weights of the features of possible names.

    Parameters
    ----------
    weights : mapping of str to float

    Examples
    --------
    >>> model = SpanModel({"last kind=Cg": 2.0})
    >>> reading = Reading("Anna waves")
    >>> {span: round(share, 3) for span, share in model.shares(reading).items()}
    {(0, 0): 0.881}
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)

    @property
    def stamp(self) -> str:
        """A text that changes with the weights."""
        return blake2b(repr(sorted(self.weights.items())).encode(), digest_size=4).hexdigest()

    def shares(
        self, reading: Reading, extra: Mapping[Span, str] | None = None
    ) -> dict[Span, float]:
        """Return the probability of each possible name.

        Parameters
        ----------
        reading : Reading
        extra : mapping of Span to str, optional
            One more feature for some of the spans.
        """
        scores = self.scores(reading, extra)
        found: dict[Span, float] = {}
        for group in overlapping(reading.spans):
            shares = solve(group, [scores[span] for span in group])[1]
            found |= dict(zip(group, shares, strict=True))
        return found

    def scores(
        self, reading: Reading, extra: Mapping[Span, str] | None = None
    ) -> dict[Span, float]:
        """Return the score of each possible name: the weighted sum of its features."""
        features = SpanFeatures(reading)
        found = {}
        for span in reading.spans:
            own = features.of(span)
            score = sum(self.weights.get(name, 0.0) * value for name, value in own.items())
            if extra is not None:
                score += self.weights.get(extra.get(span, ""), 0.0)
            found[span] = score
        return found


def overlapping(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield the groups of spans that overlap, directly or by others; spans are in order.

    Examples
    --------
    >>> list(overlapping([(0, 0), (0, 1), (1, 1), (3, 3)]))
    [[(0, 0), (0, 1), (1, 1)], [(3, 3)]]
    """
    group: list[Span] = []
    end = -1
    for span in spans:
        if span[0] > end and group:
            yield group
            group = []
        group.append(span)
        end = max(end, span[1])
    if group:
        yield group


def solve(spans: Sequence[Span], scores: Sequence[float]) -> tuple[float, list[float]]:
    """Return log Z of a group of spans, and the probability of each.

    Examples
    --------
    >>> z, shares = solve([(0, 0), (0, 1), (1, 1)], [0.0, 0.0, 0.0])
    >>> round(exp(z)), [round(share, 2) for share in shares]
    (5, [0.4, 0.2, 0.4])
    """
    if len(spans) == 1:
        largest = max(0.0, scores[0])
        z = largest + log(exp(-largest) + exp(scores[0] - largest))
        return z, [exp(scores[0] - z)]
    places = sorted({first for first, _ in spans} | {last + 1 for _, last in spans})
    place = {token: at for at, token in enumerate(places)}
    arcs = [(place[first], place[last + 1]) for first, last in spans]
    into: list[list[int]] = [[] for _ in places]
    out: list[list[int]] = [[] for _ in places]
    for at, (start, end) in enumerate(arcs):
        into[end].append(at)
        out[start].append(at)
    before, after = [0.0] * len(places), [0.0] * len(places)
    for at in range(1, len(places)):
        before[at] = _log_sum(
            [before[at - 1], *(before[arcs[arc][0]] + scores[arc] for arc in into[at])]
        )
    for at in range(len(places) - 2, -1, -1):
        after[at] = _log_sum(
            [after[at + 1], *(after[arcs[arc][1]] + scores[arc] for arc in out[at])]
        )
    z = before[-1]
    return z, [
        exp(min(0.0, before[start] + score + after[end] - z))
        for (start, end), score in zip(arcs, scores, strict=True)
    ]


def _log_sum(values: list[float]) -> float:
    largest = max(values)
    return largest + log(sum(exp(value - largest) for value in values))


@cache
def shipped_model() -> SpanModel:
    """Return the model that comes with the package, read once, on first use."""
    stored = files(__package__).joinpath("data", "mentions.txt.gz").read_bytes()
    return SpanModel(read_weights(stored))


def read_weights(stored: bytes) -> dict[str, float]:
    """Return the weights of a file: one name and weight per line, compressed."""
    lines = gzip.decompress(stored).decode().splitlines()
    pairs = (line.rsplit("\t", 1) for line in lines if not line.startswith("#"))
    return {name: float(weight) for name, weight in pairs}
