"""Faces with captions, prepared as the paper does, and how far they meet its premise.

The paper assumes that somebody in a photo is named by its caption, and that names are in captions
often. Collections that stand in for Yahoo! News are cut down to photos of which that is true, and
``premise`` says how far it is. Rare names, and the faces of rare people, go to null.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import Bunch

from benchmarks.paper.gradient_histograms import gradient_histograms
from candidly import datasets
from candidly.candidates import Candidates

SIZES = {1: 0.6, 2: 0.25, 3: 0.15}
"""Faces in a composed photo: 1.55 on average, as in Labeled Yahoo! News."""
COMPONENTS = 200


@lru_cache(maxsize=2)
def news(name: str, *, mentions: int = 20, composed: bool = False, **options: Any) -> Bunch:
    """Return a captioned collection that meets the premise, with rare names in the null class.

    Parameters
    ----------
    name : str
        A data set with groups and a null class.
    mentions : int
        Names in fewer captions go to null; the paper has 20.
    composed : bool
        Put faces of different people together in photos, with simulated captions; features are
        principal components of gradient histograms, which stand for the paper's SIFT.
    **options
        Options of the data set.
    """
    data = composed_photos(name) if composed else datasets.load(name, **options)
    return Bunch(**meeting_premise(data.X, data.candidates, data.y, mentions))


def composed_photos(name: str, seed: int = 0) -> Bunch:
    """Return faces put together in photos at random, with simulated captions."""
    data = datasets.load(name, pixels=True, named=1.0, absent=0.0)
    people = np.asarray(data.y)
    photos = photos_of(people, np.random.default_rng(seed))
    captions = datasets.simulate_captions(people, photos, named=0.95, absent=0.5, random_state=seed)
    X = PCA(COMPONENTS, random_state=seed).fit_transform(gradient_histograms(data.images))
    return Bunch(X=X, candidates=captions.candidates, y=captions.y)


def photos_of(people: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a photo for every face: one to three different people in each, at random.

    Examples
    --------
    >>> import numpy as np
    >>> photos = photos_of(np.array(["ann", "bob"] * 50), np.random.default_rng(0))
    >>> int(np.bincount(photos).max())
    2
    """
    waiting = rng.permutation(len(people)).tolist()
    photo = np.zeros(len(people), dtype=np.intp)
    for k in range(len(people)):
        if not waiting:
            break
        size = rng.choice(list(SIZES), p=list(SIZES.values()))
        together: list[int] = []
        for face in waiting:
            if people[face] not in people[together]:
                together.append(face)
            if len(together) == size:
                break
        photo[together] = k
        waiting = [face for face in waiting if face not in together]
    return photo


def meeting_premise(
    X: NDArray[np.floating], candidates: Candidates, y: NDArray[Any], mentions: int
) -> dict[str, Any]:
    """Return faces of photos in which somebody is named, by names that are mentioned often.

    Leaving photos out takes mentions away, so that it is repeated until nothing changes.
    """
    while True:
        kept = without_rare_names(candidates, y, mentions)
        sets, labels = kept["candidates"], kept["y"]
        photo = sets.group_numbers
        assert photo is not None
        named = np.zeros(photo.max() + 1, dtype=bool)
        np.logical_or.at(named, photo, labels != sets.null)
        rows = np.flatnonzero(named[photo])
        if len(rows) == len(labels) and len(sets.classes) == len(candidates.classes):
            return {"X": X, "candidates": sets, "y": labels}
        X, candidates, y = X[rows], sets[rows], labels[rows]


def premise(data: Bunch) -> dict[str, float]:
    """Return how far a collection meets what the paper assumes.

    Examples
    --------
    >>> from candidly import Candidates
    >>> import numpy as np
    >>> photos = Candidates.from_sets([{"ann"}, {"ann"}], null="nobody", groups=[0, 0])
    >>> found = premise(Bunch(candidates=photos, y=np.array(["ann", "nobody"])))
    >>> found["null faces %"], found["photos with nobody named %"], found["fewest mentions"]
    (50.0, 0.0, 1)
    """
    candidates, null = data.candidates, data.candidates.null
    photo = candidates.group_numbers
    named = np.zeros(photo.max() + 1, dtype=bool)
    np.logical_or.at(named, photo, data.y != null)
    mentions = np.delete(_captions(candidates), candidates.null_column)
    return {
        "faces": len(data.y),
        "photos": len(named),
        "names": len(mentions),
        "null faces %": round(100 * float(np.mean(data.y == null)), 1),
        "photos with nobody named %": round(100 * float(1 - named.mean()), 1),
        "fewest mentions": int(mentions.min()),
        "most mentions": int(mentions.max()),
        "mean mentions": round(float(mentions.mean()), 1),
        "deviation of mentions": round(float(mentions.std()), 1),
    }


def without_rare_names(candidates: Candidates, y: NDArray[Any], least: int) -> dict[str, Any]:
    """Return candidates and truth in which every name is in at least ``least`` captions.

    Examples
    --------
    >>> from candidly import Candidates
    >>> import numpy as np
    >>> sets = [{"ann", "bob"}, {"ann"}]
    >>> photos = Candidates.from_sets(sets, null="nobody", groups=[0, 1])
    >>> kept = without_rare_names(photos, np.array(["bob", "ann"]), least=2)
    >>> kept["candidates"].sets() == [{"ann", "nobody"}] * 2, kept["y"].tolist()
    (True, ['nobody', 'ann'])
    """
    captions = _captions(candidates)
    keep = (captions >= least) | (np.arange(len(captions)) == candidates.null_column)
    kept = Candidates.from_mask(
        candidates.mask[:, keep],
        classes=candidates.classes[keep],
        null=candidates.null,
        groups=candidates.groups,
    )
    known = np.isin(y, candidates.classes[keep])
    return {"candidates": kept, "y": np.where(known, y, candidates.null)}


def _captions(candidates: Candidates) -> NDArray[np.intp]:
    """Return in how many captions each name is."""
    face, column = np.nonzero(candidates.mask)
    numbers = candidates.group_numbers
    assert numbers is not None
    listed = np.unique(np.stack([column, numbers[face]]), axis=1)[0]
    return np.bincount(listed, minlength=len(candidates.classes))


def split_by_photo(data: Bunch, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows, 80 and 20 in 100: whole photos, each person in that ratio."""
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # people with fewer than five faces
        train, test = next(folds.split(data.X, data.y, data.candidates.group_numbers))
    return train, test
