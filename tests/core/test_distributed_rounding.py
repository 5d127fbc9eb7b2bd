"""Solves on shards give the labels of ``fit`` where rounding could decide, and in what memory."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from candidly import ICE, Candidates, DoubtfulLabelsWarning, OpenSet, RowSpace, WMCar
from candidly.distributed import solve, store_candidates
from candidly.distributed.shard_making import Here, nearly_even
from candidly.distributed.solving import _program
from candidly.distributed.source_reading import read_source

ROOT = Path(__file__).parents[2]


def on_shards(source, method, count, **options):
    """Return the estimator fitted on so many shards in this process."""
    program = _program(method, read_source(source, **options))
    return program.run(Here(program.maker(nearly_even(program.source, count))))


def told(fit):
    """Return an estimator that is fitted, and the doubts of which it warned."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = fit()
    return model, [str(one.message) for one in said if one.category is DoubtfulLabelsWarning]


def agree(method, X, y, count, atol=1e-7, **options):
    """Fit in memory and on shards, and compare."""
    alone, doubts = told(lambda: clone(method).fit(X, y, **options))
    found, as_well = told(lambda: on_shards((X, y), method, count, **options))
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=atol)
    assert found.n_iter_ == alone.n_iter_
    assert as_well == doubts
    if hasattr(alone, "predict_proba"):
        np.testing.assert_allclose(found.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def names_that_nobody_else_has(offset):
    """Features with an offset; of three rows both candidates are their own."""
    rng = np.random.default_rng(0)
    who = np.arange(60) % 5
    X = 2 * rng.normal(size=(5, 8))[who] + rng.normal(size=(60, 8)) + offset
    mask = np.hstack([rng.random((60, 5)) < 0.3, np.zeros((60, 6), dtype=bool)])
    mask[np.arange(60), who] = True
    mask[:3] = False
    mask[np.arange(3)[:, None], 5 + np.arange(6).reshape(3, 2)] = True
    return X, mask


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e5])
@pytest.mark.parametrize("method", [RowSpace(), ICE(RowSpace()), RowSpace(leave_one_out=False)])
def test_features_far_from_zero_give_the_labels_of_fit(method, offset, count):
    agree(method, *names_that_nobody_else_has(offset), count)


@pytest.mark.parametrize("place", ["map", "parts"])
def test_features_far_from_zero_are_read_less_their_mean(tmp_path, place):
    X, mask = names_that_nobody_else_has(1e3)
    if place == "map":
        np.save(tmp_path / "x.npy", X)
        source = tmp_path / "x.npy"
    else:
        source = tmp_path / "parts"
        source.mkdir()
        for k, part in enumerate(np.array_split(X, 3)):
            np.save(source / f"{k}.npy", part)
    found, alone = solve((source, mask), RowSpace()), RowSpace().fit(X, mask)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-9)
    np.testing.assert_allclose(found.predict_proba(X), alone.predict_proba(X), atol=1e-6)


@settings(max_examples=30, derandomize=True)  # fit itself may fail on what could be drawn
@given(st.integers(0, 2**31), st.integers(12, 60), st.integers(1, 4))
@pytest.mark.parametrize("method", [RowSpace(), RowSpace(class_sizes=True)], ids=repr)
def test_weights_of_eight_orders_give_the_labels_of_fit(method, seed, N, count):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 6)) * 10.0 ** rng.uniform(-3, 3, size=6)
    mask = rng.random((N, 8)) < 0.3
    mask[np.arange(N), rng.integers(8, size=N)] = True
    agree(method, X, mask, count, 1e-6, sample_weight=10.0 ** rng.uniform(-4, 4, size=N))


