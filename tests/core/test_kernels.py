"""Kernels: compiled loops and their NumPy twins give the same answer."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread

import numpy as np
import pytest

from candidly.extras import installed
from candidly.solvers import CandidateSets, kernels
from candidly.solvers.constraints import CandidateSimplex
from candidly.solvers.kernels import compiling, kernels_by, running_by
from candidly.solvers.kernels.left_out_labels import left_out_labels
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


def left_out(body, P, silent=False):
    """Return predictions, labels and sums by one body of the kernel, on made-up instances."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 5, size=40)
    start = np.concatenate([[0], np.cumsum(sizes)])
    E = int(start[-1])
    classes, before = rng.integers(6, size=E), rng.random(E)
    before[:3] = 0
    H, y = (-5 - rng.random(E) if silent else rng.normal(size=E)), np.empty(E)
    own, offset = rng.random(40), rng.normal(size=6) / 10
    own[0], own[1] = 1.0, 0.999999  # nothing but these instances themselves
    H[start[1]] = offset[classes[start[1]]] + own[1] * before[start[1]]  # only rounding is left
    given = P[:E] if len(P) else P
    found = body(H, y, before, start, classes, offset, own, given, 1e-12, 1e-3)
    sets = CandidateSets(start, classes, 6)
    return H, y, [float(value) for value in found], sets, before


@needs_numba
@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("P", [np.zeros(0), np.arange(200.0) % 3, np.zeros(200)])
def test_loops_of_left_out_labels_do_what_numpy_does(P, silent):
    one = left_out(left_out_labels.plain, P, silent)
    other = left_out(left_out_labels.compiled, P, silent)
    for a, b in zip(one[:3], other[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("P", [np.zeros(0), np.arange(200.0) % 3])
def test_left_out_labels_are_those_of_the_simplex(P, silent):
    H, y, (gap, norm, changed, change), sets, before = left_out(left_out_labels, P, silent)
    given = P[: len(y)] if len(P) else sets.uniform()
    np.testing.assert_allclose(y, CandidateSimplex(given).project(H, sets), atol=1e-15)
    np.testing.assert_allclose([gap, norm], [((y - H) ** 2).sum(), (y**2).sum()])
    assert changed == (sets.best(y) != sets.best(before)).sum()
    assert change == np.abs(y - before).max()


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


@pytest.mark.skipif(not installed("fast"), reason="needs the extra fast (numba)")
def test_loops_are_compiled_by_one_thread_at_a_time():
    def loops(values):
        return values.sum()

    summed = kernels.kernel(loops)(lambda values: values.sum())

    def call(values):
        with running_by("numba"):
            assert summed(values) == values.sum()

    def started(values):
        thread = Thread(target=call, args=(values,))
        thread.start()
        return thread

    call(np.ones(3))
    with compiling.one_at_a_time:
        started(np.ones(4)).join(60)  # compiled for such arrays already
        other = started(np.ones((2, 2)))
        other.join(0.5)
        assert other.is_alive()
    other.join(60)
    assert not other.is_alive()
