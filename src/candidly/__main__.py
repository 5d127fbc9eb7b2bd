"""Run the command line as ``python -m candidly``."""

from candidly.cli import app

app()
