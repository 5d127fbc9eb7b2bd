"""Real and synthetic data sets with candidate labels."""

from candidly.datasets.captions import simulate_captions
from candidly.datasets.files import FileProblem, read
from candidly.datasets.loaders import load, names

__all__ = ["FileProblem", "load", "names", "read", "simulate_captions"]
