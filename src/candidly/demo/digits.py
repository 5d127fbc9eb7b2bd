"""Ambiguous handwritten digits, labelled by several methods, and unseen ones predicted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from candidly import methods
from candidly.metrics import labelling_error

METHODS = ("MCar", "WMCar", "WMCar-ICE", "CandidateClassifier")


@dataclass(frozen=True)
class DigitsResult:
    """Errors of one method on the digits."""

    method: str
    error: float
    test_error: float
    seconds: float
    model: Any = None


def run_digits(digits: Bunch, *, random_state: int) -> Iterator[DigitsResult]:
    """Yield a random choice, then each method, on ``datasets.load("digits", ...)``."""
    rng = np.random.default_rng(random_state)
    guess = [rng.choice(sorted(names)) for names in digits.candidates.sets()]
    yield DigitsResult("random choice", labelling_error(digits.y, guess), float("nan"), 0.0)
    known = {image.tobytes() for image in digits.images}
    everything = load_digits()
    unseen = np.array([image.tobytes() not in known for image in everything.images])
    for name in METHODS:
        model = methods.get(name).set_params(random_state=random_state)
        started = time.perf_counter()
        model.fit(digits.X, digits.candidates)
        seconds = time.perf_counter() - started
        predicted = model.predict(everything.data[unseen] / 16)
        yield DigitsResult(
            name,
            labelling_error(digits.y, model.transduction_),
            labelling_error(everything.target[unseen], predicted),
            seconds,
            model,
        )
