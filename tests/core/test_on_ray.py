"""Solves on the real Ray: every method, a cluster by its address, killed workers and machines."""

import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from candidly import ICE, MCar, OpenSet, RowSpace, WMCar, datasets
from candidly.distributed import SourceError, on_ray, solve, store_candidates, store_checksums
from candidly.distributed.shard_making import ShardMaker, nearly_even
from candidly.distributed.solving import _program
from candidly.distributed.source_reading import read_source
from candidly.solvers.population import Population
from candidly.solvers.shards import Part, Rowwise
from problems import captions

ray = pytest.importorskip("ray", reason="needs ray: pip install 'candidly[ray]'")
pytestmark = pytest.mark.slow

METHODS = [
    RowSpace(lift="rbf", landmarks=60, random_state=0),
    OpenSet(),
    OpenSet(population=Population(np.full(12, 3.0), np.eye(12), 4 * np.eye(12), -0.5)),
    MCar(setting="features", tol=1e-4),
    WMCar(tol=1e-4),
    ICE(RowSpace(), fraction=1.0, max_rounds=2, ties="index"),
    ICE(WMCar(), max_rounds=2),
]


@pytest.fixture(scope="module", autouse=True)
def stopped_afterwards():
    """No Ray that tests have started goes on."""
    yield
    on_ray.stopped(ray)


@pytest.fixture
def three_cores():
    """A Ray of this machine with room for three shards, for all solves of these tests."""
    on_ray.started(None, 3)


def on_actors(source, method, count, address=None, **options):
    """Return how a method is fitted, and its driver on so many actors."""
    program = _program(method, read_source(source, **options))
    return program, on_ray.OnRay(program.maker(nearly_even(program.source, count)), address)


def assert_same(found, alone):
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    np.testing.assert_allclose(found.solution_.labels, alone.solution_.labels, atol=1e-7)


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("three_cores")
def test_every_method_gives_the_labels_of_fit():
    X, y = captions()  # groups, and a null class
    weight = np.random.default_rng(1).random(len(X)) + 0.5
    for method in METHODS:
        alone = clone(method).fit(X, y, sample_weight=weight)
        found = solve((X, y), method, driver="ray", n_workers=2, sample_weight=weight)
        assert_same(found, alone)


@pytest.mark.usefixtures("three_cores")
def test_a_worker_that_is_killed_changes_no_label():
    X, y = captions()
    program, driver = on_actors((X, y), RowSpace(), 3)
    with driver as running:
        whole = program.run(running)
    found = killed_in(RowSpace(), X, y)
    assert np.array_equal(found.solution_.labels, whole.solution_.labels)
    assert_same(found, RowSpace().fit(X, y))
    method = OpenSet(max_iter=3)
    assert_same(killed_in(method, X, y), clone(method).fit(X, y))


def killed_in(method, X, y):
    """Return what is found though the second of three workers is killed."""
    program, driver = on_actors((X, y), method, 3)
    with driver as running:

        def kill():
            os.kill(ray.get(running.actors[1].process.remote()), signal.SIGKILL)

        found = program.run(before_sums(running, 12, kill))
        assert running.rebuilt == 1
    return found


def before_sums(running, call, do):
    """Return the driver; something is done when a call is answered, before answers are summed."""
    real, calls = running._added, []

    def added(parts):
        calls.append(1)
        if len(calls) == call:
            ray.wait(parts, num_returns=len(parts), fetch_local=False)
            do()
        return real(parts)

    running._added = added
    return running


@pytest.mark.usefixtures("three_cores")
def test_workers_that_are_killed_while_others_are_made_again_change_no_label(monkeypatch):
    X, y = captions()
    method = RowSpace(classifier=None)
    program, driver = on_actors((X, y), method, 3)
    with driver as running:
        whole = program.run(running)

    program, driver = on_actors((X, y), method, 3)
    with driver as running:

        def kill(number):
            os.kill(ray.get(running.actors[number].process.remote()), signal.SIGKILL)

        def soon():
            process = ray.get(running.actors[1].process.remote())
            Timer(0.02, os.kill, (process, signal.SIGKILL)).start()  # it repeats calls by then

        def both():
            kill(0)
            kill(1)

        real, deaths = running._not_started, [soon, both]  # the last comes first

        def not_started(numbers, seconds):
            late = real(numbers, seconds)
            if deaths:
                deaths.pop()()
            return late

        monkeypatch.setattr(running, "_not_started", not_started)
        found = program.run(before_sums(running, 12, lambda: kill(1)))
        assert not deaths
        assert running.rebuilt == 4
    assert np.array_equal(found.solution_.labels, whole.solution_.labels)
    assert np.array_equal(found.transduction_, whole.transduction_)


