"""Random problems for the tests, in the solver's shapes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import candidly
from candidly.solvers import CandidateSets
from candidly.solvers.entries import CandidateEntries


def problem(seed, c=4, m=6, N=20, full=0.5):
    """X (m x N), P (c x N), mask; every column has a candidate."""
    rng = np.random.default_rng(seed)
    mask = rng.random((c, N)) < full
    mask[rng.integers(c, size=N), np.arange(N)] = True
    P = np.where(mask, rng.random((c, N)) + 0.1, 0)
    return rng.normal(size=(m, N)) * 3, P / P.sum(axis=0), mask


def entries(P, mask):
    """Soft labels P (c x N) as a vector over the candidates, and these."""
    sets = CandidateSets.of_mask(mask)
    return sets.entries_of(P), sets


def open_entries(P, mask, groups, null):
    """Entries of open-set labelling, of soft labels P and candidates (c x N)."""
    return CandidateEntries.of_sets(*entries(P, mask), groups, null)


def captions(N=160, people=8, seed=0, grouped=True):
    """Features and candidates of photos with captions, two faces each; null is nobody listed."""
    rng = np.random.default_rng(seed)
    who = rng.integers(people, size=N)
    X = 2 * rng.normal(size=(people, 12))[who] + rng.normal(size=(N, 12)) + 3
    names = np.array([f"person {k}" for k in range(people)])[who]
    photos = np.arange(N) // 2 if grouped else np.arange(N)
    return X, candidly.datasets.simulate_captions(names, photos, random_state=seed).candidates


seeds = st.integers(0, 2**32 - 1)
