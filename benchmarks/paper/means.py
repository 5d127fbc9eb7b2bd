"""Summary of all results: mean, deviation and repeats of every method at every point."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from benchmarks.paper.declaration import key
from benchmarks.paper.stored_runs import PaperResults

WITHIN = ("experiment", "part", "at", "method")
FIGURES = ("error", "labelling_error", "common_error", "imbalance")


def summary(results: PaperResults, made_by: str) -> dict[str, Any]:
    """Return command, versions, machines, and one record per method and point.

    Examples
    --------
    >>> line = {"experiment": "lost", "at": {"data": "Lost"}, "method": "CLPL"}
    >>> runs = [
    ...     {"settings": line, "seed": k, "figures": {"error": e}, "version": "1", "machine": "m"}
    ...     for k, e in enumerate([10.0, 12.0])
    ... ]
    >>> small = summary(PaperResults(runs), "python -m benchmarks.paper")
    >>> small["machines"], small["results"][0]["error"]
    ({'m': 2}, {'mean': 11.0, 'deviation': 1.414, 'repeats': 2})
    """
    groups: dict[str, list[Any]] = defaultdict(list)
    for line in results.lines:
        where = {name: line["settings"][name] for name in WITHIN if name in line["settings"]}
        groups[key(where)].append((where, line["figures"]))
    return {
        "command": made_by,
        "versions": dict(Counter(line["version"] for line in results.lines)),
        "machines": dict(Counter(line["machine"] for line in results.lines)),
        "hours": round(
            sum(line["figures"].get("seconds") or 0 for line in results.lines) / 3600, 2
        ),
        "of before fingerprints": sum("code" not in line for line in results.lines),
        "results": [_of([f for _, f in group]) | group[0][0] for group in groups.values()],
    }


def as_text(small: dict[str, Any]) -> str:
    """Return a summary as JSON, with one line per method and point."""
    head = json.dumps({**small, "results": []}, ensure_ascii=False, indent=1)
    lines = ",\n".join(json.dumps(line, ensure_ascii=False) for line in small["results"])
    return head.replace('"results": []', f'"results": [\n{lines}\n]') + "\n"


def _of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in FIGURES:
        values = [run[name] for run in runs if run.get(name) is not None]
        if values:
            deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
            found[name] = {
                "mean": round(float(np.mean(values)), 3),
                "deviation": deviation and round(deviation, 3),
                "repeats": len(values),
            }
    return found
