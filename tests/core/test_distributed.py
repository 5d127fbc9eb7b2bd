"""Solves on shards: out of core and on Ray, against ``fit``; broken files and killed processes."""

import gc
import pickle
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import candidly
from benchmarks.scale.made_up import write
from candidly import ICE, Candidates, MCar, OpenSet, RowSpace, WMCar
from candidly.distributed import (
    CheckpointError,
    Features,
    SourceError,
    label_open_set,
    npy_part,
    solve,
    store_candidates,
    store_checksums,
)
from candidly.distributed import journal as journals
from candidly.distributed.checksums import CHECKSUMS
from candidly.distributed.out_of_core import OutOfCore
from candidly.distributed.shard_making import Here, nearly_even
from candidly.distributed.solving import _program, read_bytes
from candidly.distributed.source_reading import read_source
from candidly.extras import installed
from candidly.heap import release
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.kernels import kernels_by, running_by
from candidly.solvers.open_set import OpenSetLabelling
from candidly.solvers.population import Population
from problems import captions

ROOT = Path(__file__).parents[2]
METHODS = [
    RowSpace(),
    RowSpace(class_sizes=True, leave_one_out=False, standardize=True),
    RowSpace(lift="rbf", landmarks=60, random_state=0),
    OpenSet(),
    OpenSet(max_iter=3, learn_shown=False),
    MCar(setting="features", tol=1e-4),
    WMCar(tol=1e-4, at_least_one=True),
    ICE(RowSpace(), max_rounds=2),
    ICE(RowSpace(), fraction=1.0, max_rounds=2, ties="index"),
    ICE(RowSpace(), max_rounds=2, ties="random", random_state=3),
    ICE(OpenSet(), max_rounds=2),
    ICE(MCar(setting="features")),
    *(ICE(WMCar(at_least_one=True), ties=t, random_state=0) for t in (None, "index", "random")),
]


def on_shards(source, method, count, **options):
    """Return the estimator fitted on so many shards in this process."""
    program = _program(method, read_source(source, **options))
    return program.run(Here(program.maker(nearly_even(program.source, count))))


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_shards_give_the_labels_of_fit(method, weighted):
    X, y = captions()
    weight = np.random.default_rng(1).random(len(X)) + 0.5 if weighted else None
    alone = clone(method).fit(X, y, sample_weight=weight)
    found = on_shards((X, y), method, 3, sample_weight=weight)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))
    assert found.n_iter_ == alone.n_iter_
    assert found.solution_.status is alone.solution_.status
    for name, size in alone.solution_.violations.items():
        assert found.solution_.violations[name] == pytest.approx(size, abs=1e-7)


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_that_fit_doubts_are_doubted_on_shards(weighted):
    doubted = []
    for seed in range(8):
        digits = candidly.datasets.load("digits", people=5, each=20, n_extra=2, random_state=seed)
        weight = np.random.default_rng(seed).random(100) + 0.5 if weighted else None
        alone = MCar().fit(digits.X, digits.candidates, sample_weight=weight)
        found = on_shards((digits.X, digits.candidates), MCar(), 3, sample_weight=weight)
        assert found.solution_.doubts == alone.solution_.doubts
        assert found.solution_.status is alone.solution_.status
        doubted.append(bool(found.solution_.doubts))
    assert any(doubted)
    assert not all(doubted)


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [MCar(), ICE(MCar()), ICE(WMCar()), ICE(RowSpace())], ids=repr)
def test_names_that_are_only_listed_together_give_the_labels_of_fit(method, seed):
    """Rounding would move them apart, and every round make that larger."""
    rng = np.random.default_rng(seed)
    who = rng.integers(7, size=120)
    X = 2 * rng.normal(size=(7, 10))[who] + rng.normal(size=(120, 10))
    mask = (rng.random((120, 7)) < 0.35) | (np.arange(7) == who[:, None])
    mask[:, :2] = mask[:, :2].any(axis=1)[:, None]
    alone = clone(method).fit(X, mask)
    found = on_shards((X, mask), method, 3)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)
    order = rng.permutation(120)
    mixed = clone(method).fit(X[order], mask[order])
    if not isinstance(method, ICE):  # where all is equal, the first row loses a candidate
        np.testing.assert_array_equal(mixed.transduction_, alone.transduction_[order])


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("count", [1, 7, 11])
def test_names_of_one_caption_do_not_depend_on_the_number_of_shards(count):
    """Many names of real captions are only mentioned together; soft labels were off by 0.006."""
    data = candidly.datasets.load("newsroom")
    alone = OpenSet(classifier=None).fit(data.X, data.candidates)
    found = on_shards((data.X, data.candidates), OpenSet(classifier=None), count)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


def test_copies_of_photos_give_the_labels_of_fit():
    X, y = captions(80, people=5)
    X, y = np.vstack([X, X]), _twice(y)
    alone = OpenSet().fit(X, y)
    found = on_shards((X, y), OpenSet(), 3)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)
    one, two = np.split(alone.solution_.labels, 2)
    np.testing.assert_allclose(one, two, atol=1e-7)


def _twice(y):
    """Return candidates followed by themselves, in other groups."""
    return Candidates.from_mask(
        np.vstack([y.mask, y.mask]),
        classes=y.classes,
        null=y.null,
        groups=np.concatenate([y.groups, y.groups + y.groups.max() + 1]),
    )


def test_fewer_instances_than_features_give_the_labels_of_fit():
    rng = np.random.default_rng(0)
    y = np.arange(112) % 16
    X = 10 + rng.normal(size=(16, 108))[y] + 0.3 * rng.normal(size=(112, 108))
    mask = (rng.random((112, 16)) < 0.1) | (np.arange(16) == y[:, None])
    method = WMCar(setting="paper")  # in the end so small a threshold needs a QR factorisation
    alone = clone(method).fit(X, mask)
    found = on_shards((X, mask), method, 3)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.parametrize("method", [RowSpace(), OpenSet()], ids=repr)
def test_single_instances_without_null_give_the_labels_of_fit(method):
    digits = candidly.datasets.load("digits", each=15, n_extra=2, random_state=0)
    X = digits.X.astype(np.float32)
    alone = clone(method).fit(X, digits.candidates)
    found = on_shards((X, digits.candidates), method, 4)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 40))
def test_no_group_is_split_and_no_row_lost(seed, groups, most):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(1, 60))
    source = read_source((np.zeros((N, 1)), [{0}] * N), groups=rng.integers(groups, size=N))
    cuts = source.cut(most)
    rows = [np.arange(N)[cut] for cut in cuts]
    assert sorted(np.concatenate(rows).tolist()) == list(range(N))
    which = np.empty(N, dtype=int)
    for number, own in enumerate(rows):
        which[own] = number
        sizes = np.unique(source.groups[own], return_counts=True)[1]
        assert len(own) <= most or len(sizes) == 1
    for group in np.unique(source.groups):
        assert len(np.unique(which[source.groups == group])) == 1


@pytest.mark.parametrize(
    "method", [RowSpace(), ICE(RowSpace(), fraction=1.0, max_rounds=2, ties="index")], ids=repr
)
def test_groups_in_any_order_give_the_labels_of_fit(method):
    X, y = captions()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    alone = clone(method).fit(X, y)
    found = on_shards((X, y), method, 3)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)


@pytest.fixture
def stored(tmp_path):
    """Features and candidates in files, and what fit finds on them."""
    X, y = captions(600)
    np.save(tmp_path / "features.npy", X)
    store_candidates(y, tmp_path / "candidates")
    source = (tmp_path / "features.npy", tmp_path / "candidates")
    return source, RowSpace().fit(X, y), tmp_path / "checkpoint"


def small_shards(monkeypatch, rows=100):
    monkeypatch.setattr("candidly.distributed.solving.rows_in", lambda *_: rows)


def test_files_in_little_memory_give_the_labels_of_fit(stored, monkeypatch):
    source, alone, folder = stored
    small_shards(monkeypatch)
    seen = []
    found = solve(source, RowSpace(), folder=folder, on_progress=seen.append)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.label_distributions_, alone.label_distributions_, atol=1e-7)
    assert isinstance(found.solution_.labels, np.memmap)
    assert seen[-1].shards == 6
    assert {one.shard for one in seen} == {1, 2, 3, 4, 5, 6}
    assert not any(one.left < 0 for one in seen)
    assert not list(folder.glob("call-*"))


