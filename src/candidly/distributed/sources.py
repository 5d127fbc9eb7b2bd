"""What is solved: features and candidates, in memory or on disk, in shards of whole groups."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candidly.base import read_candidates, warn_of_partial
from candidly.candidates import Candidates
from candidly.candidates.forms import as_names, is_missing
from candidly.distributed.checksums import (
    CHECKSUMS,
    NAMES,
    SourceError,
    beside,
    listed_checksums,
    refuse_changed,
    refuse_lost,
    store_checksums,
)
from candidly.distributed.file_maps import as_array, as_file
from candidly.distributed.npy_file import read_header
from candidly.distributed.stored_features import Features, Rows, real_numbers
from candidly.heap import release
from candidly.solvers import AtLeastOneNamed, AtMostOnce, CandidateSets, Constraint

STORED = ("start", "classes", "priors", "groups", "partial", "weight")
"""Arrays of candidates in a folder, each in a .npy file."""
FILES = frozenset((NAMES, *(f"{name}.npy" for name in STORED)))
"""Files of candidates in a folder, which may have others."""
UNFINISHED = "unfinished"
"""File that is there while files of other candidates take their places."""
INTEGER, NUMBER, BOOLEAN = "iu", "iuf", "b"
"""Kinds of NumPy types that arrays of candidates may have."""
ENTRYWISE = frozenset(("prior", "shown", "begin"))
"""Further values that are of entries, rather than of instances."""
WHOLE = 64_000_000
"""Bytes up to which a file is known again by all that it has, rather than by pieces of it."""
PRIORS_OFF = 1e-6
"""How far from 1 the priors of an instance may add up."""
PIECES = 1024
"""Pieces of a larger file, evenly spaced, by which it is known again with when it was changed."""
AT_A_TIME = 1 << 22
"""Bytes of an array that are looked at together."""


@dataclass
class Source:
    """Features and candidates of all instances; arrays may be maps of files.

    Parameters
    ----------
    features : Features
    start, classes : arrays of int
        Candidates as in :class:`candidly.solvers.CandidateSets`.
    n_classes : int
    names : array
        Name of each class.
    priors : (E,) array, optional
        Soft labels to start from; by default all candidates of an instance are equal.
    groups : (N,) array of int, optional
    weight : (N,) array, optional
        Positive.
    null : int, optional
        The null class.
    more : dict of str to array
        Further values of instances, or of entries (``ENTRYWISE``).
    empty : bool
        Whether instances may be without candidates.
    partial : (N,) array of bool, optional
        Whether rows of the group of an instance are, or may be, missing.
    is_part : bool
        Whether rows were left out before there were groups: then any group may lack some.
    """

    features: Features
    start: NDArray[Any]
    classes: NDArray[Any]
    n_classes: int
    names: NDArray[Any]
    priors: NDArray[np.floating] | None = None
    groups: NDArray[np.integer] | None = None
    weight: NDArray[np.floating] | None = None
    null: int | None = None
    more: dict[str, NDArray[Any]] = field(default_factory=dict)
    empty: bool = False
    partial: NDArray[np.bool_] | None = None
    is_part: bool = False

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes get: of files only their places, from any folder."""
        features = copy(self.features)
        features.parts = [p.absolute() if isinstance(p, Path) else p for p in features.parts]
        state = {name: as_file(values) for name, values in vars(self).items()}
        return {**state, "features": features}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: as_array(values) for name, values in state.items()})

    def columns(self, rows: Rows) -> Columns:
        """Return some instances; their features are read when they are first asked for."""
        some = rows
        if isinstance(rows, slice):
            first, last = int(self.start[rows.start]), int(self.start[rows.stop])
            start = np.asarray(self.start[rows.start : rows.stop + 1], dtype=np.intp) - first
            at: Any = slice(first, last)
        else:
            sizes = np.asarray(self.start[rows + 1] - self.start[rows], dtype=np.intp)
            start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
            at = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], sizes)
        classes = np.asarray(self.classes[at], dtype=np.intp)
        sets = CandidateSets(start, classes, self.n_classes)
        priors = None if self.priors is None else np.asarray(self.priors[at], dtype=float)
        groups = None if self.groups is None else np.asarray(self.groups[some])
        weight = None if self.weight is None else np.asarray(self.weight[some], dtype=float)
        more = {name: self._part(name, at, some) for name in self.more}
        known = (sets, priors, groups, weight, self.null, at, more)
        partial = None if self.partial is None else np.asarray(self.partial[some])
        return Columns(self.features, rows, *known, partial=partial)

    def _part(self, name: str, at: Any, some: Rows) -> NDArray[Any]:
        """Return further values of some entries or instances."""
        by_entry, values = name in ENTRYWISE, self.more[name]
        return np.asarray(values[at if by_entry else some])

    def release(self) -> None:
        """Let the system take back the pages of files that are mapped."""
        arrays = (self.start, self.classes, self.priors, self.groups, self.weight, self.partial)
        release(*arrays, *self.more.values())

    def warn_of_partial(self, at_least_one: bool) -> None:
        """Warn of groups that are here in part, as ``fit`` does, if they would need a name."""
        if not at_least_one or self.null is None or self.groups is None or self.partial is None:
            return
        rows = np.flatnonzero(self.partial)
        if len(rows):
            count = len(np.unique(np.asarray(self.groups)[rows]))
            warn_of_partial(count, f"that of row {rows[0]}")

    def bytes_per_row(self) -> float:
        """Return about how much memory an instance takes while its shard is worked on."""
        entries = float(self.start[-1]) / max(len(self), 1)
        return self.features.shape[1] * self.features.dtype.itemsize + 64 + 96 * entries

    def cut(self, most: int) -> list[Rows]:
        """Return rows of shards with at most so many instances, groups kept whole."""
        N = len(self)
        if self.groups is None:
            ends = list(range(0, N, most))
            return [slice(a, min(a + most, N)) for a in ends]
        groups = np.asarray(self.groups)
        order: NDArray[np.intp] | None = None
        # Compared, since differences of small or unsigned numbers go round.
        if (groups[1:] < groups[:-1]).any():  # groups in the order in which they appear
            _, first, which = np.unique(groups, return_index=True, return_inverse=True)
            rank = first[which]
            if (rank[1:] < rank[:-1]).any():
                order = np.argsort(rank, kind="stable")
                rank = rank[order]
        else:
            rank = groups
        begins = np.concatenate([[0], np.flatnonzero(rank[1:] != rank[:-1]) + 1, [N]])
        found: list[Rows] = []
        start = 0
        while start < N:
            at = int(np.searchsorted(begins, start + most, side="right")) - 1
            stop = int(begins[at])
            if stop <= start:  # one group is larger than that
                stop = int(begins[np.searchsorted(begins, start, side="right")])
            found.append(slice(start, stop) if order is None else np.sort(order[start:stop]))
            start = stop
        return found

    def fingerprint(self) -> str:
        """Return what tells this source from another: shapes, and the bytes or a sample of them."""
        found = zlib.crc32(repr((self.features.shape, self.n_classes, self.null)).encode())
        arrays = (self.start, self.classes, self.priors, self.groups, self.weight)
        for values in (*self.features.parts, *arrays):
            found = _checksum(values, found)
        if self.partial is not None:
            found = _checksum(self.partial, found)
        return f"{found:08x}"


