"""What a solve on disk says of how far it is."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from candidly import RowSpace
from candidly.distributed import out_of_core, solve
from candidly.distributed.out_of_core import OutOfCore
from candidly.distributed.shard_making import ShardMaker, nearly_even
from candidly.distributed.source_reading import read_source
from candidly.solvers.shards import Part, Rowwise
from problems import captions


@pytest.fixture
def clock(monkeypatch):
    """A clock that only work moves."""
    found = SimpleNamespace(now=0.0)
    found.perf_counter = lambda: found.now
    monkeypatch.setattr(out_of_core, "time", found)
    return found


@pytest.fixture
def driver(clock, tmp_path):
    """What returns a driver of two shards, whose calls take as long as they are told."""

    class Working:
        def __init__(self, columns, state):
            self.columns, self.state = columns, state

        def first(self, seconds):
            clock.now += seconds
            return Part()

        step = first

        def rows(self, seconds):
            clock.now += seconds
            return Rowwise({"zero": np.zeros(len(self.columns))}, {})

    source = read_source(captions(40))
    maker = ShardMaker(Working, source, nearly_even(source, 2))
    return lambda most, told: OutOfCore(maker, tmp_path / "solve", "job", most, told)


def test_seconds_left_are_those_of_passes_that_repeat_themselves(driver):
    seen = []
    with driver(10, seen.append) as running:
        running.each("first", 500.0)
        running.each("step", 50.0)  # where kernels are compiled, e.g.
        assert all(math.isnan(one.left) for one in seen)
        running.each("step", 2.0)
        running.collect("rows", 300.0)
        running.each("step", 4.0)
        running.each("step", 3.0)
    assert [one.passes for one in seen] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [one.shard for one in seen] == 6 * [1, 2]
    assert {(one.most, one.shards) for one in seen} == {(10, 2)}
    left = [one.left for one in seen]
    assert np.isnan(left[:6]).all()
    np.testing.assert_allclose(left[6:], [26, 24, 22, 20, 27, 24])  # of 4, 4 and 6 seconds each
    assert seen[-1].seconds == 2 * 859


def test_passes_of_a_solve_that_goes_on_are_counted_and_their_seconds_are_not(driver):
    with driver(10, None) as running:
        running.each("first", 1.0)
        running.each("step", 50.0)
        running.collect("rows", 50.0)
    seen = []
    with driver(10, seen.append) as running:
        running.each("first", 1.0)
        running.each("step", 50.0)
        running.collect("rows", 50.0)
        running.each("step", 2.0)
        running.each("step", 2.0)
    assert [one.passes for one in seen] == [3, 3, 4, 4]
    np.testing.assert_allclose([one.left for one in seen], [np.nan, np.nan, 22, 20])
    assert seen[-1].seconds == 8


def test_passes_are_never_more_than_there_may_be(driver):
    seen = []
    with driver(1, seen.append) as running:
        for _ in range(4):
            running.each("step", 1.0)
    assert all(one.passes < one.most for one in seen)
    assert not any(one.left < 0 for one in seen)


def test_a_solve_says_which_pass_it_is_at(tmp_path, monkeypatch):
    monkeypatch.setattr("candidly.distributed.solving.rows_in", lambda *_: 100)
    source, seen = captions(300), []

    def stop(news):
        seen.append(news)
        if news.passes == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(source, RowSpace(), folder=tmp_path, on_progress=stop)
    assert math.isnan(seen[0].left)
    assert seen[-1].left > 0
    solve(source, RowSpace(), folder=tmp_path, on_progress=seen.append)
    passes = [one.passes for one in seen]
    assert passes == sorted(passes)
    assert set(passes) == set(range(passes[-1] + 1))
    assert passes[-1] < seen[-1].most
