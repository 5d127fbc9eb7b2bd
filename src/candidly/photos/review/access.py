"""A project for many requests at once: one thread writes, a few read.

SQLite's connections belong to their threads. Readers see what was last committed, and never wait
for the writer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from candidly.photos.project import Project

READERS = 3
PATIENCE = 30.0
"""Seconds that a decision waits for a solve to store its names."""

T = TypeVar("T")


class ProjectAccess:
    """Reads and writes of one project; the lock for writing is held until it is closed.

    Parameters
    ----------
    path : Path or None
        The project file, which has to exist; None for the one in the user's data folder.
    """

    def __init__(self, path: Path | None) -> None:
        with Project.open(path) as found:
            self.path = found.path
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="writing")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="reading")
        self._own = threading.local()
        self._writer = self._writing.submit(self._open).result()

    def _open(self) -> Project:
        writer = Project.open(self.path, write=True)
        writer.wait_for(PATIENCE)
        return writer

    async def read(self, work: Callable[[Project], T]) -> T:
        """Return what a function reads in one of the reading threads."""
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, lambda: work(self._reader())
        )

    async def write(self, work: Callable[[Project], T]) -> T:
        """Return what a function returns in the thread that writes, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(
            self._writing, lambda: work(self._writer)
        )

    def _reader(self) -> Project:
        if not hasattr(self._own, "project"):
            self._own.project = Project.open(self.path)
        return self._own.project

    def close(self) -> None:
        """Wait for what is being written, and release the lock."""
        together = threading.Barrier(READERS)  # so that each thread closes its own

        def close_own() -> None:
            together.wait()
            self._reader().close()

        for done in [self._reading.submit(close_own) for _ in range(READERS)]:
            done.result()
        self._reading.shutdown(wait=True)
        self._writing.submit(self._writer.close).result()
        self._writing.shutdown(wait=True)
