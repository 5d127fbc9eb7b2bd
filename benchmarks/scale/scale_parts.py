"""What is measured: one function for each row of the table, chosen by ``--only``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.scale.disk_and_flop import floor_seconds
from benchmarks.scale.drawn_problems import differences, drawn
from benchmarks.scale.made_up import write
from candidly import ICE, OpenSet, RowSpace, WMCar, datasets
from candidly.distributed import solve
from candidly.distributed.on_ray import OnRay, started
from candidly.distributed.out_of_core import OutOfCore
from candidly.distributed.shard_making import Here, nearly_even
from candidly.distributed.solving import _into_memory, _program
from candidly.distributed.source_reading import read_source
from candidly.threads import ONE_THREAD

Figures = dict[str, Any]
PARTS: dict[str, Callable[[bool], Figures]] = {}
REAL = ("lost", "msrcv2", "birdsong", "newsroom")
KILLS = 20
SHAPES = (
    ("RowSpace", 60_000, 64, 10, 450),
    ("WMCar", 30_000, 64, 1000, 700),
    ("RowSpace", 30_000, 1500, 10, 700),
    ("RowSpace", 1_000_000, 64, 10, 450),
    ("RowSpace", 300_000, 64, 20_000, 600),
    ("ICE over RowSpace", 500_000, 64, 20, 450),
    ("WMCar", 300_000, 64, 20, 450),
    ("OpenSet", 200_000, 64, 200, 500),
    ("OpenSet, nobody", 300_000, 32, 3000, 750),
)
"""Method, instances, features, names, and MB that a solve may take."""
NOBODY = 0.2
"""Part of the instances that have none of the names, where a method is for these."""
METHODS = {
    "RowSpace": RowSpace(classifier=None),
    "OpenSet": OpenSet(classifier=None),
    "WMCar": WMCar(classifier=None),
    "ICE over RowSpace": ICE(RowSpace(), classifier=None),
    "ICE over WMCar": ICE(WMCar(), classifier=None),
    "ICE over OpenSet": ICE(OpenSet(classifier=None), classifier=None),
}


def part(name: str) -> Callable[[Callable[[bool], Figures]], Callable[[bool], Figures]]:
    """Declare a part by its name."""

    def declare(run: Callable[[bool], Figures]) -> Callable[[bool], Figures]:
        PARTS[name] = run
        return run

    return declare


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder for large files, which is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="candidly-scale-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def one_ray() -> Iterator[None]:
    """Start Ray once for many solves."""
    ray, _ = started(None, 2)
    try:
        yield
    finally:
        ray.shutdown()


@part("agreement")
def agreement(quick: bool) -> Figures:
    """Compare labels and distributions of all drivers with those of ``fit`` on real data."""
    with one_ray():
        return _agreement(quick)


def _agreement(quick: bool) -> Figures:
    found: Figures = {}
    for name in REAL[:1] if quick else REAL:
        data = datasets.load(name)
        for called, method in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                alone = clone(method).fit(data.X, data.candidates)
                for driver, run in (("out-of-core", _in_three), ("ray", _on_two)):
                    model = run((data.X, data.candidates), method)
                    found[f"{name}, {called}, {driver}"] = differences(model, alone, data.X)
    return found


@part("agreement-drawn")
def agreement_drawn(quick: bool) -> Figures:
    """Compare an out-of-core solve with ``fit`` on problems drawn from real data, and weighted."""
    found: Figures = {}
    for name in REAL[:1] if quick else REAL:
        data = datasets.load(name)
        rng = np.random.default_rng(0)
        for what, X, candidates in drawn(data.X, data.candidates, rng):
            weights = {"": None, ", weighted": 10 ** rng.uniform(-3, 3, size=len(X))}
            for called, method in METHODS.items():
                for more, weight in weights.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        whole = clone(method).set_params(classifier="auto")
                        alone = clone(whole).fit(X, candidates, sample_weight=weight)
                        model = _in_three((X, candidates), whole, weight)
                    found[f"{name}, {what}{more}, {called}"] = differences(model, alone, X)
    return found


def _in_three(source: Any, method: Any, weight: Any = None) -> Any:
    """Return a method fitted out of core on three shards; a bound on memory may leave one."""
    program = _program(method, read_source(source, weight))
    maker = program.maker(nearly_even(program.source, 3))
    with scratch() as folder, OutOfCore(maker, folder, "") as driver:
        model = program.run(driver)
        _into_memory(model)
    return model


def _on_two(source: Any, method: Any) -> Any:
    """Return a method fitted on two workers of Ray."""
    return solve(source, method, "ray", n_workers=2)


@part("out-of-core")
def out_of_core(quick: bool) -> Figures:
    """Solve 8,000,000 x 128 with 10,000 names in a process with a limit, against the floor."""
    N, m, c = (100_000, 32, 500) if quick else (8_000_000, 128, 10_000)
    with scratch() as folder:
        write(folder, N, m, c)
        entries = int(np.load(folder / "candidates" / "start.npy", mmap_mode="r")[-1])
        out = folder / "found.json"
        subprocess.run(_limited(folder, 1e9, 1.5e9, out), check=True, env=_environment())
        found: Figures = json.loads(out.read_text(encoding="utf-8"))
        reads = found["iterations"] + 3  # the Gram, leverages with the first sums, the classifier
        floor = floor_seconds(folder / "features.npy", N, m, entries, found["iterations"], reads)
    return {
        "instances": N,
        "features": m,
        "names": c,
        "entries": entries,
        "max_memory MB": 1000,
        "limit of the process MB": 1500,
        **found,
        "floor": floor,
        "times the floor": found["seconds"] / floor["seconds"],
        "CPU seconds over CPU seconds of the floor": found["CPU seconds"] / floor["CPU seconds"],
        "bytes per instance and pass": m * 4 + 28 * entries / N,
    }


@part("elimination-out-of-core")
def elimination_out_of_core(quick: bool) -> Figures:
    """Solve as many by ICE over RowSpace, in a process with the same limit."""
    N, m, c = (100_000, 32, 500) if quick else (8_000_000, 128, 10_000)
    with scratch() as folder:
        write(folder, N, m, c)
        out = folder / "found.json"
        command = _limited(folder, 1e9, 1.5e9, out, "ICE over RowSpace")
        subprocess.run(command, check=True, env=_environment())
        found: Figures = json.loads(out.read_text(encoding="utf-8"))
    size = {"instances": N, "features": m, "names": c, "max_memory MB": 1000}
    return {**size, "limit of the process MB": 1500, **found}


@part("open-set-out-of-core")
def open_set_out_of_core(quick: bool) -> Figures:
    """Solve by OpenSet, a fifth of all nobody, in a process with the same limit."""
    N, m, c = (50_000, 32, 500) if quick else (2_000_000, 128, 10_000)
    with scratch() as folder:
        write(folder, N, m, c, nobody=NOBODY)
        out = folder / "found.json"
        command = _limited(folder, 1e9, 1.5e9, out, "OpenSet, to the end")
        subprocess.run(command, check=True, env=_environment())
        found: Figures = json.loads(out.read_text(encoding="utf-8"))
    size = {"instances": N, "features": m, "names": c, "max_memory MB": 1000}
    return {**size, "limit of the process MB": 1500, **found}


@part("memory")
def memory(quick: bool) -> Figures:
    """Compare the memory that solves of many shapes take with what they may."""
    found: Figures = {}
    for method, N, m, c, allowed in SHAPES[:2] if quick else SHAPES:
        with scratch() as folder:
            write(folder, N, m, c, nobody=NOBODY if "nobody" in method else 0.0)
            out = folder / "found.json"
            command = _limited(folder, allowed * 1e6, 0, out, method)
            subprocess.run(command, check=True, env=_environment())
            one = json.loads(out.read_text(encoding="utf-8"))
        share = one["peak resident MB"] * 1.048576 / allowed
        found[f"{method}, {N} x {m}, {c} names, {allowed} MB"] = share
    return {"solves": len(found), "largest share": max(found.values()), "shares": found}


def _limited(
    folder: Path, max_memory: float, limit: float, out: Path, method: str = "RowSpace"
) -> list[str]:
    given = [str(folder), str(max_memory), str(limit), str(out), method]
    return [sys.executable, "-m", "benchmarks.scale.limited", *given]


def _environment() -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


class TimedDriver:
    """A driver that keeps the seconds of calls of one method."""

    def __init__(self, driver: Any, method: str) -> None:
        self.driver, self.method = driver, method
        self.seconds: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def each(self, method: str, *broadcast: Any) -> Any:
        """Call a method of every shard, and keep the seconds."""
        began = time.perf_counter()
        found = self.driver.each(method, *broadcast)
        if method == self.method:
            self.seconds.append(time.perf_counter() - began)
        return found


def _rounds(N: int, m: int, c: int) -> tuple[list[float], list[float]]:
    """Return seconds of rounds on two workers of Ray, and in this process on one core."""
    with scratch() as folder:
        write(folder, N, m, c)
        source = (folder / "features.npy", folder / "candidates")
        estimator = RowSpace(tol=1e-300, max_iter=40, classifier=None)
        program = _program(estimator, read_source(source))
        maker = program.maker(nearly_even(program.source, 2))
        with OnRay(maker) as running:
            on_ray = TimedDriver(running, "step")
            program.run(on_ray)
        before = dict(os.environ)
        os.environ.update(ONE_THREAD)
        try:
            program = _program(estimator, read_source(source))
            alone = TimedDriver(Here(program.maker(nearly_even(program.source, 1))), "step")
            program.run(alone)
        finally:
            os.environ.clear()
            os.environ.update(before)
    return on_ray.seconds[1:], alone.seconds[1:]  # the first compiles


@part("ray-round")
def ray_round(quick: bool) -> Figures:
    """Time a round on two workers of Ray against one core of this process."""
    N, m, c = (20_000, 32, 500) if quick else (1_000_000, 128, 10_000)
    on_ray, alone = _rounds(N, m, c)
    return {
        "instances": N,
        "seconds of a round on Ray": float(np.median(on_ray)),
        "seconds of a round on one core": float(np.median(alone)),
        "ratio of medians": float(np.median(on_ray) / np.median(alone)),
        "ratio of the fastest": min(on_ray) / min(alone),
        "broadcast and sums in bytes, per worker": 2 * 8 * c * m,
    }


@part("ray-overhead")
def ray_overhead(quick: bool) -> Figures:
    """Time a round at tiny size, where all of it is overhead."""
    on_ray, alone = _rounds(200, 8, 10)
    return {
        "milliseconds of a round": 1000 * float(np.median(on_ray)),
        "of the fastest": 1000 * min(on_ray),
        "in this process": 1000 * float(np.median(alone)),
    }


@part("kills-ray")
def kills_ray(quick: bool) -> Figures:
    """Kill a worker at a random round, again and again; labels have to be the same."""
    with one_ray():
        return _kills_ray(quick)


def _kills_ray(quick: bool) -> Figures:
    rng = np.random.default_rng(0)
    finished = same = rebuilt = 0
    trials = 2 if quick else KILLS
    with scratch() as folder:
        write(folder, 4000, 16, 100)
        source = (folder / "features.npy", folder / "candidates")
        estimator = RowSpace(classifier=None)
        program = _program(estimator, read_source(source))
        maker = program.maker(nearly_even(program.source, 2))
        with OnRay(maker) as running:
            wanted = program.run(running)
        for _ in range(trials):
            with OnRay(maker) as running:
                killer = Killer(running, int(rng.integers(5, 30)), int(rng.integers(2)))
                found = program.run(killer)
                rebuilt += running.rebuilt
            finished += 1
            same += bool(np.array_equal(found.solution_.labels, wanted.solution_.labels))
    return {"trials": trials, "finished": finished, "identical": same, "rebuilt": rebuilt}


class Killer:
    """A driver on Ray that kills a worker by its process before a call."""

    def __init__(self, driver: OnRay, call: int, worker: int) -> None:
        self.driver, self.call, self.worker, self.calls = driver, call, worker, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def each(self, method: str, *broadcast: Any) -> Any:
        """Call a method of every shard; one of them dies before it."""
        self.calls += 1
        if self.calls == self.call:
            actor = self.driver.actors[self.worker]
            os.kill(self.driver.ray.get(actor.process.remote()), signal.SIGKILL)
        return self.driver.each(method, *broadcast)


@part("kills-out-of-core")
def kills_out_of_core(quick: bool) -> Figures:
    """Kill the process at a random moment, and start it again; labels have to be the same."""
    rng = np.random.default_rng(0)
    trials, same, finished, killed = 2 if quick else KILLS, 0, 0, 0
    with scratch() as folder:
        write(folder, 60_000, 32, 300)
        out = folder / "found.json"
        command = _limited(folder, 4.05e8, 0, out)
        began = time.perf_counter()
        subprocess.run(command, check=True, env=_environment())
        whole = time.perf_counter() - began
        wanted = np.load(out.with_suffix(".npy"))
        labels = np.load(folder / "checkpoint" / "result-labels.npy")
        for _ in range(trials):
            shutil.rmtree(folder / "checkpoint")
            running = subprocess.Popen(command, env=_environment())
            entries = folder / "checkpoint"
            moment = int(rng.integers(1, 18))
            while running.poll() is None and not (entries / f"call-{moment:05d}.json").exists():
                time.sleep(0.001)
            time.sleep(float(rng.random()) * whole / 100)
            if running.poll() is None:
                running.kill()
                killed += 1
            running.wait()
            subprocess.run(command, check=True, env=_environment())
            finished += 1
            again = np.load(folder / "checkpoint" / "result-labels.npy")
            found = np.load(out.with_suffix(".npy"))
            same += bool(np.array_equal(found, wanted) and np.array_equal(again, labels))
    return {"trials": trials, "killed": killed, "finished": finished, "identical": same}
