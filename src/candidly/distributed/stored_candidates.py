"""Candidates that are stored in a folder: written whole, and read as maps of files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candidly.base import read_candidates
from candidly.candidates.forms import as_names
from candidly.distributed.checksums import (
    CHECKSUMS,
    NAMES,
    SourceError,
    beside,
    checksum,
    files_of_source,
    not_written,
    path_of,
    refuse_changed,
    refuse_lost,
)
from candidly.distributed.file_maps import inodes_of, refuse_written
from candidly.distributed.known_again import AT_A_TIME
from candidly.distributed.npy_file import read_header
from candidly.distributed.sources import Columns, Source
from candidly.distributed.stored_features import Features, Rows, real_numbers
from candidly.heap import release
from candidly.solvers import CandidateSets

STORED = ("start", "classes", "priors", "groups", "partial", "weight")
"""Arrays of candidates in a folder, each in a .npy file."""
FILES = frozenset((NAMES, *(f"{name}.npy" for name in STORED)))
"""Files of candidates in a folder, which may have others."""
UNFINISHED = "unfinished"
"""File that is there while files of other candidates take their places."""
INTEGER, NUMBER, BOOLEAN = "iu", "iuf", "b"
"""Kinds of NumPy types that arrays of candidates may have."""


def store_candidates(
    candidates: Any,
    folder: str | Path,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Path:
    """Write candidates as files that a solve reads piece by piece, and return their folder.

    Parameters
    ----------
    candidates : Candidates, mask, list of sets, ...
        As ``fit`` takes them.
    folder : path
        Made if it is not there: ``start.npy`` and ``classes.npy``, as in
        :class:`candidly.solvers.CandidateSets`, ``names.json``, and ``priors.npy``,
        ``groups.npy``, ``partial.npy`` (whether rows of an instance's group were left out) and
        ``weight.npy`` where they say anything. Those of candidates stored there before are
        replaced, and who has mapped them still sees them; checksums, if there are any, are made
        again. A store that was interrupted leaves what was there before, or a folder that
        ``solve`` refuses until candidates are stored in it again.
    groups, sample_weight : (N,) arrays, optional
        As in ``fit``; weights are positive.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.distributed import store_candidates
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(file.name for file in store_candidates([{"a", "b"}, {"b"}], folder).iterdir())
    ['classes.npy', 'names.json', 'start.npy']
    """
    refuse_path(groups, "groups")
    refuse_path(sample_weight, "sample_weight")
    candidates = read_candidates(candidates)
    if groups is not None:
        candidates = candidates.with_groups(groups)
    N = len(candidates)
    weight = None if sample_weight is None else checked_weight(sample_weight, N)
    priors, partial = candidates.sparse_priors, candidates.in_partial_group
    equal = np.allclose(priors.data, CandidateSets.of_rows(priors).uniform(), rtol=1e-12)
    arrays = {
        "start": priors.indptr.astype(np.int64),
        "classes": priors.indices.astype(np.int32),
        "priors": None if equal else priors.data,
        "groups": candidates.group_numbers,
        "partial": partial if partial.any() else None,
        "weight": weight,
    }
    listed = {"names": candidates.classes.tolist(), "null": candidates.null_column}
    _refuse_names(listed["names"])
    if candidates.is_part and candidates.group_numbers is None:
        listed["part"] = True  # any group that it is given later may lack rows
    folder = path_of(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
    _replace_all(folder, arrays, json.dumps(listed))
    return folder


def _refuse_names(names: list[Any]) -> None:
    """Raise where a name of a class would be another one when it is read again."""
    again = json.loads(json.dumps(names, default=repr))
    for name, other in zip(names, again, strict=True):
        if name != other:
            raise SourceError(
                f"the class {name!r} cannot be stored in {NAMES}; name classes by texts or numbers"
            )


def _replace_all(folder: Path, arrays: dict[str, NDArray[Any] | None], names: str) -> None:
    """Write all files before any takes its place; say in a file that they are about to."""
    writes: dict[Path, Callable[[IO[bytes]], object]] = {
        folder / f"{name}.npy": partial(_save, values)
        for name, values in arrays.items()
        if values is not None
    }
    writes[folder / NAMES] = lambda file: file.write(names.encode())
    gone = [folder / f"{name}.npy" for name, values in arrays.items() if values is None]
    listed = folder / CHECKSUMS
    # Made before others are replaced: afterwards a full disk might have no room for it.
    if listed.exists():
        writes[listed] = lambda file: file.write(_checksums(folder, [*writes], gone))
    try:
        for path, write in writes.items():
            _write(path, beside(path), write)
        _write(folder / UNFINISHED, folder / UNFINISHED, lambda _: None)
        for path in gone:  # of candidates stored there before
            path.unlink(missing_ok=True)
        for path in writes:
            beside(path).replace(path)
        (folder / UNFINISHED).unlink()
    finally:
        for path in (*writes, *gone, listed):  # also those that a store before left
            beside(path).unlink(missing_ok=True)


def _save(values: NDArray[Any], file: IO[bytes]) -> None:
    """Write an array by Python: NumPy alone does not notice where its last bytes find no room."""
    np.save(SimpleNamespace(write=file.write), values, allow_pickle=False)


def _write(path: Path, place: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file at a place, or raise with what it is for."""
    try:
        with place.open("wb") as file:
            write(file)
    except OSError as error:
        raise not_written(path, error) from error


def _checksums(folder: Path, written: list[Path], gone: list[Path]) -> bytes:
    """Return the checksums of files in a folder once those written have taken their places."""
    there = {*files_of_source(folder), *written} - {*gone, folder / CHECKSUMS}
    found = {p.name: checksum(beside(p) if p in written else p) for p in sorted(there)}
    return json.dumps(found).encode()


def read_stored(features: Features, folder: Path) -> Source:
    """Return the source of candidates in files, which are mapped rather than read."""
    if not folder.is_dir():
        raise SourceError(
            f"there is no folder {folder} with candidates; store_candidates makes one"
        )
    if (folder / UNFINISHED).exists():
        raise SourceError(
            f"store_candidates was interrupted in {folder}, which has files of two; store the "
            "candidates there again"
        )
    refuse_lost(folder, "file", FILES.__contains__)
    start, classes = _mapped(folder, "start", INTEGER), _mapped(folder, "classes", INTEGER)
    names, null, is_part = None, None, False
    if (folder / NAMES).exists():
        names, null, is_part = _read_names(folder / NAMES)
    n_classes = int(classes.max(initial=0)) + 1 if names is None else len(names)
    if not len(start) or int(start[0]) != 0 or int(start[-1]) != len(classes):
        raise SourceError(
            f"{folder / 'start.npy'} has to begin with 0 and to end with the number of entries in "
            f"classes.npy, {len(classes)}"
        )
    _refuse_falls(start, folder / "start.npy")
    known = np.arange(n_classes) if names is None else as_names(names)

    def optional(name: str, kinds: str, count: int, of: str) -> Any:
        if not (folder / f"{name}.npy").exists():
            return None
        values = _mapped(folder, name, kinds)
        if len(values) != count:
            raise SourceError(f"{folder / name}.npy has {len(values)} values for {count} {of}")
        return values

    N = len(start) - 1
    priors = optional("priors", NUMBER, len(classes), "entries")
    groups = optional("groups", INTEGER, N, "instances")
    weight = optional("weight", NUMBER, N, "instances")
    partial = optional("partial", BOOLEAN, N, "instances")
    if weight is not None:
        _refuse_weight(np.asarray(weight), f"each weight in {folder / 'weight.npy'}")
    if partial is not None and groups is None:
        raise SourceError(
            f"{folder} has partial.npy, and lacks groups.npy, of which it says which lack rows; "
            "copy the files again, or store the candidates there again"
        )
    given = (start, classes, n_classes, known, priors, groups, weight, null)
    return StoredSource(features, *given, partial=partial, is_part=is_part)


@dataclass
class StoredSource(Source):
    """A source of candidates in files, which may be replaced but not written to while it is read.

    Parameters
    ----------
    files : dict, optional
        What each file was when it was mapped.
    """

    files: dict[Path, tuple[int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        of_entries, of_instances = (self.classes, self.priors), (self.groups, self.weight)
        self.files = inodes_of(self.start, *of_entries, *of_instances, self.partial)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__post_init__()  # inodes are of a machine

    def columns(self, rows: Rows) -> Columns:
        """Return some instances, with candidates that were read before this looks at their files.

        Views of maps would be read later on.
        """
        found = super().columns(rows)
        sets = found.sets
        if self.classes.dtype == sets.classes.dtype:
            found.sets = CandidateSets(sets.start, np.array(sets.classes), sets.n_classes)
        for name in ("priors", "groups", "weight", "partial"):
            if (values := getattr(found, name)) is not None:
                setattr(found, name, np.array(values))
        refuse_written(self.files)
        return found


def _refuse_falls(start: NDArray[Any], path: Path) -> None:
    """Raise where the entries of an instance end before they begin."""
    for at in range(0, len(start), AT_A_TIME // 8):
        piece = start[at : at + AT_A_TIME // 8 + 1]
        if (falls := piece[1:] < piece[:-1]).any():
            raise SourceError(
                f"{path} falls at instance {at + int(falls.argmax())}, whose entries end before "
                "they begin; write it again"
            )
    release(start)


def _mapped(folder: Path, name: str, kinds: str) -> Any:
    """Return a map of an array of candidates, which has to be of some kinds of types."""
    path = folder / f"{name}.npy"
    refuse_changed(path)
    try:
        with path.open("rb") as file:
            read_header(file)  # NumPy would read files of other kinds, too
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    if found.ndim != 1 or found.dtype.kind not in kinds:
        asked = {INTEGER: "whole numbers", NUMBER: "numbers", BOOLEAN: "true or false"}[kinds]
        raise SourceError(
            f"{path} has the shape {found.shape} and the type {found.dtype}; it has to be a "
            f"vector of {asked}"
        )
    return found


def _read_names(path: Path) -> tuple[list[Any], int | None, bool]:
    """Return the names of classes, which of them is null, and whether rows were left out."""
    refuse_changed(path)
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        names, null = listed["names"], listed.get("null")
        known = isinstance(names, list) and len(set(names)) == len(names)
        if known and (null is None or (type(null) is int and 0 <= null < len(names))):
            return names, null, bool(listed.get("part", False))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path} cannot be read as names of classes: {error!r}") from error
    raise SourceError(
        f'{path} has to list "names", each once, and as "null" the number of one or null'
    )


def checked_weight(given: ArrayLike, N: int) -> NDArray[np.float64]:
    """Return weights of instances, or raise where there are not as many, or one is not positive."""
    weight = real_numbers(given, "sample_weight").astype(np.float64)
    if weight.ndim == 0:
        weight = np.full(N, weight)
    if weight.shape != (N,):
        raise SourceError(f"sample_weight has {size_of(weight)} for {N} instances")
    _refuse_weight(weight, "sample_weight")
    return weight


def _refuse_weight(weight: NDArray[Any], called: str) -> None:
    """Raise where a weight is not positive, or not finite."""
    odd = np.flatnonzero(~((weight > 0) & (weight < np.inf)))
    if len(odd):
        raise SourceError(
            f"{called} is positive, got {weight[odd[0]]} for instance {odd[0]}; leave instances of "
            "weight 0 out instead"
        )


def refuse_path(given: Any, name: str) -> None:
    """Raise where values of instances are given by a text, which may be a path."""
    if isinstance(given, (str, bytes, Path)):
        raise SourceError(
            f"{name} is an array, and not {given!r}: no path is taken here; load it by numpy.load, "
            f"or have store_candidates(..., {name}=...) store it with the candidates"
        )


def size_of(values: NDArray[Any]) -> str:
    """Return how many values there are, for messages."""
    return f"{len(values)} values" if values.ndim == 1 else f"the shape {values.shape}"
