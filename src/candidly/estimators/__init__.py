"""The paper's methods and ours as scikit-learn estimators: validate, solve, store.

- ``mcar``: MCar and WMCar; ``ice``: ICE and WMCarICE
- ``row_space``: RowSpace; ``open_set``: OpenSet
- ``self_labelling``: SelfLabelling, around any classifier, by ``cross_fitting``
- ``risk_control``: RiskControlled, by a ``promise`` and its ``error_bound``
- ``population_estimate``: estimate_population, what OpenSet may know beforehand
- ``examined_features``: broken rows have no say, by the ``feature_examination``
- ``scaling`` (features and settings) and ``progress`` (reports) are shared
"""

from candidly.estimators.ice import ICE, WMCarICE
from candidly.estimators.mcar import MCar, WMCar
from candidly.estimators.open_set import OpenSet
from candidly.estimators.population_estimate import estimate_population
from candidly.estimators.risk_control import RiskControlled
from candidly.estimators.row_space import RowSpace
from candidly.estimators.self_labelling import SelfLabelling

__all__ = [
    "ICE",
    "MCar",
    "OpenSet",
    "RiskControlled",
    "RowSpace",
    "SelfLabelling",
    "WMCar",
    "WMCarICE",
    "estimate_population",
]
