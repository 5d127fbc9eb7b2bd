"""The box with every setting: read from declarations, library and stored runs, nothing typed in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.declaration import REPEATS, Experiment, MethodEntry, planned
from benchmarks.paper.page.claim_cards import Document
from benchmarks.paper.page.html import details, escape, table, told
from benchmarks.paper.page.low_rank_example import example
from benchmarks.paper.second_stages import FOLDS, STRENGTHS
from benchmarks.paper.stored_runs import PaperResults
from candidly import MCar
from candidly.datasets.store import SOURCES
from candidly.estimators.scaling import SETTING_FIELDS, SETTINGS, Setting
from candidly.solvers import ALM, CandidateSets

METHOD = "WMCar-ICE"
"""The method whose parameters are shown: it has all that the others have."""
KEPT = ("version", "commit", "machine", "python", "numpy", "blas", "device")
"""What a stored run may say of where it was made."""


@dataclass(frozen=True)
class Column:
    """The values of one setting of the paper's methods."""

    name: str
    setting: Setting
    params: Mapping[str, Any]


def settings_box(
    document: Document, experiments: Sequence[Experiment], results: PaperResults
) -> str:
    """Return the box: parameters by setting, experiments with data and seeds, versions."""
    chosen = [
        column
        for one in document["settings"]
        for column in columns(one["name"], one["ending"], experiments)
    ]
    says = told(
        f"<b>{escape(one['name'])}</b>: {escape(one['says'])}" for one in document["settings"]
    )
    return (
        "<section class=box id=settings><h2>Settings</h2>"
        f"{says}{_parameters(chosen)}<p>Second stages:</p>{told(map(escape, machines()))}"
        + told(map(escape, _seeds_and_data(experiments)))
        + _where(results)
        + details("Data and seeds of every experiment", _experiments(experiments, results))
        + details("Where the data is from", _sources(experiments))
        + "</section>"
    )


def columns(name: str, ending: str, experiments: Sequence[Experiment]) -> list[Column]:
    """Return the values that a setting stands for, one column per different set of them.

    Examples
    --------
    >>> from benchmarks.paper import EXPERIMENTS
    >>> [column.setting.rho for column in columns("letter", " (paper)", EXPERIMENTS)]
    [1.5]
    """
    found: dict[tuple[Any, ...], Column] = {}
    for entry in _entries(f"{METHOD}{ending}", experiments):
        params = entry.make({}).get_params()
        values = {field: params.get(f"estimator__{field}") for field in SETTING_FIELDS}
        base = params["estimator__setting"]
        kinds = ("pixels", "features") if base == "auto" else (base,)
        for kind in kinds:
            setting = SETTINGS[kind].override(**values)
            label = f"{name}, {kind}" if len(kinds) > 1 else name
            key = (label, setting)
            found.setdefault(key, Column(label, setting, params))
    return list(found.values())


def _entries(name: str, experiments: Sequence[Experiment]) -> list[MethodEntry]:
    every = [entry for one in experiments for entry in one.methods if entry.name == name]
    unique = {str(sorted(entry.params.items(), key=str)): entry for entry in every}
    return list(unique.values())


def _parameters(chosen: list[Column]) -> str:
    rows = [
        ["noise weight λ, in λ0", *(f"{c.setting.noise_weight:g}" for c in chosen)],
        ["label sparsity γ, in λ0", *(f"{c.setting.sparsity_weight:g}" for c in chosen)],
        ["penalty at the start, μ0", *(_mu(c.setting.start) for c in chosen)],
        ["its growth, ρ", *(f"{c.setting.rho:g}" for c in chosen)],
        ["tolerance", *(f"{c.setting.tol:g}" for c in chosen)],
        ["most iterations", *(str(c.params["estimator__max_iter"]) for c in chosen)],
        ["features centred", *("yes" if c.setting.center else "no" for c in chosen)],
        [
            "divided by their deviations",
            *("yes" if c.setting.standardize else "no" for c in chosen),
        ],
        [
            "mean norm",
            *("as it is" if c.setting.norm is None else f"{c.setting.norm:g}" for c in chosen),
        ],
        ["projection", *(str(c.params["estimator__projection"]) for c in chosen)],
        ["elimination factor f_e", *(f"{c.params['fraction']:g}" for c in chosen)],
        ["most rounds", *(str(c.params["max_rounds"]) for c in chosen)],
    ]
    head = ["parameter", *(column.name for column in chosen)]
    note = (
        "λ0 = 1/√max(c + m, N), for c classes, m features and N instances; σ are singular values "
        "of the observed matrix."
    )
    shown = table(head, rows, numbers=range(1, len(head)), caption="The paper's methods")
    return f"{shown}<p class=note>{note}</p>"


