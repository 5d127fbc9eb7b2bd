"""Candidly learns from candidate labels: each instance has a few, at most one is right.

The folders are the data flow:

1. ``candidates``: what each label could be
2. ``solvers``: arrays in, ``Solution`` out
3. ``methods`` and ``estimators``: the same as scikit-learn estimators
4. ``datasets``, ``experiments``, ``cli``: data, measurements, the command line

Examples
--------
>>> import candidly
>>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
>>> model = candidly.WMCarICE().fit(digits.X, digits.candidates)
>>> candidly.covering_rate(digits.candidates, model.transduction_)
1.0
"""

from candidly import datasets, methods, testing
from candidly.base import PartialGroupWarning
from candidly.candidates import Candidates, UnlistedClassWarning, make_ambiguous
from candidly.comparison import Comparison, compare
from candidly.estimators import (
    ICE,
    MCar,
    OpenSet,
    RiskControlled,
    RowSpace,
    WMCar,
    WMCarICE,
)
from candidly.metrics import (
    covering_rate,
    expected_calibration_error,
    imbalance_factor,
    labelling_error,
    risk_coverage_area,
)
from candidly.resolution import Resolution, resolve
from candidly.selection import CandidateClassifier
from candidly.solvers import (
    ALM,
    CannotLink,
    ClassProportions,
    ContradictionError,
    Elimination,
    MustLink,
    Solution,
    Status,
    Trace,
)

__version__ = "0.1.0"

__all__ = [
    "ALM",
    "ICE",
    "CandidateClassifier",
    "Candidates",
    "CannotLink",
    "ClassProportions",
    "Comparison",
    "ContradictionError",
    "Elimination",
    "MCar",
    "MustLink",
    "OpenSet",
    "PartialGroupWarning",
    "Resolution",
    "RiskControlled",
    "RowSpace",
    "Solution",
    "Status",
    "Trace",
    "UnlistedClassWarning",
    "WMCar",
    "WMCarICE",
    "compare",
    "covering_rate",
    "datasets",
    "expected_calibration_error",
    "imbalance_factor",
    "labelling_error",
    "make_ambiguous",
    "methods",
    "resolve",
    "risk_coverage_area",
    "testing",
]
