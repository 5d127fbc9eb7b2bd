"""The scikit-learn shell: validate, solve, store."""

from candidly.estimators.ice import ICE, WMCarICE
from candidly.estimators.mcar import MCar, WMCar
from candidly.estimators.open_set import OpenSet
from candidly.estimators.risk_control import RiskControlled
from candidly.estimators.row_space import RowSpace

__all__ = [
    "ICE",
    "MCar",
    "OpenSet",
    "RiskControlled",
    "RowSpace",
    "WMCar",
    "WMCarICE",
]
