"""Methods by name, and the contract each of them keeps."""

from candidly.methods.cl_svm import CLSVM
from candidly.methods.clpl import CLPL
from candidly.methods.dlhd import DLHD
from candidly.methods.dlsd import DLSD
from candidly.methods.ipal import IPAL
from candidly.methods.kdlsd import KDLSD
from candidly.methods.lr_svm import LRSVM
from candidly.methods.mc_pos import MCPos
from candidly.methods.miml_svm import MIMLSVM
from candidly.methods.mm_svm import MMSVM
from candidly.methods.mms import MMS
from candidly.methods.naive import Naive
from candidly.methods.pl_aggd import PLAGGD
from candidly.methods.pl_knn import PLKNN
from candidly.methods.pl_svm import PLSVM
from candidly.methods.proden import PRODEN
from candidly.methods.registry import Method, describe, get, names
from candidly.methods.rpca import RPCA
from candidly.methods.sure import SURE

__all__ = [
    "CLPL",
    "CLSVM",
    "DLHD",
    "DLSD",
    "IPAL",
    "KDLSD",
    "LRSVM",
    "MIMLSVM",
    "MMS",
    "MMSVM",
    "PLAGGD",
    "PLKNN",
    "PLSVM",
    "PRODEN",
    "RPCA",
    "SURE",
    "MCPos",
    "Method",
    "Naive",
    "describe",
    "get",
    "names",
]
