"""How one run is measured: each protocol takes a run and returns figures."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.utils import Bunch

from benchmarks.paper import decomposition_pictures as pictures
from benchmarks.paper.declaration import REFERENCE, PaperRun
from benchmarks.paper.news import news, split_by_photo
from candidly import datasets
from candidly.candidates import Candidates, make_ambiguous
from candidly.comparison.workers import seeded
from candidly.metrics import labelling_error

Figures = dict[str, Any]


def measure(run: PaperRun) -> Figures:
    """Carry out a run by its protocol, and return its figures and its time."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # figures record it
        warnings.simplefilter("ignore", RuntimeWarning)
        found = PROTOCOLS[run.experiment.protocol](run)
    return {**found, "seconds": round(time.process_time() - started, 3)}


def inductive(run: PaperRun) -> Figures:
    """Return the error on one half of the data, after training with candidates on the other."""
    data = _faces(run.cell.data, **run.cell.options)
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y, random_state=run.seed)
    candidates = make_ambiguous(data.y[train], **run.cell.ambiguity, random_state=run.seed)
    model = _model(run, data.y[train]).fit(data.X[train], candidates)
    return {
        "error": percent(data.y[test], model.predict(data.X[test])),
        "labelling_error": percent(data.y[train], model.transduction_),
        "imbalance": round(candidates.imbalance_factor, 4),
    }


def transductive(run: PaperRun) -> Figures:
    """Return the error of the labels found, where all instances have candidates."""
    data = _with_candidates(run)
    model = _model(run, data.y).set_params(classifier=None)
    labels = model.fit_predict(data.X, data.candidates)
    found = {
        "error": percent(data.y, labels),
        "imbalance": round(data.candidates.imbalance_factor, 4),
    }
    if not run.cell.ambiguity:  # one data set for all: single instances can be compared
        found["wrong"] = packed(labels != data.y)
        found["rare_error"] = percent(*_rare(data.y, labels))
        found["unresolved"] = int((model.label_distributions_ > 0).sum() - len(data.y))
    return found


def iterations(run: PaperRun) -> Figures:
    """Return the error of the labels found, and figures of the iterations."""
    data = _with_candidates(run)
    model = _model(run, data.y).set_params(classifier=None)
    labels = model.fit_predict(data.X, data.candidates)
    trace, soft = model.solution_.trace, model.label_distributions_
    several = data.candidates.sizes > 1
    found: Figures = {
        "error": percent(data.y, labels),
        "iterations": len(trace),
        "residual": trace.steps[-1].residual,
        "gap": trace.steps[-1].gap,
        "changed_at_end": trace.labels_changed,
        "support": round(float((soft[several] > 1e-6).sum(axis=1).mean()), 4),
        "confidence": round(float(soft[several].max(axis=1).mean()), 4),
        "status": model.solution_.status.name,
    }
    if not run.cell.ambiguity:
        found["wrong"] = packed(labels != data.y)
    if run.seed == 0:
        found["trace"] = {
            name: [float(f"{value:.3g}") for value in trace.column(name)]
            for name in ("residual", "gap", "changed")
        }
    return found


def photos(run: PaperRun) -> Figures:
    """Return the error on faces of unseen photos (80/20), which are predicted without captions."""
    data = news(run.cell.data, **run.cell.options)
    train, test = split_by_photo(data, run.seed)
    model = _model(run, data.y[train]).fit(data.X[train], data.candidates[train])
    predicted, null = model.predict(data.X[test]), data.candidates.null
    named = data.y[test] != null
    return {
        "error": percent(data.y[test], predicted),
        "named_error": percent(data.y[test][named], predicted[named]),
        "null_error": percent(data.y[test][~named], predicted[~named]),
        "labelling_error": percent(data.y[train], model.transduction_),
        "null_share": round(100 * float(np.mean(model.transduction_ == null)), 3),
        "true_null_share": round(100 * float(np.mean(data.y[train] == null)), 3),
        "classes": len(data.candidates.classes),
        "faces": len(train),
    }


