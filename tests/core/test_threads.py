"""Threads of linear algebra are limited where the data is small, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from candidly import RowSpace, threads
from candidly.threads import suited_threads


def used():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if used() != {2}:
            pytest.skip("linear algebra has one thread here")
        yield


def test_small_data_has_one_thread_and_large_data_all(two_threads):
    with suited_threads(600, 64):
        assert used() == {1}
    assert used() == {2}
    with suited_threads(threads.SMALL, 1):
        assert used() == {2}


def test_threads_are_given_back_by_the_last_of_blocks_that_overlap(two_threads):
    first, second = suited_threads(1), suited_threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert used() == {1}
    second.__exit__(None, None, None)
    assert used() == {2}


def test_threads_are_given_back_after_an_error(two_threads):
    with pytest.raises(ZeroDivisionError), suited_threads(1):
        _ = 1 / 0
    assert used() == {2}


def test_callers_at_the_same_time_share_the_threads(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "8")
    with threads.sharing_threads(2):
        assert threads.loop_threads() == 4
        with threads.sharing_threads(20):
            assert threads.loop_threads() == 1
    assert threads.loop_threads() == 8


def test_fit_and_predict_are_limited(two_threads):
    seen = []

    class Watched(RowSpace):
        def soft_labeller(self, X, context):
            seen.append(used())
            return super().soft_labeller(X, context)

        def _ready(self, X):
            classifier, X = super()._ready(X)

            class Watching:
                classes_ = classifier.classes_

                def predict(self, X):
                    seen.append(used())
                    return classifier.predict(X)

            return Watching(), X

    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    Watched().fit(X, [{"a"}, {"a", "b"}, {"b"}, {"a", "b"}]).predict(X)
    assert seen == [{1}, {1}]
    assert used() == {2}
