"""What a user gives to be solved, arrays or where they are stored, as a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candidly.base import read_candidates
from candidly.candidates import Candidates
from candidly.candidates.forms import is_missing, number
from candidly.distributed.checksums import SourceError, path_of
from candidly.distributed.sources import Source
from candidly.distributed.stored_candidates import (
    checked_weight,
    read_stored,
    refuse_path,
    size_of,
)
from candidly.distributed.stored_features import Features


def read_source(
    source: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Source:
    """Return the source of ``(features, candidates)``, each an array or where it is stored."""
    if not isinstance(source, Sequence) or isinstance(source, (str, bytes)) or len(source) != 2:
        raise SourceError(
            "source is a pair (features, candidates): arrays, or paths to a .npy file or a folder "
            "of parts, and to the folder that store_candidates wrote"
        )
    refuse_path(groups, "groups")
    refuse_path(sample_weight, "sample_weight")
    features = Features.of(source[0])
    stored = source[1]
    if isinstance(stored, (str, Path)):
        found = read_stored(features, path_of(stored))
    else:
        found = _of_candidates(features, read_candidates(stored))
    if groups is not None:
        if found.groups is not None:
            raise SourceError("the candidates have groups already; give groups once")
        found.groups = _numbered(groups, len(found))
        found.partial = np.ones(len(found), dtype=bool) if found.is_part else None
    if sample_weight is not None:
        if found.weight is not None:
            raise SourceError("the candidates have weights already; give sample_weight once")
        found.weight = checked_weight(sample_weight, len(found))
    if len(features) != len(found):
        lost = features.place() and len(features) < len(found)
        raise SourceError(
            f"there are {len(features)} rows of features{features.place()} and {len(found)} "
            f"candidate sets; {'is one missing?' if lost else 'give one set per row'}"
        )
    if not len(found):
        raise SourceError("there are no instances; give one or more")
    return found


def _numbered(groups: ArrayLike, N: int) -> NDArray[np.integer]:
    """Return groups as numbers from 0, or raise where an instance has none."""
    values = np.asarray(groups)
    if values.shape != (N,):
        raise SourceError(f"groups has {size_of(values)} for {N} instances")
    if values.dtype.kind not in "iub":
        for row, group in enumerate(groups):  # type: ignore[arg-type]  # text would hold "nan"
            if is_missing(group):
                raise SourceError(
                    f"row {row} has no group but {group!r}; give an instance that is alone a group "
                    "of its own"
                )
    if values.dtype == object:  # which may have no order
        return number(values)
    return np.asarray(np.unique(values, return_inverse=True)[1].ravel())


def _of_candidates(features: Features, candidates: Candidates) -> Source:
    priors = candidates.sparse_priors
    partial = candidates.in_partial_group
    return Source(
        features,
        priors.indptr.astype(np.int64),
        priors.indices.astype(np.int32),
        candidates.shape[1],
        candidates.classes,
        priors.data,
        candidates.group_numbers,
        null=candidates.null_column,
        partial=partial if partial.any() else None,
        is_part=candidates.is_part,
    )
