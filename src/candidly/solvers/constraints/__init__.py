"""Constraints on labels: one idea a file, each with ``project`` and ``violation``."""

from candidly.solvers.constraints.base import Constraint, Feasible, Rows
from candidly.solvers.constraints.groups import AtLeastOneNamed, AtMostOnce
from candidly.solvers.constraints.links import CannotLink, MustLink
from candidly.solvers.constraints.proportions import ClassProportions
from candidly.solvers.constraints.simplex import CandidateSimplex, normalise

__all__ = [
    "AtLeastOneNamed",
    "AtMostOnce",
    "CandidateSimplex",
    "CannotLink",
    "ClassProportions",
    "Constraint",
    "Feasible",
    "MustLink",
    "Rows",
    "normalise",
]
