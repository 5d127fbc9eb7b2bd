"""Files of a solve on disk: written whole or not at all, and read only as they were written.

An entry of the journal is what one call of all shards returned, sums or rows, with the state of
every shard after it. A solve is a deterministic program of such calls, so one that was interrupted
goes on by running it again: calls in the journal are answered from it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.npy_file import read_array
from candidly.heap import release
from candidly.locking import Lock, LockHeldError
from candidly.solvers.shards import Part, Rowwise

LOCK = "solve.lock"
KINDS = ("sums", "most", "rows")
OURS = re.compile(
    r"(job\.part|call-\d{5,}\.(json|part)|call-\d{5,}-(sums|most|rows|placed)-.+\.(npy|part)"
    r"|shard-\d{5,}-.+-\d{5,}\.(npy|part))"
)
"""Names of files of calls and states; others are somebody else's, whatever they begin with."""


class CheckpointError(RuntimeError):
    """Raised where a checkpoint cannot be written or used; it says which file, and what to do."""


@dataclass(frozen=True)
class Stored:
    """A stored array: its file in the folder, and the checksum of its bytes."""

    file: str
    crc: int


@dataclass
class Journal:
    """Journal and states of shards in a folder.

    Parameters
    ----------
    folder : Path
    job : str
        What is solved, e.g. method, parameters and a fingerprint of the source; a folder with
        another is refused.
    """

    folder: Path
    job: str
    entries: list[dict[str, Any]] = field(default_factory=list)
    _lock: Lock | None = None

    def open(self) -> None:
        """Make the folder, or read what is there; until ``close`` no other process may."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            about = self.folder / "job.json"
            if not about.exists():  # before there is a lock among these files
                self._refuse_files_of_others()
            self._lock = self._locked()
            if about.exists():
                self._refuse_other_jobs(about)
            else:
                self._whole(about, json.dumps({"job": self.job}).encode())
            with suppress(FileNotFoundError, ValueError):  # a damaged entry ends the journal too
                while True:
                    self.entries.append(_unsealed(self._entry(len(self)).read_bytes()))
            self._remove_leftovers()
        except OSError as error:
            self.close()
            raise no_room(self.folder, error) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes use the folder."""
        if self._lock is not None:
            self._lock.release()

    def _locked(self) -> Lock | None:
        """Return a lock on the folder; None where its file system knows none."""
        try:
            return Lock(self.folder / LOCK)
        except LockHeldError as held:
            if getattr(held.__cause__, "errno", None) not in (errno.EAGAIN, errno.EACCES):
                return None
            raise CheckpointError(
                f"{self.folder} is in use by {held}; wait until that is done, or give another "
                "folder"
            ) from held

    def _refuse_files_of_others(self) -> None:
        """Raise where files are not of a solve: some of theirs may be named as some of ours."""
        for path in self.folder.iterdir():
            if path.name not in (LOCK, "job.part", "job.json") and not path.name.startswith("."):
                raise CheckpointError(
                    f"{self.folder} has files that are not of a solve, e.g. {path.name}; give a "
                    "new folder, an empty one, or one of an earlier solve"
                )

    def _refuse_other_jobs(self, about: Path) -> None:
        try:
            found = json.loads(about.read_text(encoding="utf-8"))["job"]
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{about} is damaged, so it is not known what the checkpoint is of; give another "
                "folder, or delete this one"
            ) from error
        if found != self.job:
            raise CheckpointError(
                f"{self.folder} has a checkpoint of another problem, of files that were changed, "
                "of other parameters or another max_memory, or of another version of candidly; "
                "give another folder, or delete it"
            )

    def __len__(self) -> int:
        return len(self.entries)

    def append(
        self, method: str, part: Part, rows: dict[str, Any], states: list[dict[str, Stored]]
    ) -> None:
        """Add a call; from then on it is done, and states before it are no longer needed.

        Parameters
        ----------
        method : str
            What was called.
        part : Part
            What it returned, if these are sums.
        rows : dict of str to dict of str to Stored
            Where it is, if these are rows: kind, then name.
        states : list of dict of str to Stored
            State of every shard after it.
        """
        number = len(self)
        part_files = {
            kind: {
                name: self.store(f"call-{number:05d}-{kind}-{name}", np.asarray(value)).__dict__
                for name, value in getattr(part, kind).items()
            }
            for kind in KINDS
        }
        placed = {
            kind: {name: one.__dict__ for name, one in named.items()}
            for kind, named in rows.items()
        }
        listed = [{name: one.__dict__ for name, one in state.items()} for state in states]
        entry = {"method": method, "part": part_files, "placed": placed, "states": listed}
        self._whole(self._entry(number), _sealed(entry))
        self.entries.append(entry)
        if number:
            kept = {one["file"] for state in listed for one in state.values()}
            for state in self.entries[number - 1]["states"]:
                for one in state.values():
                    if one["file"] not in kept:
                        (self.folder / one["file"]).unlink(missing_ok=True)

    def part(self, number: int) -> Part:
        """Return the sums that a call returned."""
        stored = self.entries[number]["part"]
        found = {
            kind: {name: _scalar(self.load(Stored(**one))) for name, one in stored[kind].items()}
            for kind in KINDS
        }
        return Part(**found)

    def rows(self, number: int) -> Rowwise:
        """Return the rows that a call returned, as maps of files."""
        placed = self.entries[number]["placed"]
        found = {
            kind: {name: self.load(Stored(**one), mapped=True) for name, one in named.items()}
            for kind, named in placed.items()
        }
        return Rowwise(**found)

    def check(self, number: int, method: str) -> None:
        """Raise where a call that is repeated is not the one that was made."""
        before = self.entries[number]["method"]
        if before != method:
            raise CheckpointError(
                f"{self.folder} has a checkpoint of other code: call {number} is {method}, and was "
                f"{before}; give another folder, or delete this one"
            )

    def drop(self, number: int) -> None:
        """Forget a call and those after it."""
        for later in range(number, len(self.entries)):
            self._entry(later).unlink(missing_ok=True)
        del self.entries[number:]

    def states(self) -> list[dict[str, Stored]]:
        """Return the state of every shard after the last call."""
        if not self.entries:
            return []
        last = self.entries[-1]["states"]
        return [{name: Stored(**one) for name, one in state.items()} for state in last]

    def store(self, name: str, values: NDArray[Any]) -> Stored:
        """Write an array whole, and return where it is."""
        values = np.asarray(values, order="C")
        path = self.folder / f"{name}.npy"
        part = path.with_suffix(".part")
        try:
            with part.open("wb") as file:
                np.save(file, values, allow_pickle=False)
                end = file.tell()
            if part.stat().st_size < end:  # NumPy does not notice that its last bytes found no room
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(part))
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise no_room(self.folder, error) from error
        return Stored(path.name, checksum_of(values))

    def load(self, stored: Stored, mapped: bool = False) -> NDArray[Any]:
        """Read an array, or map it, and raise where it is not the one that was written."""
        path = self.folder / stored.file
        try:
            values = read_array(path, mapped)
        except (OSError, ValueError, EOFError) as error:
            raise CheckpointError(f"{path} cannot be read: {error}") from error
        if checksum_of(values) != stored.crc:
            raise CheckpointError(f"{path} is damaged: its checksum is another one")
        release(values)
        return values

    def _entry(self, number: int) -> Path:
        return self.folder / f"call-{number:05d}.json"

    def _whole(self, path: Path, content: bytes) -> None:
        part = path.with_suffix(".part")
        try:
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise no_room(self.folder, error) from error

    def _remove_leftovers(self) -> None:
        """Remove files of a call that was interrupted."""
        known = {"job.json"}
        for number, entry in enumerate(self.entries):
            known.add(self._entry(number).name)
            kinds = [*entry["part"].values(), *entry["placed"].values()]
            known |= {one["file"] for kind in kinds for one in kind.values()}
        known |= {one.file for state in self.states() for one in state.values()}
        self._remove_but(known)

    def remove(self) -> None:
        """Remove calls and states; results stay."""
        self._remove_but(set())

    def _remove_but(self, known: set[str]) -> None:
        for path in self.folder.iterdir():
            if path.is_file() and OURS.fullmatch(path.name) and path.name not in known:
                path.unlink()


