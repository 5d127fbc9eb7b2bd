"""The compared methods, one file each, and what they share.

For single instances with candidates: ``convex`` (CLPL and naive), ``partial_logistic`` (PL-LR),
``pl_svm``, ``pl_knn``, ``ipal``, ``pl_aggd``, ``sure`` and ``proden``. On labels and features
stacked: ``rpca`` and ``mc_pos`` (base: ``stacked``). With one dictionary per class: ``dlhd``,
``dlsd`` and ``kdlsd`` (base: ``dictionaries``, with ``ksvd``). For photos with captions: ``mms``,
``cl_svm``, ``miml_svm``, ``mm_svm`` and ``lr_svm`` (base of the last two: ``photo_groups``).

``compared`` is the base of all. They share ``feature_scaling``, ``linear_machines``,
``kernel_ridge``, ``local_weights`` (neighbours) and ``photo_groups``.
"""

from candidly.baselines.cl_svm import CLSVM
from candidly.baselines.convex import CLPL
from candidly.baselines.dlhd import DLHD
from candidly.baselines.dlsd import DLSD
from candidly.baselines.ipal import IPAL
from candidly.baselines.kdlsd import KDLSD
from candidly.baselines.lr_svm import LRSVM
from candidly.baselines.mc_pos import MCPos
from candidly.baselines.miml_svm import MIMLSVM
from candidly.baselines.mm_svm import MMSVM
from candidly.baselines.mms import MMS
from candidly.baselines.partial_logistic import PartialLogistic
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
    "PartialLogistic",
]
