"""Figures of the report, drawn from stored runs. Needs the extra ``plot``."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.paper import decomposition_pictures as pictures
from benchmarks.paper.declaration import Experiment
from benchmarks.paper.experiments import (
    ELIMINATED,
    EPSILON,
    GAMMA,
    LAMBDA,
    PICTURES,
    PROJECTION,
    ROUNDS,
)
from benchmarks.paper.method_entries import BOUND, LETTER, OURS
from benchmarks.paper.published import IMBALANCE
from benchmarks.paper.stored_runs import Line, PaperResults
from candidly.extras import require

Drawing = tuple[str, str]
"""Caption, and the picture as a data address."""
FAMILY = {"MCar": "#d95f02", "WMCar": "#1b9e77", "MCar-ICE": "#e7a500", "WMCar-ICE": "#3b4cc0"}
PRIOR = {
    "naive": "#999999",
    "CLPL": "#000000",
    "DLHD": "#c7a4d8",
    "DLSD": "#9b6fb5",
    "KDLSD": "#6a3d9a",
    "IPAL": "#b15928",
    OURS: "#e7298a",
    "ours, one setting": "#f4a3c9",
    BOUND.name: "#000000",
}


def drawings(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    """Return the figures of an experiment, drawn from stored runs that did not fail."""
    lines = [
        line
        for line in results.lines
        if line["settings"]["experiment"] == experiment.name and "reason" not in line["figures"]
    ]
    draw = _DRAW.get(experiment.name)
    return draw(experiment, PaperResults(lines)) if lines and draw else []


def _figure(width: float, height: float) -> Any:
    return require("matplotlib.figure", "plot").Figure(
        figsize=(width, height), layout="constrained"
    )


def _kept(figure: Any) -> str:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def style(method: str) -> dict[str, Any]:
    """Return the line of a method: to the letter full, at our settings dashed, others thin."""
    base = method.removesuffix(LETTER)
    if base in FAMILY:
        kind = "-" if method.endswith(LETTER) else "--"
        return {"color": FAMILY[base], "linestyle": kind, "linewidth": 2, "marker": "o"}
    thick = 2 if method == OURS else 1
    dotted = ":" if method == BOUND.name else "-"
    return {"color": PRIOR.get(base), "linestyle": dotted, "linewidth": thick, "marker": "."}


def _curves(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    axis = next(iter(experiment.cells[0].at))
    figure = _figure(9.5, 5)
    ax = figure.subplots()
    for entry in experiment.methods:
        found = _series(results, experiment.name, entry.name, axis)
        if found:
            x, mean, deviation = zip(*found, strict=True)
            ax.errorbar(
                x, mean, deviation, label=entry.name, markersize=4, capsize=2, **style(entry.name)
            )
    inductive = experiment.protocol == "inductive"
    ax.set(xlabel=axis, ylabel="test error, %" if inductive else "labelling error, %")
    ax.set_ylim(bottom=0)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, handlelength=4)
    drawn = [(f"{experiment.title}. Means and standard deviations over repeats.", _kept(figure))]
    return drawn + (_imbalance(experiment, results, axis) if axis == EPSILON else [])


def _series(
    results: PaperResults, experiment: str, method: str, axis: str, part: str = "", **at: Any
) -> list[tuple[Any, float, float]]:
    values: dict[Any, list[float]] = {}
    for line in results.select(experiment, method, part, **at):
        values.setdefault(line["settings"]["at"][axis], []).append(line["figures"]["error"])
    return [(x, float(np.mean(v)), deviation(v)) for x, v in sorted(values.items())]


def deviation(values: list[float]) -> float:
    """Return the standard deviation over repeats, or 0 for a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _imbalance(experiment: Experiment, results: PaperResults, axis: str) -> list[Drawing]:
    values: dict[float, dict[int, float]] = {}
    for line in results.select(experiment.name):
        at = line["settings"]["at"][axis]
        values.setdefault(at, {})[line["seed"]] = line["figures"]["imbalance"]
    figure = _figure(6, 3.2)
    ax = figure.subplots()
    x = sorted(values)
    factors = [list(values[point].values()) for point in x]
    ax.errorbar(x, [np.mean(f) for f in factors], list(map(deviation, factors)), marker="o")
    ax.plot([1 / 9, 1], IMBALANCE, "kx", label="the paper, at the ends")
    ax.set(xlabel=axis, ylabel="imbalance factor")
    ax.legend(loc="upper left")
    return [("Most over least often listed class, along ε.", _kept(figure))]


