"""Methods by name, and the contract each of them keeps."""

from candidly.methods.pl_knn import PLKNN
from candidly.methods.registry import Method, describe, get, names

__all__ = ["PLKNN", "Method", "describe", "get", "names"]
