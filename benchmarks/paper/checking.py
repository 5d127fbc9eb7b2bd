"""Stored runs made again: whether they agree, and code that is known to give the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paper.declaration import Experiment, PaperRun, key, planned
from benchmarks.paper.execution import code_of, line_of
from benchmarks.paper.stored_runs import SAME_CODE, Line, PaperResults, same_code

SLACK = 1e-9
COMPARED = (
    *("error", "labelling_error", "common_error", "labels", "wrong", "near_after", "by_round"),
    *("test_by_round", "rank"),
)
"""Figures that have to be the same; seconds and the last digits of residuals need not."""


@dataclass(frozen=True)
class Checked:
    """A run made again: which figures differ, as stored and as found now."""

    run: PaperRun
    stored: Line
    differs: dict[str, tuple[Any, Any]]

    def __str__(self) -> str:
        at = ", ".join(f"{name} {value}" for name, value in self.run.cell.at.items())
        where = f"{self.run.experiment.name}, {at}, {self.run.entry.name}, seed {self.run.seed}"
        if not self.differs:
            return f"agrees: {where}"
        short = {name: f"{a!s:.40} -> {b!s:.40}" for name, (a, b) in self.differs.items()}
        return f"DIFFERS: {where}: {short}"


def check(
    experiments: tuple[Experiment, ...],
    folder: Path,
    count: int,
    *,
    seed: int = 0,
    watch: Callable[[Checked], None] | None = None,
) -> list[Checked]:
    """Make randomly drawn stored runs again, and compare.

    Runs that failed, and runs of declarations that are gone, are not drawn.
    """
    stored = {
        key({**line["settings"], "seed": line["seed"]}): line
        for line in PaperResults.read(folder).lines
        if not line["figures"].get("reason")
    }
    repeats = 1 + max((line["seed"] for line in stored.values()), default=-1)
    runs = [run for run in planned(experiments, repeats=repeats) if run.key in stored]
    found = []
    for run in random.Random(seed).sample(runs, min(count, len(runs))):
        line = stored[run.key]
        again = line_of(run)["figures"]
        differs = {
            name: (line["figures"][name], again.get(name))
            for name in COMPARED
            if name in line["figures"] and not _same(line["figures"][name], again.get(name))
        }
        found.append(Checked(run, line, differs))
        if watch is not None:
            watch(found[-1])
    return found


def accept(experiments: tuple[Experiment, ...], folder: Path) -> int:
    """Note that the code of all stored runs gives the same as the code now; return how many."""
    pairs = same_code(folder)
    before = len(pairs)
    stored = {
        key({**line["settings"], "seed": line["seed"]}): line.get("code")
        for line in PaperResults.read(folder).lines
    }
    now: dict[tuple[str, str, str], str] = {}
    repeats = 1 + max((json.loads(text)["seed"] for text in stored), default=-1)
    for run in planned(experiments, repeats=repeats):
        old = stored.get(run.key)
        if old is None:
            continue
        kind = run.experiment.protocol, run.entry.name, key(run.cell.params)
        if kind not in now:
            now[kind] = code_of(run)
        if old != now[kind]:
            pairs.add((old, now[kind]))
    text = json.dumps(sorted(map(list, pairs)), indent=1)
    (folder / SAME_CODE).write_text(text + "\n", encoding="utf-8")
    return len(pairs) - before


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, float) or isinstance(two, float):
        return two is not None and abs(float(one) - float(two)) <= SLACK
    return bool(one == two)
