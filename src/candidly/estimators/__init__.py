"""The scikit-learn shell: validate, solve, store."""

from candidly.estimators.ice import ICE, WMCarICE
from candidly.estimators.mcar import MCar, WMCar

__all__ = ["ICE", "MCar", "WMCar", "WMCarICE"]
