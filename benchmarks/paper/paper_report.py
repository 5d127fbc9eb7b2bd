"""What is written of all stored runs: the page, the verdicts on claims, and the means."""

from __future__ import annotations

from pathlib import Path

from benchmarks.paper.claims.document import document
from benchmarks.paper.claims.document import write as write_claims
from benchmarks.paper.declaration import COMMAND
from benchmarks.paper.experiments import EXPERIMENTS
from benchmarks.paper.means import as_text, summary
from benchmarks.paper.page.whole_page import whole_page
from benchmarks.paper.stored_runs import PaperResults


def write(results: PaperResults, folder: Path, *, made_by: str = COMMAND) -> Path:
    """Write ``report.html``, ``claims.json`` and ``means.json`` into a folder; return the page.

    Parameters
    ----------
    results : PaperResults
    folder : Path
    made_by : str
        The command that repeats it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_claims(results, folder, made_by)
    (folder / "means.json").write_text(as_text(summary(results, made_by)), encoding="utf-8")
    page = folder / "report.html"
    page.write_text(text(results, made_by=made_by, folder=folder), encoding="utf-8")
    return page


def text(results: PaperResults, *, made_by: str = COMMAND, folder: Path | None = None) -> str:
    """Return the page as HTML, with the claims judged by the results.

    Measurements beside the runs are read from the folder, if it is given.
    """
    judged = document(results, made_by)
    return whole_page(results, judged, EXPERIMENTS, made_by=made_by, folder=folder)
