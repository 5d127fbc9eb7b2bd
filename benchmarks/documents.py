"""Tables in documents: each is between two markers, and a benchmark replaces it."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path("docs/results.md")
"""The document with the tables of all benchmarks."""


def put_into(document: Path, text: str, name: str) -> None:
    """Replace the text between the markers of a name in a document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = document.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    document.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def keep(text: str, name: str, path: Path, document: Path) -> None:
    """Write a table to its file and between the markers of its name in a document."""
    path.write_text(text, encoding="utf-8")
    put_into(document, text, name)
