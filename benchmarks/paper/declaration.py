"""Declaration of experiments: data, methods, parameters and seeds; nothing is run here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from candidly import ICE, methods

COMMAND = "python -m benchmarks.paper"
REPEATS = 20
"""Number of repeats, as in the paper."""
QUICK_REPEATS = 3
REFERENCE = "true labels"
"""Name of a method that is given the truth: the best that the second stage can do."""


@dataclass(frozen=True)
class MethodEntry:
    """A line of a figure or table: a method of the registry, with its parameters.

    Parameters
    ----------
    name : str
        Name in figures; it includes parameters other than the defaults.
    method : str
        Name in the registry, or ``REFERENCE``.
    params : dict
        Parameters of the method.
    quick : bool
        Whether the quick run includes it.
    eliminates : bool
        Whether candidates are eliminated over the method (ICE).
    """

    name: str
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    quick: bool = True
    eliminates: bool = False

    def make(self, more: dict[str, Any]) -> Any:
        """Return the estimator with further parameters; ICE passes on those of its estimator."""
        model = methods.get(self.method)
        if self.eliminates:
            model = ICE(model)
        own = model.get_params()
        wanted = {**self.params, **more}
        return model.set_params(
            **{name if name in own else f"estimator__{name}": wanted[name] for name in wanted}
        )

    def takes(self, name: str) -> bool:
        """Return whether the method has such a parameter."""
        if self.method == REFERENCE:
            return False
        own = methods.get(self.method).get_params()
        return name in own or f"estimator__{name}" in own


@dataclass(frozen=True)
class Cell:
    """A point of a grid: what is varied, and on which data.

    Parameters
    ----------
    at : dict
        What distinguishes this point from others, in words: {"extra labels": 3}.
    data : str
        Name of a data set.
    options : dict
        Options of its loader.
    ambiguity : dict
        How candidates are made, as in :func:`candidly.make_ambiguous`; empty where the data
        has its own.
    params : dict
        Parameters of the methods, in addition to their own.
    part : str
        The figure of the experiment that it belongs to.
    methods : tuple of str
        Names of the entries that are run here; all if empty.
    most : int, optional
        Largest number of repeats, if more cannot differ.
    quick : bool
        Whether the quick run includes it.
    """

    at: dict[str, Any]
    data: str
    options: dict[str, Any] = field(default_factory=dict)
    ambiguity: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    part: str = ""
    methods: tuple[str, ...] = ()
    most: int | None = None
    quick: bool = True


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        What is done, in one line.
    place : str
        Where it is in the paper.
    protocol : str
        How a run is measured: a name in ``protocols.PROTOCOLS``.
    cells : tuple of Cell
    methods : tuple of MethodEntry
    differs : str
        What is not as in the paper, and why.
    """

    name: str
    title: str
    place: str
    protocol: str
    cells: tuple[Cell, ...]
    methods: tuple[MethodEntry, ...]
    differs: str = ""

    def entries(self, cell: Cell) -> tuple[MethodEntry, ...]:
        """Return the methods that are run at a point."""
        return tuple(e for e in self.methods if not cell.methods or e.name in cell.methods)


@dataclass(frozen=True)
class PaperRun:
    """One measurement to be made: a method at a point of an experiment, with a seed.

    The device is where it is solved, if the method can use another one than the CPU.
    """

    experiment: Experiment
    cell: Cell
    entry: MethodEntry
    seed: int
    device: str | None = None

    @property
    def key(self) -> str:
        """Settings and seed as text, which identify a run."""
        return key(self.settings | {"seed": self.seed})

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the result depends on, except seed, version and device; nothing empty."""
        every = {
            "experiment": self.experiment.name,
            "part": self.cell.part,
            "at": self.cell.at,
            "protocol": self.experiment.protocol,
            "data": self.cell.data,
            "options": self.cell.options,
            "ambiguity": self.cell.ambiguity,
            "method": self.entry.name,
            "params": {**self.entry.params, **self.cell.params},
        }
        return {name: value for name, value in every.items() if value}


def key(settings: dict[str, Any]) -> str:
    """Return settings as text, in sorted order."""
    return json.dumps(settings, sort_keys=True)


def planned(
    experiments: tuple[Experiment, ...],
    *,
    repeats: int = REPEATS,
    quick: bool = False,
    device: str | None = None,
) -> list[PaperRun]:
    """Return all runs, the first repeat of everything first.

    Examples
    --------
    >>> from benchmarks.paper import EXPERIMENTS, planned
    >>> runs = planned(EXPERIMENTS, repeats=2)
    >>> [run.seed for run in runs] == sorted(run.seed for run in runs)
    True
    """
    return [
        PaperRun(
            experiment, cell, entry, seed, device if device and entry.takes("device") else None
        )
        for seed in range(repeats)
        for experiment in experiments
        for cell in experiment.cells
        for entry in experiment.entries(cell)
        if (cell.most is None or seed < cell.most) and (not quick or (cell.quick and entry.quick))
    ]
