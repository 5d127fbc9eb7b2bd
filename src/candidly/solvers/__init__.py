"""The algorithms on arrays, without scikit-learn.

Shapes are the paper's: one column per instance. Soft labels are vectors over ``candidate_sets``,
the entries (instance, class), except inside of what is dense by nature.

- ``alm`` (MCar and WMCar), ``elimination`` (ICE), ``row_space`` and ``open_set`` solve;
  ``solution`` is what they return
- ``shards`` says where instances live, in memory or elsewhere; the loop of a solver is over shards,
  and what one of them does in an iteration is in ``row_space_shard``, ``open_set_shard`` and
  ``alm_shard``
- ``open_set`` works on ``entries``, one per instance and candidate, from several ``starts``;
  ``labelled_features`` has the sums it needs of features, ``unmentioned`` compares with people who
  are not mentioned. ``confidence_limits`` says how sure its labels may be, by what each
  ``confidence_shard`` knows, and ``limited_labels`` are those that obey it. ``population`` is
  what is known beforehand of how features vary, by the ``two_covariances`` of one person and of
  everybody, and ``decided`` which instances are known to have a name, or not to have it
- ``constraints`` restrict the labels; ``assignment`` finds the best hard labels under them
- ``recogniser`` recognises known people in new photos; ``recogniser_fitting`` learns it
- ``ridge_gram`` is ridge regression by Gram matrices, for several ridges and hidden instances
- ``dense_memory`` refuses what would not fit, for methods that are dense by nature; ``cost`` is how
  long a solve will take on this machine
- ``set_information`` is what labels tell about candidate sets they did not see: a score without
  truth; ``candidate_floor`` says whether labels tell more than candidates alone do
- ``prox``, ``low_rank``, ``weights``, ``matchings``, ``own_order``, ``arrays`` and ``runs`` are the
  parts they share: proximal operators, singular value thresholding, column weights, marginals over
  matchings, an order by content, NumPy or PyTorch arrays, and sums over runs of their entries;
  ``label_rows`` projects the labels of the ALM, and keeps those of ``twins`` equal; ``hashing`` has
  numbers that look random
- ``kernels`` are loops that numba compiles where it is installed, each beside its NumPy twin and
  its PyTorch one
"""

from candidly.solvers.alm import ALM
from candidly.solvers.assignment import ContradictionError, assign
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import (
    AtLeastOneNamed,
    AtMostOnce,
    CannotLink,
    ClassProportions,
    Constraint,
    MustLink,
)
from candidly.solvers.elimination import Elimination
from candidly.solvers.population import Population
from candidly.solvers.solution import Round, Solution, Status, Step, Trace

__all__ = [
    "ALM",
    "AtLeastOneNamed",
    "AtMostOnce",
    "CandidateSets",
    "CannotLink",
    "ClassProportions",
    "Constraint",
    "ContradictionError",
    "Elimination",
    "MustLink",
    "Population",
    "Round",
    "Solution",
    "Status",
    "Step",
    "Trace",
    "assign",
]