@dataclass
class Columns:
    """Some instances: features, candidates, soft labels to start from, groups and weights.

    Parameters
    ----------
    features : Features
        Of all instances.
    rows : slice or array of int
        Which of them these are.
    sets : CandidateSets
    priors : (E,) array or None
    groups, weight : (n,) arrays or None
    null : int or None
    entries : slice or array of int
        Which entries of all these are.
    more : dict of str to array
        Further values of these instances or entries.
    number : int
        Place of the shard among all.
    room : array, optional
        Where features are read to.
    partial : (n,) array of bool, optional
        Whether rows of the group of an instance are, or may be, missing.
    """

    features: Features
    rows: Rows
    sets: CandidateSets
    priors: NDArray[np.float64] | None
    groups: NDArray[np.integer] | None
    weight: NDArray[np.float64] | None
    null: int | None
    entries: Any
    more: dict[str, NDArray[Any]] = field(default_factory=dict)
    number: int = 0
    room: NDArray[np.floating] | None = None
    partial: NDArray[np.bool_] | None = None
    _X: NDArray[np.floating] | None = None

    @property
    def X(self) -> NDArray[np.floating]:
        """Features of these instances, read once."""
        if self._X is None:
            self._X = self.features.rows(self.rows, self.room)
        return self._X

    @cached_property
    def P(self) -> NDArray[np.float64]:
        """Soft labels to start from: priors, or equal ones."""
        return self.sets.uniform() if self.priors is None else self.priors

    def __len__(self) -> int:
        return self.sets.n_instances

    def check(self) -> None:
        """Raise if candidates are no such thing, with the first instance where that shows."""
        start, classes, c = self.sets.start, self.sets.classes, self.sets.n_classes
        numbers = self.numbers()
        if (np.diff(start) <= 0).any():
            j = int(np.flatnonzero(np.diff(start) <= 0)[0])
            raise SourceError(f"instance {numbers[j]} has no candidate; list all where any may")
        if not 0 <= classes.min() <= classes.max() < c:
            wrong = int(np.flatnonzero((classes < 0) | (classes >= c))[0])
            j = int(np.searchsorted(start, wrong, side="right") - 1)
            raise SourceError(
                f"the candidate {classes[wrong]} of instance {numbers[j]} is no class; these are "
                f"numbered 0 to {c - 1}"
            )
        falls = np.diff(classes) <= 0
        falls[start[1:-1] - 1] = False
        if falls.any():
            j = int(np.searchsorted(start, np.flatnonzero(falls)[0], side="right") - 1)
            raise SourceError(
                f"candidates of instance {numbers[j]} are not ascending, or one twice"
            )
        if self.priors is not None:
            odd = ~(np.abs(np.add.reduceat(self.priors, start[:-1]) - 1) < PRIORS_OFF)
            odd |= np.minimum.reduceat(self.priors, start[:-1]) < 0
            if odd.any():
                j = int(np.flatnonzero(odd)[0])
                raise SourceError(
                    f"priors of instance {numbers[j]} are {self.priors[start[j] : start[j + 1]]}; "
                    "they are at least 0, and add up to 1"
                )

    def some(self, count: int) -> NDArray[np.floating]:
        """Return features of evenly spaced instances, without reading the others."""
        at = np.linspace(0, len(self) - 1, min(count, len(self))).astype(np.intp)
        rows = at + self.rows.start if isinstance(self.rows, slice) else self.rows[at]
        return self.features.rows(rows)

    def numbers(self) -> NDArray[np.intp]:
        """Return the number of each instance among all."""
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def local_groups(self) -> NDArray[np.intp]:
        """Return the group of each instance, numbered from 0 in this shard."""
        if self.groups is None:
            return np.arange(len(self))
        return np.unique(self.groups, return_inverse=True)[1].ravel()

    def group_rules(self, at_most_once: bool, at_least_one: bool) -> list[Constraint]:
        """Return Algorithm 3's constraints on these instances, where there are groups."""
        rules: list[Constraint] = []
        if self.groups is not None:
            groups = self.local_groups()
            if at_least_one and self.null is not None:
                partial = () if self.partial is None else groups[self.partial].tolist()
                rules.append(AtLeastOneNamed(groups, self.null, frozenset(partial)))
            if at_most_once:
                rules.append(AtMostOnce(groups, self.null))
        return rules


