"""Random problems of every scale: feasible labels or a clear error, never NaN."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from candidly import Candidates, MCar, UnlistedClassWarning, WMCar, WMCarICE


@st.composite
def problems(draw):
    """Features and candidates in every shape and scale people, or machines, come up with."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    N, m, c = draw(st.integers(1, 14)), draw(st.integers(1, 10)), draw(st.integers(1, 6))
    X = rng.normal(size=(N, m))
    kind = draw(st.sampled_from(["plain", "constant", "repeated", "zero", "lonely", "integer"]))
    if kind == "constant":
        X[:, : m // 2 + 1] = rng.normal()
    elif kind == "repeated":
        X[:] = X[:1]
    elif kind == "zero":
        X[:] = 0
    elif kind == "lonely":
        X[1:] = 0
    elif kind == "integer":
        X = np.round(X * 3)
    X = X * 10.0 ** draw(st.sampled_from([-320, -300, -150, -20, 0, 0, 0, 20, 150, 300]))
    if draw(st.booleans()):
        X = X * 10.0 ** rng.integers(-5, 6, size=m)
    mask = rng.random((N, c)) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    mask[np.arange(N), rng.integers(c, size=N)] = True
    priors = mask * 10.0 ** rng.uniform(-draw(st.sampled_from([0, 1, 15])), 0, size=(N, c))
    return X, priors, mask


@st.composite
def models(draw):
    options = {
        "setting": draw(st.sampled_from(["auto", "auto", "pixels", "features", "paper"])),
        "projection": draw(st.sampled_from(["simple", "simple", "euclidean"])),
        "standardize": draw(st.sampled_from([None, True])),
        "max_iter": 150,
        "classifier": None,
    }
    return draw(st.sampled_from([MCar, WMCar, WMCarICE]))(**options)


@pytest.mark.slow
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(problems(), models())
def test_every_random_problem_ends_in_feasible_labels_or_a_clear_error(problem, model):
    X, priors, mask = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UnlistedClassWarning)
        candidates = Candidates.from_priors(priors)
        completion = getattr(model, "estimator", model)  # within ICE
        unscaled = completion.setting == "paper" and not completion.standardize
        if unscaled and np.abs(X).max() > 1e100:
            with pytest.raises(ValueError, match="too large to square"):
                model.fit(X, candidates)
            return
        model.fit(X, candidates)
    soft = model.label_distributions_
    assert np.isfinite(soft).all()
    assert (soft >= 0).all()
    assert (soft[~mask] == 0).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    assert candidates.contain(model.transduction_).all()
    assert np.isfinite(model.solution_.features).all()
    assert np.isfinite(model.solution_.noise).all()
