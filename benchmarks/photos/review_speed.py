"""python -m benchmarks.photos.review_speed: how fast candidly review is on a large project.

A made-up project is reviewed through HTTP, as the page does it: how long until the page is ready
(the page itself, the first questions and the first photo), how long decisions take to be answered
with two tabs at once, each of which also reads the next photo and how far it is, how much memory
the server takes, and what 1,000 random and 500 malformed requests do to it.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import httpx
import numpy as np
import typer
from rich.console import Console

from benchmarks.photos.large_project import make_project
from candidly.photos.project import Project

Client = httpx.Client


class RunningReview:
    """A server in a process of its own, as a user starts it."""

    def __init__(self, project: Path) -> None:
        words = ["review", "--project", str(project), "--no-open"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "candidly", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def client(self) -> Client:
        """Return a client of the page."""
        return Client(base_url=self.address, timeout=60)

    def memory(self) -> dict[str, float]:
        """Return the memory in use and the most so far, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+) kB", text))
        return {"now": int(found["VmRSS"]) / 1000, "most": int(found["VmHWM"]) / 1000}

    def end(self) -> None:
        """End the server as Ctrl-C does."""
        self.process.terminate()
        self.process.wait(30)


def page_ready(client: Client) -> float:
    """Return the seconds until the first question can be shown, without the browser's own."""
    start = time.perf_counter()
    page = client.get("")
    page.raise_for_status()
    for module in ("main.js", "queue.js", "review.css"):
        client.get(f"page/{module}").raise_for_status()
    client.get("api/status").raise_for_status()
    photos = client.get("api/queue").raise_for_status().json()["photos"]
    client.get(f"api/photos/{photos[0]['photo']}").raise_for_status()
    return time.perf_counter() - start


def review_in_a_tab(address: str, offset: int, count: int, seconds: list[float]) -> None:
    """Decide about faces as a tab does, and note how long each answer took."""
    with Client(base_url=address, timeout=60) as client:
        waiting: list[int] = []
        skipped = offset
        while len(seconds) < count:
            if not waiting:
                found = client.get("api/queue", params={"most": 20 + skipped}).json()["photos"]
                waiting = [one["photo"] for one in found[offset:][:20:2]]
            photo = client.get(f"api/photos/{waiting.pop(0)}").json()
            for face in photo["faces"]:
                if face["decided"] or not face["candidates"]:
                    continue
                body = {
                    "what": "is",
                    "name": face["candidates"][0]["name"],
                    "faces": [{"face": face["face"], "seen": face["seen"]}],
                    "even_so": True,
                }
                start = time.perf_counter()
                answer = client.post("api/decisions", json=body)
                seconds.append(time.perf_counter() - start)
                if answer.status_code == 200 and answer.json()["photo"]:
                    photo = answer.json()["photo"]
                if len(seconds) >= count:
                    break
            client.get("api/status")


