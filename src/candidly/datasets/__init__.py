"""Real and synthetic data sets with candidate labels."""

from candidly.datasets.loaders import load, names

__all__ = ["load", "names"]