@pytest.mark.usefixtures("three_cores")
def test_what_is_wrong_is_said_as_without_ray(tmp_path):
    X, y = captions(40)
    X[30, 2] = np.nan
    with pytest.raises(SourceError, match=r"^features have nan in row 30, column 2;") as raised:
        solve((X, y), RowSpace(), driver="ray", n_workers=3)
    assert raised.type is SourceError
    for part in range(4):
        np.save(tmp_path / f"part-{part}.npy", X[10 * part : 10 * part + 10])
    with pytest.raises(SourceError, match=r"nan in row 30, column 2, which is") as raised:
        solve((tmp_path, y), RowSpace(), driver="ray", n_workers=3)
    assert raised.type is SourceError
    with pytest.raises(ValueError, match="has 3 cores, and there are 4 shards"):
        solve(captions(40), RowSpace(), driver="ray", n_workers=4)
    with pytest.raises(ValueError, match="n_workers"):
        solve(captions(40), RowSpace(), driver="ray", n_workers=0)


@contextmanager
def napping():
    """Give a driver of three shards that sleep and count, and the processes of its actors."""

    class Napping:
        def __init__(self, columns, state):
            self.columns, self.count = columns, 0

        def nap(self, seconds):
            began = time.time()
            time.sleep(seconds)
            return Rowwise({"times": np.tile([began, time.time()], (len(self.columns), 1))}, {})

        def add(self, count):
            self.count += count
            return Part({"count": self.count})

    source = read_source(captions(40))
    maker = ShardMaker(Napping, source, nearly_even(source, 3))
    with on_ray.OnRay(maker) as running:
        yield running, ray.get([actor.process.remote() for actor in running.actors])


