"""Runs that were stored, and questions about them: means, differences, points of a grid."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.declaration import PaperRun, key
from benchmarks.paper.measurements import unpacked
from candidly import json_lines

Line = dict[str, Any]
FACES_OF_LOST = 1122
ENOUGH = 3
"""Repeats from which a standard error is taken for one."""
SAME_CODE = "same_code.json"
"""File with pairs of fingerprints whose code gives the same, as runs made again showed."""


class NotRunError(LookupError):
    """Raised where a question needs runs that are not stored yet."""


class FailedError(NotRunError):
    """Raised where all runs that a question needs failed."""


@dataclass(frozen=True)
class Difference:
    """Mean of first - second, paired, with its standard error; in percent points.

    The count is that of the pairs; of fewer than ``ENOUGH`` a standard error says little, and
    nothing is beyond it.
    """

    mean: float
    error: float
    count: int = ENOUGH

    def below(self, sure: float = 2.0) -> bool:
        """Return whether the first is smaller, beyond so many standard errors."""
        return self.count >= ENOUGH and self.mean < 0 and self.mean < -sure * self.error

    def above(self, sure: float = 2.0) -> bool:
        """Return whether the first is larger, beyond so many standard errors."""
        return self.count >= ENOUGH and self.mean > 0 and self.mean > sure * self.error

    def known(self, where: str) -> None:
        """Raise an error if there is only one repeat."""
        if not np.isfinite(self.error):
            raise NotRunError(f"{where}, more than one repeat")

    def __str__(self) -> str:
        spread = f"{self.error:.1f}" if np.isfinite(self.error) else "?"
        return f"{self.mean:+.1f} ± {spread}"


class PaperResults:
    """Runs of one experiment or of several.

    Parameters
    ----------
    lines : list of dict
        Stored lines; the last one per method, point and seed counts, so that runs of an
        earlier declaration are not mixed in.
    same : set of (str, str), optional
        Fingerprints of code, old and new, that give the same.
    """

    def __init__(self, lines: list[Line], same: set[tuple[str, str]] | None = None) -> None:
        self._same = same or set()
        last = {_place(line): line for line in lines}
        self.lines = sorted(last.values(), key=lambda line: line["seed"])
        self._codes = {
            key({**line["settings"], "seed": line["seed"]}): line.get("code") for line in self.lines
        }
        self._of: dict[tuple[str, str, str | None], list[Line]] = defaultdict(list)
        for line in self.lines:
            settings = line["settings"]
            place = settings["experiment"], settings.get("part", "")
            self._of[*place, settings["method"]].append(line)
            self._of[*place, None].append(line)

    @classmethod
    def read(cls, folder: Path) -> PaperResults:
        """Read every run in a folder; files of other experiments may be there too."""
        lines = [line for path in sorted(folder.glob("*.jsonl")) for line in json_lines.read(path)]
        runs = [line for line in lines if {"settings", "seed", "figures"} <= line.keys()]
        return cls(runs, same_code(folder))

    def has(self, of: str, code: str) -> bool:
        """Return whether a run is stored, by code that gives the same."""
        if of not in self._codes:
            return False
        made_by = self._codes[of]
        return made_by == code or (made_by, code) in self._same

    def __contains__(self, run: PaperRun) -> bool:
        return run.key in self._codes

    def select(
        self, experiment: str, method: str | None = None, part: str = "", **at: Any
    ) -> Iterator[Line]:
        """Yield lines of an experiment, by seed; keys of ``at`` have spaces: give it as **{...}."""
        for line in self._of.get((experiment, part, method), ()):
            there = line["settings"]["at"]
            if all(there.get(name) == value for name, value in at.items()):
                yield line

    def figures(
        self, name: str, experiment: str, method: str, part: str = "", **at: Any
    ) -> NDArray[np.float64]:
        """Return a figure over the seeds, without runs that failed; raise where none is left."""
        lines = list(self.select(experiment, method, part, **at))
        if not lines:
            raise NotRunError(_where(experiment, method, at))
        worked = [line["figures"] for line in lines if not line["figures"].get("reason")]
        found = [figures[name] for figures in worked if figures.get(name) is not None]
        if worked and not found:
            raise NotRunError(f"{_where(experiment, method, at)}, {name}")
        if not found:
            raise FailedError(f"{_where(experiment, method, at)} failed")
        return np.array(found, dtype=float)

    def mean(self, experiment: str, method: str, part: str = "", **at: Any) -> float:
        """Return the mean error in percent."""
        return float(self.figures("error", experiment, method, part, **at).mean())

    def points(self, experiment: str, name: str, part: str = "") -> list[Any]:
        """Return the points of a grid at which runs were made, in order."""
        found = {line["settings"]["at"][name] for line in self.select(experiment, part=part)}
        if not found:
            raise NotRunError(experiment)
        return sorted(found)

    def difference(
        self, experiment: str, first: str, second: str, part: str = "", **at: Any
    ) -> Difference:
        """Return the error of the first minus that of the second, by seed, or by face on Lost."""
        pairs = list(self._pairs(experiment, first, second, part, **at).values())
        if len(pairs) == 1 and all("wrong" in figures for figures in pairs[0]):
            return by_instance(pairs[0][0]["wrong"], pairs[0][1]["wrong"])
        return difference_of([one["error"] - two["error"] for one, two in pairs])

    def overall(
        self, experiment: str, first: str, second: str, axis: str, points: list[Any]
    ) -> Difference:
        """Return the difference over several points, of the seeds that were run at all of them."""
        found = [self._pairs(experiment, first, second, **{axis: point}) for point in points]
        seeds = set.intersection(*map(set, found))
        if len(seeds) < 2:
            raise NotRunError(f"{experiment}: {first} and {second}, two repeats at all points")
        return difference_of(
            [
                np.mean([of[seed][0]["error"] - of[seed][1]["error"] for of in found])
                for seed in sorted(seeds)
            ]
        )

    def _pairs(
        self, experiment: str, first: str, second: str, part: str = "", **at: Any
    ) -> dict[int, tuple[Line, Line]]:
        """Return figures of both methods by seed, of the seeds with which both were run."""
        one, two = (
            {
                line["seed"]: line["figures"]
                for line in self.select(experiment, method, part, **at)
                if line["figures"].get("error") is not None
            }
            for method in (first, second)
        )
        if not one.keys() & two.keys():
            raise NotRunError(_where(experiment, second if one else first, at))
        return {seed: (one[seed], two[seed]) for seed in one if seed in two}


def same_code(folder: Path) -> set[tuple[str, str]]:
    """Return pairs of fingerprints, old and new, that were checked to give the same."""
    path = folder / SAME_CODE
    if not path.is_file():
        return set()
    return {(old, new) for old, new in json.loads(path.read_text(encoding="utf-8"))}


def _place(line: Line) -> str:
    settings = line["settings"]
    asked = {name: settings.get(name, "") for name in ("experiment", "part", "at", "method")}
    return key({**asked, "seed": line["seed"]})


def _where(experiment: str, method: str, at: dict[str, Any]) -> str:
    place = ", ".join(f"{name} {value}" for name, value in at.items())
    return f"{experiment}: {method}" + (f" at {place}" if place else "")


def difference_of(values: list[Any]) -> Difference:
    """Return the mean of paired differences, with its standard error."""
    gaps = np.array(values, dtype=float)
    # One repeat has no spread, so nothing is beyond it.
    spread = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.inf
    return Difference(float(gaps.mean()), float(spread), len(gaps))


def by_instance(one: str, two: str, count: int = FACES_OF_LOST) -> Difference:
    """Return the difference of two labellings of the same instances, with its standard error.

    Examples
    --------
    >>> from benchmarks.paper.measurements import packed
    >>> import numpy as np
    >>> first, second = np.zeros(100, bool), np.zeros(100, bool)
    >>> second[:4] = True
    >>> str(by_instance(packed(first), packed(second), 100))
    '-4.0 ± 2.0'
    """
    gaps = unpacked(one, count).astype(float) - unpacked(two, count).astype(float)
    return Difference(100 * float(gaps.mean()), 100 * float(gaps.std() / np.sqrt(count)))