@pytest.mark.parametrize("method", [RowSpace(), OpenSet(), WMCar(tol=1e-3)], ids=repr)
@pytest.mark.parametrize("after", [2, 9, 14])
def test_an_interrupted_solve_goes_on_and_ends_the_same(stored, monkeypatch, method, after):
    source, _, folder = stored
    small_shards(monkeypatch, 250)
    whole = solve(source, method)
    calls, real = [], OutOfCore._call

    def dying(self, *arguments):
        calls.append(1)
        if len(calls) == 3 * after + 2:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(OutOfCore, "_call", dying)
    with pytest.raises(KeyboardInterrupt):
        solve(source, method, folder=folder)
    done = len(list(folder.glob("call-*.json")))
    assert after <= done <= after + 2  # rows that are collected are calls, too
    found = solve(source, method, folder=folder)
    assert np.array_equal(found.solution_.labels, whole.solution_.labels)
    assert np.array_equal(found.transduction_, whole.transduction_)


@pytest.mark.parametrize("method", [RowSpace(), OpenSet(), WMCar(tol=1e-3)], ids=repr)
def test_shards_at_once_give_the_bits_of_one_after_another(stored, monkeypatch, method):
    source, _, _ = stored
    small_shards(monkeypatch, 150)
    real = OutOfCore._call

    def late(self, name, broadcast, shard, made):
        if shard == 0:  # the others are done before
            time.sleep(0.01)
        return real(self, name, broadcast, shard, made)

    monkeypatch.setattr(OutOfCore, "_call", late)
    found = []
    for at_once in (1, 2, 3):
        monkeypatch.setattr("candidly.distributed.out_of_core.AT_ONCE", at_once)
        found.append(solve(source, method))
    for other in found[1:]:
        assert np.array_equal(other.solution_.labels, found[0].solution_.labels)
        assert np.array_equal(other.solution_.scores, found[0].solution_.scores)


@pytest.mark.parametrize("method", [OpenSet(), RowSpace(), ICE(OpenSet(), max_rounds=2)], ids=repr)
def test_a_shard_of_nobody_gives_the_labels_of_fit(monkeypatch, method):
    X, y = captions(60, people=6)
    nobody = np.tile(np.arange(len(y.classes)) == y.null_column, (40, 1))
    mask, groups = np.vstack([nobody, y.mask]), np.append(-1 - np.arange(40), y.group_numbers)
    X = np.vstack([np.random.default_rng(0).normal(size=(40, X.shape[1])), X])
    both = Candidates.from_mask(mask, classes=y.classes, null=y.null, groups=groups)
    small_shards(monkeypatch, 40)
    alone, found = clone(method).fit(X, both), solve((X, both), method)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


@pytest.mark.parametrize("large", [False, True])
def test_shards_wait_for_large_parts_to_be_added(stored, monkeypatch, large):
    source, _, _ = stored
    small_shards(monkeypatch)
    later, waited, real = threading.Event(), [], OutOfCore._call

    def watched(self, name, broadcast, shard, made):
        if shard == 3:
            later.set()
        elif shard == 1 and not waited:
            waited.append(later.wait(0.5))  # whether the next but one is begun before this ends
        return real(self, name, broadcast, shard, made)

    monkeypatch.setattr(OutOfCore, "_call", watched)
    monkeypatch.setattr("candidly.distributed.out_of_core.LARGE", 0 if large else 10**9)
    solve(source, RowSpace())
    assert waited == [not large]


def test_an_error_in_one_of_two_shards_is_raised(stored, monkeypatch):
    source, _, _ = stored
    X = np.load(source[0])
    X[250, 1] = np.nan
    np.save(source[0], X)
    small_shards(monkeypatch)
    with pytest.raises(SourceError, match="row 250, column 1"):
        solve(source, RowSpace())


def test_shards_run_by_the_kernels_that_are_chosen(stored, monkeypatch):
    source, _, _ = stored
    small_shards(monkeypatch)
    seen, real = set(), OutOfCore._call

    def watched(self, *arguments):
        seen.add(kernels_by())
        return real(self, *arguments)

    monkeypatch.setattr(OutOfCore, "_call", watched)
    with running_by("numpy"):
        solve(source, RowSpace(), max_memory="1GB")
    assert seen == {"numpy"}


def test_a_shard_is_freed_without_the_collector(stored):
    source, _, _ = stored
    program = _program(RowSpace(), read_source(source))
    driver = Here(program.maker(nearly_even(program.source, 1)))
    program.run(driver)
    shard = weakref.ref(driver.shards[0])
    gc.disable()
    try:
        driver.shards.clear()
        assert shard() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("library", ["numpy", "numba"])
def test_single_instances_in_one_pass_give_the_labels_of_fit(library, prior, tmp_path):
    if library == "numba" and not installed("fast"):
        pytest.skip("needs numba: pip install 'candidly[fast]'")
    rng = np.random.default_rng(0)
    truth = rng.integers(30, size=400)
    X = rng.normal(size=(30, 6))[truth] + 0.3 * rng.normal(size=(400, 6)) + 5
    mask = rng.random((400, 30)) < 0.05
    mask[np.arange(400), truth] = True
    values = mask * (rng.random(mask.shape) + 0.1 if prior else 1.0)
    P = values / values.sum(axis=1, keepdims=True)
    y = Candidates.from_priors(P) if prior else mask
    alone = RowSpace().fit(X, y)
    with running_by(library):
        found = on_shards((X, y), RowSpace(), 3)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


def test_rows_are_read_to_the_room_that_is_given(stored):
    source, _, _ = stored
    features, X = Features.of(source[0]), np.load(source[0])
    room = features.room(50)
    found = features.rows(slice(20, 60), room)
    assert np.shares_memory(found, room)
    np.testing.assert_array_equal(found, X[20:60])


def test_headers_of_parts_are_read_once(parts, monkeypatch):
    folder, X, _ = parts
    features, opened, real = Features.of(folder), [], npy_part.NpyPart.__init__
    monkeypatch.setattr(
        npy_part.NpyPart, "__init__", lambda part, path: opened.append(path) or real(part, path)
    )
    assert (features.shape, features.dtype) == (X.shape, X.dtype)
    for rows in ([0, 299], [298, 1], [2, 150], [3, 3]):
        which = np.array(rows)
        np.testing.assert_array_equal(features.rows(which), X[which])
    assert opened == sorted(folder.glob("*.npy"))
    elsewhere = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(elsewhere.rows(np.array([7])), X[[7]])


