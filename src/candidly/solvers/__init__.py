"""Arrays in, ``Solution`` out; no scikit-learn. Shapes are the paper's: a column an instance."""

from candidly.solvers.alm import ALM
from candidly.solvers.elimination import Elimination
from candidly.solvers.solution import Round, Solution, Status, Step, Trace

__all__ = ["ALM", "Elimination", "Round", "Solution", "Status", "Step", "Trace"]
