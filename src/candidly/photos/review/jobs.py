"""Long work beside the page: solving again, the order of questions, groups of faces.

A small project is worked on in a thread of the server. A large one in a process of its own, whose
memory goes with it, and which does not keep requests waiting.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.known_names import current_lists
from candidly.photos.recognition import recognise
from candidly.photos.review.questions import POOR, Order, question_order
from candidly.photos.review.unnamed import unnamed_groups
from candidly.photos.solving import NameChange, solve
from candidly.photos.solving.store import RECOGNISED

SMALL = 3000
"""Faces of a project up to which work is done in a thread."""

ORDERED = 25_000
"""Faces up to which questions are ordered by what they settle, which takes 18 kB for each."""

T = TypeVar("T")
Step = Callable[[int, int], None]
Work = Callable[[Path, Step], T]


@dataclass
class Job(Generic[T]):
    """Work that runs at most once at a time: how far it is, and its last result or failure."""

    work: Work[T]
    running: bool = False
    done: int = 0
    total: int = 0
    result: T | None = None
    failure: str = ""
    times: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)
    _process: Any = field(default=None, repr=False)

    def start(self, path: Path, small: bool, after: Callable[[T], None] | None = None) -> bool:
        """Begin, unless it runs already; return whether it began.

        Parameters
        ----------
        path : Path
            The project file.
        small : bool
            Whether to work in a thread.
        after : callable, optional
            Called with the result, in the thread that waits for it.
        """
        with self._lock:
            if self.running:
                return False
            self.running, self.done, self.total, self.failure = True, 0, 0, ""
        run = self._here if small else self._in_process
        self._thread = threading.Thread(target=self._run, args=(run, path, after), daemon=True)
        self._thread.start()
        return True

    def wait(self) -> None:
        """Wait until it does not run."""
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """End a process that still works, and wait for a thread that does."""
        if self._process is not None and self._process.is_alive():
            self._process.terminate()
        self.wait()

    def _run(self, run: Callable[[Path], T], path: Path, after: Callable[[T], None] | None) -> None:
        try:
            self.result = run(path)
            if after is not None:
                after(self.result)
        except Exception as problem:  # whatever it is, the page has to tell
            self.failure = str(problem) or type(problem).__name__
        finally:
            self.times += 1
            self.running = False

    def _step(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def _here(self, path: Path) -> T:
        return self.work(path, self._step)

    def _in_process(self, path: Path) -> T:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_child, args=(self.work, path, theirs), daemon=True)
        self._process.start()
        theirs.close()
        try:
            while True:
                kind, value = ours.recv()
                if kind == "step":
                    self._step(*value)
                elif kind == "result":
                    return value
                else:
                    raise ProjectProblem(value)
        except EOFError:
            raise ProjectProblem("the process that worked ended before it was done") from None
        finally:
            self._process.join()
            ours.close()


def _child(work: Work[Any], path: Path, told: Connection) -> None:
    try:
        told.send(("result", work(path, lambda done, total: told.send(("step", (done, total))))))
    except Exception as problem:
        told.send(("failure", str(problem) or type(problem).__name__))


def solve_again(path: Path, step: Step) -> list[NameChange]:
    """Solve a project with the decisions so far, and return the names that changed.

    Photos without captions are looked at again where they were before.
    """
    with Project.join(path) as project:
        project.wait_for(30)
        changed = list(solve(project, on_step=step).changes)
        with project.snapshot() as sql:
            (before,) = sql.execute(
                "SELECT count(*) FROM runs WHERE json_extract(settings, '$.solve') = ?",
                (RECOGNISED,),
            ).fetchone()
            lists = current_lists(sql)
        if before:
            changed += recognise(project, lists).changes
        return changed


def order_questions(path: Path, step: Step) -> Order:
    """Return the faces in the order in which to ask about them."""
    with Project.open(path) as project:
        return question_order(project)


def group_unnamed(path: Path, step: Step) -> list[list[int]]:
    """Return the faces without a name, in groups."""
    with Project.open(path) as project:
        return unnamed_groups(project, POOR)
