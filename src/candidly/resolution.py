"""Candidates resolved by one method: label, confidence and runner-up of every instance."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from candidly import methods
from candidly.base import CandidateEstimator, confidence, read_candidates
from candidly.candidates import Candidates
from candidly.metrics import labelling_error
from candidly.selection import CandidateClassifier
from candidly.selection.report import UNSURE, how_sure
from candidly.solvers import CandidateSets, Solution
from candidly.solvers.assignment import worth


@dataclass(frozen=True)
class ResolvedLabel:
    """Label of one instance, its confidence, and the second best candidate.

    The confidence is the soft label of the label chosen. Candidate elimination makes it
    sharper: to rank labels by confidence, use a method without elimination.
    """

    id: Any
    label: Any
    confidence: float
    runner_up: Any


@dataclass(frozen=True)
class Resolution:
    """A fitted model with the data it was fitted on: what :func:`candidly.resolve` returns.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> print(candidly.resolve(digits, "WMCar").summary[0].splitlines()[0])
    300 instances, 10 classes, 3.00 candidates each, 300 ambiguous
    """

    data: Bunch
    method: str
    model: CandidateEstimator

    @property
    def rows(self) -> list[ResolvedLabel]:
        """One row per instance, in the order of the data; without ids they are counted from 1."""
        model, candidates = self.model, self.data.candidates
        ids = range(1, len(candidates) + 1) if self.data.ids is None else self.data.ids
        column = {name: i for i, name in enumerate(model.classes_.tolist())}
        chosen = np.array([column[name] for name in model.transduction_.tolist()])
        second = _runner_up(candidates, model.solution_, chosen)
        names = [*model.classes_.tolist(), None]
        return [
            ResolvedLabel(i, names[a], round(float(p), 4), names[b])
            for i, a, p, b in zip(ids, chosen, confidence(model), second, strict=True)
        ]

    def write(self, file: TextIO, form: str) -> None:
        """Write the rows as "csv" or "json"."""
        rows = [asdict(row) for row in self.rows]
        if form == "json":
            json.dump(rows, file, ensure_ascii=False, indent=1)
            file.write("\n")
            return
        writer = csv.DictWriter(file, ["id", "label", "confidence", "runner_up"])
        writer.writeheader()
        writer.writerows(rows)

    @property
    def summary(self) -> list[str]:
        """A few lines of text about the data, the method and the labels."""
        model = self.model
        lines = [
            *self.data.candidates.describe().splitlines(),
            f"{self.method}: {model.solution_.status.value}",
        ]
        if isinstance(model, CandidateClassifier):
            # Classes that are always together are told by both.
            lines += [line for line in model.report().lines if line not in lines]
        else:
            lines += _about(model)
        for name, size in model.solution_.violations.items():
            if size <= 1e-6:
                continue
            lines.append(
                f"soft labels break '{name}' by up to {size:.2g}; the labels written do not"
            )
        if self.data.y is not None:
            error = labelling_error(self.data.y, model.transduction_)
            lines.append(f"labelling error against the labels in the file: {error:.1%}")
        return lines


def resolve(
    data: Any, y: Any = None, method: str = "CandidateClassifier", **parameters: Any
) -> Resolution:
    """Label the instances of a data set by one method: ``resolve(data)`` or ``resolve(X, y)``.

    Parameters
    ----------
    data : Bunch, or (N, m) array or DataFrame
        With ``X`` and ``candidates``, as ``candidly.datasets.read`` and ``load`` return it; or
        the features alone.
    y : Candidates, mask, soft matrix, list of sets, or 1-d labels
        Candidates of each row, beside features alone. ``resolve(data, "WMCar")`` is understood.
    method : str
        One of ``candidly.methods.names()``.
    **parameters
        Parameters of the estimator.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> candidly.resolve(digits).rows[0].label
    0
    >>> sets = [{"a"}, {"a", "b"}, {"b"}]
    >>> candidly.resolve([[0.0], [0.1], [5.0]], sets, "RowSpace").rows[1].label
    'a'
    """
    if isinstance(y, str):
        method, y = y, None
    data = _as_data(data, y, method)
    model = methods.get(method)
    # Nothing is predicted, so no classifier is trained; SelfLabelling is one itself.
    usual = {"classifier": None, "random_state": 0}.items()
    parameters = {**{k: v for k, v in usual if k in model.get_params()}, **parameters}
    model.set_params(**parameters)
    model.fit(data.X, data.candidates)
    return Resolution(Bunch(**{"ids": None, "y": None, **data}), method, model)


def _as_data(data: Any, y: Any, method: str) -> Bunch:
    """Return a data set, or features and candidates, as a data set."""
    if not isinstance(data, Mapping):
        if y is None:
            raise TypeError(
                f"{type(data).__name__} is no data set, and there are no candidates beside it; "
                f"use resolve(X, y, {method!r}), or a data set of candidly.datasets"
            )
        return Bunch(X=data, candidates=read_candidates(y))
    if y is not None:
        raise TypeError("a data set has its candidates; use resolve(data) or resolve(X, y)")
    if not {"X", "candidates"} <= set(data):
        raise TypeError(
            f"the data set has no X or no candidates, but {', '.join(map(str, data))}; use "
            "resolve(X, y)"
        )
    return Bunch(**data)


def _about(model: CandidateEstimator) -> list[str]:
    """Return lines about a model that has no report of its own."""
    sure = confidence(model)
    setting = getattr(model, "setting_", None)
    return [
        *([] if setting is None else [f"settings: {setting}"]),
        how_sure(float(sure.mean()), int(np.count_nonzero(sure < UNSURE)), len(sure)),
        *(f"doubtful: {doubt}" for doubt in model.solution_.doubts),
    ]


def _runner_up(
    candidates: Candidates, solution: Solution, chosen: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the column of the best other candidate; -1, the name None, if there is none."""
    sets = CandidateSets.of_rows(candidates.sparse_priors)
    merit = solution.sets.values_on(worth(solution), sets)
    others = np.where(sets.classes == chosen[sets.instance], -np.inf, merit)
    return np.where(sets.sizes > 1, sets.classes[sets.best(others)], -1)
