"""What a fit found, how sure it is and what to try: text, HTML and a picture, without truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from candidly.base import confidence
from candidly.candidates.ambiguity import always_together
from candidly.extras import require
from candidly.selection.calibration import ErrorEstimate
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.candidate_sets import CandidateSets

if TYPE_CHECKING:
    from candidly.selection.choice import Choice, Trial

UNSURE = 0.6
"""Confidence below which a row is told as unsure."""
CONFUSED, FEWEST, SHOWN = 0.2, 2.0, 5
"""Share and expected number of instances from which on a pair is confused; how many are told."""
WIDE = 0.10
"""Width of an error interval that is told as wide."""
DISAGREE = 0.7
"""Share of instances on which families agree below which that is told."""
FLOOR = "frequency"
"""The labeller that uses no features."""
TENTHS = 10
"""Parts of the histogram of confidence."""


@dataclass(frozen=True)
class FamilyScore:
    """What a family of labellers scored, by its best setting, and its part in the labels.

    ``agreement`` is the share of instances that have the label found, of those whose set was
    hidden, when the family's labels are restricted to the set afterwards.
    """

    labeller: str
    setting: str
    settings: int
    information: float
    covering_rate: float
    weight: float
    agreement: float


@dataclass(frozen=True)
class ConfusedPair:
    """Two classes, and the probability that an instance of one, of so many, is of the other.

    These are the instances that list both and have one of them as their label; probabilities are
    found with their sets hidden. Features that do not tell the classes apart give 0.5.
    """

    one: Any
    other: Any
    share: float
    count: int


@dataclass(frozen=True)
class ChoiceSummary:
    """What a choice of families leaves for a report; classes are columns.

    A null class, where nothing is chosen, leaves ``inseparable`` only.
    """

    inseparable: tuple[tuple[int, ...], ...]
    families: tuple[FamilyScore, ...] = ()
    follows: str | None = None
    told_by_features: float | None = None
    beats_floor: bool = True
    agreement: float | None = None
    confused: tuple[ConfusedPair, ...] = ()
    too_large: tuple[str, ...] = ()

    @classmethod
    def of_sets(cls, sets: CandidateSets) -> Self:
        """Return what candidate sets alone say."""
        return cls(tuple(always_together(sets.rows(np.ones(len(sets))))))

    @classmethod
    def of(
        cls,
        choice: Choice,
        found: NDArray[np.intp],
        sets: CandidateSets,
        hidden: Floats,
        too_large: tuple[str, ...] = (),
    ) -> Self:
        """Return the summary of a choice that found labels (N,).

        ``hidden`` are the averaged soft labels of instances whose set was hidden, ``too_large`` the
        families that were left out.
        """
        found = found[choice.sample]
        best: dict[str, list[int]] = {}
        for k, trial in enumerate(choice.trials):
            if trial.hidden:  # with set noise, those that count alone
                best.setdefault(trial.setting.labeller, []).append(k)
        floor = max([0.0, *(choice.told[k] for k in best.get(FLOOR, []))])
        families, guesses = [], []
        for labeller, tried in best.items():
            top = max(tried, key=lambda k: (choice.trials[k].weight, choice.told[k]))
            # Set noise predicts all instances; the first views are those of everybody.
            guess = _restricted(choice, choice.trials[top])[: len(choice.hiding.rows())]
            if labeller != FLOOR and choice.told[top] > floor:
                guesses.append(guess)
            families.append(
                FamilyScore(
                    labeller,
                    in_words(choice.trials[top].setting.params),
                    len(tried),
                    choice.told[top],
                    choice.covered[top],
                    sum(choice.trials[k].weight for k in tried),
                    float((guess == found[choice.hiding.rows()[: len(guess)]]).mean()),
                )
            )
        rows = choice.hiding.rows()
        confused = _confused(hidden, found[rows], choice.hiding.mask[:, rows])
        return cls(
            cls.of_sets(sets).inseparable,
            tuple(families),
            choice.follows,
            choice.told_by_features,
            choice.beats_floor,
            _agreement(guesses),
            confused if choice.beats_floor else (),
            too_large,
        )


def _restricted(choice: Choice, trial: Trial) -> NDArray[np.intp]:
    """Return the best candidate of each hidden instance by labels found without its set."""
    rows = choice.hiding.rows(len(trial.hidden))
    soft = np.concatenate(trial.hidden, axis=1)
    return np.where(choice.hiding.mask[:, rows], soft, -1.0).argmax(axis=0)


def _agreement(guesses: Sequence[NDArray[np.intp]]) -> float | None:
    """Return the share of instances that all families give one label; None for one family."""
    if len(guesses) < 2:
        return None
    count = min(len(guess) for guess in guesses)
    same = [guess[:count] == guesses[0][:count] for guess in guesses]
    return float(np.all(same, axis=0).mean())


def _confused(hidden: Floats, found: NDArray[np.intp], mask: Mask) -> tuple[ConfusedPair, ...]:
    """Return pairs of classes of which hidden instances have much probability of the other one."""
    j, b = np.nonzero(mask.T)
    j, b = j[b != found[j]], b[b != found[j]]
    a = found[j]
    doubt = hidden[b, j] / np.maximum(hidden[a, j] + hidden[b, j], 1e-300)
    pairs, place = np.unique(np.minimum(a, b) * len(mask) + np.maximum(a, b), return_inverse=True)
    count = np.bincount(place, minlength=len(pairs))
    wrong = np.bincount(place, doubt, minlength=len(pairs))
    often = np.flatnonzero((wrong >= FEWEST) & (wrong >= CONFUSED * count))
    often = often[np.argsort(-wrong[often], kind="stable")][:SHOWN]
    one, other = np.divmod(pairs, len(mask))
    return tuple(
        ConfusedPair(int(one[k]), int(other[k]), float(wrong[k] / count[k]), int(count[k]))
        for k in often
    )


def in_words(params: Mapping[str, Any]) -> str:
    """Return a setting, as ``best_params_`` has it, in a few words.

    Examples
    --------
    >>> from candidly.selection.report import in_words
    >>> in_words({"labeller": "RowSpace", "scaling": "rank", "lift": "rbf", "width": 4.0})
    'RowSpace: scaling rank, lift rbf, width 4'
    """
    told = {**params}
    name = str(told.pop("labeller"))
    told.pop("sets_follow", None)
    parts = [
        key.replace("_", " ") + ("" if value is True else f" {_plain(value)}")
        for key, value in told.items()
        if value is not None and value is not False and value != "none"
    ]
    return f"{name}: {', '.join(parts)}" if parts else name


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class FitReport:
    """What a fitted :class:`CandidateClassifier` says about its labels, without truth.

    ``print`` shows it as text, notebooks as HTML, :meth:`plot` draws it.

    Attributes
    ----------
    chosen : str
        The setting with the largest weight.
    families : tuple of FamilyScore
        Families that were tried; empty with a null class, as are ``follows``, ``agreement``,
        ``confused`` and ``error``.
    follows : str or None
        What candidate sets follow, "label" or "input".
    told_by_features : float or None
        What the features themselves tell about sets, in nats; None where that was too much work,
        and sets are taken to follow the label.
    too_large : tuple of str
        Families that would have taken too long on all rows.
    beats_floor : bool
        Whether a family tells more than the frequency of candidates.
    agreement : float or None
        Share of hidden instances that all families better than the floor give the same of their
        candidates.
    n_rows, confidence, n_unsure : int, float, int
        Number of rows, their mean confidence, and how many have less than 0.6.
    histogram : tuple of int
        Number of rows in each tenth of confidence.
    error : ErrorEstimate or None
        Estimated share of wrong labels, with an interval.
    inseparable : tuple of tuples
        Classes that always occur together.
    confused : tuple of ConfusedPair
        Classes that are often taken for each other.
    rows : tuple of str
        What was found in the features: broken rows and columns.
    suspects : tuple
        Instances whose set probably lacks the true label, where that was asked for.
    doubts : tuple of str
        What makes all labels doubtful.
    n_broken : int
        Number of broken rows.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=2, random_state=0)
    >>> model = candidly.CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    >>> report = model.report()
    >>> report.follows, report.beats_floor, report.confused
    ('label', True, ())
    >>> report.error.low <= candidly.labelling_error(digits.y, model.transduction_)
    True
    """

    chosen: str
    families: tuple[FamilyScore, ...]
    follows: str | None
    told_by_features: float | None
    too_large: tuple[str, ...]
    beats_floor: bool
    agreement: float | None
    n_rows: int
    confidence: float
    n_unsure: int
    histogram: tuple[int, ...]
    error: ErrorEstimate | None
    inseparable: tuple[tuple[Any, ...], ...]
    confused: tuple[ConfusedPair, ...]
    rows: tuple[str, ...]
    n_broken: int
    suspects: tuple[Any, ...]
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the report of a fitted CandidateClassifier."""
        choice: ChoiceSummary = model.choice_
        names = model.classes_.tolist()
        sure = confidence(model)
        return cls(
            chosen=in_words(model.best_params_),
            families=choice.families,
            follows=choice.follows,
            told_by_features=choice.told_by_features,
            too_large=choice.too_large,
            beats_floor=choice.beats_floor,
            agreement=choice.agreement,
            n_rows=len(sure),
            confidence=float(sure.mean()),
            n_unsure=int(np.count_nonzero(sure < UNSURE)),
            histogram=tuple(np.histogram(sure, TENTHS, (0, 1))[0].tolist()),
            error=getattr(model, "error_estimate_", None),
            inseparable=tuple(tuple(names[k] for k in each) for each in choice.inseparable),
            confused=tuple(
                ConfusedPair(names[pair.one], names[pair.other], pair.share, pair.count)
                for pair in choice.confused
            ),
            rows=tuple(model.feature_report_.notes),
            n_broken=len(model.feature_report_.broken_rows),
            suspects=tuple(getattr(model, "suspect_", ())),
            doubts=model.solution_.doubts,
        )

    @property
    def advice(self) -> tuple[str, ...]:
        """What to try, most important first; empty where nothing is amiss."""
        rules = {
            "no family beats the floor: check that the features belong to these rows and tell the "
            "classes apart": not self.beats_floor,
            "sets follow the input: add rows with one sure label, or families=[SelfLabelling("
            "estimator)] with a classifier that suits the features": self.follows == "input",
            f"mend broken rows, or leave them out ({self.n_broken})": self.n_broken > 0,
            "give some rows of classes that always occur together a single label; nothing else "
            "tells them apart": bool(self.inseparable),
            "merge classes that are confused, or label some of their rows": bool(self.confused),
            "the families disagree: label some rows on which confidence is low": (
                self.agreement is not None and self.agreement < DISAGREE
            ),
            "the error interval is wide: add instances, or use RiskControlled, which asks for some "
            "labels and keeps a promise": (
                self.error is not None and self.error.high - self.error.low > WIDE
            ),
        }
        return tuple(sentence for sentence, applies in rules.items() if applies)

    @property
    def lines(self) -> list[str]:
        """The report as lines of text."""
        return [*self._choice(), *self._table(), *self._findings()]

    def _choice(self) -> list[str]:
        lines = [f"chosen: {self.chosen}"]
        if self.families and self.follows is not None:
            labels = max(family.information for family in self.families)
            by_labels = f"about hidden sets labels tell {labels:.2f} nats"
            if self.told_by_features is None:
                lines.append(by_labels)
            else:
                lines.append(
                    f"candidate sets follow the {self.follows}: {by_labels}, the features "
                    f"themselves {self.told_by_features:.2f}"
                )
        if self.too_large:
            left_out = " and ".join(self.too_large)
            lines.append(f"left out, since it would take too long on all rows: {left_out}")
        return lines

    def _table(self) -> list[str]:
        rows = self._cells()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
        return [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]

    def _cells(self) -> list[list[str]]:
        if not self.families:
            return []
        head = ["family", "settings", "information", "covering", "weight", "same label"]
        return [head] + [
            [
                family.labeller + " (floor)" * (family.labeller == FLOOR),
                str(family.settings),
                f"{family.information:.2f}",
                f"{family.covering_rate:.1%}",
                f"{family.weight:.2f}",
                f"{family.agreement:.1%}",
            ]
            for family in self.families
        ]

    def _findings(self) -> list[str]:
        lines = []
        if self.agreement is not None:
            lines.append(f"families agree on {self.agreement:.1%} of the hidden instances")
        lines.append(how_sure(self.confidence, self.n_unsure, self.n_rows))
        if self.error is not None:
            lines.append(f"labels that are wrong, estimated without truth: {self.error}")
        for names in self.inseparable:
            lines.append(f"always together, cannot be told apart: {', '.join(map(str, names))}")
        for pair in self.confused:
            lines.append(
                f"confused: {pair.one} and {pair.other}, on average {pair.share:.2f} of the "
                f"probability is the other's, of {pair.count} instances that list both"
            )
        lines += self.rows
        if self.suspects:
            some = "; ".join(map(str, self.suspects[:SHOWN]))
            lines.append(f"{len(self.suspects)} sets may lack the true label: {some}")
        lines += [f"doubtful: {doubt}" for doubt in self.doubts]
        return lines + [f"try: {sentence}" for sentence in self.advice]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        """Return the report for notebooks: sentences, and the families in a table."""
        cells = self._cells()
        table = "".join(_html_row(row, "td" if k else "th") for k, row in enumerate(cells))
        before, after = (
            "".join(f"<p>{escape(line)}</p>" for line in lines)
            for lines in (self._choice(), self._findings())
        )
        return before + f"<table>{table}</table>" * bool(cells) + after

    def plot(self) -> Any:
        """Return a matplotlib figure: what each family tells, and how sure the labels are.

        Needs the extra ``plot``. Notebooks show it; ``figure.savefig(path)`` writes it.
        """
        figure = require("matplotlib.figure", "plot").Figure(figsize=(9, 3.4), layout="constrained")
        *choice, sure = np.atleast_1d(figure.subplots(1, 2 if self.families else 1))
        for axis in choice:
            place = np.arange(len(self.families))
            axis.barh(place, [family.information for family in self.families], color="#1b7f4d")
            axis.set_yticks(place, [family.labeller for family in self.families], fontsize=9)
            axis.invert_yaxis()
            axis.set_xlabel("what labels tell about hidden sets, nats")
            axis.set_title(f"sets follow the {self.follows}", fontsize=11)
        edges = np.arange(TENTHS) / TENTHS
        sure.bar(edges, self.histogram, 0.9 / TENTHS, align="edge", color="#8a8f98")
        sure.set_xlabel("confidence")
        sure.set_ylabel("rows")
        wrong = "" if self.error is None else f"; wrong: {self.error}"
        sure.set_title(f"mean {self.confidence:.2f}{wrong}", fontsize=11)
        return figure


def how_sure(mean: float, n_unsure: int, n_rows: int) -> str:
    """Return a sentence about the confidence of labels."""
    return f"confidence {mean:.2f} on average, under {UNSURE} in {n_unsure} of {n_rows} rows"


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
