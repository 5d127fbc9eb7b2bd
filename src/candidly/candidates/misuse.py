"""Sentences for where scikit-learn takes candidates for labels: what to use instead."""

from __future__ import annotations

import sys

INSIDE = (
    "this part of scikit-learn needs one label per instance; give it to a candidate estimator as "
    "classifier=, which trains it on the labels found, e.g. CandidateClassifier(classifier=...), "
    "or pass .mask if an instance really has several labels"
)
INSTEAD = {
    "sklearn.ensemble._bagging.": (
        "BaggingClassifier needs one label per instance; use candidly.interop.CandidateBagging"
    ),
    "sklearn.ensemble.": INSIDE,
    "sklearn.calibration.": INSIDE,
    "sklearn.multiclass.": INSIDE,
    "sklearn.model_selection._split.Stratified": (
        "classes of candidates are not known, so they cannot be stratified like labels; use "
        "candidly.interop.CandidateKFold, or KFold(5, shuffle=True)"
    ),
    "sklearn.metrics._classification.": (
        "scores such as 'accuracy' need true labels; leave scoring out for the covering rate, "
        "which needs candidates alone, or pass the true labels where they are known"
    ),
}
"""What to use instead of a part of scikit-learn, by the beginning of the function's name."""


def refuse_as_labels() -> None:
    """Raise ``ValueError`` if a part of scikit-learn that needs labels wants candidates as array.

    It has no other way to be told: it asks for an array as those parts do that work.
    """
    frame = sys._getframe(1)
    while frame is not None:
        name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
        for start, sentence in INSTEAD.items():
            if name.startswith(start):
                raise ValueError(f"these are candidates, not labels: {sentence}")
        frame = frame.f_back  # type: ignore[assignment]
