"""Results of a comparison: one row per method and fold, means, tests and a table."""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from candidly.comparison.significance import Contrast, corrected_t_test, holm

if TYPE_CHECKING:
    from rich.table import Table

DONE, NOT_RUN = "done", "not run"
INTERRUPTED = "interrupted"
HELD_OUT = {"test_error": "test error", "covering_rate": "covering rate"}


@dataclass(frozen=True)
class FoldResult:
    """Result of one method on one fold; rates are fractions, None if there is nothing to count.

    ``labelling_error`` is that of the training part, ``test_error`` and ``covering_rate``
    are those of predictions for the held-out fold, ``seconds`` those of fit and predict.
    """

    method: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    status: str = NOT_RUN
    reason: str = ""
    labelling_error: float | None = None
    test_error: float | None = None
    covering_rate: float | None = None
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class MethodSummary:
    """Result of one method over its folds: mean and standard deviation of each measure.

    A method that did not finish all folds is "not run" and has no means: means over some folds
    cannot be compared with means over all.
    """

    method: str
    status: str
    reason: str
    done: int
    planned: int
    labelling_error: tuple[float, float] | None = None
    test_error: tuple[float, float] | None = None
    covering_rate: tuple[float, float] | None = None
    seconds: tuple[float, float] | None = None

    @property
    def state(self) -> str:
        """The status with its reason."""
        if self.status == DONE:
            return f"{DONE}; {self.reason}" if self.reason else DONE
        after = f" after {self.done} of {self.planned} folds" if self.done else ""
        return f"{NOT_RUN}{after}: {self.reason}"

    @property
    def line(self) -> str:
        """The result in one line."""
        if self.status != DONE:
            return f"{self.method}: {self.state}"
        figures = [
            f"{name.replace('_', ' ')} {_percent(figure)}"
            for name in ("labelling_error", "test_error", "covering_rate")
            if (figure := getattr(self, name)) and (name in _ERRORS or not self.test_error)
        ]
        seconds = "" if self.seconds is None else f"{self.seconds[0]:.1f} s per fold"
        return f"{self.method}: {', '.join(filter(None, [*figures, seconds]))}"


