"""Scans pictures in a few threads: opens them, finds and embeds faces, in their order.

Threads suffice, since decoding, detecting and embedding release the interpreter, and they end
with the process: nothing of a killed run lives on.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from joblib import effective_n_jobs

from candidly.photos.geometry import Box
from candidly.photos.parts import FoundFile, IngestParts, OpenPicture
from candidly.photos.records import Face

EVERY_S = 1.0  # seconds between signs of life


@dataclass(frozen=True)
class PictureScan:
    """Result of scanning a picture; ``size`` and ``faces`` are None if the project has them."""

    identity: str
    orientation: int
    size: tuple[int, int] | None = None
    faces: Sequence[Face] | None = None


@dataclass(frozen=True)
class ScanFailure:
    """A picture that could not be scanned, and why."""

    reason: str


class PictureScanner:
    """Scanner of pictures, ``workers`` at a time.

    ``known`` are identities that are not scanned again, with the orientation in which they
    were scanned: in another orientation faces are found in other places.
    """

    def __init__(self, parts: IngestParts, known: set[tuple[str, int]], workers: int) -> None:
        self._parts, self._known, self._workers = parts, known, workers
        self._own = threading.local()

    def scan(
        self,
        files: Sequence[FoundFile],
        on_wait: Callable[[FoundFile, float], None] | None = None,
    ) -> Iterator[tuple[FoundFile, PictureScan | ScanFailure]]:
        """Yield the scan of each file, in the order given; only a few are ahead of the caller.

        ``on_wait`` is called each second that a file takes, with the number of seconds so far.
        """
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="scanning")
        ahead: deque[tuple[FoundFile, Future[PictureScan | ScanFailure]]] = deque()
        rest = iter(files)
        try:
            while True:
                while len(ahead) < 2 * self._workers and (file := next(rest, None)) is not None:
                    ahead.append((file, pool.submit(self._scan, file.path)))
                if not ahead:
                    return
                file, future = ahead.popleft()
                start = time.monotonic()
                while not wait([future], timeout=EVERY_S).done:
                    if on_wait is not None:
                        on_wait(file, time.monotonic() - start)
                yield file, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _scan(self, path: Path) -> PictureScan | ScanFailure:
        try:
            # Reading a file twice pays only if there are known pictures to recognise.
            known = self._parts.pictures.identify(path) if self._known else None
            if known is not None and known in self._known:
                return PictureScan(*known)
            picture = self._parts.pictures.open(path)
            size = picture.width, picture.height
            found = PictureScan(picture.identity, picture.orientation, size)
            if (found.identity, found.orientation) in self._known:
                return found
            return replace(found, faces=_enlarged(self._faces(picture.pixels), picture))
        except ImportError:
            raise  # a part that is missing is missing for every picture
        except Exception as problem:  # one bad picture must not end the run, whatever is wrong
            return ScanFailure(failure_reason(problem))

    def _faces(self, pixels: np.ndarray) -> list[Face]:
        if not hasattr(self._own, "detector"):
            self._own.detector, self._own.embedder = self._parts.detector(), self._parts.embedder()
        faces = self._own.detector.detect(pixels)
        if not faces:
            return []
        vectors = np.asarray(self._own.embedder.embed(pixels, faces), dtype=np.float32)
        if len(vectors) != len(faces) or not np.isfinite(vectors).all():
            raise ValueError(
                f"the embedder gave {vectors.shape} for {len(faces)} faces, or no numbers"
            )
        return [replace(face, embedding=row) for face, row in zip(faces, vectors, strict=True)]


def _enlarged(faces: list[Face], picture: OpenPicture) -> list[Face]:
    """Return faces in pixels of the picture itself, of which fewer were searched if it is huge."""
    height, width = picture.pixels.shape[:2]
    if (width, height) == (picture.width, picture.height):
        return faces
    x, y = picture.width / width, picture.height / height
    return [
        replace(
            face,
            box=Box(face.box.x * x, face.box.y * y, face.box.w * x, face.box.h * y),
            landmarks=np.asarray(face.landmarks * [x, y], dtype=np.float32),
        )
        for face in faces
    ]


def count_workers(n_jobs: int | None) -> int:
    """Return the number of threads: one per processor by default, at most four."""
    return min(4, os.cpu_count() or 1) if n_jobs is None else int(effective_n_jobs(n_jobs))


def failure_reason(problem: Exception) -> str:
    """Return what went wrong with a file, in one line, without its path."""
    said = getattr(problem, "reason", None)
    if isinstance(said, str):
        return " ".join(said.split())
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror[0].lower() + problem.strerror[1:]
    kind = type(problem).__name__
    text = " ".join(str(problem).split())
    return text if text and kind.endswith("Problem") else f"{text} ({kind})".strip()
