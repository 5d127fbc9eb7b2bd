"""candidly history: everything that was decided, one decision per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from candidly.cli.decision_output import decision_row, sentence
from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, write_list
from candidly.photos import Project
from candidly.photos.project.decision_log import read_decisions

COLUMNS = (
    "number", "at", "by", "what", "file", "name", "becomes", "undoes", "batch", "stands", "face"
)  # fmt: skip
PLAIN = ("number", "at", "by", "said", "state")


def history(
    project: ProjectOption = None, as_csv: CsvOption = False, as_json: JsonOption = False
) -> None:
    """List everything that was decided, by whom and when; what was taken back is marked.

    Times are UTC. The number is what candidly undo takes. Those of one batch were decided at once.
    """
    write_list(project, _rows, COLUMNS, "decision", plain=PLAIN, as_csv=as_csv, as_json=as_json)


def _rows(project: Project) -> Iterator[dict[str, Any]]:
    with project.snapshot() as sql:
        for decision in read_decisions(sql):
            yield {
                **decision_row(sql, decision),
                "said": sentence(sql, decision),
                "state": None if decision.stands else "(taken back)",
            }