def _mu(start: str | float) -> str:
    """Return where μ starts, as the solver itself starts on a small problem."""
    one = example()
    sets = CandidateSets.of_mask(one.candidates.mask.T)
    problem = ALM(start=start).problem(one.X, sets.uniform(), sets)
    mu, sigma = problem.start(start).mu, np.array(problem.sigma)
    if start == "rank":
        place = int(np.argmin(np.abs(1 / mu - sigma)))
        return "1/σ_c" if len(sigma) - place == sets.n_classes else f"{mu:.3g}"
    return f"{mu * sigma[-1]:.3g}/σ_1"


def _where(results: PaperResults) -> str:
    counts: dict[str, Counter[str]] = {key: Counter() for key in KEPT}
    for line in results.lines:
        known = {**line, **line.get("made_by", {})}
        for key in KEPT:
            if known.get(key):
                counts[key][str(known[key])] += 1
    items = [
        f"{key}: " + "; ".join(f"{escape(value)} ({n} runs)" for value, n in found.most_common())
        for key, found in counts.items()
        if found
    ]
    hours = sum(line["figures"].get("seconds") or 0 for line in results.lines) / 3600
    items.append(f"{len(results.lines)} runs, {hours:.1f} hours of processor time")
    return details("Versions and machines of the stored runs", told(items))


def _seeds_and_data(experiments: Sequence[Experiment]) -> list[str]:
    """Return seeds and data of all experiments in two lines."""
    runs = planned(tuple(experiments), repeats=REPEATS)
    names = dict.fromkeys(run.cell.data for run in runs)
    shapes = [f"{name} ({SOURCES[name].shape})" for name in names if name in SOURCES]
    return [
        f"seeds: 0 to {max(run.seed for run in runs)} at most; a seed draws candidates, halves and "
        "whatever a method draws; the table below has those of each experiment",
        f"data: {'; '.join(shapes)}",
    ]


def _experiments(experiments: Sequence[Experiment], results: PaperResults) -> str:
    stored: dict[tuple[str, str], set[int]] = defaultdict(set)
    for line in results.lines:
        of = line["settings"]
        stored[of["experiment"], _data(of.get("data", ""), of.get("options", {}))].add(line["seed"])
    rows = []
    for one in experiments:
        seeds: dict[str, set[int]] = defaultdict(set)
        for run in planned((one,), repeats=REPEATS):
            seeds[_data(run.cell.data, run.cell.options)].add(run.seed)
        for data, declared in seeds.items():
            done = _range(stored[one.name, data])
            rows.append([one.name, one.place, data, _range(declared), done, one.protocol])
    head = ["experiment", "in the paper", "data", "seeds declared", "stored", "protocol"]
    return table(head, rows, caption="Every experiment")


def _range(seeds: set[int]) -> str:
    if not seeds:
        return "none"
    return f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(*seeds)


def _data(name: str, options: Mapping[str, Any]) -> str:
    told_ = ", ".join(f"{key} {value}" for key, value in options.items())
    return f"{name} ({told_})" if told_ else name


def machines() -> list[str]:
    """Return the second stages with their C: that of all methods, and the published one."""
    one = example()
    published = MCar(setting="paper").fit(one.X.T, one.candidates).classifier_.svc_
    strengths = ", ".join(f"{C:g}" for C in STRENGTHS)
    return [
        "common to all methods: one-against-all squared hinge on standardised features, C of "
        f"{strengths} by {FOLDS}-fold cross-validation on the labels found",
        f"published: {type(published).__name__}, {published.kernel}, C = {published.C:g}, on the "
        "labels that the paper's methods found; other methods predict by their own",
    ]


def _sources(experiments: Sequence[Experiment]) -> str:
    names = dict.fromkeys(cell.data for one in experiments for cell in one.cells)
    rows = [
        [name, SOURCES[name].shape, SOURCES[name].origin, SOURCES[name].citation]
        for name in names
        if name in SOURCES
    ]
    return table(["data", "shape", "origin", "citation"], rows, caption="Data sets")