@dataclass(frozen=True)
class Comparison:
    """Results of all methods: what :func:`candidly.compare` returns.

    Attributes
    ----------
    rows : list of FoldResult
        Every method on every fold, including those that were not run.
    settings : dict
        Folds, repeats, random_state, time budget, version, machine, and a hash of the data.

    Examples
    --------
    >>> from candidly.comparison import Comparison, FoldResult
    >>> errors = {"A": (0.1, 0.2), "B": (0.3, 0.5)}
    >>> rows = [
    ...     FoldResult(name, 0, fold, 50, 50, "done", test_error=error, seconds=1.0)
    ...     for name in errors
    ...     for fold, error in enumerate(errors[name])
    ... ]
    >>> Comparison(rows).best
    'A'
    >>> print(Comparison(rows).table())
    | method | test error | seconds | p | state |
    |---|---:|---:|---:|---|
    | A | 15.0% ± 7.1 | 1.0 | best | done |
    | B | 40.0% ± 14.1 | 1.0 | 0.21 | done |
    <BLANKLINE>
    Means ± standard deviations over 2 folds; seconds per fold. p: test error against that of A,
    corrected resampled t-test, Holm-adjusted.
    """

    rows: list[FoldResult]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """The methods, in the order they were asked for."""
        return list(dict.fromkeys(row.method for row in self.rows))

    @property
    def measure(self) -> str:
        """Measure that ranks methods: "test_error" if the truth is known, else "covering_rate"."""
        truth = any(row.test_error is not None for row in self.rows)
        return "test_error" if truth else "covering_rate"

    @property
    def interrupted(self) -> bool:
        """Whether the comparison was stopped before its end."""
        return any(row.reason == INTERRUPTED for row in self.rows)

    @property
    def best(self) -> str | None:
        """The method with the best held-out result, of those that ran on all folds."""
        ranked = self.summary()
        return ranked[0].method if ranked and getattr(ranked[0], self.measure) else None

    def summary(self) -> list[MethodSummary]:
        """Return the means of every method, the best first, those that were not run last."""
        return self._ordered(self.measure)

    def significance(self, measure: str | None = None) -> list[Contrast]:
        """Test each method that ran on all folds against the best.

        Corrected resampled t-tests (Nadeau & Bengio 2003) of held-out figures, p-values
        adjusted by Holm's rule. The best is chosen on the same folds, which slightly favours
        it. Labelling errors are not tested: training parts share most of their instances,
        which the correction does not account for.

        Parameters
        ----------
        measure : "test_error" or "covering_rate", optional
            By default the measure that methods are ranked by.
        """
        measure = self.measure if measure is None else measure
        if measure not in HELD_OUT:
            raise ValueError(f"measure is one of {', '.join(HELD_OUT)}, got {measure!r}")
        ranked = [summary for summary in self._ordered(measure) if getattr(summary, measure)]
        if len(ranked) < 2:
            return []
        sign = 1 if measure == "test_error" else -1
        figures = {s.method: self._column(s.method, measure) * sign for s in ranked}
        best, *others = figures
        rows = [row for row in self.rows if row.method == best]
        ratio = sum(row.n_test for row in rows) / sum(row.n_train for row in rows)
        worse = {name: figures[name] - figures[best] for name in others}
        tests = {name: corrected_t_test(worse[name], ratio) for name in others}
        adjusted = holm([p for _, p in tests.values()])
        return [
            Contrast(name, best, float(worse[name].mean()), *tests[name], p_holm)
            for name, p_holm in zip(others, adjusted, strict=True)
        ]

    def table(self) -> str:
        """Return the means and tests as a Markdown table."""
        header, body = self._cells()
        ruler = "|" + "|".join("---" if name in _WORDS else "---:" for name in header) + "|"
        lines = [_line(header), ruler, *map(_line, body), "", textwrap.fill(self.caption, 92)]
        return "\n".join(lines)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write settings, rows and tests as JSON, to a file if one is named; return the text."""
        found = {
            "settings": self.settings,
            "rows": [asdict(row) for row in self.rows],
            "significance": [
                {k: None if v != v else v for k, v in asdict(test).items()}
                for test in self.significance()
            ],
        }
        text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)
        return _written(text + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Write the rows as CSV, to a file if one is named; return the text."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [f.name for f in fields(FoldResult)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return _written(text.getvalue(), path)

    @property
    def caption(self) -> str:
        """A sentence that explains the figures in the table."""
        planned = max((s.planned for s in self.summary()), default=0)
        text = f"Means ± standard deviations over {planned} folds; seconds per fold."
        if self.significance():
            text += (
                f" p: {HELD_OUT[self.measure]} against that of {self.best}, corrected resampled "
                "t-test, Holm-adjusted."
            )
        return text

    def __rich__(self) -> Table:
        from rich.markup import escape  # Rich is needed only to print with it
        from rich.table import Table

        header, body = self._cells()
        table = Table()
        for name in header:
            heading = name.replace(" ", "\n")  # so that it fits 80 columns
            table.add_column(heading, justify="left" if name in _WORDS else "right", no_wrap=True)
        for *cells, state in body:  # reasons are too long for a table
            cells.append(NOT_RUN if state.startswith(NOT_RUN) else DONE)
            table.add_row(*map(escape, cells))
        return table

    def _repr_markdown_(self) -> str:
        return self.table()

    def _ordered(self, measure: str) -> list[MethodSummary]:
        """Return all methods, the best first, those that were not run last."""
        every = [_summary([row for row in self.rows if row.method == m]) for m in self.methods]
        sign = 1 if measure == "test_error" else -1

        def rank(summary: MethodSummary) -> tuple[bool, float]:
            figure = getattr(summary, measure)
            return summary.status != DONE, sign * figure[0] if figure else np.inf

        return sorted(every, key=rank)

    def _column(self, method: str, measure: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        rows = sorted(
            (row for row in self.rows if row.method == method), key=lambda r: (r.repeat, r.fold)
        )
        return np.array([getattr(row, measure) for row in rows], dtype=float)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return header and body of the table; a measure that no method has is left out."""
        summaries = self.summary()
        shown = [
            name
            for name in ("labelling_error", self.measure)
            if any(getattr(s, name) is not None for s in summaries)
        ]
        p = {test.method: _p(test.p_holm) for test in self.significance()}
        if p:
            p[str(self.best)] = "best"
        body = [
            [
                s.method,
                *(_percent(getattr(s, name)) for name in shown),
                f"{s.seconds[0]:.1f}" if s.seconds else "",
                p.get(s.method, ""),
                s.state,
            ]
            for s in summaries
        ]
        names = [name.replace("_", " ") for name in shown]
        return ["method", *names, "seconds", "p", "state"], body


_WORDS = ("method", "state")
_ERRORS = ("labelling_error", "test_error")


def _summary(rows: list[FoldResult]) -> MethodSummary:
    done = [row for row in rows if row.status == DONE]
    if len(done) < len(rows):
        reason = next(row.reason for row in rows if row.status != DONE)
        return MethodSummary(rows[0].method, NOT_RUN, reason, len(done), len(rows))

    def over_folds(name: str) -> tuple[float, float] | None:
        values = [getattr(row, name) for row in rows]
        if any(value is None for value in values):
            return None
        return float(np.mean(values)), float(np.std(values, ddof=min(1, len(values) - 1)))

    notes = Counter(row.note for row in rows if row.note)
    reason = "; ".join(f"in {n} of {len(rows)} folds: {note}" for note, n in notes.items())
    return MethodSummary(
        rows[0].method,
        DONE,
        reason,
        len(rows),
        len(rows),
        over_folds("labelling_error"),
        over_folds("test_error"),
        over_folds("covering_rate"),
        over_folds("seconds"),
    )


def _percent(figure: tuple[float, float] | None) -> str:
    return "" if figure is None else f"{100 * figure[0]:.1f}% ± {100 * figure[1]:.1f}"


def _p(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
