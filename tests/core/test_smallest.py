"""The smallest rows over shards, found by counts of digits, are those of a sort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from candidly.distributed.smallest import counts_after, keys_of, last_of, up_to
from problems import seeds

NUMBERS = [0.0, -0.0, 1e-300, -5e-324, 0.3, np.nextafter(0.3, 1), -0.3, 1e9, -1e300, 2.0**52 + 1]


@given(seeds, st.integers(1, 60), st.integers(1, 4), st.sampled_from([0.1, 0.5, 1.0]))
def test_they_are_those_of_a_sort(seed, n, shards, fraction):
    rng = np.random.default_rng(seed)
    value, order = rng.choice(NUMBERS, size=(2, n))
    row = rng.permutation(10 * n)[:n] + 2**52
    keys = keys_of(value, order, row)
    parts = np.array_split(keys, shards)
    count = max(1, int(fraction * n))
    asked = []

    def counts(prefix):
        asked.append(prefix)
        return sum(counts_after(part, prefix) for part in parts)

    last = last_of(count, counts)
    found = np.concatenate([up_to(part, last) for part in parts])
    wanted = np.lexsort((row, order, value))[:count]
    assert set(np.flatnonzero(found)) == set(wanted)
    assert len(asked) <= keys.shape[1]


def test_all_rows_take_one_count_at_most_for_each_digit_in_which_they_differ():
    keys = keys_of(np.arange(100.0), np.zeros(100))
    asked = []
    last = last_of(100, lambda prefix: asked.append(prefix) or counts_after(keys, prefix))
    assert up_to(keys, last).all()
    assert len(asked) == 1