def distribution(run: PaperRun) -> Figures:
    """Return the candidate confusion matrix, and class sizes as the candidates suggest them."""
    data = _with_candidates(run)
    candidates = data.candidates
    true = np.zeros((len(data.y), len(candidates.classes)), dtype=bool)
    true[np.arange(len(true)), [candidates.classes.tolist().index(name) for name in data.y]] = True
    return {
        "classes": [str(name) for name in candidates.classes],
        "counts": (true.T.astype(int) @ candidates.mask.astype(int)).tolist(),
        "soft": np.round(true.T.astype(float) @ candidates.priors, 2).tolist(),
        "true": true.sum(axis=0).tolist(),
        "estimated": np.round(candidates.priors.sum(axis=0), 2).tolist(),
        "imbalance": round(candidates.imbalance_factor, 4),
    }


def decomposition(run: PaperRun) -> Figures:
    """Return figures and pictures of the decomposition X = Z + E_X."""
    data = _with_candidates(run)
    model = _model(run, data.y).set_params(classifier=None).fit(data.X, data.candidates)
    Z, E = pictures.parts(model, data.X)
    return {
        "error": percent(data.y, model.transduction_),
        "rank": int(np.linalg.matrix_rank(Z, tol=1e-6 * np.linalg.norm(Z, 2))),
        "noise_share": round(float(np.linalg.norm(E) / np.linalg.norm(data.X)), 4),
        "within_X": round(within_share(data.X, data.y), 4),
        "within_Z": round(within_share(Z, data.y), 4),
        "pictures": pictures.stored(data.images, data.X, Z, E),
    }


PROTOCOLS: dict[str, Callable[[PaperRun], Figures]] = {
    "inductive": inductive,
    "transductive": transductive,
    "iterations": iterations,
    "photos": photos,
    "distribution": distribution,
    "decomposition": decomposition,
}


def percent(y: Any, labels: Any) -> float:
    """Return the error in percent."""
    return round(100 * labelling_error(y, labels), 3) if len(y) else 0.0


def packed(wrong: NDArray[np.bool_]) -> str:
    """Return which instances are wrong, one bit per instance, as hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> unpacked(packed(np.array([True, False, True])), 3)
    array([ True, False,  True])
    """
    return np.packbits(wrong).tobytes().hex()


def unpacked(text: str, count: int | None = None) -> NDArray[np.bool_]:
    """Return the bits of such text; a few False may follow unless the count is given."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=count).astype(bool)


def within_share(X: NDArray[np.floating], y: NDArray[Any]) -> float:
    """Return the part of the variance that is within classes."""
    total = ((X - X.mean(axis=0)) ** 2).sum()
    within = sum(((X[y == name] - X[y == name].mean(axis=0)) ** 2).sum() for name in np.unique(y))
    return float(within / total)


class TrueLabels:
    """A linear SVM trained on the true labels: the best that this classifier can do."""

    def __init__(self, y: NDArray[Any]) -> None:
        self.transduction_ = y
        self._svc = SVC(kernel="linear")

    def fit(self, X: NDArray[np.floating], candidates: Candidates) -> TrueLabels:
        """Train on the truth; the candidates are not used."""
        self._svc.fit(X, self.transduction_)
        return self

    def predict(self, X: NDArray[np.floating]) -> NDArray[Any]:
        """Return the classes of new instances."""
        return self._svc.predict(X)


def _model(run: PaperRun, y: NDArray[Any]) -> Any:
    if run.entry.method == REFERENCE:
        return TrueLabels(y)
    elsewhere = {} if run.device is None else {"device": run.device}
    return seeded(run.entry.make(run.cell.params | elsewhere), run.seed)


def _with_candidates(run: PaperRun) -> Bunch:
    """Return the data with its own candidates, or with those that the seed draws."""
    if not run.cell.ambiguity:
        return datasets.load(run.cell.data, **run.cell.options)
    data = Bunch(**_faces(run.cell.data, **run.cell.options))
    data.candidates = make_ambiguous(data.y, **run.cell.ambiguity, random_state=run.seed)
    return data


@lru_cache(maxsize=4)
def _faces(name: str, **options: Any) -> Bunch:
    """Return pictures with their true labels as the only candidates."""
    return datasets.load(name, **options, n_extra=0)


def _rare(y: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return truth and labels of the classes that are smaller than the median one."""
    names, size = np.unique(y, return_counts=True)
    rows = np.isin(y, names[size < np.median(size)])
    return y[rows], labels[rows]