PROCESS = """
import logging, os, signal, subprocess, time
from threading import Timer

import ray
from candidly import RowSpace
from candidly.distributed import on_ray, solve
from problems import captions

source, real = captions(), on_ray.OnRay._added

def when(call, do):
    calls = []
    def added(self, parts):
        calls.append(1)
        if len(calls) == call:
            do(self)
        return real(self, parts)
    on_ray.OnRay._added = added

def solved(workers=2):
    return solve(source, RowSpace(), driver="ray", n_workers=workers)

def ended():
    began = time.time()
    while "ray" in subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    ).stdout:
        assert time.time() < began + 30
        time.sleep(0.2)
    assert not ray.is_initialized()

def kill(driver):
    process = ray.get(driver.actors[1].process.remote())
    os.kill(process, signal.SIGKILL)
    time.sleep(1)  # Ray says it some time afterwards

def wrong(driver):
    raise ZeroDivisionError

def interrupt(driver):
    Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    time.sleep(30)

def said():
    loggers = [logging.getLogger(name) for name in ("ray", on_ray.TOKENS)]
    return [logger.level for logger in loggers], ray._private.worker._worker_logs_enabled

before = said()
when(0, None)
labels = solved(1).transduction_
ended()
for do, error in ((kill, ()), (wrong, ZeroDivisionError), (interrupt, KeyboardInterrupt)):
    when(9, do)
    try:
        found = solved()
    except error:
        pass
    else:
        assert do is kill and (found.transduction_ == labels).all()
    ended()
    assert said() == before
"""


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps: install the package procps")
def test_a_process_says_nothing_of_ray_and_has_none_left_whatever_happens():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # one that runs behind ignores it
    paths = [str(Path(__file__).parents[2] / "src"), str(Path(__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", PROCESS],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
    assert not re.search("raylet|worker|[Tt]oken|Traceback", done.stderr), done.stderr


def test_a_ray_of_others_stays_as_it_is():
    on_ray.stopped(ray)
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    theirs = ray.remote(num_cpus=0)(on_ray.ShardActor).remote(None, 0)
    process = ray.get(theirs.process.remote())
    X, y = captions(40)
    solve((X, y), RowSpace(), driver="ray", n_workers=2)
    X[3] = np.nan
    with pytest.raises(SourceError, match="row 3"):
        solve((X, y), RowSpace(), driver="ray", n_workers=2)
    assert ray.is_initialized()
    assert ray.get(theirs.process.remote()) == process
    assert ray._private.worker._worker_logs_enabled
    ray.shutdown()


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("three_cores")
def test_rows_are_collected_from_all_workers_at_the_same_time():
    with napping() as (running, processes):
        began, ended = running.collect("nap", 1.0).instances["times"].T
        assert len(np.unique(began)) == 3
        assert began.max() < ended.min()

        running.each("add", 2)
        killer = Timer(0.5, os.kill, (processes[1], signal.SIGKILL))
        killer.start()  # while all are at it
        began, ended = running.collect("nap", 2.0).instances["times"].T
        assert len(np.unique(began)) == 3
        assert running.rebuilt == 1
        assert running.each("add", 1).sums["count"] == 9

        ray.kill(running.actors[2])
        running.actors[2] = running._actor(2)  # one that missed what was called before
        assert running.each("add", 1).sums["count"] == 12
        assert running.rebuilt == 2


@pytest.mark.usefixtures("three_cores")
def test_actors_end_when_the_solve_is_interrupted():
    interrupt = Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    began = time.time()
    with napping() as (running, processes):
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            running.collect("nap", 60.0)
    while any(map(is_running, processes)):
        assert time.time() < began + 30
        time.sleep(0.1)


@pytest.mark.usefixtures("three_cores")
def test_files_are_opened_by_each_worker(tmp_path, monkeypatch):
    X, y = captions()
    names = store_candidates(y, tmp_path / "candidates")
    np.save(tmp_path / "features.npy", X)
    monkeypatch.chdir(tmp_path)  # which is not the folder that Ray runs in
    found = solve(("features.npy", "candidates"), RowSpace(), driver="ray", n_workers=2)
    assert_same(found, RowSpace().fit(X, y))

    program, driver = on_actors((X, "candidates"), RowSpace(), 2)
    with driver as running:
        (names / "classes.npy").unlink()
        with pytest.raises(SourceError, match=r"classes\.npy cannot be read on this machine"):
            program.run(running)


@pytest.mark.filterwarnings("ignore::candidly.base.DoubtfulLabelsWarning")
@pytest.mark.usefixtures("three_cores")
def test_the_code_on_scale_runs(tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    whole, results = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news").mkdir()
    np.save("news/features.npy", digits.X)
    found = {"candidates": digits.candidates, "photos": np.arange(len(digits.X))}
    assert "n_workers=64" in whole
    exec(compile(whole.replace("n_workers=64", "n_workers=3"), "scale.md", "exec"), found)
    assert capsys.readouterr().out.startswith("Progress(passes=0, most=")
    exec(compile(results, "scale.md", "exec"), found)

    model = joblib.load("news/model.joblib")
    expected = RowSpace().fit(digits.X, digits.candidates)
    assert_same(model, expected)
    assert [found["names"][number] for number in found["chosen"]] == model.transduction_.tolist()
    start, classes = np.load("news/candidates/start.npy"), np.load("news/candidates/classes.npy")
    row = np.repeat(np.arange(len(digits.X)), np.diff(start))
    soft = expected.label_distributions_[row, classes]
    np.testing.assert_allclose(found["labels"], soft, atol=1e-7)
    assert len(found["scores"]) == len(classes)


def test_maps_of_files_are_sent_as_files(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((50_000, 1)))
    weight = np.arange(1.0, 50_001)
    folder = store_candidates([{"a", "b"}, {"b"}] * 25_000, tmp_path / "sets", None, weight)
    source = read_source((tmp_path / "X.npy", folder))
    sent = pickle.dumps(source)
    assert len(sent) < 5000
    found = pickle.loads(sent)
    for name in ("start", "classes", "weight"):
        np.testing.assert_array_equal(getattr(found, name), getattr(source, name))
        assert getattr(found, name).filename == folder / f"{name}.npy"

    source.weight = source.weight[25_000:]  # a part of a map, and an array
    source.start = np.array(source.start)
    found = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(found.weight, source.weight)
    np.testing.assert_array_equal(found.start, source.start)

    store_checksums(folder)
    np.save(folder / "classes.npy", np.zeros(75_000, dtype=np.int32))
    with pytest.raises(SourceError, match=r"classes\.npy was changed while the solve ran"):
        pickle.loads(sent)


def test_there_are_as_many_workers_as_cores(three_cores):
    assert on_ray.OnRay.workers(None, None) == 3
    assert on_ray.OnRay.workers("auto", None) == 3
    ray.shutdown()
    if sys.platform == "linux":
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        try:
            assert on_ray.OnRay.workers(None, None) == 1
        finally:
            os.sched_setaffinity(0, allowed)


@pytest.mark.usefixtures("three_cores")
def test_another_ray_than_the_one_that_is_running_is_refused():
    here = ray.get_runtime_context().gcs_address
    for same in (None, "auto", here, f"localhost:{here.rpartition(':')[2]}"):
        assert on_ray.started(same, 1) == (ray, False)
    for other in ("127.0.0.1:1", "203.0.113.7:6379", "ray://127.0.0.1:10001", "local"):
        with pytest.raises(ValueError, match=r"call ray\.shutdown\(\) first, or leave address out"):
            solve(captions(40), RowSpace(), driver="ray", address=other)


def test_an_address_where_nobody_answers_is_refused_at_once(monkeypatch, request):
    on_ray.stopped(ray)
    silent = socket.socket()  # it has a port, and does not listen
    silent.bind(("127.0.0.1", 0))
    request.addfinalizer(silent.close)
    port = silent.getsockname()[1]
    services = ray._private.services
    advice = "start one with 'ray start --head', or leave address out"
    began = time.time()
    for address in (f"127.0.0.1:{port}", f"localhost:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(ConnectionError, match=f"^no Ray answers at {address}; {advice}$"):
            solve(captions(40), RowSpace(), driver="ray", address=address)
    monkeypatch.setattr(services, "find_gcs_addresses", set)
    monkeypatch.setattr(services, "find_bootstrap_address", lambda _: None)
    with pytest.raises(ConnectionError, match=f"^no Ray runs on this machine; {advice}$"):
        solve(captions(40), RowSpace(), driver="ray", address="auto")
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
    with pytest.raises(ConnectionError, match=f"^no Ray answers at .*:{port}; {advice}$"):
        solve(captions(40), RowSpace(), driver="ray", address="auto")
    assert time.time() < began + 10
    with pytest.raises(ValueError, match="Invalid address format"):
        solve(captions(40), RowSpace(), driver="ray", address="somewhere")
    assert on_ray.OnRay.workers("local", None) == on_ray.OnRay.workers(None, None)
    assert not ray.is_initialized()


@pytest.fixture
def cluster():
    """A cluster of one machine with two cores; machines are loopback addresses."""
    if sys.platform != "linux":
        pytest.skip("needs several loopback addresses, which Linux has")
    from ray.cluster_utils import Cluster

    ray.shutdown()
    quick = {"health_check_period_ms": 200, "health_check_failure_threshold": 3}
    quick["health_check_initial_delay_ms"] = 0
    head = {"node_ip_address": "127.0.0.2", "num_cpus": 2, "include_dashboard": False}
    running = Cluster(initialize_head=True, head_node_args={**head, "_system_config": quick})
    yield running
    ray.shutdown()
    running.shutdown()


def many_names(N=900, m=64, c=220):
    """A problem whose sums are too large to travel with an answer: they stay on its machine."""
    rng = np.random.default_rng(0)
    who = np.arange(N) % c
    X = rng.normal(size=(c, m))[who] + 0.5 * rng.normal(size=(N, m))
    return X, [{int(k), int(other)} for k, other in zip(who, rng.integers(c, size=N), strict=True)]


def test_a_cluster_by_its_address_goes_on_though_a_machine_is_lost(cluster, monkeypatch):
    lost = cluster.add_node(node_ip_address="127.0.0.3", num_cpus=2)
    source, method = many_names(), RowSpace(classifier=None)
    found = solve(source, method, driver="ray", address=cluster.address)  # four shards
    assert_same(found, clone(method).fit(*source))
    assert not ray.is_initialized()

    monkeypatch.setattr(on_ray, "SPARE", 3.0)
    program, driver = on_actors(source, method, 4, cluster.address)
    with driver as running:
        again = program.run(
            before_sums(running, 9, lambda: cluster.remove_node(lost, allow_graceful=False))
        )
        assert running.rebuilt == 2
    assert np.array_equal(again.solution_.labels, found.solution_.labels)

    on_ray.started(cluster.address, 1)  # it is still there, with what is left
    with pytest.raises(ValueError, match="has 2 cores, and there are 4 shards"):
        solve(source, method, driver="ray", address=cluster.address, n_workers=4)
    busy = ray.remote(num_cpus=2)(on_ray.ShardActor).remote(None, 0)
    ray.get(busy.process.remote())
    monkeypatch.setattr(on_ray, "STARTED", 2.0)
    with pytest.raises(TimeoutError, match="2 of 2 shards found no core in 2 s: other work"):
        solve(source, method, driver="ray", address=cluster.address, n_workers=2)


def test_an_actor_that_is_made_again_says_what_was_wrong_in_a_call_that_nobody_asked_for():
    class Broken:
        def maker(self):
            raise SourceError("part-3.npy is gone")

    actor = on_ray.ShardActor(Broken(), 0)
    for number in (0, 1, 2):  # calls are repeated one after another, and only the last is asked for
        with pytest.raises(SourceError, match="part-3"):
            actor.call(number, "check", ())
