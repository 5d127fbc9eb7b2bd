"""Names on faces: what a project tells, solved, with why.

``problem`` reads a project, ``positions`` turns cues into priors, ``labelling`` solves arrays,
``solve`` says which photos are solved and writes what comes out, ``changes`` says which names
became others and why, ``stored`` reads it again.
"""

from candidly.photos.solving.solve import Solved, solve
from candidly.photos.solving.stored import Change, Rival, changes, last_solve, rivals

__all__ = ["Change", "Rival", "Solved", "changes", "last_solve", "rivals", "solve"]
