"""Parameters are refused by name, type and range before any work."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone

import candidly
from candidly.methods import get

MODELS = {name: get(name) for name in candidly.methods.names()}
MODELS["RiskControlled"] = candidly.RiskControlled()
PARAMETERS = [
    (name, parameter)
    for name, model in MODELS.items()
    for parameter in model.get_params(deep=False)
]

BAD = {
    "CandidateClassifier": {
        "widths": [3, [-1.0], "1"],
        "ridges": [(), [0.0], [[1.0]]],
        "landmarks": [0],
        "denoise": ["yes"],
        "time_budget": [-1],
    },
    "RowSpace": {"lift": ["cubic"], "ridge": [0], "width": [-1.0], "max_iter": [0]},
    "OpenSet": {"shown": [1.0], "elsewhere": [0], "damping": [-1], "shrinkage": [-1]},
    "MCar": {
        "setting": ["best"],
        "noise_weight": [0],
        "sparsity_weight": [-1.0],
        "rho": [1.0, "a"],
        "start": ["middle", -0.5],
        "norm": [0.0],
        "divisor": [0.0, "255"],
        "hard_labels": ["best"],
        "projection": ["none"],
        "classifier": ["tree"],
        "tol": [0],
        "max_iter": [0, 50.5],
        "device": [3],
        "precision": ["half"],
    },
    "WMCar-ICE": {
        "fraction": [-1, 1.5],
        "max_rounds": [0, 2.5],
        "ties": ["first"],
        "estimator__rho": [0.5],
    },
    "RiskControlled": {"max_error": [0], "confidence": [95], "n_questions": [0, 20.5]},
    "CLPL": {"loss": ["all"], "C": [0, np.inf], "max_iter": [0]},
    "CL-SVM": {"C": [0]},
    "DLHD": {"n_atoms": [0], "tol": [-1e-3], "atom_share": [0], "coding": ["both"]},
    "DLSD": {"sparsity": [-1], "max_iter": [0]},
    "IPAL": {"n_neighbors": [-2], "alpha": [1], "max_iter": [0]},
    "KDLSD": {"kernel": ["cubic"], "gamma": [-1.0], "degree": [0.5]},
    "LR-SVM": {"C": [0], "inner_iter": [0], "noise_weight": [0], "null_weight": [2]},
    "MC-Pos": {"label_weight": [-2], "steepness": [0], "mu_factor": [1.5], "tol": [np.nan]},
    "MIMLSVM": {"C": [0], "gamma": [0], "fraction": [1.5], "max_medoids": [0], "max_iter": [0]},
    "MM-SVM": {"C": [-1], "n_components": [0], "max_iter": [0]},
    "MMS": {"regularization": [0], "epochs": [0], "max_rounds": [0], "batch_size": [0]},
    "PL-AGGD": {"n_neighbors": [0], "label_weight": [0], "feature_weight": [np.nan]},
    "PL-KNN": {"n_neighbors": [0]},
    "PL-SVM": {"penalty": [-1], "max_iter": [0]},
    "PRODEN": {"hidden": [-1], "epochs": [0], "learning_rate": [0], "weight_decay": [-1]},
    "RPCA": {"noise_weight": [0], "rho": [1.0], "tol": [-1], "max_iter": [0]},
    "SURE": {"reward": [-1], "penalty": [0], "max_iter": [0]},
}


def refusal(name, parameter, value):
    """Return the message for a value; the features are none, so any work would fail too."""
    model = clone(MODELS[name]).set_params(**{parameter: value})
    with pytest.raises(ValueError, match="must be") as caught:
        model.fit(None, None)
    return str(caught.value)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_nonsense_is_refused_by_the_name_of_every_parameter(name, parameter):
    assert f"'{parameter}' parameter of" in refusal(name, parameter, object())


@pytest.mark.parametrize(("name", "cases"), BAD.items(), ids=list(BAD))
def test_a_value_out_of_range_is_refused_with_the_range(name, cases):
    for parameter, values in cases.items():
        for value in values:
            message = refusal(name, parameter, value)
            own = parameter.removeprefix("estimator__")
            assert re.search(f"'{own}' parameter of .* must be .* Got ", message)
            assert message.endswith(f"Got {value!r} instead.")


def test_defaults_are_allowed():
    for model in MODELS.values():
        model._validate_params()
