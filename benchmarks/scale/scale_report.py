"""The tables of ``docs/scale.md``, drawn from the stored figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.documents import put_into

DOCUMENT = Path("docs/scale.md")
SETS = "Lost, MSRCv2, BirdSong and newsroom"
DRIVERS = {
    "agreement": f"by both drivers on {SETS}",
    "agreement-drawn": "out of core on random tenths of these, with equal weights and with "
    "weights of six orders: as they are, with a broken row, far from 0, in another order, with "
    "skewed classes",
}
"""Parts that compare drivers, and how."""


def rows_of(stored: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return what was measured, what was asked, and what was found."""
    found = []
    for part, how in DRIVERS.items():
        if not (agreement := stored.get(part)):
            continue
        pairs = [one for one in agreement.values() if "labels that differ" in one]
        differ = sum(one["labels that differ"] for one in pairs)
        most = max(one["largest difference of a soft label"] for one in pairs)
        what = f"{len(pairs)} solves {how}"
        asked = "labels of `fit`; distributions to 1e-7"
        more = sum(one.get("predictions that differ", 0) for one in pairs)
        reached = f"{differ} labels differ; distributions by {most:.0e} at most"
        if any("predictions that differ" in one for one in pairs):
            reached += f"; {more} predictions"
        reached += f"; {sum(one.get('doubts that differ', 0) for one in pairs)} doubts"
        found.append((what, asked, reached))
    if one := stored.get("out-of-core"):
        what = f"`RowSpace()`, {one['instances']:,} x {one['features']}, {one['names']:,} names, "
        what += "`max_memory` 1 GB, process limited to 1.5 GB"
        reached = (
            f"{one['seconds']:.0f} s, {one['CPU seconds']:.0f} CPU s, {one['iterations']} rounds, "
            f"peak {one['peak resident MB']:.0f} MB, {one['times the floor']:.1f} times the floor "
            f"({one['CPU seconds over CPU seconds of the floor']:.1f} in CPU seconds)"
        )
        found.append((what, "finishes; 3 times the floor", reached))
    if one := stored.get("elimination-out-of-core"):
        reached = (
            f"{one['seconds']:.0f} s, {one['CPU seconds']:.0f} CPU s, {one['iterations']} "
            f"eliminations, peak {one['peak resident MB']:.0f} MB"
        )
        found.append(("the same by ICE over RowSpace", "finishes", reached))
    if one := stored.get("open-set-out-of-core"):
        reached = (
            f"{one['seconds']:.0f} s, {one['CPU seconds']:.0f} CPU s, peak "
            f"{one['peak resident MB']:.0f} MB, {100 * one['error']:.2f}% of the labels wrong"
        )
        what = f"`OpenSet()`, {one['instances']:,} of these, a fifth of them nobody's"
        found.append((what, "finishes", reached))
    if one := stored.get("memory"):
        what = f"resident memory of {one['solves']} solves out of core of other shapes"
        found.append((what, "`max_memory`", f"{one['largest share']:.2f} x at most"))
    if one := stored.get("ray-round"):
        what = f"a round on two workers of Ray, {one['instances']:,} x 128, against one core"
        reached = (
            f"{one['ratio of medians']:.2f} x (fastest rounds {one['ratio of the fastest']:.2f})"
        )
        found.append((what, "0.75 x", reached))
    if one := stored.get("ray-overhead"):
        milliseconds = (
            f"{one['milliseconds of a round']:.0f} ms ({one['of the fastest']:.0f} at best)"
        )
        found.append(("a round on Ray at tiny size", "30 ms", milliseconds))
    for name, what in (
        ("kills-ray", "a worker of Ray killed at a random round"),
        ("kills-out-of-core", "an out-of-core solve killed (SIGKILL)"),
    ):
        if one := stored.get(name):
            reached = f"{one['finished']} of {one['trials']} finish, {one['identical']} identical"
            found.append((what, f"{one['trials']} finish with identical labels", reached))
    return found


def renew(stored: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Draw both tables again."""
    lines = ["| measured | asked | reached |", "|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows_of(stored)]
    busy = [one["machine"]["busy processes"] for one in stored.values() if "machine" in one]
    if busy:
        where = next(one["machine"] for one in stored.values() if "machine" in one)
        lines += [
            "",
            f"Measured on {where['processor']}, {where['cores']} cores, Python {where['python']}, "
            f"numpy {where['numpy']}, with {min(busy):.0f} to {max(busy):.0f} processes running.",
        ]
    put_into(document, "\n".join(lines) + "\n", "scale")
    if expected := stored.get("expectation"):
        lines = ["| computed | |", "|---|---:|"]
        for name, value in expected.items():
            if not isinstance(value, bool):
                shown = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
                lines.append(f"| {name} | {shown} |")
        put_into(document, "\n".join(lines) + "\n", "scale-expectation")
