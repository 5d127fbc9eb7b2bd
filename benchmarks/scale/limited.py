"""An out-of-core solve in a process with a limit on its memory, and one that may be killed.

Run as ``python -m benchmarks.scale.limited FOLDER MAX_MEMORY LIMIT RESULT METHOD``.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from candidly import ICE, OpenSet, RowSpace, WMCar
from candidly.distributed import Progress, solve

METHODS = {
    "RowSpace": RowSpace(),
    "ICE over RowSpace": ICE(RowSpace(), classifier=None),
    "OpenSet": OpenSet(max_iter=2, classifier=None),
    "OpenSet, nobody": OpenSet(max_iter=2, classifier=None),
    "OpenSet, to the end": OpenSet(classifier=None),
    "WMCar": WMCar(max_iter=4, classifier=None),
}


def status(name: str) -> float:
    """Return MB that the system says of this process by a name."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    lines = dict(line.split(":", 1) for line in text.splitlines())
    return int(lines[name].split()[0]) / 1024


def anonymous() -> float:
    """Return MB of memory that is this process's own, without pages of files."""
    return status("RssAnon")


@contextmanager
def watched() -> Iterator[list[float]]:
    """Give a list with the largest memory of this process inside."""
    peak, done = [anonymous()], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], anonymous())

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield peak
    finally:
        done.set()


def main() -> None:
    """Solve, and write seconds, peak memory and errors."""
    folder, max_memory, limit, out, method = (Path(sys.argv[1]), *sys.argv[2:6])
    if float(limit):
        size = int(float(limit))
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    passes: dict[int, float] = {}

    def tell(progress: Progress) -> None:
        passes[progress.passes] = progress.seconds

    began, cpu = time.perf_counter(), time.process_time()
    warnings.simplefilter("ignore")  # of labels after few iterations
    with watched() as peak:
        model = solve(
            (folder / "features.npy", folder / "candidates"),
            METHODS[method],
            max_memory=float(max_memory),
            folder=folder / "checkpoint",
            on_progress=tell,
        )
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    truth = np.load(folder / "truth.npy", mmap_mode="r")
    found = {
        "seconds": seconds,
        "CPU seconds": cpu,
        "peak anonymous MB": peak[0],
        "peak resident MB": status("VmHWM"),
        "error": float((model.transduction_ != truth).mean()),
        "iterations": model.n_iter_,
        "passes": len(passes) + 1,
        "seconds after each pass": [round(value, 2) for value in passes.values()],
    }
    np.save(Path(out).with_suffix(".npy"), model.transduction_)
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