def read_source(
    source: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Source:
    """Return the source of ``(features, candidates)``, each an array or where it is stored."""
    if not isinstance(source, Sequence) or isinstance(source, (str, bytes)) or len(source) != 2:
        raise SourceError(
            "source is a pair (features, candidates): arrays, or paths to a .npy file or a folder "
            "of parts, and to the folder that store_candidates wrote"
        )
    features = Features.of(source[0])
    stored = source[1]
    if isinstance(stored, (str, Path)):
        found = _read_stored(features, Path(stored))
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
        found.weight = _checked_weight(sample_weight, len(found))
    if len(features) != len(found):
        raise SourceError(
            f"there are {len(features)} rows of features and {len(found)} candidate sets; give one "
            "set per row"
        )
    if not len(found):
        raise SourceError("there are no instances; give one or more")
    return found


def _numbered(groups: ArrayLike, N: int) -> NDArray[np.integer]:
    """Return groups as numbers from 0, or raise where an instance has none."""
    values = np.asarray(groups)
    if values.shape != (N,):
        raise SourceError(f"groups has {_size(values)} for {N} instances")
    if values.dtype.kind not in "iub":
        for row, group in enumerate(groups):  # type: ignore[arg-type]  # text would hold "nan"
            if is_missing(group):
                raise SourceError(
                    f"row {row} has no group but {group!r}; give an instance that is alone a group "
                    "of its own"
                )
    return np.asarray(np.unique(values, return_inverse=True)[1].ravel())


def _checked_weight(given: ArrayLike, N: int) -> NDArray[np.float64]:
    """Return weights of instances, or raise where there are not as many, or one is not positive."""
    weight = real_numbers(given, "sample_weight").astype(np.float64)
    if weight.ndim == 0:
        weight = np.full(N, weight)
    if weight.shape != (N,):
        raise SourceError(f"sample_weight has {_size(weight)} for {N} instances")
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


def _size(values: NDArray[Any]) -> str:
    """Return how many values there are, for messages."""
    return f"{len(values)} values" if values.ndim == 1 else f"the shape {values.shape}"


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
    candidates = read_candidates(candidates)
    if groups is not None:
        candidates = candidates.with_groups(groups)
    N = len(candidates)
    weight = None if sample_weight is None else _checked_weight(sample_weight, N)
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
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
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
    places = [folder / f"{name}.npy" for name in arrays]
    try:
        for path, values in zip(places, arrays.values(), strict=True):
            if values is not None:
                with beside(path).open("wb") as file:
                    np.save(file, values, allow_pickle=False)
        beside(folder / NAMES).write_text(names, encoding="utf-8")
        (folder / UNFINISHED).touch()
        for path, values in zip(places, arrays.values(), strict=True):
            if values is None:
                path.unlink(missing_ok=True)  # of candidates stored there before
            else:
                beside(path).replace(path)
        beside(folder / NAMES).replace(folder / NAMES)
        if (folder / CHECKSUMS).exists():
            store_checksums(folder)
        (folder / UNFINISHED).unlink()
    finally:
        for path in (*places, folder / NAMES):  # also those that a store before left
            beside(path).unlink(missing_ok=True)


def _read_stored(features: Features, folder: Path) -> Source:
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
    return Source(features, *given, partial=partial, is_part=is_part)


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


def _checksum(values: Any, crc: int) -> int:
    """Return the checksum of an array or file: of all its bytes, or of a sample of a large file."""
    if values is None:
        return zlib.crc32(b"-", crc)
    if isinstance(values, np.memmap) and _is_whole_file(values):
        about = (values.shape, values.dtype.str, values.strides)
        crc = zlib.crc32(repr(about).encode(), crc)
        values = Path(str(values.filename))
    if not isinstance(values, Path):
        return _checksum_of_bytes(values, crc)
    listed = listed_checksums(values.parent).get(values.name)
    if listed is not None:  # it is compared where the file is read
        return zlib.crc32(str(listed).encode(), crc)
    found = values.stat()
    pieces, length = (PIECES, WHOLE // PIECES) if found.st_size > WHOLE else (1, WHOLE)
    when = found.st_mtime_ns if pieces > 1 else None
    crc = zlib.crc32(repr((found.st_size, when)).encode(), crc)
    with values.open("rb") as file:
        for at in np.linspace(0, max(found.st_size - length, 0), pieces).astype(int).tolist():
            file.seek(at)
            crc = zlib.crc32(file.read(length), crc)
    return crc


def _is_whole_file(values: np.memmap[Any, Any]) -> bool:
    """Return whether a map has all that its file has, as NumPy loads it, rather than a part."""
    if isinstance(values.base, np.ndarray) or values.mode == "c":  # changes stay out of the file
        return False
    try:
        size = Path(str(values.filename)).stat().st_size
    except OSError:  # it has none, or that was removed
        return False
    return int(values.offset) + values.nbytes == size


def _checksum_of_bytes(values: NDArray[Any], crc: int) -> int:
    """Return the checksum of an array: its shape, type and bytes, some rows at a time."""
    crc = zlib.crc32(repr((values.shape, values.dtype.str)).encode(), crc)
    if not values.size:
        return crc
    rows = max(1, AT_A_TIME // (values.nbytes // len(values)))
    for at in range(0, len(values), rows):
        piece = np.ascontiguousarray(values[at : at + rows])
        crc = zlib.crc32(piece.reshape(-1).view(np.uint8).data, crc)
        if isinstance(values, np.memmap) and values.mode != "c":  # else changes would be lost
            release(values)
    return crc
