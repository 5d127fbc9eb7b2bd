"""Faces with captions, as the paper prepares Labeled Yahoo! News: rare names go to null."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import Bunch

from candidly import datasets
from candidly.candidates import Candidates

MENTIONS = 10
"""Names in fewer captions go to null; the paper has 20, with ten times as many photos."""


@lru_cache(maxsize=1)
def news(name: str, *, shrink: int = 1, **options: Any) -> Bunch:
    """Return a captioned collection with rare names in the null class.

    Parameters
    ----------
    name : str
        A data set with groups and a null class.
    shrink : int
        Side of the squares over which pixels are averaged.
    **options
        Options of the data set.
    """
    data = datasets.load(name, **options)
    X = data.X if shrink == 1 else _shrunk(data.images, shrink)
    return Bunch(X=X, **without_rare_names(data.candidates, data.y, MENTIONS))


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
    face, column = np.nonzero(candidates.mask)
    numbers = candidates.group_numbers
    assert numbers is not None
    listed = np.unique(np.stack([column, numbers[face]]), axis=1)[0]
    captions = np.bincount(listed, minlength=len(candidates.classes))
    keep = (captions >= least) | (np.arange(len(captions)) == candidates.null_column)
    kept = Candidates.from_mask(
        candidates.mask[:, keep],
        classes=candidates.classes[keep],
        null=candidates.null,
        groups=candidates.groups,
    )
    known = np.isin(y, candidates.classes[keep])
    return {"candidates": kept, "y": np.where(known, y, candidates.null)}


def split_by_photo(data: Bunch, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows, 80 and 20 in 100: whole photos, each person in that ratio."""
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # people with fewer than five faces
        train, test = next(folds.split(data.X, data.y, data.candidates.group_numbers))
    return train, test


def _shrunk(images: NDArray[Any], by: int) -> NDArray[np.float64]:
    """Return means over squares of pixels, equalised over [0, 1] as other pictures."""
    n, height, width = images.shape
    blocks = images[:, : height // by * by, : width // by * by].astype(float)
    small = blocks.reshape(n, height // by, by, width // by, by).mean(axis=(2, 4))
    return datasets.images.equalise(small).reshape(n, -1)
