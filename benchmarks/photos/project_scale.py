"""python -m benchmarks.photos.project_scale: how large a project of photos may be.

A made-up project is solved, gets a second day of photos, is reported, listed and reviewed. Each
step is a process of its own, of which seconds, processor seconds and the most memory are measured.
Memory is what the system counts as resident, with the pages of mapped files that it holds then.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from threadpoolctl import threadpool_info

from benchmarks.photos.large_project import add_photos, make_project
from candidly import __version__

STEPS = ("solve", "second day", "people", "photos of a person", "report", "review")
DAY = 1000
"""Photos of the second day."""
DECISIONS = 40

Figures = dict[str, Any]


def in_process(words: list[str], out: Path | None = None) -> Figures:
    """Return seconds and memory of a process."""
    start = time.perf_counter()
    with (out or Path(os.devnull)).open("wb") as file:
        child = subprocess.Popen(words, stdout=file)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "CPU seconds": round(used.ru_utime + used.ru_stime, 1),
        "memory MB": round(used.ru_maxrss * 1024 / 1e6),
    }


def solving(project: Path) -> Figures:
    """Return the figures of a solve, and what it said."""
    code = (
        "import json, sys; from candidly.photos import solve; done = solve(sys.argv[1]);"
        " print(json.dumps({'full': done.full, **done.counts}))"
    )
    with tempfile.NamedTemporaryFile() as said:
        found = in_process([sys.executable, "-c", code, str(project)], Path(said.name))
        return {**found, **json.loads(Path(said.name).read_text())}


def command(project: Path, *words: str) -> Figures:
    """Return the figures of a command on a project, and how much it printed."""
    with tempfile.NamedTemporaryFile() as said:
        all_words = [sys.executable, "-m", "candidly", *words, "--project", str(project)]
        found = in_process(all_words, Path(said.name))
        lines = Path(said.name).read_bytes().count(b"\n")
    return {**found, "lines": lines}


def second_day(project: Path, people: int) -> Figures:
    """Return the figures of a solve after a day of photos was added."""
    add_photos(project, DAY, people)
    return solving(project)


def report(project: Path) -> Figures:
    """Return the figures of the report."""
    with tempfile.TemporaryDirectory() as elsewhere:
        page = Path(elsewhere, "report.html")
        found = command(project, "report", "--out", str(page))
        return {**found, "page MB": round(page.stat().st_size / 1e6, 1)}


def review(project: Path) -> Figures:
    """Return how long the review page takes to open, to answer and to decide."""
    from benchmarks.photos.review_speed import RunningReview, page_ready, review_in_a_tab

    start = time.perf_counter()
    server = RunningReview(project)
    try:
        with server.client() as client:
            found: Figures = {"server started s": round(time.perf_counter() - start, 1)}
            found["page ready s"] = round(page_ready(client), 2)
            asked = {
                "people": ("api/people", {}),
                "people by name": ("api/people", {"order": "name"}),
                "a name completed": ("api/names", {"find": "ba"}),
                "status": ("api/status", {}),
                "conflicts": ("api/queue", {"only": "conflicts"}),
                "a folder": ("api/queue", {"folder": "2001"}),
            }
            for name, (path, values) in asked.items():
                begin = time.perf_counter()
                client.get(path, params=values).raise_for_status()
                found[f"{name} s"] = round(time.perf_counter() - begin, 2)
            begin = time.perf_counter()
            while not client.get("api/unnamed").raise_for_status().json()["ready"]:
                time.sleep(0.5)
            found["groups of unnamed faces s"] = round(time.perf_counter() - begin, 1)
        seconds: list[float] = []
        review_in_a_tab(server.address, 0, DECISIONS, seconds)
        found["decision ms, median"] = round(1000 * float(np.median(seconds)), 1)
        found["decision ms, 95th percentile"] = round(1000 * float(np.percentile(seconds, 95)), 1)
        found["memory MB"] = round(server.memory()["most"])
    finally:
        server.end()
    return found


def somebody(project: Path) -> str:
    """Return a person with many faces."""
    with sqlite3.connect(f"file:{project}?mode=ro", uri=True) as sql:
        (name,) = sql.execute(
            "SELECT name FROM people JOIN labels ON person = people.id"
            " WHERE people.id < 2000 GROUP BY person ORDER BY count(*) DESC LIMIT 1"
        ).fetchone()
    sql.close()
    return str(name)


def measure(project: Path, people: int, steps: tuple[str, ...], tell: Any) -> Figures:
    """Return the figures of each step."""
    found: Figures = {}
    for step in steps:
        match step:
            case "solve":
                found[step] = solving(project)
            case "second day":
                found[step] = second_day(project, people)
            case "people":
                found[step] = command(project, "people")
                tell("people, all as CSV", command(project, "people", "--csv"))
            case "photos of a person":
                found[step] = command(project, "photos", "--person", somebody(project))
            case "report":
                found[step] = report(project)
            case "review":
                found[step] = review(project)
        tell(step, found[step])
    return found


def machine() -> Figures:
    """Return what it was measured on."""
    return {
        "candidly": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sqlite": sqlite3.sqlite_version,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "BLAS threads": max(one["num_threads"] for one in threadpool_info()),
        "load": round(os.getloadavg()[0], 1),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def main(
    faces: Annotated[int, typer.Option(help="Faces of the project.")] = 50_000,
    people: Annotated[int, typer.Option(help="Names of the project.")] = 5_000,
    seed: Annotated[int, typer.Option(help="Seed of the made-up faces.")] = 0,
    step: Annotated[list[str] | None, typer.Option(help="Only these steps, in order.")] = None,
    project: Annotated[
        Path | None, typer.Option(help="A project made before; it is changed, and stays.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file; figures in it stay.")] = None,
) -> None:
    """Measure a made-up project of any size."""
    console = Console()

    key = f"{faces} faces, {people} names"

    def tell(name: str, figures: Figures) -> None:
        console.print(f"{name}: {figures}", highlight=False)
        if out is not None:  # a later step may fail
            stored = json.loads(out.read_text()) if out.exists() else {}
            own = {**stored.get(key, {}), name: {**figures, "load": round(os.getloadavg()[0], 1)}}
            stored[key] = {**own, "measured on": machine()}
            out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = None if project is not None else Path(tempfile.mkdtemp(prefix="candidly-scale-"))
    try:
        path = project or Path(str(folder), "large.candidly")
        if not path.exists():
            make_project(path, faces, people, seed, solved=False)
        unknown = set(step or ()) - set(STEPS)
        if unknown:
            raise typer.BadParameter(f"{', '.join(unknown)}: the steps are {', '.join(STEPS)}")
        measure(path, people, tuple(step or STEPS), tell)
        tell("project", {"MB": round(path.stat().st_size / 1e6)})
    finally:
        if folder is not None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(main)