def test_a_map_of_a_whole_file_is_read_as_the_file(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).normal(size=(9, 4)))
    X = np.load(path, mmap_mode="r")
    assert Features.of(X).parts == [path]
    raw = np.memmap(path, np.float64, "r", X.offset, (9, 4))
    for part in (X[:, :2], X[2:], np.load(path, mmap_mode="c"), raw[:8], np.array(X)):
        assert Features.of(part).parts[0] is part
        np.testing.assert_array_equal(Features.of(part).rows(slice(1, 3)), part[1:3])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_rows_of_every_npy_file_are_those_that_numpy_reads(tmp_path, order, dtype, version):
    X = np.asarray(np.random.default_rng(0).normal(size=(9, 4)), dtype=dtype, order=order)
    with (tmp_path / "X.npy").open("wb") as file:
        np.lib.format.write_array(file, X, version=version)
    features = Features.of(tmp_path / "X.npy")
    for rows in (slice(2, 7), np.array([8, 0, 0, 3])):
        np.testing.assert_array_equal(features.rows(rows), X[rows])
    np.testing.assert_array_equal(features.rows(slice(0, 3), features.room(5)), X[:3])
    assert features.dtype == dtype


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_pages_of_files_are_no_memory_of_the_process(tmp_path):
    """Resident memory, with pages of mapped files, is that of a process that maps nothing."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(600_000, 64)).astype(np.float32))
    classes = np.sort(rng.permuted(np.tile(np.arange(20), (600_000, 1)), axis=1)[:, :3], axis=1)
    start = np.arange(0, 3 * 600_000 + 1, 3)
    (tmp_path / "sets").mkdir()
    np.save(tmp_path / "sets" / "start.npy", start)
    np.save(tmp_path / "sets" / "classes.npy", classes.ravel().astype(np.int32))
    code = (
        "import sys; from pathlib import Path; from candidly import RowSpace;"
        " from candidly.distributed import solve; own = lambda: int("
        "Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]); before = own();"
        " solve((sys.argv[1] + '/X.npy', sys.argv[1] + '/sets'), RowSpace(max_iter=3),"
        " max_memory='450MB', folder=sys.argv[1] + '/solve'); print(before, own())"
    )
    words = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)]
    ran = subprocess.run(words, check=True, capture_output=True, text=True)
    _, peak = map(int, ran.stdout.split())
    assert peak * 1024 < 450e6


@pytest.mark.slow
def test_a_killed_process_goes_on(stored):
    source, alone, folder = stored
    code = (
        "from candidly import RowSpace; from candidly.distributed import solve, solving\n"
        "solving.rows_in = lambda *_: 50\n"
        f"solve(({str(source[0])!r}, {str(source[1])!r}), RowSpace(), folder={str(folder)!r})"
    )
    running = subprocess.Popen([sys.executable, "-c", code])
    while not (folder / "call-00010.json").exists() and running.poll() is None:
        time.sleep(0.001)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert (folder / "call-00010.json").exists()
    subprocess.run([sys.executable, "-c", code], check=True)
    labels = np.load(folder / "result-labels.npy")
    np.testing.assert_allclose(labels, alone.solution_.labels, atol=1e-7)


def interrupted(source, folder, monkeypatch, calls=9, method=None):
    """Leave a checkpoint of so many calls."""
    real = journals.Journal.append

    def dying(self, *arguments):
        if len(self) == calls:
            raise KeyboardInterrupt
        real(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(journals.Journal, "append", dying)
        with pytest.raises(KeyboardInterrupt):
            solve(source, method or RowSpace(), folder=folder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "method",
    [
        RowSpace(lift="rbf", landmarks=60, max_iter=6),
        OpenSet(max_iter=3, classifier=None),
        ICE(OpenSet(max_iter=2), max_rounds=2),
        ICE(WMCar(max_iter=8), max_rounds=3),
        ICE(RowSpace(max_iter=5), max_rounds=3, ties="random"),
        ICE(RowSpace(lift="rbf", landmarks=60, max_iter=3, random_state=np.random.RandomState(1))),
    ],
    ids=["RowSpace", "OpenSet", "ICE of OpenSet", "ICE of WMCar", "ICE at random", "a generator"],
)
def test_an_interrupted_solve_of_any_method_ends_with_the_same_bits(stored, monkeypatch, method):
    source, _, folder = stored
    small_shards(monkeypatch)
    X, number = np.load(source[0]), []
    real = journals.Journal.append
    with monkeypatch.context() as patch:
        patch.setattr(journals.Journal, "append", lambda *a: (number.append(1), real(*a))[1])
        whole = solve(source, method, folder=folder / "whole")
    for calls in range(2, len(number), max(1, len(number) // 7)):
        place = folder / str(calls)
        interrupted(source, place, monkeypatch, calls, method)
        found = solve(source, method, folder=place)
        np.testing.assert_array_equal(found.solution_.labels, whole.solution_.labels)
        np.testing.assert_array_equal(found.transduction_, whole.transduction_)
        if method.classifier is not None:
            np.testing.assert_array_equal(found.predict(X), whole.predict(X))
        assert {path.name[:7] for path in place.iterdir()} == {"job.jso", "result-", "solve.l"}


@pytest.mark.parametrize("kind", ["shard-00001-y*", "call-00004-sums-B*", "shard-*"])
def test_damaged_files_of_a_checkpoint_are_made_again(stored, monkeypatch, kind):
    source, alone, folder = stored
    small_shards(monkeypatch)
    interrupted(source, folder, monkeypatch)
    broken = list(folder.glob(kind))
    assert broken
    for path in broken:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    found = solve(source, RowSpace(), folder=folder)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
@pytest.mark.parametrize("number", [0, 4, 8])
def test_a_damaged_entry_ends_the_journal(stored, monkeypatch, content, number):
    source, _, folder = stored
    small_shards(monkeypatch)
    whole = solve(source, RowSpace())
    interrupted(source, folder, monkeypatch)
    (folder / f"call-{number:05d}.json").write_bytes(content)
    interrupted(source, folder, monkeypatch, calls=number + 2)
    assert len(list(folder.glob("call-*.json"))) == number + 2
    found = solve(source, RowSpace(), folder=folder)
    assert np.array_equal(found.solution_.labels, whole.solution_.labels)


def test_an_entry_with_another_digit_ends_the_journal(stored, monkeypatch):
    source, alone, folder = stored
    small_shards(monkeypatch)
    interrupted(source, folder, monkeypatch)
    entry = folder / "call-00006.json"
    entry.write_bytes(entry.read_bytes().replace(b'"crc": 1', b'"crc": 2', 1))
    found = solve(source, RowSpace(), folder=folder)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


def test_shards_of_another_size_do_not_go_on_from_a_checkpoint(stored, monkeypatch):
    source, _, folder = stored
    rows = "candidly.distributed.solving.rows_in"
    monkeypatch.setattr(rows, lambda *_: 71)
    interrupted(source, folder, monkeypatch)
    monkeypatch.setattr(rows, lambda *_: 91)  # as many shards
    with pytest.raises(CheckpointError, match="another problem"):
        solve(source, RowSpace(), folder=folder)


def test_a_checkpoint_of_other_calls_is_refused(stored, monkeypatch):
    source, _, folder = stored
    small_shards(monkeypatch)
    interrupted(source, folder, monkeypatch)
    monkeypatch.setattr(OutOfCore, "each", _with_one_call_more(OutOfCore.each))
    with pytest.raises(CheckpointError, match="other code: call 2 is"):
        solve(source, RowSpace(), folder=folder)


def _with_one_call_more(each):
    def called(self, method, *broadcast):
        if method == "moments":
            each(self, "glance")
        return each(self, method, *broadcast)

    return called


def test_a_state_that_is_made_again_leaves_no_files(stored, monkeypatch):
    source, _, folder = stored
    small_shards(monkeypatch)
    interrupted(source, folder, monkeypatch, calls=12)
    before = {path.name for path in folder.glob("shard-*")}
    next(folder.glob("shard-00000-y*")).unlink()
    interrupted(source, folder, monkeypatch, calls=13)
    after = {path.name for path in folder.glob("shard-*")}
    assert len(after) == len(before)


def test_what_was_refused_or_interrupted_holds_no_lock(stored, monkeypatch):
    source, _, folder = stored
    small_shards(monkeypatch)
    interrupted(source, folder, monkeypatch)
    for broken in (MemoryError, KeyboardInterrupt):
        with monkeypatch.context() as patch:
            patch.setattr(journals.Journal, "part", _raising(broken))
            with pytest.raises(broken):
                solve(source, RowSpace(), folder=folder)
    solve(source, RowSpace(), folder=folder)


def _raising(error):
    def raises(*_):
        raise error

    return raises


@pytest.mark.parametrize(
    ("driver", "given"),
    [("ray", {"folder": "a"}), ("ray", {"on_progress": print}), ("out-of-core", {"n_workers": 2})],
)
def test_what_is_for_another_driver_is_refused(stored, driver, given):
    with pytest.raises(ValueError, match=f"{next(iter(given))} is for driver="):
        solve(stored[0], RowSpace(), driver, **given)


def test_a_damaged_job_is_said(stored, monkeypatch):
    source, _, folder = stored
    interrupted(source, folder, monkeypatch)
    (folder / "job.json").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"job\.json is damaged"):
        solve(source, RowSpace(), folder=folder)


def test_one_process_at_a_time_uses_a_folder(stored, monkeypatch):
    source, alone, folder = stored
    small_shards(monkeypatch)
    held = []

    def second(progress):
        if not held:
            with pytest.raises(CheckpointError, match=r"in use by process \d+") as said:
                solve(source, RowSpace(), folder=folder)
            held.append(said)

    found = solve(source, RowSpace(), folder=folder, on_progress=second)
    assert held
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    with pytest.raises(CheckpointError, match="another problem"):
        solve(source, RowSpace(ridge=0.1), folder=folder)
    solve(source, RowSpace(), folder=folder)  # what was refused holds nothing


def test_a_folder_with_files_of_others_is_refused(stored, monkeypatch):
    source, _, folder = stored
    folder.mkdir()
    (folder / ".hidden").touch()
    interrupted(source, folder, monkeypatch)
    parts = folder.parent / "parts"
    parts.mkdir()
    np.save(parts / "shard-00000.npy", np.load(source[0]))
    before = (parts / "shard-00000.npy").read_bytes()
    with pytest.raises(CheckpointError, match=r"not of a solve, e\.g\. shard-00000\.npy"):
        solve((parts, source[1]), RowSpace(), folder=parts)
    assert (parts / "shard-00000.npy").read_bytes() == before
    (folder / "mine.npy").write_bytes(before)
    solve(source, RowSpace(), folder=folder)
    assert (folder / "mine.npy").read_bytes() == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own; ``small_disk(size)`` says how large it is."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*options):
        return subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", place])

    if not shutil.which("mount") or mount("size=8k").returncode:
        pytest.skip("needs leave to mount a file system, which root has")

    def resized(size):
        mount("remount", f"size={size}k").check_returncode()
        return place

    yield resized
    subprocess.run(["umount", place], check=True)


def contents(source):
    return {path: path.read_bytes() for path in (source[0], *source[1].iterdir())}


@pytest.mark.parametrize("method", [RowSpace(), WMCar(tol=1e-3)], ids=repr)
def test_a_full_disk_is_said_and_the_checkpoint_stays(stored, monkeypatch, small_disk, method):
    source = stored[0]
    small_shards(monkeypatch)
    whole, before = solve(source, method), contents(source)
    said, calls, found = [], [0], None
    for size in range(16, 5000, 60):  # it grows until a solve fits, which goes on each time
        folder = small_disk(size) / "checkpoint"
        try:
            found = solve(source, method, folder=folder)
            break
        except CheckpointError as error:
            said.append(str(error))
        assert not list(folder.glob("*.part"))
        calls.append(len(list(folder.glob("call-*.json"))))
    assert all("is full" in one and "make room and run it again" in one for one in said)
    assert calls == sorted(calls)
    assert calls[-1] > 10
    assert np.array_equal(found.solution_.labels, whole.solution_.labels)
    assert contents(source) == before


def test_a_limit_on_the_size_of_files_is_said(stored, monkeypatch):
    source, alone, folder = stored
    small_shards(monkeypatch)
    before, (soft, hard) = contents(source), resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (600, 5000):  # of states, and of results
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            with pytest.raises(CheckpointError, match="files may not be as large"):
                solve(source, RowSpace(), folder=folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    found = solve(source, RowSpace(), folder=folder)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    assert contents(source) == before


def test_a_checkpoint_of_another_problem_is_refused(stored, monkeypatch):
    source, _, folder = stored
    interrupted(source, folder, monkeypatch)
    with pytest.raises(CheckpointError, match="another problem, of files that were changed"):
        solve(source, RowSpace(ridge=0.1), folder=folder)


@pytest.fixture
def parts(tmp_path):
    X, y = captions(300)
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(3):
        np.save(folder / f"part-{k}.npy", X[100 * k : 100 * (k + 1)])
    store_checksums(folder)
    return folder, X, y


def test_parts_are_read_as_one(parts):
    folder, X, y = parts
    features = Features.of(folder)
    assert features.shape == X.shape
    np.testing.assert_array_equal(features.rows(slice(50, 260)), X[50:260])
    np.testing.assert_array_equal(features.rows(np.array([299, 0, 150])), X[[299, 0, 150]])
    found = solve((folder, y), RowSpace())
    np.testing.assert_array_equal(found.transduction_, RowSpace().fit(X, y).transduction_)


def test_a_part_without_rows_is_passed_over(tmp_path):
    X = np.random.default_rng(0).normal(size=(7, 3))
    for number, part in enumerate((X[:3], X[:0], X[3:])):
        np.save(tmp_path / f"part-{number}.npy", part)
    features = Features.of(tmp_path)
    np.testing.assert_array_equal(features.rows(slice(1, 6)), X[1:6])
    np.testing.assert_array_equal(features.rows(np.array([5, 2])), X[[5, 2]])


def test_maps_that_are_copied_on_write_keep_what_was_written(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3000))
    values = np.load(tmp_path / "a.npy", mmap_mode="c")
    values[:] = 1
    release(values)
    assert values.sum() == 3000


def test_groups_may_have_no_order():
    groups = np.array(["a", 1, "a", 2] * 5, dtype=object)
    X, sets = np.random.default_rng(0).normal(size=(20, 3)), [{"x", "y"}] * 20
    found = read_source((X, sets), groups=groups)
    np.testing.assert_array_equal(found.groups, [0, 1, 0, 2] * 5)


def test_parts_of_two_types_keep_the_digits_of_both(tmp_path):
    X, _ = captions(20)
    np.save(tmp_path / "a.npy", X[:9].astype(np.float32))
    np.save(tmp_path / "b.npy", X[9:])
    features = Features.of(tmp_path)
    assert features.dtype == np.float64
    np.testing.assert_array_equal(features.rows(slice(0, 20))[9:], X[9:])


def test_parts_whose_order_is_not_clear_are_refused(tmp_path):
    X, y = captions(60)
    for k in range(12):
        np.save(tmp_path / f"part-{k}.npy", X[5 * k : 5 * (k + 1)])
    with pytest.raises(SourceError, match=r"part-10\.npy by name, part-2\.npy by number"):
        solve((tmp_path, y), RowSpace())
    features = Features([tmp_path / f"part-{k}.npy" for k in range(12)])
    np.testing.assert_array_equal(features.rows(slice(0, 60)), X)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "part-2.npy").unlink(), "lacks the part part-2.npy"),
        (lambda folder: np.save(folder / "part-3.npy", np.eye(2)), "has the part part-3.npy"),
        (lambda folder: (folder / CHECKSUMS).write_text("{"), "cannot be read as checksums"),
        (lambda folder: (folder / CHECKSUMS).write_text('{"part-0.npy": "5e"}'), "as a number"),
    ],
)
def test_checksums_that_are_not_of_the_parts_are_said(parts, harm, message):
    folder, _, y = parts
    harm(folder)
    with pytest.raises(SourceError, match=message):
        solve((folder, y), RowSpace())


def test_files_that_are_alone_have_checksums_too(stored):
    source, alone, _ = stored
    store_checksums(source[0].parent)
    store_checksums(source[1])
    np.testing.assert_array_equal(solve(source, RowSpace()).transduction_, alone.transduction_)
    for path in (source[0], source[1] / "classes.npy"):
        was = path.read_bytes()
        path.write_bytes(was[:-1] + bytes([was[-1] ^ 1]))
        with pytest.raises(SourceError, match=rf"{path.name} is not the file that"):
            solve(source, RowSpace())
        path.write_bytes(was)


@pytest.mark.parametrize("listed", [False, True])
def test_a_solve_does_not_go_on_where_a_file_was_changed_in_the_middle(stored, monkeypatch, listed):
    source, _, folder = stored
    monkeypatch.setattr("candidly.distributed.known_again.WHOLE", 5000)
    monkeypatch.setattr("candidly.distributed.known_again.PIECES", 3)
    small_shards(monkeypatch)
    if listed:
        store_checksums(source[0].parent)
    interrupted(source, folder, monkeypatch)
    X = np.load(source[0])
    X[217, 1] += 1
    np.save(source[0], X)
    if listed:
        store_checksums(source[0].parent)
    with pytest.raises(CheckpointError, match="of files that were changed"):
        solve(source, RowSpace(), folder=folder)


def test_candidates_stored_again_leave_nothing_of_those_before(tmp_path):
    priors = np.array([[0.9, 0.1], [0.5, 0.5]])
    store_candidates(Candidates.from_priors(priors), tmp_path, groups=[0, 0])
    store_checksums(tmp_path)
    store_candidates([{0, 1}, {1}], tmp_path)
    found = read_source((np.zeros((2, 3)), tmp_path))
    assert found.priors is None
    assert found.groups is None
    assert found.classes.tolist() == [0, 1, 1]


@pytest.fixture
def parquet():
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'candidly[ray]'")
    from pyarrow import parquet

    return parquet


@pytest.mark.parametrize("kind", ["lists", "fixed lists", "columns"])
def test_rows_of_parquet_are_read_across_row_groups(tmp_path, parquet, monkeypatch, kind):
    import pyarrow

    monkeypatch.setattr("candidly.distributed.parquet_part.PIECE", 7)
    X, y = captions(200)
    if kind == "columns":
        columns = {f"x{k:02d}": X[:, k] for k in range(X.shape[1])}
    elif kind == "lists":
        columns = {"embedding": list(X)}
    else:
        columns = {"embedding": pyarrow.FixedSizeListArray.from_arrays(X.ravel(), X.shape[1])}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=60)
    features = Features.of(tmp_path / "a.parquet")
    assert (features.shape, features.dtype) == (X.shape, X.dtype)
    for rows in (slice(0, 200), slice(55, 63), slice(120, 121), slice(64, 190)):
        np.testing.assert_array_equal(features.rows(rows), X[rows])
    which = np.array([199, 3, 61, 60, 3, 118])
    np.testing.assert_array_equal(features.rows(which), X[which])
    small_shards(monkeypatch, 50)
    found = solve((tmp_path, y), RowSpace())
    np.testing.assert_array_equal(found.transduction_, RowSpace().fit(X, y).transduction_)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], "1 features in row 1, and 2 in the first"),
        ([[1.0, 2.0], None, [3.0, 4.0]], "has nothing in row 1"),
        ([[1.0, 2.0], [3.0, None], [3.0, 4.0]], "nan in row 1, column 1"),
        ([["a"], ["b"], ["c"]], "has numbers of type string"),
    ],
)
def test_wrong_rows_of_parquet_are_named(tmp_path, parquet, rows, message):
    import pyarrow

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"embedding": rows}), path)
    with pytest.raises(SourceError, match=message):
        solve((path, [{0, 1}, {0}, {1}]), RowSpace())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SourceError, match=r"a\.parquet cannot be read as features"):
        solve((path, [{0, 1}, {0}, {1}]), RowSpace())


def test_rows_of_a_large_row_group_take_little_memory(tmp_path, parquet):
    import pyarrow

    X = np.zeros((200_000, 64), dtype=np.float32)
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(X.ravel()), X.shape[1])
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"embedding": lists})
    # Without a dictionary, so that the file is as large as its numbers.
    parquet.write_table(
        table, path, row_group_size=len(X), use_dictionary=False, compression="none"
    )
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(pool)
    try:
        rows = Features.of(path).rows(slice(190_000, 190_100))
    finally:
        pyarrow.set_memory_pool(before)
    assert rows.shape == (100, 64)
    assert 0 < pool.max_memory() < X.nbytes / 4


def test_parquet_parts_are_read(tmp_path, parquet):
    import pyarrow

    X, _ = captions(20)
    parquet.write_table(pyarrow.table({"embedding": list(X[:9])}), tmp_path / "a.parquet")
    columns = {f"x{k:02d}": X[9:, k] for k in range(X.shape[1])}
    parquet.write_table(pyarrow.table(columns), tmp_path / "b.parquet")
    np.testing.assert_array_equal(Features.of(tmp_path).rows(slice(0, 20)), X)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "checksum is another"),
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: (path.parent / CHECKSUMS).unlink() or path.write_bytes(b"x"), "cannot be re"),
    ],
)
def test_a_broken_part_is_named(parts, harm, message):
    folder, _, y = parts
    features = Features([folder / f"part-{k}.npy" for k in range(3)])
    harm(folder / "part-1.npy")
    with pytest.raises(SourceError, match=rf"part-1\.npy.*{message}"):
        solve((features, y), RowSpace())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((4, 2), np.nan)}, "nan in row 0, column 0"),
        ({"X": np.zeros((3, 2))}, "3 rows of features and 4 candidate sets"),
        ({"X": Path("nowhere.npy")}, "no features at nowhere.npy"),
        ({"y": Path("nowhere")}, "nowhere is no folder|no folder nowhere"),
        ({"weight": [1, 1, 0, 1]}, "weight is positive"),
        ({"groups": [1, 2]}, "groups has 2 values for 4"),
        ({"source": 3}, "source is a pair"),
    ],
)
def test_what_cannot_be_solved_is_said(change, message):
    X, y = change.get("X", np.eye(4)[:, :2]), change.get("y", [{0, 1}, {0}, {1}, {0, 1}])
    source = change.get("source", (X, y))
    weight, groups = change.get("weight"), change.get("groups")
    with pytest.raises(SourceError, match=message):
        solve(source, RowSpace(), sample_weight=weight, groups=groups)


@pytest.mark.parametrize(
    ("start", "classes", "message"),
    [
        ([0, 1, 1], [0], "instance 1 has no candidate"),
        ([0, 1, 2], [0, 7], "candidate 7"),
        ([0, 2, 3], [1, 0, 0], "instance 0 are not ascending"),
        ([0, 1, 5], [0, 1], "has to begin with 0 and to end"),
    ],
)
def test_wrong_candidates_on_disk_are_named(tmp_path, start, classes, message):
    store_candidates([{0, 1}, {1}], tmp_path)
    np.save(tmp_path / "start.npy", start)
    np.save(tmp_path / "classes.npy", np.array(classes, dtype=np.int32))
    with pytest.raises(SourceError, match=message):
        solve((np.eye(2), tmp_path), RowSpace())


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("priors", [0.5, 0.6, 1.0], r"priors of instance 0 are \[0.5 0.6\]"),
        ("priors", [1.5, -0.5, 1.0], "priors of instance 0"),
        ("priors", [0.5, 0.5, np.nan], "priors of instance 1"),
        ("priors", [0.5, 0.5], "2 values for 3 entries"),
        ("weight", [1.0, np.inf], "got inf for instance 1"),
    ],
)
def test_wrong_numbers_of_candidates_on_disk_are_named(tmp_path, name, values, message):
    store_candidates([{0, 1}, {1}], tmp_path)
    np.save(tmp_path / f"{name}.npy", values)
    with pytest.raises(SourceError, match=message):
        solve((np.eye(2), tmp_path), RowSpace())


@pytest.mark.parametrize(
    "content", ["", "[]", '{"names": 3}', '{"names": ["a", "b"], "null": 2}', '{"null": null}']
)
def test_wrong_names_on_disk_are_said(tmp_path, content):
    store_candidates([{0, 1}, {1}], tmp_path)
    (tmp_path / "names.json").write_text(content)
    with pytest.raises(SourceError, match=r"names\.json"):
        solve((np.eye(2), tmp_path), RowSpace())


def test_what_needs_memory_is_refused_with_what_to_do(monkeypatch):
    X, y = captions(40)
    with pytest.raises(SourceError, match="choose on a sample with CandidateClassifier"):
        solve((X, y), candidly.CandidateClassifier())
    with pytest.raises(SourceError, match='set classifier="auto" or None'):
        solve((X, y), RowSpace(classifier=candidly.SelfLabelling()))
    with pytest.raises(SourceError, match="set denoise=False"):
        solve((X, y), RowSpace(denoise=True))
    with pytest.raises(MemoryError, match=r"give .* MB or more"):
        solve((X, y), RowSpace(), max_memory="1MB")
    with pytest.raises(ValueError, match="driver is"):
        solve((X, y), RowSpace(), driver="dask")
    monkeypatch.setattr("candidly.distributed.open_set_fit.CLASSIFIED", 10)
    with pytest.raises(SourceError, match="set classifier=None"):
        solve((X, y), OpenSet())
    assert solve((X, y), OpenSet(classifier=None)).classifier_ is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_memory_has_room_for_the_last_step_of_open_set_labelling(tmp_path):
    write(tmp_path, 250_000, 8, 100)
    source = (tmp_path / "features.npy", tmp_path / "candidates")
    method = OpenSet(max_iter=1, classifier=None)
    with pytest.raises(MemoryError, match=r"MB that are kept of all.* give \d+ MB") as said:
        solve(source, method, max_memory="400MB")  # it takes more
    needed = float(str(said.value).split("give ")[1].split()[0])
    code = (
        "from benchmarks.scale.limited import status\n"
        "from candidly import OpenSet; from candidly.distributed import solve\n"
        f"solve({tuple(map(str, source))}, {method}, max_memory={needed * 1e6})\n"
        "print(status('VmHWM') * 1.048576)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert needed / 2 < float(done.stdout) < needed


def test_sizes_are_read():
    assert [read_bytes(size) for size in (5, "2kb", "1.5 GB", "7")] == [5, 2000, 1.5e9, 7]
    with pytest.raises(ValueError, match="bytes, or a text"):
        read_bytes("much")


def test_stored_candidates_come_back(tmp_path):
    X, y = captions(30)
    priors = Candidates.from_priors([[0.7, 0.3], [0.5, 0.5]], classes=["b", "a"])
    for candidates in (y, priors):
        folder = store_candidates(candidates, tmp_path / str(len(candidates)))
        source = read_source((X[: len(candidates)], folder))
        columns = source.columns(slice(0, len(candidates)))
        np.testing.assert_allclose(columns.P, candidates.sparse_priors.data)
        np.testing.assert_array_equal(source.names, candidates.classes)
        assert source.null == candidates.null_column


@pytest.mark.parametrize("kind", ["plain", "decided", "population", "start"])
def test_the_open_set_solver_alone_gives_what_it_gives_in_memory(kind, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    who = rng.integers(10, size=200)
    X = 2 * rng.normal(size=(10, 6))[who] + rng.normal(size=(200, 6))
    X -= X.mean(axis=0)
    instance = np.repeat(np.arange(200), 2)[20:]  # ten instances have no candidates
    name = np.sort(np.column_stack([who, (who + 1) % 10]), axis=1).ravel()[20:]
    nothing = np.zeros(200)
    photos = np.arange(200) // 2
    entries = CandidateEntries(instance, name, np.zeros(len(name)), nothing, photos, 10)
    options = {
        "plain": {},
        "decided": {"decided": DecidedInstances(X[20:24].T, who[20:24], np.arange(4) % 2 == 0)},
        "population": {"population": Population(np.zeros(6), np.eye(6), 4 * np.eye(6), -0.5)},
        "start": {"start": np.full(len(name), 0.4)},
    }[kind]
    alone = OpenSetLabelling().solve(X.T, entries, **options)
    monkeypatch.setattr("candidly.distributed.open_set_labelling.rows_in", lambda *_: 60)
    np.save(tmp_path / "features.npy", X)
    found = label_open_set(tmp_path / "features.npy", entries, np.zeros(6), **options)
    np.testing.assert_array_equal(found.chosen, alone.chosen)
    for part in ("soft", "rest", "likeness", "other", "confidence"):
        np.testing.assert_allclose(getattr(found, part), getattr(alone, part), atol=1e-9)
        assert not isinstance(getattr(found, part), np.memmap)  # its file is gone


# Sources: parts of photos, lost and interrupted files, weights on disk, maps, numbers of rows


def part_of_photos():
    """Features and candidates of 130 of 200 rows, so that photos are here in part."""
    X, y = captions(200)
    rows = np.sort(np.random.default_rng(0).permutation(200)[:130])
    return X[rows], y[rows]


@pytest.mark.parametrize("place", ["memory", "disk", "groups later", "groups later, disk"])
def test_parts_of_photos_give_the_labels_and_the_warning_of_fit(tmp_path, place):
    method = WMCar(tol=1e-4, at_least_one=True)
    X, y = part_of_photos()
    groups = None
    if "later" in place:
        groups = y.groups
        mask = np.vstack([y.mask, y.mask[:1]])
        y = Candidates.from_mask(mask, classes=y.classes, null=y.null)[:-1]
    with pytest.warns(candidly.PartialGroupWarning, match="here in part") as warned:
        alone = clone(method).fit(X, y, groups=groups)
    stored = store_candidates(y, tmp_path / "candidates") if "disk" in place else y
    with pytest.warns(candidly.PartialGroupWarning, match=r"in part, that of row \d") as found:
        model = solve((X, stored), method, groups=groups)
    assert len(found) == len(warned) == 1
    assert found[0].filename == warned[0].filename == __file__
    assert str(found[0].message).split()[0] == str(warned[0].message).split()[0]
    np.testing.assert_array_equal(model.transduction_, alone.transduction_)
    with pytest.warns(candidly.PartialGroupWarning):
        shards = on_shards((X, stored), method, 3, groups=groups)
    np.testing.assert_array_equal(shards.transduction_, alone.transduction_)
    np.testing.assert_allclose(shards.solution_.labels, alone.solution_.labels, atol=1e-7)


def test_partial_groups_are_known_where_they_are_stored(tmp_path):
    X, y = part_of_photos()
    source = read_source((X, store_candidates(y, tmp_path)))
    np.testing.assert_array_equal(source.partial, y.in_partial_group)
    whole = Candidates.from_mask(y.mask, classes=y.classes, null=y.null, groups=y.groups)
    assert read_source((X, y)).fingerprint() != read_source((X, whole)).fingerprint()
    store_candidates(whole, tmp_path)
    assert read_source((X, tmp_path)).partial is None
    solve((X, y), RowSpace())  # needs no name in a group, and so nothing is to be warned of


def test_partial_groups_without_groups_are_refused(tmp_path):
    X, y = part_of_photos()
    store_candidates(y, tmp_path)
    (tmp_path / "groups.npy").unlink()
    with pytest.raises(SourceError, match=r"partial\.npy, and lacks groups\.npy"):
        solve((X, tmp_path), RowSpace())


@pytest.fixture
def candidates_with_all(tmp_path):
    """A folder of candidates with priors, groups, weights and checksums, and other candidates."""
    priors = Candidates.from_priors([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], groups=[0, 0, 1])
    folder = store_candidates(priors, tmp_path / "candidates")
    np.save(folder / "weight.npy", [1.0, 2.0, 3.0])
    store_checksums(folder)
    return folder, Candidates([{0, 1}, {1}, {0}])


@pytest.mark.parametrize("name", ["priors.npy", "groups.npy", "weight.npy", "names.json"])
def test_lost_files_of_candidates_are_said(candidates_with_all, name):
    folder, _ = candidates_with_all
    (folder / "notes.npy").write_bytes(b"of somebody else")
    read_source((np.eye(3), folder))
    (folder / name).unlink()
    with pytest.raises(SourceError, match=f"lacks the file {name}"):
        read_source((np.eye(3), folder))


def test_files_that_checksums_of_candidates_do_not_list_are_said(candidates_with_all):
    folder, y = candidates_with_all
    store_candidates(y, folder)
    read_source((np.eye(3), folder))
    np.save(folder / "weight.npy", np.ones(3))
    with pytest.raises(SourceError, match=r"has the file weight\.npy"):
        read_source((np.eye(3), folder))


def test_changed_names_have_another_checksum(candidates_with_all):
    folder, _ = candidates_with_all
    names = folder / "names.json"
    names.write_text(names.read_text().replace('"null": null', '"null": 0'))
    with pytest.raises(SourceError, match=r"names\.json is not the file that"):
        read_source((np.eye(3), folder))


def test_features_beside_candidates_have_checksums_of_both(tmp_path):
    np.save(tmp_path / "features.npy", np.eye(3))
    store_candidates([{0, 1}, {1}, {0}], tmp_path)
    store_checksums(tmp_path)
    assert len(read_source((tmp_path / "features.npy", tmp_path))) == 3


def test_who_has_mapped_stored_candidates_goes_on_to_see_them(tmp_path):
    store_candidates([{0, 1}, {1, 2}], tmp_path, groups=[0, 1])
    mapped = {path: np.load(path, mmap_mode="r") for path in tmp_path.glob("*.npy")}
    before = {path: values.copy() for path, values in mapped.items()}
    store_candidates([{0, 2}, {0, 1}], tmp_path, groups=[0, 0])
    for path, values in mapped.items():
        np.testing.assert_array_equal(values, before[path])
    assert read_source((np.eye(2), tmp_path)).classes.tolist() == [0, 2, 0, 1]


@pytest.mark.parametrize("call", ["replace", "unlink", "open"])
def test_an_interrupted_store_leaves_one_of_both_or_is_noticed(
    candidates_with_all, monkeypatch, call
):
    folder, y = candidates_with_all
    old, real, refused = contents_of(folder), getattr(Path, call), 0
    for after in range(20):
        for path in folder.iterdir():
            path.unlink()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        left = [after]

        def dying(path, *arguments, left=left, **options):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return real(path, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Path, call, dying)
            try:
                store_candidates(y, folder)
                finished = True
            except KeyboardInterrupt:
                finished = False
        if "unfinished" in contents_of(folder):
            refused += 1
            with pytest.raises(SourceError, match="store the candidates there again"):
                read_source((np.eye(3), folder))
        else:
            source = read_source((np.eye(3), folder))
            found = [getattr(source, name) is None for name in ("priors", "groups", "weight")]
            assert found in ([[True] * 3] if finished else [[True] * 3, [False] * 3])
        store_candidates(y, folder)
        assert read_source((np.eye(3), folder)).classes.tolist() == [0, 1, 1, 0]
        assert not list(folder.glob("*.part"))
    assert finished
    assert refused or call == "open"  # all are written before any takes its place


def contents_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_weights_are_stored_with_candidates(tmp_path):
    X, y = captions(60)
    weight = np.random.default_rng(0).random(60) + 0.5
    folder = store_candidates(y, tmp_path, sample_weight=weight)
    alone = RowSpace().fit(X, y, sample_weight=weight)
    found = solve((X, folder), RowSpace())
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)
    with pytest.raises(SourceError, match="give sample_weight once"):
        solve((X, folder), RowSpace(), sample_weight=weight)
    store_candidates(y, tmp_path)  # other candidates do not get the weights of these
    assert read_source((X, folder)).weight is None


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 0.0], "leave instances of weight 0 out"),
        ([1.0], "1 values for 2 instances"),
        ([[1.0, 1.0]], r"shape \(1, 2\)"),
    ],
)
def test_wrong_weights_are_not_stored(tmp_path, weight, message):
    with pytest.raises(SourceError, match=message):
        store_candidates([{0, 1}, {1}], tmp_path / "candidates", sample_weight=weight)
    assert not (tmp_path / "candidates").exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weight", [1.0, np.nan]),
        ("weight", [1.0, 0.0]),
        ("weight", ["a", "b"]),
        ("weight", [1.0]),
        ("weight", [[1.0, 1.0]]),
        ("groups", [0.0, np.nan]),
        ("groups", ["a", "b"]),
        ("groups", [0, 1, 2]),
        ("priors", ["a", "b", "c"]),
        ("start", [0.0, 2.0, 3.0]),
        ("classes", [0.0, 1.0, 1.0]),
        ("partial", [0, 1]),
    ],
)
def test_files_with_wrong_values_of_instances_are_named(tmp_path, name, values):
    store_candidates([{0, 1}, {1}], tmp_path)
    np.save(tmp_path / f"{name}.npy", values)
    with pytest.raises(SourceError, match=rf"{name}\.npy"):
        read_source((np.eye(2), tmp_path))


@pytest.mark.parametrize("groups", [[1.0, np.nan], ["a", None], ["a", np.nan]])
def test_an_instance_without_a_group_is_named(groups):
    with pytest.raises(SourceError, match="row 1 has no group"):
        read_source((np.eye(2), [{0, 1}, {1}]), groups=groups)


@pytest.mark.parametrize(
    ("kind", "groups"),
    [
        (np.uint64, [9, 3, 9, 3, 0, 0]),
        (np.uint8, [9, 3, 9, 3, 0, 0]),
        (np.int8, [100, -100, 0] * 2),
    ],
)
def test_groups_of_small_and_unsigned_numbers_are_not_split(tmp_path, kind, groups):
    store_candidates([{0, 1}] * 6, tmp_path)
    np.save(tmp_path / "groups.npy", np.array(groups, dtype=kind))
    cuts = [np.arange(6)[cut].tolist() for cut in read_source((np.eye(6), tmp_path)).cut(2)]
    assert sorted(cuts) == sorted(np.flatnonzero(groups == g).tolist() for g in np.unique(groups))


@pytest.fixture
def mapped(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "all.npy", rng.normal(size=(40, 8)))
    return np.load(tmp_path / "all.npy", mmap_mode="r")


def told_apart(*features):
    """Return how many of these a solve would know as different sources."""
    y = [{0, 1}] * len(features[0])
    return len({read_source((X, y)).fingerprint() for X in features})


def test_parts_of_one_map_are_told_apart(mapped, tmp_path):
    assert told_apart(mapped[:, :4], mapped[:, 4:]) == 2
    assert told_apart(mapped[:20], mapped[20:], mapped[::2]) == 3
    other = {"dtype": np.float64, "mode": "r", "shape": (10, 8)}
    offsets = (mapped.offset, mapped.offset + 64)
    assert told_apart(*(np.memmap(tmp_path / "all.npy", offset=k, **other) for k in offsets)) == 2
    by_columns = np.memmap(tmp_path / "raw", dtype=np.float64, mode="w+", shape=(8, 8))
    by_columns[:] = mapped[:8]
    by_columns.flush()
    orders = [np.memmap(tmp_path / "raw", np.float64, "r", 0, (8, 8), order) for order in "CF"]
    assert told_apart(*orders) == 2


def test_maps_are_known_by_what_they_hold(mapped, tmp_path, monkeypatch):
    monkeypatch.setattr("candidly.distributed.known_again.AT_A_TIME", 200)
    assert told_apart(mapped[:20], np.array(mapped[:20])) == 1
    assert told_apart(mapped, np.load(tmp_path / "all.npy", mmap_mode="r")) == 1
    changed = np.load(tmp_path / "all.npy", mmap_mode="c")
    changed[3, 3] += 1  # which the file does not have
    was = changed[3, 3]
    assert told_apart(mapped, changed) == 2
    assert changed[3, 3] == was


@pytest.mark.parametrize(
    ("start", "classes", "priors", "message"),
    [
        ([0, 1, 2, 2, 3], [0, 1, 1], None, "instance 2 has no candidate"),
        ([0, 1, 2, 3, 4], [0, 1, 7, 1], None, "the candidate 7 of instance 2 is no class"),
        ([0, 1, 2, 4, 5], [0, 1, 1, 0, 1], None, "candidates of instance 2 are not ascending"),
        ([0, 1, 2, 3, 4], [0, 1, 1, 1], [1, 1, 0.5, 1], "priors of instance 2"),
    ],
)
def test_wrong_candidates_are_named_where_groups_are_in_any_order(
    tmp_path, start, classes, priors, message
):
    store_candidates([{0}, {1}, {0}, {1}], tmp_path)
    for name, values in {"start": start, "classes": classes, "priors": priors}.items():
        if values is not None:
            np.save(tmp_path / f"{name}.npy", values)
    with pytest.raises(SourceError, match=message):
        on_shards((np.eye(4), tmp_path), RowSpace(), 2, groups=[0, 1, 0, 1])


@pytest.mark.parametrize("groups", [[0, 1, 1, 2, 0, 2], [0, 0, 1, 1, 2, 2]])
def test_contradictions_name_rows_among_all(groups):
    wrong = np.flatnonzero(np.array(groups) == 1)
    y = [{0, 1} if group != 1 else {0} for group in groups]
    with pytest.raises(candidly.ContradictionError) as alone:
        WMCar().fit(np.eye(6), y, groups=groups)
    assert f"instances {wrong[0]}, {wrong[1]} (counted from 0)" in str(alone.value)
    with pytest.raises(candidly.ContradictionError) as found:
        on_shards((np.eye(6), y), WMCar(), 3, groups=groups)
    assert str(found.value) == str(alone.value)


# Bad input is refused with what to do

FOUR = [{0, 1}, {0}, {1}, {0, 1}]


@pytest.mark.parametrize("method", [RowSpace(), OpenSet(), WMCar(), ICE(RowSpace())], ids=repr)
@pytest.mark.parametrize(
    ("value", "advice"),
    [(np.inf, "fill such"), (-np.inf, "fill such"), (np.nan, "fill"), (1e308, "scale that column")],
)
def test_values_that_cannot_be_squared_are_named(method, value, advice):
    """Warnings are errors here: there is none before."""
    X, y = captions(60)
    X[[17, 47], 2] = value, -value
    with pytest.raises(
        SourceError, match=rf"have {re.escape(str(value))} in row 17, column 2; .*{advice}"
    ):
        on_shards((X, y), method, 3)


@pytest.mark.parametrize(("size", "dtype"), [(1e38, np.float32), (1e100, float), (1e-100, float)])
def test_values_that_can_be_squared_give_the_labels_of_fit(size, dtype):
    X, y = captions(60)
    X = (X * (size / np.abs(X).max())).astype(dtype)
    alone, found = RowSpace().fit(X, y), on_shards((X, y), RowSpace(), 3)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    with pytest.raises(SourceError, match="too small to square: scale them"):
        on_shards((np.asarray(X, dtype=float) / size * 1e-200, y), RowSpace(), 3)


@pytest.mark.parametrize(
    "method", [RowSpace(device="cuda"), OpenSet(device="cuda"), MCar(device="cuda")], ids=repr
)
def test_devices_are_refused(method):
    for one in (method, ICE(method)):
        with pytest.raises(SourceError, match=f"{type(method).__name__} .*set device=None"):
            solve((np.eye(4), FOUR), one)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros(4), r"has the shape \(4,\)"),
        (np.array(3.0), r"has the shape \(\)"),
        (np.zeros((4, 0)), r"has the shape \(4, 0\)"),
        (np.zeros((4, 2, 1)), r"has the shape \(4, 2, 1\)"),
        (np.zeros((0, 2)), "0 rows of features"),
        (np.eye(4) * 1j, "complex"),
    ],
)
def test_features_of_another_form_are_refused(tmp_path, features, message):
    path = tmp_path / "features.npy"
    np.save(path, features)
    for source in (path, features):
        with pytest.raises(SourceError, match=message):
            solve((source, FOUR), RowSpace())


def test_what_is_no_dense_array_is_refused(tmp_path):
    for wrong in (sparse.csr_array(np.eye(4)), [["a", "b"]] * 4, None):
        with pytest.raises(SourceError, match="features"):
            solve((wrong, FOUR), RowSpace())
    with (tmp_path / "a.npy").open("wb") as file:
        np.savez(file, a=np.eye(4))
    with pytest.raises(SourceError, match=r"a\.npy cannot be read as features"):
        solve((tmp_path / "a.npy", FOUR), RowSpace())
    shutil.copy(tmp_path / "a.npy", store_candidates(FOUR, tmp_path / "c") / "classes.npy")
    with pytest.raises(SourceError, match=r"classes\.npy cannot be read"):
        solve((np.eye(4), tmp_path / "c"), RowSpace())
    with pytest.raises(SourceError, match="no instances"):
        solve((np.zeros((0, 2)), Candidates(FOUR)[:0]), RowSpace())


def test_parquet_without_features_is_refused(tmp_path, parquet):
    import pyarrow

    empty = pyarrow.array([[]] * 4, pyarrow.list_(pyarrow.float64()))
    for table in (pyarrow.table({"e": empty}), pyarrow.table({})):
        parquet.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(SourceError, match=r"a\.parquet has the shape \(., 0\)"):
            solve((tmp_path / "a.parquet", FOUR), RowSpace())


@pytest.mark.parametrize("weight", [np.ones((4, 1)), ["a"] * 4, np.ones(4) * 1j, -1.0])
def test_weights_of_another_form_are_refused(weight):
    with pytest.raises(SourceError, match="sample_weight"):
        solve((np.eye(4), FOUR), RowSpace(), sample_weight=weight)


def test_one_weight_is_that_of_all():
    X, y = captions(60)
    found, alone = (
        f.solution_.labels
        for f in (
            solve((X, y), RowSpace(), sample_weight=2.0),
            RowSpace().fit(X, y, sample_weight=2.0),
        )
    )
    np.testing.assert_allclose(found, alone, atol=1e-7)


@pytest.mark.parametrize("size", [np.nan, None, 0, -1.0, True, "", "GB", "nan"])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(ValueError, match="max_memory is bytes"):
        read_bytes(size)


def test_options_of_another_kind():
    assert solve((np.eye(4), FOUR), RowSpace(), max_memory=np.inf).transduction_.shape == (4,)
    with pytest.raises(TypeError, match=r"n_workers is a whole number, or None, got 1\.5"):
        solve((np.eye(4), FOUR), RowSpace(), driver="ray", n_workers=1.5)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("start", [0, 3, 2, 4, 6], "falls at instance 1"),
        ("start", np.array([0, 9, 3, 4, 6], dtype=np.uint64), "falls at instance 1"),
        ("start", [0, 2, 3, 99, 6], "falls at instance 3"),
        ("start", [0, -2, 3, 4, 6], "falls at instance 0"),
        ("start", [0.5, 2, 3, 4, 6], "whole numbers"),
        ("start", [], "has to be a vector|has to begin"),
        ("classes", [0, 1, 0.5, 1, 0, 1], "whole numbers"),
        ("classes", [[0, 1, 0, 1, 0, 1]], "whole numbers"),
        ("classes", [0, 1, 0, 1, 0, 2], "candidate 2 of instance 3"),
        ("classes", [0, 1, -1, 1, 0, 1], "candidate -1 of instance 1"),
        ("priors", np.ones(6) * 1j, "vector of numbers"),
        ("priors", np.array(1.0), "vector of numbers"),
        ("groups", np.array(1), "whole numbers"),
        ("groups", [[0], [1], [2], [3]], "whole numbers"),
    ],
)
def test_arrays_of_candidates_of_another_form_are_named(
    tmp_path, monkeypatch, name, values, message
):
    monkeypatch.setattr("candidly.distributed.stored_candidates.AT_A_TIME", 16)
    store_candidates(FOUR, tmp_path)
    np.save(tmp_path / f"{name}.npy", values)
    own = "" if message.startswith("candidate") else rf"{name}\.npy .*"
    with pytest.raises(SourceError, match=f"{own}{message}"):
        on_shards((np.eye(4), tmp_path), RowSpace(), 2)


def test_no_candidates_without_names_are_refused(tmp_path):
    np.save(tmp_path / "start.npy", [0])
    np.save(tmp_path / "classes.npy", np.zeros(0, dtype=int))
    with pytest.raises(SourceError, match="4 rows of features and 0 candidate sets"):
        solve((np.eye(4), tmp_path), RowSpace())


@pytest.mark.parametrize(
    "content",
    [
        '{"names": ["a", "b"], "null": 0.5}',
        '{"names": ["a", "b"], "null": true}',
        '{"names": ["a", "a"]}',
        '{"names": [["a"], "b"]}',
    ],
)
def test_names_that_are_none_are_refused(tmp_path, content):
    (store_candidates(FOUR, tmp_path) / "names.json").write_text(content)
    with pytest.raises(SourceError, match=r"names\.json"):
        solve((np.eye(4), tmp_path), RowSpace())


@pytest.mark.parametrize(
    "names", [["a", "bc"], [3, 5], [1.5, 2.0], [False, True], ["a", 2], [1, 2.5], [10**30, 1]]
)
def test_stored_names_have_the_type_of_those_given(tmp_path, names):
    given = Candidates.from_mask(np.ones((4, 2), dtype=bool), classes=names)
    found = read_source((np.eye(4), store_candidates(given, tmp_path))).names
    assert found.dtype == given.classes.dtype
    assert [(type(name), name) for name in found.tolist()] == [(type(name), name) for name in names]


@pytest.mark.parametrize(
    "names", [[b"a", b"b"], [date(2020, 1, 1), "b"], [(1, 2), (3, 4)], [frozenset(), "b"]]
)
def test_names_that_would_not_come_back_are_not_stored(tmp_path, names):
    given = Candidates.from_mask(np.ones((4, 2), dtype=bool), classes=names)
    with pytest.raises(SourceError, match=r"cannot be stored .* name classes by texts"):
        store_candidates(given, tmp_path / "candidates")
    assert not (tmp_path / "candidates").exists()


def test_names_of_features_are_kept():
    pandas = pytest.importorskip("pandas")
    X, y = captions(60)
    table = pandas.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    found = solve((table, y), RowSpace())
    assert found.feature_names_in_.tolist() == list(table.columns)
    found.predict(table)  # without a warning
    assert not hasattr(solve((X, y), RowSpace()), "feature_names_in_")


def test_a_refused_folder_stays_as_it_was(tmp_path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(CheckpointError, match=r"mine\.txt"):
        solve((np.eye(4), FOUR), RowSpace(), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
