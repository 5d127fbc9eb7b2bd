"""Solves on the real Ray: every method, a cluster by its address, killed workers and machines."""

import os
import signal
import sys

import numpy as np
import pytest
from sklearn.base import clone

from candidly import ICE, MCar, OpenSet, RowSpace, WMCar
from candidly.distributed import SourceError, on_ray, solve
from candidly.distributed.shard_making import nearly_even
from candidly.distributed.solving import _program
from candidly.distributed.sources import read_source
from candidly.solvers.population import Population
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


@pytest.fixture
def three_cores():
    """A Ray of this machine with room for three shards, for all solves of a test."""
    on_ray.started(None, 3)
    yield
    ray.shutdown()


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
def test_what_is_wrong_is_said_as_without_ray():
    X, y = captions(40)
    X[30, 2] = np.nan
    with pytest.raises(SourceError, match="nan in row 30, column 2"):
        solve((X, y), RowSpace(), driver="ray", n_workers=3)
    with pytest.raises(ValueError, match="has 3 cores, and there are 4 shards"):
        solve(captions(40), RowSpace(), driver="ray", n_workers=4)
    with pytest.raises(ValueError, match="n_workers"):
        solve(captions(40), RowSpace(), driver="ray", n_workers=0)


@pytest.fixture
def cluster():
    """A cluster of one machine with two cores; machines are loopback addresses."""
    if sys.platform != "linux":
        pytest.skip("needs several loopback addresses, which Linux has")
    from ray.cluster_utils import Cluster

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