def checksum_of(values: NDArray[Any]) -> int:
    """Return the CRC-32 of the bytes of an array and of its shape."""
    crc = zlib.crc32(repr((values.shape, values.dtype.str)).encode())
    return zlib.crc32(values.data.cast("B") if values.size else b"", crc)


def _sealed(entry: dict[str, Any]) -> bytes:
    """Return an entry as it is stored, with its checksum."""
    return json.dumps({"crc": zlib.crc32(json.dumps(entry).encode()), "call": entry}).encode()


def _unsealed(content: bytes) -> Any:
    """Return a stored entry; ``ValueError`` where it is damaged."""
    found = json.loads(content)
    entry = found.get("call") if isinstance(found, dict) else None
    if entry is None or found.get("crc") != zlib.crc32(json.dumps(entry).encode()):
        raise ValueError("its checksum is another one")
    return entry


def _scalar(values: NDArray[Any]) -> Any:
    return values.item() if values.ndim == 0 else values


def take_room(path: Path) -> None:
    """Have the disk keep room for all of a file: a map that finds none later ends the process."""
    if hasattr(os, "posix_fallocate"):  # not on every system
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def no_room(folder: Path, error: OSError) -> CheckpointError:
    """Return what to say where the folder cannot be written to."""
    # NumPy says only how much it wrote where a disk, or a limit on the size of files, ends a write.
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, None):
        return CheckpointError(
            f"the disk of {folder} is full, or files may not be as large ({error}); make room and "
            "run it again: it goes on from the last call that was finished"
        )
    return CheckpointError(f"{folder} cannot be written to: {error}; give another folder")