def _bars(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    drawn = []
    for cell in experiment.cells:
        names = [e.name for e in experiment.entries(cell)]
        errors = {
            name: [
                line["figures"]["error"]
                for line in results.select(experiment.name, name, cell.part, **cell.at)
            ]
            for name in names
        }
        names = [name for name in names if errors[name]]
        if not names:
            continue
        figure = _figure(8, 0.28 * len(names) + 1)
        ax = figure.subplots()
        ax.barh(
            names[::-1],
            [np.mean(errors[n]) for n in names[::-1]],
            xerr=[deviation(errors[n]) for n in names[::-1]],
            color=[style(n)["color"] or "#555555" for n in names[::-1]],
        )
        ax.set_xlabel("error, %")
        where = ", ".join(map(str, cell.at.values()))
        drawn.append((f"{where}.", _kept(figure)))
    return drawn


def _sensitivity(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    drawn = []
    lines = {
        name: list(results.select("sensitivity", name, "λ and γ"))
        for name in (f"WMCar{LETTER}", "WMCar")
    }
    surfaces = [name for name in lines if lines[name]]
    if surfaces:
        figure = _figure(5.2 * len(surfaces), 4)
        axes = np.atleast_1d(figure.subplots(1, len(surfaces)))
        for ax, name in zip(axes, surfaces, strict=True):
            _surface(ax, name, lines[name])
        drawn.append(("Error of WMCar over λ and γ, in multiples of λ0.", _kept(figure)))
    figure = _figure(9.5, 4)
    ax = figure.subplots()
    for entry in experiment.methods:
        found = _series(results, "sensitivity", entry.name, GAMMA, "γ")
        if found:
            ax.plot(*list(zip(*found, strict=True))[:2], label=entry.name, **style(entry.name))
    ax.set(xscale="log", xlabel="γ/λ0", ylabel="labelling error, %")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, handlelength=4)
    drawn.append(("Error over γ, at the λ of the setting.", _kept(figure)))
    figure = _figure(9.5, 4)
    for ax, name in zip(figure.subplots(1, 2), (f"WMCar-ICE{LETTER}", "WMCar-ICE"), strict=True):
        fractions = {
            line["settings"]["at"][ELIMINATED]
            for line in results.select("sensitivity", name, "rounds")
        }
        for f in sorted(fractions):
            found = _series(results, "sensitivity", name, ROUNDS, "rounds", **{ELIMINATED: f})
            ax.plot(*list(zip(*found, strict=True))[:2], marker="o", label=f"f_e {f:g}")
        ax.set(xlabel="rounds", ylabel="labelling error, %", title=name)
        if fractions:
            ax.legend(fontsize=8)
    drawn.append(("Error over the rounds of elimination.", _kept(figure)))
    return drawn


def _surface(ax: Any, name: str, lines: list[Line]) -> None:
    at = [(line["settings"]["at"][LAMBDA], line["settings"]["at"][GAMMA]) for line in lines]
    lambdas, gammas = (sorted({pair[k] for pair in at}) for k in (0, 1))
    grid = np.full((len(lambdas), len(gammas)), np.nan)
    for (lam, gamma), line in zip(at, lines, strict=True):
        grid[lambdas.index(lam), gammas.index(gamma)] = line["figures"]["error"]
    ax.imshow(grid, cmap="viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(grid):
        dark = value > (np.nanmin(grid) + np.nanmax(grid)) / 2
        colour = "white" if dark else "black"
        ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(len(gammas)), [f"{g:g}" for g in gammas], fontsize=8)
    ax.set_yticks(range(len(lambdas)), [f"{lam:g}" for lam in lambdas], fontsize=8)
    ax.set(xlabel="γ/λ0", ylabel="λ/λ0", title=name)


def _distribution(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    kept = list(results.select("distribution"))[-1]["figures"]
    counts, soft = np.array(kept["counts"]), np.array(kept["soft"])
    figure = _figure(9, 8)
    ax = figure.subplots()
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for (i, j), count in np.ndenumerate(counts):
        if count:
            dark = "white" if share[i, j] > 0.5 else "black"
            text = f"{count}\n{soft[i, j]:.0f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=dark)
    ticks = range(len(counts))
    ax.set_xticks(ticks, kept["classes"], fontsize=7)
    ax.set_yticks(ticks, kept["classes"], fontsize=7)
    ax.set(xlabel="candidate", ylabel="true label")
    confusion = _kept(figure)
    figure = _figure(8, 3.2)
    ax = figure.subplots()
    place = np.arange(len(counts))
    ax.bar(place - 0.2, kept["true"], 0.4, label="true")
    ax.bar(place + 0.2, kept["estimated"], 0.4, label="estimated from the candidates")
    ax.set_xticks(place, kept["classes"], fontsize=8)
    ax.set(xlabel="class", ylabel="faces")
    ax.legend()
    return [
        (
            "Candidates of each person's faces: how often (above), sums of soft labels (below).",
            confusion,
        ),
        ("Class sizes.", _kept(figure)),
    ]


def _decomposition(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    drawn = []
    for line in results.select("decomposition"):
        grey = pictures.read(line["figures"]["pictures"])
        figure = _figure(8, 4.6)
        for ax, picture in zip(
            figure.subplots(*grey.shape[:2]).flat, grey.reshape(-1, *grey.shape[2:]), strict=True
        ):
            ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
            ax.set_xticks([])
            ax.set_yticks([])
        for ax, name in zip(figure.axes[:: grey.shape[1]], pictures.ROWS, strict=True):
            ax.set_ylabel(name, fontsize=8)
        settings, found = line["settings"], line["figures"]
        caption = (
            f"{settings['at'][PICTURES]}, {settings['method']}: rank of Z {found['rank']}, "
            f"|E_X|/|X| {found['noise_share']:.3f}, variance within people "
            f"{found['within_X']:.1%} of all in X and {found['within_Z']:.1%} in Z."
        )
        drawn.append((caption, _kept(figure)))
    return drawn


def _projection(experiment: Experiment, results: PaperResults) -> list[Drawing]:
    drawn = []
    for cell in experiment.cells:
        where = cell.at[PROJECTION]
        lines = [
            line for line in results.select("projection", **cell.at) if "trace" in line["figures"]
        ]
        if not lines:
            continue
        figure = _figure(11, 3.4)
        names = {
            "residual": "residual |H_obs - H - E|",
            "gap": "gap |Y - H_Y|",
            "changed": "labels changed",
        }
        for ax, (name, title) in zip(figure.subplots(1, 3), names.items(), strict=True):
            for line in lines:
                kind, method = line["settings"]["method"].split(": ")
                look = {**style(method), "marker": "", "alpha": 1.0 if kind == "simple" else 0.45}
                label = line["settings"]["method"]
                ax.plot(line["figures"]["trace"][name], label=label, **look)
            scale = "symlog" if name == "changed" else "log"
            ax.set(title=title, yscale=scale, xlabel="iteration")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize=7)
        drawn.append((f"{where}, first repeat: what iterations do.", _kept(figure)))
    return drawn


_DRAW: dict[str, Callable[[Experiment, PaperResults], list[Drawing]]] = {
    "fiw-fraction": _curves,
    "fiw-cooccurrence": _curves,
    "fiw-extra": _curves,
    "pie-fraction": _curves,
    "pie-extra": _curves,
    "lost": _bars,
    "yahoo": _bars,
    "sensitivity": _sensitivity,
    "distribution": _distribution,
    "decomposition": _decomposition,
    "projection": _projection,
}
