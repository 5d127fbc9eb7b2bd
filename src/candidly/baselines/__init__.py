"""The compared methods, one file each."""

from candidly.baselines.cl_svm import CLSVM
from candidly.baselines.clpl import CLPL
from candidly.baselines.dlhd import DLHD
from candidly.baselines.dlsd import DLSD
from candidly.baselines.ipal import IPAL
from candidly.baselines.kdlsd import KDLSD
from candidly.baselines.lr_svm import LRSVM
from candidly.baselines.mc_pos import MCPos
from candidly.baselines.miml_svm import MIMLSVM
from candidly.baselines.mm_svm import MMSVM
from candidly.baselines.mms import MMS
from candidly.baselines.naive import Naive
from candidly.baselines.pl_aggd import PLAGGD
from candidly.baselines.pl_knn import PLKNN
from candidly.baselines.pl_svm import PLSVM
from candidly.baselines.proden import PRODEN
from candidly.baselines.rpca import RPCA
from candidly.baselines.sure import SURE

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
    "Naive",
]
