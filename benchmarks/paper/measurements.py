"""How one run is measured: each protocol takes a run and returns figures."""

from __future__ import annotations

import base64
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.utils import Bunch

from benchmarks.paper import decomposition_pictures as pictures
from benchmarks.paper import eliminations, gradient_histograms, made_up_candidates, second_stages
from benchmarks.paper import news as captioned
from benchmarks.paper import propositions as checked_propositions
from benchmarks.paper.declaration import REFERENCE, PaperRun
from benchmarks.paper.eliminations import rounds_of, spreading
from benchmarks.paper.made_up_candidates import ambiguous, shifted
from benchmarks.paper.news import news, premise, split_by_photo
from benchmarks.paper.propositions import expansion, low_rank
from benchmarks.paper.second_stages import CommonMachine
from candidly import datasets
from candidly.candidates import Candidates
from candidly.comparison.workers import seeded
from candidly.metrics import labelling_error

Figures = dict[str, Any]
Rows = NDArray[np.intp]


def measure(run: PaperRun) -> Figures:
    """Carry out a run by its protocol, and return its figures and its time."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # figures record it
        warnings.simplefilter("ignore", RuntimeWarning)
        found = PROTOCOLS[run.experiment.protocol](run)
    return {**found, "seconds": round(time.process_time() - started, 3)}


def halves(run: PaperRun) -> Figures:
    """Return errors of the labels found for one half, and on the other half by two machines."""
    data = _faces(run.cell.data, **run.cell.options)
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y, random_state=run.seed)
    candidates = ambiguous(data.y[train], run.cell.ambiguity, run.seed)
    model = _model(run, data.y[train]).fit(data.X[train], candidates)
    return {
        **_two_stages(run, model, data, train, test, candidates.classes),
        "imbalance": round(candidates.imbalance_factor, 4),
    }


def kept_back(run: PaperRun) -> Figures:
    """Return what ``halves`` does, where the option ``train`` says what is not kept back.

    A number is of the first faces of each person, a fraction of all faces, drawn with the seed.
    """
    data, train, test, candidates = _in_two(run, run.cell.options)
    model = _model(run, data.y[train]).fit(data.X[train], candidates)
    return {
        **_two_stages(run, model, data, train, test, candidates.classes),
        "imbalance": round(candidates.imbalance_factor, 4),
    }


def elimination_kept_back(run: PaperRun) -> Figures:
    """Return what ``elimination`` does, and the test error that the labels of every round give."""
    given, rest = _how_eliminated(run)
    data, train, test, candidates = _in_two(run, rest)
    errors: list[float] = []
    known: dict[bytes, float] = {}  # late rounds often change no label

    def watch(labels: NDArray[Any]) -> None:
        found = packed_labels(labels, candidates.classes).encode()
        if found not in known:
            machine = CommonMachine.trained(data.X[train], labels, run.seed)
            known[found] = percent(data.y[test], machine.predict(data.X[test]))
        errors.append(known[found])

    learnt = Bunch(X=data.X[train], y=data.y[train], candidates=candidates)
    figures = rounds_of(_model(run, learnt.y), learnt, **given, watch=watch)
    return {
        **figures,
        "error": errors[-1],
        "labelling_error": figures["error"],
        "common_error": errors[-1],
        "test_by_round": errors,
    }


def _in_two(run: PaperRun, options: dict[str, Any]) -> tuple[Bunch, Rows, Rows, Candidates]:
    """Return data, rows to learn from, rows kept back, and candidates of the former."""
    options = dict(options)
    part = options.pop("train")
    if run.cell.ambiguity:
        data = _faces(run.cell.data, **options)
    else:
        data = _with_candidates(replace(run, cell=replace(run.cell, options=options)))
    train, test = parted(data.y, part, run.seed)
    if run.cell.ambiguity:
        return data, train, test, ambiguous(data.y[train], run.cell.ambiguity, run.seed)
    return data, train, test, data.candidates[train]


def parted(y: NDArray[Any], part: float, seed: int) -> tuple[Rows, Rows]:
    """Return rows to learn from and rows kept back: the first so many of a class, or a fraction.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = parted(np.array(["a", "a", "a", "b", "b"]), 2, seed=0)
    >>> train.tolist(), test.tolist()
    ([0, 1, 3, 4], [2])
    """
    rows = np.arange(len(y))
    if isinstance(part, float):
        train, test = train_test_split(rows, train_size=part, stratify=y, random_state=seed)
        return train, test
    first = np.concatenate([np.flatnonzero(y == name)[:part] for name in np.unique(y)])
    return np.sort(first), np.setdiff1d(rows, first)


def _two_stages(
    run: PaperRun, model: Any, data: Bunch, train: Rows, test: Rows, classes: NDArray[Any]
) -> Figures:
    """Return labels, their error, and test errors with the published and the common machine."""
    labels = model.transduction_
    machine = CommonMachine.trained(data.X[train], labels, run.seed)
    return {
        "error": percent(data.y[test], model.predict(data.X[test])),
        "labelling_error": percent(data.y[train], labels),
        "common_error": percent(data.y[test], machine.predict(data.X[test])),
        "common_C": machine.C,
        "labels": packed_labels(labels, classes),
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
        found["sizes_off"] = sizes_off(model.label_distributions_, data)
    return found


def sizes_off(soft: NDArray[np.floating], data: Bunch) -> float:
    """Return the part of the mass, in percent, that class sizes by soft labels have elsewhere."""
    true = np.array([np.sum(data.y == name) for name in data.candidates.classes])
    estimated = np.asarray(soft.sum(axis=0)).ravel()
    return round(100 * float(np.abs(estimated - true).sum() / 2 / true.sum()), 3)


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
    candidates, null = data.candidates, data.candidates.null
    model = _model(run, data.y[train]).fit(data.X[train], candidates[train])
    found = _two_stages(run, model, data, train, test, candidates.classes)
    return {
        **found,
        "null_share": round(100 * float(np.mean(model.transduction_ == null)), 3),
        "true_null_share": round(100 * float(np.mean(data.y[train] == null)), 3),
        "sizes_off": (
            0.0
            if run.entry.method == REFERENCE
            else sizes_off(model.label_distributions_, _part(data, train))
        ),
        **(premise(data) if run.seed == 0 and run.entry.method == REFERENCE else {}),
    }


def _part(data: Bunch, rows: Rows) -> Bunch:
    return Bunch(y=data.y[rows], candidates=data.candidates[rows])


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


def elimination(run: PaperRun) -> Figures:
    """Return what each round of elimination did: errors, labels removed, true ones among them."""
    given, rest = _how_eliminated(run)
    data = _with_candidates(replace(run, cell=replace(run.cell, options=rest)))
    return rounds_of(_model(run, data.y), data, **given)


def _how_eliminated(run: PaperRun) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return options of the elimination, and the others."""
    rest = dict(run.cell.options)
    names = ("fraction", "max_rounds", "update")
    given: dict[str, Any] = {name: rest.pop(name) for name in names if name in rest}
    return given, rest


