"""Finished folds in a file of JSON lines, so that a comparison continues where it stopped."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from candidly import json_lines
from candidly.comparison.comparison import DONE, FoldResult

ROW = tuple(f.name for f in fields(FoldResult))


class Store:
    """Finished folds of one comparison, in a file that may also hold others.

    A line counts where data, number of folds, seed, version, method and its parameters are
    the same. Nothing in the file is ever removed; a line that was being written when a run
    was stopped is skipped, and the next one starts on a new line.

    Parameters
    ----------
    path : Path or None
        None stores nothing.
    settings : dict
        Settings that every line carries; lines with other settings do not count.
    parameters : dict
        Parameters of each method, by its name.
    time_budget : float or None
        Time budget of a method in seconds.
    """

    def __init__(
        self,
        path: Path | None,
        settings: dict[str, Any],
        parameters: dict[str, dict[str, str]],
        time_budget: float | None,
    ) -> None:
        self.path = path
        self.settings = settings
        self.parameters = parameters
        self.time_budget = time_budget
        if path is None:
            return
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.absolute().parent}; make it first")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; out is a file")
        self._refuse_what_is_not_ours(path)
        with path.open("a", encoding="utf-8"):
            pass  # fails before the work if the file cannot be written to

    def read(self) -> dict[tuple[str, int, int], FoldResult]:
        """Return the folds found, the last line of each, without those over a smaller budget."""
        found: dict[tuple[str, int, int], FoldResult] = {}
        for line in () if self.path is None else _ours(json_lines.read(self.path)):
            if any(line.get(name) != value for name, value in self.settings.items()):
                continue
            if line.get("parameters") != self.parameters.get(line["method"]):
                continue
            row = FoldResult(**{name: line[name] for name in ROW if name in line})
            if row.status == DONE or self._still_over(line.get("time_budget")):
                found[row.method, row.repeat, row.fold] = row
        return found

    def append(self, row: FoldResult) -> None:
        """Append one finished fold to the file."""
        if self.path is None:
            return
        line = {
            **asdict(row),
            **self.settings,
            "parameters": self.parameters[row.method],
            "time_budget": self.time_budget,
        }
        json_lines.append(self.path, line)

    def _still_over(self, budget: float | None) -> bool:
        """Return whether a method that went over an earlier budget would go over this one."""
        return budget is not None and self.time_budget is not None and self.time_budget <= budget

    def _refuse_what_is_not_ours(self, path: Path) -> None:
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        ours = _ours(json_lines.parse(text))
        if text.strip() and not ours and not ("\n" not in text and text.startswith("{")):
            raise ValueError(
                f"{path} is there, and is no comparison to continue; choose another name"
            )


def _ours(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines that a comparison wrote."""
    needed = ("method", "repeat", "fold", "n_train", "n_test", "status")
    return [
        line
        for line in lines
        if all(name in line for name in needed) and isinstance(line["method"], str)
    ]
