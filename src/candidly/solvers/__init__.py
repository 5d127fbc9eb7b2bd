"""Arrays in, ``Solution`` out; no scikit-learn. Shapes are the paper's: a column an instance."""

from candidly.solvers.alm import ALM
from candidly.solvers.assignment import ContradictionError, assign
from candidly.solvers.constraints import (
    AtLeastOneNamed,
    AtMostOnce,
    CannotLink,
    ClassProportions,
    Constraint,
    MustLink,
)
from candidly.solvers.elimination import Elimination
from candidly.solvers.solution import Round, Solution, Status, Step, Trace

__all__ = [
    "ALM",
    "AtLeastOneNamed",
    "AtMostOnce",
    "CannotLink",
    "ClassProportions",
    "Constraint",
    "ContradictionError",
    "Elimination",
    "MustLink",
    "Round",
    "Solution",
    "Status",
    "Step",
    "Trace",
    "assign",
]
