"""Methods by name, and the contract each of them keeps."""

from candidly.methods.dlhd import DLHD
from candidly.methods.dlsd import DLSD
from candidly.methods.kdlsd import KDLSD
from candidly.methods.mc_pos import MCPos
from candidly.methods.pl_knn import PLKNN
from candidly.methods.registry import Method, describe, get, names
from candidly.methods.rpca import RPCA

__all__ = [
    "DLHD",
    "DLSD",
    "KDLSD",
    "PLKNN",
    "RPCA",
    "MCPos",
    "Method",
    "describe",
    "get",
    "names",
]
