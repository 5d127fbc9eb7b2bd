"""Constraints on labels, each with ``project``, ``violation`` and ``rows``.

``base`` has their protocol and how they combine, ``simplex`` the one that every solve has,
``groups``, ``links`` and ``proportions`` those within groups, between pairs and on class sizes.
"""

from candidly.solvers.constraints.base import Constraint, FeasibleSet, Inequalities
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
    "FeasibleSet",
    "Inequalities",
    "MustLink",
    "normalise",
]