def removal(run: PaperRun) -> Figures:
    """Return what becomes of other faces when some lose their true label."""
    data = _with_candidates(run)
    return spreading(_model(run, data.y), data, run.seed)


def propositions(run: PaperRun) -> Figures:
    """Return ranks and expansions of made-up problems."""
    return {"error": 0.0, **low_rank(run.seed), **expansion(run.seed)}


PROTOCOLS: dict[str, Callable[[PaperRun], Figures]] = {
    "elimination": elimination,
    "elimination-kept-back": elimination_kept_back,
    "removal": removal,
    "propositions": propositions,
    "halves": halves,
    "kept-back": kept_back,
    "transductive": transductive,
    "iterations": iterations,
    "photos": photos,
    "distribution": distribution,
    "decomposition": decomposition,
}


MEASURED_BY: dict[str, tuple[Any, ...]] = {
    "halves": (halves, _two_stages, second_stages, made_up_candidates),
    "kept-back": (kept_back, _in_two, parted, _two_stages, second_stages, made_up_candidates),
    "transductive": (transductive, sizes_off, made_up_candidates),
    "iterations": (iterations, made_up_candidates),
    "photos": (photos, _two_stages, second_stages, captioned, gradient_histograms),
    "distribution": (distribution,),
    "decomposition": (decomposition, pictures, made_up_candidates),
    "elimination": (elimination, _how_eliminated, eliminations, made_up_candidates),
    "elimination-kept-back": (
        *(elimination_kept_back, _how_eliminated, _in_two, parted),
        *(eliminations, second_stages, made_up_candidates),
    ),
    "removal": (removal, eliminations, made_up_candidates),
    "propositions": (checked_propositions,),
}
"""Functions and modules that measure a run, by protocol: their change makes it out of date."""


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


def packed_labels(labels: NDArray[Any], classes: NDArray[Any]) -> str:
    """Return labels as numbers of classes, compressed, as text.

    Examples
    --------
    >>> import numpy as np
    >>> classes = np.array(["ann", "bob"])
    >>> unpacked_labels(packed_labels(np.array(["bob", "ann"]), classes), classes).tolist()
    ['bob', 'ann']
    """
    order = np.argsort(classes)
    numbers = order[np.searchsorted(classes[order], labels)].astype("<u2")
    return base64.b85encode(zlib.compress(numbers.tobytes(), 9)).decode()


def unpacked_labels(text: str, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that such text stands for."""
    numbers = np.frombuffer(zlib.decompress(base64.b85decode(text)), "<u2")
    return classes[numbers]


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
        options = dict(run.cell.options)
        unit = options.pop("unit", 1.0)
        data = datasets.load(run.cell.data, **options)
        data.X = data.X / unit
        return data
    data = Bunch(**_faces(run.cell.data, **run.cell.options))
    data.candidates = ambiguous(data.y, run.cell.ambiguity, run.seed)
    return data


@lru_cache(maxsize=4)
def _faces(name: str, *, shift: int = 0, **options: Any) -> Bunch:
    """Return pictures with their true labels as the only candidates, shifted if asked for."""
    data = datasets.load(name, **options, n_extra=0)
    if shift:
        data.images = shifted(data.images, shift)
        data.X = datasets.images.equalise(data.images).reshape(len(data.y), -1)
    return data


def _rare(y: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return truth and labels of the classes that are smaller than the median one."""
    names, size = np.unique(y, return_counts=True)
    rows = np.isin(y, names[size < np.median(size)])
    return y[rows], labels[rows]