@pytest.mark.parametrize("value", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("options", [{}, {"class_sizes": True}, {"leave_one_out": False}])
@pytest.mark.parametrize("lift", ["linear", "rbf"])
def test_features_that_do_not_vary_tell_nothing(value, options, lift):
    X, rng = np.full((20, 2), value), np.random.default_rng(0)
    mask = rng.random((20, 4)) < 0.5
    mask[:, 0] |= ~mask.any(axis=1)
    method = RowSpace(lift=lift, random_state=1, **options)
    agree(method, X, mask, 3)
    if not options:
        labels = clone(method).fit(X, mask).label_distributions_
        np.testing.assert_allclose(labels, mask / mask.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("method", [OpenSet(), ICE(OpenSet())], ids=repr)
def test_names_that_the_same_rows_list_give_the_labels_of_fit(method, count):
    """All names are listed by the same rows; before, three labels differed, over ICE 37."""
    rng = np.random.default_rng(124)
    N, who = 150, rng.integers(9, size=150)
    X = 2 * rng.normal(size=(9, 20))[who] + rng.normal(size=(N, 20))
    X[rng.integers(N, size=20)] = X[rng.integers(N, size=20)]
    mask = np.zeros((N, 10), dtype=bool)
    mask[rng.random(N) < 0.7] = True
    mask[:, 9] = True
    groups = rng.integers(50, size=N)
    agree(method, X, Candidates.from_mask(mask, null=9, groups=groups), count)


def test_ice_doubts_the_labels_of_its_last_round_once():
    rng = np.random.default_rng(0)
    sets = [{"ann", "bob", "cas"}] * 60
    y = Candidates.from_sets(sets, null="nobody", groups=np.arange(60) // 3)
    method = ICE(OpenSet(classifier=None), classifier=None)
    model, doubts = told(lambda: clone(method).fit(rng.normal(size=(60, 8)), y))
    assert doubts == list(model.solution_.doubts)


def test_the_estimator_comes_back_with_its_parameters():
    X, mask = names_that_nobody_else_has(0.0)
    for method in (RowSpace(), ICE(RowSpace()), WMCar(random_state=3, classifier=None)):
        assert clone(method).get_params().keys() == solve((X, mask), method).get_params().keys()
        assert solve((X, mask), method).random_state == method.random_state
    with pytest.raises(TypeError, match=r"give an instance, RowSpace\(\)"):
        solve((X, mask), RowSpace)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_memory_that_is_asked_for_is_enough_for_a_folder_of_long_names(tmp_path):
    """Names of all instances are in a file: in memory they were twice what was allowed."""
    rng = np.random.default_rng(0)
    N, names = 400_000, [f"{i:02}" + 60 * "x" for i in range(20)]
    np.save(tmp_path / "x.npy", rng.normal(size=(N, 2)).astype(np.float32))
    y = rng.integers(20, size=(N, 1)) == np.arange(20)
    store_candidates(Candidates.from_mask(y, classes=names), tmp_path / "y")
    code = (
        "from benchmarks.scale.limited import status\n"
        "from candidly import RowSpace; from candidly.distributed import solve\n"
        f"source = {str(tmp_path / 'x.npy')!r}, {str(tmp_path / 'y')!r}\n"
        "method = RowSpace(max_iter=2, classifier=None)\n"
        f"model = solve(source, method, max_memory='450MB', folder={str(tmp_path / 'solve')!r})\n"
        "print(status('VmHWM') * 1.048576)\n"
        "assert (model.transduction_[:9] == model.classes_[model.solution_.sets.classes[:9]]).all()"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 450  # names alone are 99 MB, and were made twice


def test_groups_whose_rows_are_apart_ask_for_more_memory(tmp_path):
    rng = np.random.default_rng(0)
    N = 300_000
    X, y = np.zeros((N, 2)), Candidates.from_labels(rng.integers(3, size=N))
    said = []
    for groups in (np.arange(N) // 3, rng.permutation(N) // 3):
        source = read_source((X, y), groups=groups)
        assert source.scattered() == bool(said)
        with pytest.raises(MemoryError, match=r"give \d+ MB") as short:
            solve((X, y), RowSpace(), groups=groups, max_memory="10MB")
        said.append(float(str(short.value).split("give ")[1].split()[0]))
    assert said[1] - said[0] > 10


def test_folders_and_callables_are_what_they_should_be(tmp_path, monkeypatch):
    X, mask = names_that_nobody_else_has(0.0)
    with pytest.raises(TypeError, match="folder is a path, or None, got 5"):
        solve((X, mask), RowSpace(), folder=5)
    with pytest.raises(TypeError, match="on_progress is a function of a Progress, got True"):
        solve((X, mask), RowSpace(), on_progress=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = solve((X, mask), RowSpace(), folder="~/solve")
    names = np.load(tmp_path / "solve" / "result-transduction.npy")
    np.testing.assert_array_equal(names, found.transduction_)
    assert isinstance(found.transduction_, np.memmap)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_the_last_bytes_of_a_state_that_find_no_room_are_noticed(tmp_path):
    """NumPy writes them when it closes the file, and does not look whether that went well."""
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from pathlib import Path\n"
        "from candidly.distributed.journal import CheckpointError, Journal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "journal = Journal(Path(sys.argv[1]), 'job'); journal.open()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
        "try: journal.store('state', np.arange(300.0))\n"
        "except CheckpointError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "is full" in done.stdout
    assert not list(tmp_path.glob("state*"))
