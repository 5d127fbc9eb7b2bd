"""Methods by name, and the contract each of them keeps."""

from candidly.methods.cl_svm import CLSVM
from candidly.methods.lr_svm import LRSVM
from candidly.methods.miml_svm import MIMLSVM
from candidly.methods.mm_svm import MMSVM
from candidly.methods.mms import MMS
from candidly.methods.pl_knn import PLKNN
from candidly.methods.registry import Method, describe, get, names

__all__ = [
    "CLSVM",
    "LRSVM",
    "MIMLSVM",
    "MMS",
    "MMSVM",
    "PLKNN",
    "Method",
    "describe",
    "get",
    "names",
]
