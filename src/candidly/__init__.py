"""Candidly learns from candidate labels: each instance has several, at most one is right.

The modules, in the order of the data flow:

1. ``candidates``: candidate sets, how ambiguous they are, synthetic ones
2. ``solvers``: the algorithms on arrays; no scikit-learn
3. ``base``, ``parameters`` and ``registry``: the contract of every estimator, what its
   parameters may be, and methods by name
4. ``estimators`` (our methods), ``baselines`` (methods to compare with), ``selection``
   (the choice of settings without truth) and ``methods`` (all of them by name)
5. ``metrics``, ``datasets``, ``resolution``, ``comparison``, ``testing``, ``plots``: scores, data,
   one method or several on a data set, checks for your own estimators, pictures
6. ``distributed``: the same solvers beyond memory and beyond one machine
7. ``photos``: the application that names faces in captioned photos; ``demo``: what to try first
8. ``cli``: the command line, also ``python -m candidly`` (``__main__``)

``interop`` has what scikit-learn's tools need to work on candidate sets. ``json_lines``,
``threads``, ``heap``, ``locking``, ``telling``, ``extras`` and ``wording`` are shared helpers:
result files, threads of linear algebra, memory that is given back, one process at a time, what is
told while something runs, optional packages, counts in words. Return types and solver parts are
imported from their modules, e.g. ``candidly.solvers.Solution``.

Examples
--------
>>> import candidly
>>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
>>> model = candidly.WMCarICE().fit(digits.X, digits.candidates)
>>> candidly.covering_rate(digits.candidates, model.transduction_)
1.0
"""

from candidly import datasets, methods, testing
from candidly.base import DoubtfulLabelsWarning, PartialGroupWarning
from candidly.candidates import Candidates, UnlistedClassWarning, make_ambiguous
from candidly.comparison import compare
from candidly.estimators import (
    ICE,
    MCar,
    OpenSet,
    RiskControlled,
    RowSpace,
    SelfLabelling,
    WMCar,
    WMCarICE,
    estimate_population,
)
from candidly.metrics import (
    covering_rate,
    expected_calibration_error,
    imbalance_factor,
    labelling_error,
    risk_coverage_area,
)
from candidly.resolution import resolve
from candidly.selection import CandidateClassifier
from candidly.solvers import CannotLink, ClassProportions, ContradictionError, MustLink, Population

__version__ = "0.1.0"

__all__ = [
    "ICE",
    "CandidateClassifier",
    "Candidates",
    "CannotLink",
    "ClassProportions",
    "ContradictionError",
    "DoubtfulLabelsWarning",
    "MCar",
    "MustLink",
    "OpenSet",
    "PartialGroupWarning",
    "Population",
    "RiskControlled",
    "RowSpace",
    "SelfLabelling",
    "UnlistedClassWarning",
    "WMCar",
    "WMCarICE",
    "compare",
    "covering_rate",
    "datasets",
    "estimate_population",
    "expected_calibration_error",
    "imbalance_factor",
    "labelling_error",
    "make_ambiguous",
    "methods",
    "resolve",
    "risk_coverage_area",
    "testing",
]
