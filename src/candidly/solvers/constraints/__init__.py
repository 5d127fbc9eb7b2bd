"""Constraints on labels, each with ``project``, ``violation`` and ``rows``.

- ``base``: their protocol
- ``feasible``: the simplex, which every solve has, and how constraints combine with it
- ``groups``, ``links``, ``proportions``: within groups, between pairs, on class sizes
"""

from candidly.solvers.constraints.base import Constraint, Inequalities, least_mass
from candidly.solvers.constraints.feasible import (
    CandidateSimplex,
    FeasibleSet,
    normalise,
    violations,
)
from candidly.solvers.constraints.groups import AtLeastOneNamed, AtMostOnce
from candidly.solvers.constraints.links import CannotLink, MustLink
from candidly.solvers.constraints.proportions import ClassProportions

__all__ = [
    "AtLeastOneNamed",
    "AtMostOnce",
    "CandidateSimplex",
    "CannotLink",
    "ClassProportions",
    "Constraint",
    "FeasibleSet",
    "Inequalities",
    "MustLink",
    "least_mass",
    "normalise",
    "violations",
]
