"""Kernels: compiled loops and their NumPy twins give the same answer."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from candidly.extras import installed
from candidly.solvers import kernels
from candidly.solvers.kernels import kernels_by, running_by
from candidly.solvers.kernels.sweep import denoise

needs_numba = pytest.mark.skipif(
    not installed("fast"), reason="needs numba: pip install 'candidly[fast]'"
)


@needs_numba
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_denoising_in_loops_is_denoising_in_numpy(dtype):
    rng = np.random.default_rng(0)
    A, H, X = (rng.normal(size=(30, 50)).astype(dtype) for _ in range(3))
    rho, bound = dtype(1.3), dtype(0.4)
    plain, compiled = A.copy(), A.copy()
    one, other = (
        denoise.plain(plain, H, X, rho, bound),
        denoise.compiled(compiled, H, X, rho, bound),
    )
    accuracy = 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(compiled, plain, atol=accuracy)
    assert one == pytest.approx(other, rel=float(1e2 * accuracy))


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
    @kernels.kernel(lambda: "loops")
    def twin():
        """Return how it ran."""
        return "numpy"

    with running_by("numpy"):
        assert twin() == "numpy"
    assert twin.__doc__ == "Return how it ran."