def two_tabs(address: str, count: int) -> list[float]:
    """Return how long decisions took, in seconds, with two tabs at once."""
    found: list[list[float]] = [[], []]
    tabs = [
        threading.Thread(target=review_in_a_tab, args=(address, tab, count // 2, found[tab]))
        for tab in (0, 1)
    ]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    return found[0] + found[1]


# Random and malformed requests

PATHS = (
    "api/status", "api/queue", "api/people", "api/person", "api/names", "api/unnamed",
    "api/audit", "api/history", "api/photos", "api/solve", "pictures/faces/1", "pictures/photos/1",
    "api/photos/{}", "api/faces/{}/why", "pictures/faces/{}", "page/main.js", "openapi.json",
)  # fmt: skip
POSTS = (
    "api/decisions", "api/undo", "api/rename", "api/merge", "api/split", "api/photos/{}/faces",
    "api/audit/answers",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 7, 2**63, 2**70, 1e308, "", "x", "is", "\u0000", "\ud800", "a" * 999,
    [], [[]], {}, {"face": 1}, [{"face": 1, "seen": None}], [{"face": -1}], "../../etc/passwd",
)  # fmt: skip
KEYS = (
    "what", "name", "new", "faces", "numbers", "face", "answer", "seen", "x", "y", "w", "h",
    "even_so", "other",
)  # fmt: skip


def random_request(client: Client, rng: random.Random) -> httpx.Response:
    """Send a request that reads, with any values."""
    path = rng.choice(PATHS).format(rng.choice((0, 1, 5, 10**9, 2**63, -1, "x", "%2e%2e")))
    names = ("find", "most", "offset", "order", "person", "name", "only", "before", "day", "large")
    query = {
        rng.choice(names): rng.choice(("", "a", "-1", "5", "10", str(2**63), "\x00", "doubt"))
        for _ in range(rng.randrange(3))
    }
    return client.get(path, params=query)


def malformed_request(client: Client, rng: random.Random) -> httpx.Response:
    """Send a request that would write, and is none: another form, or of things that are not."""
    path = rng.choice(POSTS).format(rng.choice((0, 10**9, "x", 2**64)))
    kind = rng.randrange(4)
    if kind == 0:
        data = bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
        return client.post(path, content=data, headers={"Content-Type": "application/json"})
    if kind == 1:
        return client.post(path, content=b"{}", headers={"Content-Type": "text/plain"})
    if path == "api/undo":  # without numbers it would be right: take back what was decided last
        body = json.dumps({"numbers": rng.choice((["x"], -1, [2**64], None, "1", [[]]))})
    elif kind == 2:
        body = json.dumps(rng.choice(VALUES))
    else:
        keys = rng.choices(KEYS, k=rng.randrange(1, 5))
        body = json.dumps({key: rng.choice(VALUES) for key in keys})
    return client.post(path, content=body.encode(), headers={"Content-Type": "application/json"})


def contents(project: Path) -> dict[str, Any]:
    """Return how many rows each table has, and all decisions."""
    with Project.open(project) as opened, opened.snapshot() as sql:
        names = [
            name for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        found: dict[str, Any] = {
            name: sql.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names
        }
        return {**found, "all decisions": sql.execute("SELECT * FROM decisions").fetchall()}


def measure(faces: int, people: int, decisions: int, seed: int = 0) -> dict[str, Any]:
    """Return all figures of one made-up project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "large.candidly")
        make_project(project, faces, people, seed)
        start = time.perf_counter()
        server = RunningReview(project)
        try:
            with server.client() as client:
                started = time.perf_counter() - start
                ready = [page_ready(client) for _ in range(5)]
                seconds = two_tabs(server.address, decisions)
                memory = server.memory()
                before, rng = contents(project), random.Random(seed)
                statuses = [random_request(client, rng).status_code for _ in range(1000)]
                statuses += [malformed_request(client, rng).status_code for _ in range(500)]
                unchanged = contents(project) == before
        finally:
            server.end()
    milliseconds = 1000 * np.array(seconds)
    return {
        "faces": faces,
        "names": people,
        "server started s": round(started, 2),
        "page ready s, first": round(ready[0], 3),
        "page ready s, median of five": round(float(np.median(ready)), 3),
        "decisions": len(milliseconds),
        "decision ms, median": round(float(np.median(milliseconds)), 1),
        "decision ms, 95th percentile": round(float(np.percentile(milliseconds, 95)), 1),
        "memory MB": round(memory["now"]),
        "memory MB, most": round(memory["most"]),
        "requests with 5xx": sum(status >= 500 for status in statuses),
        "random or malformed requests": len(statuses),
        "nothing changed by them": unchanged,
        "cores": os.cpu_count(),
    }


def main(
    faces: Annotated[int, typer.Option(help="Faces of the project.")] = 100_000,
    people: Annotated[int, typer.Option(help="Names of the project.")] = 10_000,
    decisions: Annotated[int, typer.Option(help="Decisions to time.")] = 400,
    out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
) -> None:
    """Measure candidly review on a made-up project."""
    found = measure(faces, people, decisions)
    console = Console()
    for name, value in found.items():
        console.print(f"{name}: {value}", highlight=False)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
