"""The open-set solver out of core, for those who have entries rather than candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.open_set_fit import (
    FeatureMap,
    OpenSetColumns,
    bytes_of_all,
    bytes_of_open_set,
    run_on,
)
from candidly.distributed.out_of_core import OutOfCore, Progress, job_of
from candidly.distributed.shard_making import ShardMaker
from candidly.distributed.solving import SQUARES, Needs, kept_in, read_bytes, rows_in
from candidly.distributed.sources import Source
from candidly.distributed.stored_features import Features
from candidly.heap import release
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.open_set import Given, OpenSetLabelling, OpenSetResult
from candidly.solvers.population import Population
from candidly.solvers.two_covariances import KnownPeople

MAPPED = ("soft", "rest", "likeness", "other", "confidence")
"""Parts of a result that are maps of files, which go with the solve."""


def label_open_set(
    features: Any,
    entries: CandidateEntries,
    centre: NDArray[np.floating],
    *,
    solver: OpenSetLabelling | None = None,
    weight: NDArray[np.floating] | None = None,
    population: Population | None = None,
    known: KnownPeople | None = None,
    start: NDArray[np.floating] | None = None,
    decided: DecidedInstances | None = None,
    max_memory: float | str = "1GB",
    folder: str | Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> OpenSetResult:
    """Return what ``OpenSetLabelling.solve`` returns, with features that need not fit memory.

    Entries and what is returned are in memory, beside ``max_memory``, which has to have room for
    what is kept of all instances: about 24 bytes for each, 70 where groups are put in order, and
    200 for each of half a million rows, or of a sixteenth of the entries if these are more.

    Parameters
    ----------
    features : array, .npy file, or folder of parts
        One row per instance, of full rank; single precision is kept.
    entries : CandidateEntries
        Groups are never split.
    centre : (k,) array
        What is subtracted from all rows, e.g. ``candidly.solvers.open_set.centre``.
    solver : OpenSetLabelling, optional
    weight, population, known, start, decided
        As in ``OpenSetLabelling.solve``; decided instances are less the centre, as there.
    max_memory, folder, on_progress
        As in :func:`candidly.distributed.solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.distributed import label_open_set
    >>> from candidly.solvers.entries import CandidateEntries
    >>> rng = np.random.default_rng(0)
    >>> who = np.arange(60) % 4
    >>> X = 3 * rng.normal(size=(4, 8))[who] + rng.normal(size=(60, 8))
    >>> nothing = np.zeros(60)
    >>> entries = CandidateEntries(np.arange(60), who, nothing, nothing, np.arange(60), 4)
    >>> found = label_open_set(X, entries, X.mean(axis=0))
    >>> bool((found.chosen == who).mean() > 0.8)
    True
    """
    solver = OpenSetLabelling() if solver is None else solver
    stored = Features.of(features)
    source = _source(stored, entries, weight, start)
    dtype = np.dtype(stored.dtype)
    turned = FeatureMap(np.asarray(centre, dtype=float), None, dtype)
    even = 0.0 if population is None else population.even
    options = {"settings": solver, "turned": turned, "even": even, "decided": decided}
    of_all = bytes_of_all(len(source), len(entries))
    needs = Needs(bytes_of_open_set(source), SQUARES * 8 * stored.shape[1] ** 2, *of_all)
    rows = rows_in(source, read_bytes(max_memory), needs)
    maker = ShardMaker(OpenSetColumns, source, source.cut(rows), options)
    given = Given(entries.n_names, population, known, start is not None, decided is not None)
    with kept_in(folder) as place:
        stated = (solver, source.more, population, known, decided, np.asarray(centre))
        job = job_of(stated, maker)
        passes = solver.passes(2 * len(given.priors(*stored.shape)))
        with OutOfCore(maker, place, job, passes, on_progress) as driver:
            solved, judged = run_on(driver, solver, given, stored, turned, entries.groups)
            found = solver.result(driver, solved, *judged)
            maps: dict[str, Any] = {name: getattr(found, name) for name in MAPPED}
            arrays: dict[str, Any] = {name: np.array(values) for name, values in maps.items()}
            found = replace(found, **arrays)
            release(*maps.values())
            driver.finish()
    return found


def _source(features: Features, entries: CandidateEntries, weight: Any, start: Any) -> Source:
    """Return the source of instances with these entries."""
    more = {"prior": entries.prior, "free": entries.free}
    if entries.shown is not None:
        more["shown"] = entries.shown
    if start is not None:
        more["begin"] = start
    return Source(
        features,
        entries.first,
        entries.name,
        entries.n_names,
        np.arange(entries.n_names),
        groups=entries.groups,
        weight=weight,
        more=more,
        empty=True,
    )
