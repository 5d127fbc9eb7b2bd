"""Stored runs under one setting of the paper's methods, by one measure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.paper.experiments import experiment as declared
from benchmarks.paper.measurements import unpacked
from benchmarks.paper.method_entries import VARIANTS
from benchmarks.paper.settings import PaperSetting
from benchmarks.paper.stored_runs import NotRunError, PaperResults

KEPT_BACK = ("halves", "photos", "kept-back", "elimination-kept-back")
"""Protocols in which a part of the data is kept back to test on."""
TESTED_BY = {
    name: f"{name}-test"
    for name in (
        *("fiw-extra", "shifted", "pie-fraction", "pie-extra", "lost", "projection"),
        *("parameters", "elimination"),
    )
}
"""Experiments in which the paper keeps nothing back, and the same problems with a part kept back:
what claims about them are judged on by test error."""


class StoredFigures(dict[str, Any]):
    """Figures of a run; one that it has not counts as not run."""

    def __missing__(self, name: str) -> Any:
        raise NotRunError(f"a run with the figure {name}")


class NoTestError(LookupError):
    """Raised where a test error is asked for and nothing is kept back."""


@dataclass(frozen=True)
class SettingView:
    """Stored runs as a rule sees them: it names methods, the setting is filled in.

    Parameters
    ----------
    results : PaperResults
    setting : PaperSetting
    measure : "labels" or "test"
    asked : set of str
        Experiments whose errors were asked for so far: a rule that asks for none has no verdict by
        test error of its own.
    """

    results: PaperResults
    setting: PaperSetting
    measure: str
    asked: set[str] = field(default_factory=set, compare=False, repr=False)

    def run_as(self, experiment: str) -> str:
        """Return the experiment that has the measure: one with a part kept back for test errors.

        Examples
        --------
        >>> from benchmarks.paper.settings import FAITHFUL
        >>> SettingView(PaperResults([]), FAITHFUL, "test").run_as("lost")
        'lost-test'
        """
        return TESTED_BY.get(experiment, experiment) if self.measure == "test" else experiment

    def named(self, method: str, experiment: str, on: str = "") -> str:
        """Return the name under which a method is stored; others than the paper's stay."""
        kind, _, base = method.rpartition(": ")
        plain, comma, more = base.partition(", ")
        if plain not in VARIANTS:
            return method
        ending = self.setting.ending(experiment, on)
        return f"{kind}{': ' if kind else ''}{plain}{ending}{comma}{more}"

    def figure_name(self, experiment: str) -> str:
        """Return the stored figure that the measure is."""
        self.asked.add(experiment)
        tested = declared(self.run_as(experiment)).protocol in KEPT_BACK
        if self.measure == "test":
            if not tested:
                raise NoTestError(experiment)
            return "common_error"
        return "labelling_error" if tested else "error"

    def by_seed(
        self, experiment: str, method: str, part: Any = "", figure: Any = "", **at: Any
    ) -> dict[int, float]:
        """Return a figure by seed; raise where it was not run."""
        wanted = figure or self.figure_name(experiment)
        experiment = self.run_as(experiment)
        name = self.named(method, experiment, str(at.get("on", at.get("projection", ""))))
        lines = list(self.results.select(experiment, name, part, **at))
        found = {
            line["seed"]: float(line["figures"][wanted])
            for line in lines
            if line["figures"].get(wanted) is not None
        }
        if not found:
            place = ", ".join(f"{key} {value}" for key, value in at.items())
            raise NotRunError(f"{experiment}: {name}{' at ' + place if place else ''}, {wanted}")
        return found

    def mean(self, experiment: str, method: str, part: Any = "", **at: Any) -> float:
        """Return the mean over seeds."""
        return float(np.mean(list(self.by_seed(experiment, method, part, **at).values())))

    def stored(self, experiment: str, method: str, part: Any = "", **at: Any) -> list[Any]:
        """Return the figures of all repeats."""
        name = self.named(method, experiment, str(at.get("on", at.get("projection", ""))))
        found = [
            StoredFigures(line["figures"])
            for line in self.results.select(experiment, name, part, **at)
            if not line["figures"].get("reason")
        ]
        if not found:
            raise NotRunError(f"{experiment}: {name}")
        return found

    def faces(self, experiment: str, method: str, **at: Any) -> Any:
        """Return which instances are wrong, where there is one data set for all."""
        return unpacked(self.stored(experiment, method, **at)[0]["wrong"])

    def points(self, experiment: str, axis: str, low: float, high: float) -> list[Any]:
        """Return the declared points of a grid, of those that a claim is about."""
        cells = declared(self.run_as(experiment)).cells
        found = {cell.at[axis] for cell in cells if axis in cell.at}
        return sorted(x for x in found if low <= x <= high)
