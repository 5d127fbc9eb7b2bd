"""Methods by name, and the contract each of them keeps."""

from candidly.methods.cl_svm import CLSVM
from candidly.methods.mms import MMS
from candidly.methods.pl_knn import PLKNN
from candidly.methods.registry import Method, describe, get, names

__all__ = ["CLSVM", "MMS", "PLKNN", "Method", "describe", "get", "names"]
