"""How far the news photos of Table 2 meet what the paper assumes, beside its own collection."""

from __future__ import annotations

from benchmarks.paper.declaration import Experiment
from benchmarks.paper.page.html import table
from benchmarks.paper.stored_runs import PaperResults

ROWS = {
    "faces": ("faces", "31,147"),
    "photos": ("photos", "20,071"),
    "names": ("names, in 20 captions and more", "214"),
    "fewest mentions": ("captions with the rarest name", "20"),
    "most mentions": ("captions with the most frequent name", "1,917"),
    "mean mentions": ("captions with a name, mean", "64.6"),
    "deviation of mentions": ("standard deviation of that", "147.3"),
    "null faces %": ("faces that nobody names, %", ""),
    "photos with nobody named %": ("photos without a named face, %", "assumed 0, Section 6"),
}


def premise_table(experiment: Experiment, results: PaperResults) -> str:
    """Return the figures of ``news.premise`` as stored, the paper's beside them where it says."""
    found = next(
        (line for line in results.select(experiment.name) if "faces" in line["figures"]), None
    )
    if found is None:
        return ""
    name = ", ".join(map(str, found["settings"]["at"].values()))
    rows = [[words, f"{found['figures'][key]:,}", paper] for key, (words, paper) in ROWS.items()]
    caption = "How far the photos meet what the paper assumes"
    return table(["", name, "the paper"], rows, numbers=(1, 2), caption=caption)
