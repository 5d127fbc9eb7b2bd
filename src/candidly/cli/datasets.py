"""The verb ``candidly datasets``: all data sets with their terms."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from candidly.datasets.store import SOURCES, available, data_folder


def datasets() -> None:
    """List the data sets with their sizes, sources and terms."""
    table = Table("name", "size", "here", "source", "terms", title=f"Data sets in {data_folder()}")
    for name, source in SOURCES.items():
        table.add_row(
            name, source.shape, "yes" if available(name) else "no", source.citation, source.terms
        )
    console = Console()
    console.print(table)
    console.print("Set CANDIDLY_DATA to the folder that contains them.")
