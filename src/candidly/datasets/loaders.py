"""Loaders of data sets by name; each returns features, candidates, truth and groups."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from candidly.candidates import Candidates, make_ambiguous
from candidly.datasets.caption_simulation import NOBODY, simulate_captions
from candidly.datasets.file_formats import as_bunch, read
from candidly.datasets.images import equalise
from candidly.datasets.store import SOURCES, locate
from candidly.datasets.text_like import make_text_like


def load(name: str, **options: Any) -> Bunch:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        "digits" (it comes with scikit-learn), "text-like" (made up), "lost", "msrcv2",
        "birdsong", "yahoo-news", "soccer", "pie", "fiw10b", "orl", "lfw-news" or "newsroom";
        these are read from the folder that ``CANDIDLY_DATA`` names, or the user's cache, and
        checked by SHA-256, except "yahoo-news" and "soccer": their files, ``Yahoo! News.mat`` and
        ``Soccer Player.mat`` in the subfolder ``pll``, are checked by their layout alone.
    **options
        For "digits", "pie", "fiw10b" and "orl", whose candidates are synthetic: ``people``
        and ``each`` (number of classes, and of instances per class; by default all),
        ``n_extra``, ``ambiguous_fraction``, ``cooccurrence`` and ``random_state``, as in
        :func:`candidly.make_ambiguous`. For "text-like": as in :func:`make_text_like`, with
        ``random_state`` 0 by default. For "lfw-news": ``pixels`` (grey crops instead of
        embeddings), ``random_state``, ``named`` and ``absent``, as in :func:`simulate_captions`.

    Returns
    -------
    Bunch
        ``X`` (N x m), ``candidates``, ``y`` (true labels, in the terms of
        ``transduction_``), ``classes``, ``groups`` (or None), ``citation``, ``terms``, and
        ``images`` where the features are grey values.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=2, random_state=0)
    >>> digits.X.shape, digits.candidates
    ((200, 64), Candidates(200 instances, 10 classes, 3.00 candidates each))
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(_LOADERS)}")
    known = set(inspect.signature(_LOADERS[name]).parameters)
    wrong = [option for option in options if option not in known]
    if wrong:
        taken = f"takes {', '.join(sorted(known))}" if known else "takes no options"
        raise TypeError(f"the data set {name!r} {taken}, not {wrong[0]!r}")
    data = _LOADERS[name](**options)
    data.citation, data.terms = SOURCES[name].citation, SOURCES[name].terms
    return data


def names() -> list[str]:
    """Return the names of all data sets.

    Examples
    --------
    >>> import candidly
    >>> "digits" in candidly.datasets.names()
    True
    """
    return list(_LOADERS)


def _digits_source() -> tuple[NDArray[Any] | None, NDArray[Any], NDArray[Any]]:
    digits = load_digits()
    return digits.data / 16, digits.target, digits.images


def _faces(name: str) -> Callable[..., Bunch]:
    def source() -> tuple[NDArray[Any] | None, NDArray[Any], NDArray[Any]]:
        with np.load(locate(name)) as stored:
            images, labels = stored["images"], stored["labels"]
            y = stored["names"][labels] if "names" in stored else labels.astype(int)
        return None, y, images

    return _synthetic(source)


def _synthetic(
    source: Callable[[], tuple[NDArray[Any] | None, NDArray[Any], NDArray[Any]]],
) -> Callable[..., Bunch]:
    """Return a loader that adds synthetic candidates to labelled images."""

    def load_part(
        *,
        people: int | None = None,
        each: int | None = None,
        n_extra: int = 3,
        ambiguous_fraction: float = 1.0,
        cooccurrence: float | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> Bunch:
        """Load the first ``each`` instances of the first ``people`` classes."""
        X, y, images = source()
        for what, count, most in (
            ("people", people, len(np.unique(y))),
            ("each", each, int(np.unique(y, return_counts=True)[1].max())),
        ):
            if count is not None and (not isinstance(count, Integral) or not 1 <= count <= most):
                raise ValueError(f"{what} is a whole number from 1 to {most}, got {count!r}")
        classes = np.unique(y)[:people]
        rows = np.concatenate([np.flatnonzero(y == name)[:each] for name in classes])
        candidates = make_ambiguous(
            y[rows],
            ambiguous_fraction=ambiguous_fraction,
            n_extra=n_extra,
            cooccurrence=cooccurrence,
            random_state=random_state,
        )
        features = equalise(images[rows]).reshape(len(rows), -1) if X is None else X[rows]
        return as_bunch(features, candidates, y[rows], images=images[rows])

    return load_part


def _mat(name: str) -> Callable[..., Bunch]:
    def load_mat() -> Bunch:
        return read(locate(name))

    return load_mat


def _lfw_news(
    *,
    pixels: bool = False,
    random_state: int | np.random.Generator | None = 0,
    named: float = 0.8,
    absent: float = 0.5,
) -> Bunch:
    """Load LFW faces in their news photos, with simulated captions."""
    file = "lfw_news/pixels64.npz" if pixels else "lfw_news/sface128.npz"
    with np.load(locate("lfw-news", file)) as stored:
        features = stored["images"] if pixels else stored["X"]
        news = simulate_captions(
            stored["name"], stored["photo"], named=named, absent=absent, random_state=random_state
        )
    if not pixels:
        return as_bunch(features.astype(float), news.candidates, news.y)
    X = equalise(features).reshape(len(features), -1)
    return as_bunch(X, news.candidates, news.y, images=features)


def _newsroom() -> Bunch:
    """Load every face with the names that its caption mentions and the null class."""
    photos = json.loads(locate("newsroom").read_text())
    with np.load(locate("newsroom", "newsroom/embeddings.npz")) as stored:
        X = stored["X"].astype(float)
    faces = [(photo, face) for photo in photos for face in photo["faces"]]
    candidates = Candidates.from_sets(
        [[*photo["mentioned"], NOBODY] for photo, _ in faces],
        null=NOBODY,
        groups=[photo["file"] for photo, _ in faces],
    )
    return as_bunch(X, candidates, np.array([face["name"] or NOBODY for _, face in faces]))


_LOADERS: dict[str, Callable[..., Bunch]] = {
    "digits": _synthetic(_digits_source),
    "text-like": partial(make_text_like, random_state=0),
    "lost": _mat("lost"),
    "msrcv2": _mat("msrcv2"),
    "birdsong": _mat("birdsong"),
    "yahoo-news": _mat("yahoo-news"),
    "soccer": _mat("soccer"),
    "pie": _faces("pie"),
    "fiw10b": _faces("fiw10b"),
    "orl": _faces("orl"),
    "lfw-news": _lfw_news,
    "newsroom": _newsroom,
}
