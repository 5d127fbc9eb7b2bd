"""What a search over families found: its trials, and the choice between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from candidly.selection.families import FamilySetting
from candidly.selection.hiding import VIEWS, Hiding, average
from candidly.solvers.arrays import Floats

LABEL, INPUT = "label", "input"
"""What candidate sets follow."""


@dataclass
class Trial:
    """A setting that was tried.

    Attributes
    ----------
    setting : FamilySetting
    hidden : list of (c, n) arrays
        Soft labels of the instances hidden in each view so far.
    seconds : float
    labels, scores : (E,) array or None
        Soft labels of all instances, and what orders equal ones; only if the setting counts.
    weight : float
        Weight in the average.
    told : (n,) array or None
        What the guesses for the hidden instances tell about their sets.
    """

    setting: FamilySetting
    hidden: list[Floats] = field(default_factory=list)
    seconds: float = 0.0
    labels: Floats | None = None
    scores: Floats | None = None
    weight: float = 0.0
    told: NDArray[np.float64] | None = None

    @property
    def guess(self) -> NDArray[np.intp]:
        """The label found for each hidden instance, in the order of the views."""
        return np.concatenate(self.hidden, axis=1).argmax(axis=0)


@dataclass(frozen=True)
class LeftOut:
    """Soft labels (c, n) of some instances (n,), found with their sets hidden."""

    rows: NDArray[np.intp]
    labels: Floats

    @property
    def fold(self) -> NDArray[np.intp]:
        """Parts of the instances, for what is counted on some and used on others."""
        return np.arange(len(self.rows)) % VIEWS


@dataclass(frozen=True)
class Choice:
    """What a search chose, and the evidence.

    Attributes
    ----------
    trials : list of Trial
        Everything tried with all views, best first; those with weight have labels.
    told : list of float
        What the guesses of each trial tell about hidden sets on average, in nats.
    covered : list of float
        How often the guesses of each trial are in the hidden set.
    follows : str
        What candidate sets follow, "label" or "input".
    told_by_features : float or None
        What features themselves tell about the sets, unless that would take too long.
    beats_floor : bool
        Whether a family tells more than the frequency of candidates does.
    sample : (n,) array of int
        Instances on which settings were scored.
    hiding : Hiding
        Their views.
    left_out : LeftOut or None
        What is found for hidden sets when all others are shown, where the sample is only a part.
    """

    trials: list[Trial]
    told: list[float]
    covered: list[float]
    follows: str
    told_by_features: float | None
    beats_floor: bool
    sample: NDArray[np.intp]
    hiding: Hiding
    left_out: LeftOut | None = None

    @property
    def counted(self) -> list[Trial]:
        """The trials that have a part in the labels."""
        return [trial for trial in self.trials if trial.weight > 0]

    def disagreement(self, found: NDArray[np.intp]) -> float:
        """Return how often the best other family gives another label than the one found (N,)."""
        best = self.trials[0].setting.labeller
        others = [
            (told, trial)
            for told, trial in zip(self.told, self.trials, strict=True)
            if trial.setting.labeller not in (best, "frequency") and trial.hidden
        ]
        if not others:
            return 0.0
        _, other = max(others, key=lambda pair: pair[0])
        rows = self.hiding.rows(len(other.hidden))
        sets = self.hiding.mask[:, rows]
        soft = np.concatenate(other.hidden, axis=1)
        guess = np.where(sets, soft, -1.0).argmax(axis=0)
        return float((guess != found[self.sample[rows]]).mean())

    def hidden(self, views: int = VIEWS) -> Floats:
        """Return averaged soft labels of the instances that were hidden, in the order of views."""
        # Denoised features are scored on fewer views.
        counted = [trial for trial in self.counted if len(trial.hidden) >= views]
        weight = np.array([trial.weight for trial in counted])
        soft = average([np.concatenate(t.hidden[:views], axis=1) for t in counted], weight)
        return np.asarray(soft / soft.sum(axis=0), dtype=np.float64)
