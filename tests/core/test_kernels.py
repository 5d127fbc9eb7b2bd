"""Kernels: compiled loops and their NumPy twins give the same answer."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from candidly.extras import installed
from candidly.solvers import kernels
from candidly.solvers.kernels import kernels_by, running_by
from candidly.solvers.kernels.sweep import denoise, multiply

needs_numba = pytest.mark.skipif(
    not installed("fast"), reason="needs numba: pip install 'candidly[fast]'"
)


@needs_numba
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(30, 50), (1, 7), (0, 4), (3, 1)])
def test_loops_of_the_alm_do_what_numpy_does(dtype, shape):
    rng = np.random.default_rng(0)
    A, H, L, X = (rng.normal(size=shape).astype(dtype) for _ in range(4))
    accuracy = float(20 * np.finfo(dtype).eps)
    found = []
    for body in ("plain", "compiled"):
        after, multipliers = A.copy(), L.copy()
        size = getattr(denoise, body)(after, H, L, X, 1.3, 0.4)
        denoised = after.copy()
        change = getattr(multiply, body)(multipliers, after, H, 1.3)
        found.append((denoised, multipliers, float(size), float(change)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=accuracy, rtol=10 * accuracy)
    assert found[0][0].dtype == found[1][0].dtype == dtype


@needs_numba
def test_loops_of_the_alm_keep_what_is_not_finite():
    A, H, L = (np.zeros((1, 3)) for _ in range(3))
    X = np.array([[np.nan, np.inf, -np.inf]])
    denoise.compiled(A, H, L, X, 1.0, 2.0)
    np.testing.assert_array_equal(A, [[np.nan, 2, -2]])


def test_importing_candidly_imports_no_numba():
    code = "import candidly, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_variable_and_a_block_say_by_what_kernels_run(monkeypatch):
    monkeypatch.delenv("CANDIDLY_KERNELS", raising=False)
    assert kernels_by() == ("numba" if installed("fast") else "numpy")
    monkeypatch.setenv("CANDIDLY_KERNELS", "numpy")
    assert kernels_by() == "numpy"
    with running_by("numba"):
        assert kernels_by() == "numba"
    assert kernels_by() == "numpy"
    with pytest.raises(ValueError, match="'cython'"), running_by("cython"):
        pass


def test_a_kernel_runs_as_it_is_told():
    @kernels.kernel(lambda values: "loops")
    def twin(values):
        """Return how it ran."""
        return "numpy"

    with running_by("numpy"):
        assert twin(np.zeros(1)) == "numpy"
    assert twin.__doc__ == "Return how it ran."
