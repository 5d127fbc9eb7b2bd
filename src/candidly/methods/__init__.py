"""Methods by name, and the contract each of them keeps."""

from candidly.methods.clpl import CLPL
from candidly.methods.naive import Naive
from candidly.methods.pl_knn import PLKNN
from candidly.methods.registry import Method, describe, get, names

__all__ = ["CLPL", "PLKNN", "Method", "Naive", "describe", "get", "names"]
