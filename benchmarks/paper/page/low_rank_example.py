"""Figures 2 and 3: what completion does to the hulls of classes, and one decomposition.

The paper's pictures are drawings; these are sixty digits of scikit-learn, solved while the page is
made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from benchmarks.paper.page.data_address import grey_png
from benchmarks.paper.page.html import figure, table, told
from benchmarks.paper.page.inline_svg import as_svg, new_figure, styled
from benchmarks.paper.page.method_looks import light
from candidly import MCar
from candidly.candidates import Candidates, make_ambiguous

DIGITS = (0, 1, 2)
EACH = 20
AMBIGUOUS = 0.7
"""Part of the sixty digits that has a second candidate."""
COLOURS = ("vermilion", "green", "blue")
MARKS = ("o", "s", "^")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class SolvedExample:
    """A small problem and its solution by Algorithm 1 to the letter; one column per instance."""

    X: Array
    y: NDArray[np.intp]
    candidates: Candidates
    Y: Array
    Z: Array

    @property
    def P(self) -> Array:
        """The ambiguous labels, equal among the candidates."""
        return np.asarray(self.candidates.priors.T, dtype=float)

    @property
    def found(self) -> NDArray[np.intp]:
        """The labels found."""
        return self.Y.argmax(axis=0)

    @property
    def wrong(self) -> int:
        """Number of labels found that are wrong."""
        return int((self.found != self.y).sum())


@lru_cache(maxsize=1)
def example() -> SolvedExample:
    """Return sixty digits of three kinds with candidates, completed; no label is used but those."""
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == digit)[:EACH] for digit in DIGITS])
    X, y = X[rows] / 16, y[rows]
    candidates = make_ambiguous(y, n_extra=1, ambiguous_fraction=AMBIGUOUS, random_state=0)
    model = MCar(setting="paper", classifier=None).fit(X, candidates)
    soft = np.asarray(model.label_distributions_, dtype=float)
    Z = np.asarray(model.solution_.features, dtype=float)
    return SolvedExample(X.T, y, candidates, soft.T, Z)


# Figure 2: hulls


def hulls() -> str:
    """Return Figure 2: hulls of all candidates, and of the labels found."""
    one = example()
    flat = _plane(one.X, one.y)
    every = one.candidates.mask.T
    found = np.arange(len(DIGITS))[:, None] == one.found
    true = np.arange(len(DIGITS))[:, None] == one.y
    said = {"every candidate taken as true": every, "labels that MCar found": found}
    overlap = {name: _overlap(flat, labels) for name, labels in said.items()}
    drawings = [
        figure(
            _hulls(flat, labels, one.y, f"hulls-{k}", name),
            f"{name[0].upper()}{name[1:]}: hulls overlap over {overlap[name]:.0%} of the area that "
            "they cover.",
        )
        for k, (name, labels) in enumerate(said.items())
    ]
    rows = [
        [name, f"{_nuclear(labels, one.X):.1f}", f"{_overlap(flat, labels):.0%}"]
        for name, labels in {**said, "true labels": true}.items()
    ]
    numbers = table(["labels Y", "nuclear norm of [Y; X]", "overlap"], rows, numbers=(1, 2))
    explained = (
        f"<p>{EACH} digits each of {', '.join(map(str, DIGITS[:-1]))} and {DIGITS[-1]}; "
        f"{AMBIGUOUS:.0%} have a second candidate. A mark is filled by its true class and edged by "
        "its other candidate or label; a hull is that of all digits with the label. The plane is "
        "that of the three class means, for the picture only; completion has all "
        f"{len(one.X)} pixels. MCar, to the letter, gives {one.wrong} of {len(one.y)} a wrong "
        "label.</p>"
    )
    return f"<div class=figures>{''.join(drawings)}</div>{explained}{numbers}"


def _plane(X: Array, y: NDArray[np.intp]) -> Array:
    """Return two coordinates of each column, in the plane of the class means."""
    means = np.stack([X[:, y == k].mean(axis=1) for k in range(len(DIGITS))], axis=1)
    centre = means.mean(axis=1, keepdims=True)
    directions = np.linalg.svd(means - centre, full_matrices=False)[0][:, :2]
    return directions.T @ (X - centre)


def _hull(points: Array) -> Array:
    """Return the corners of the hull of some points, in order, the first again at the end."""
    from scipy.spatial import ConvexHull

    corners = points[:, ConvexHull(points.T).vertices]
    return np.concatenate([corners, corners[:, :1]], axis=1)


def _overlap(flat: Array, labels: NDArray[np.bool_]) -> float:
    """Return the part of the covered area that is inside more than one hull."""
    from scipy.spatial import Delaunay

    low, high = flat.min(axis=1), flat.max(axis=1)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*np.linspace(low, high, 100).T)], axis=1)
    inside = sum((Delaunay(flat[:, row].T).find_simplex(grid) >= 0).astype(int) for row in labels)
    return float((inside > 1).sum() / (inside > 0).sum())


def _nuclear(labels: NDArray[np.bool_], X: Array) -> float:
    return float(np.linalg.svd(np.vstack([labels, X]), compute_uv=False).sum())


def _hulls(
    flat: Array, labels: NDArray[np.bool_], y: NDArray[np.intp], name: str, title: str
) -> str:
    drawing = new_figure(3.9)
    with styled():
        ax = drawing.subplots()
        for k, (colour, mark) in enumerate(zip(COLOURS, MARKS, strict=True)):
            hull = _hull(flat[:, labels[k]])
            ax.fill(*hull, color=light(colour), alpha=0.12, linewidth=0)
            ax.plot(*hull, color=light(colour), linewidth=2)
            for other, edge in enumerate(COLOURS):
                own = flat[:, (y == k) & (_outline(labels, y) == other)]
                ax.plot(
                    *own,
                    mark,
                    color=light(colour),
                    markeredgecolor=light(edge),
                    markeredgewidth=1.8,
                    markersize=6,
                    label=f"digit {DIGITS[k]}" if other == k else "",
                )
        ax.set(xticks=[], yticks=[], aspect="equal")
        for spine in ax.spines.values():
            spine.set_visible(False)
        drawing.legend(loc="outside lower center", ncols=3)
    return as_svg(drawing, name, f"Hulls of three digits: {title}")


def _outline(labels: NDArray[np.bool_], y: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the label that is not the true one where there is one, else the true one."""
    others = labels.copy()
    others[y, np.arange(len(y))] = False
    return np.where(others.any(axis=0), others.argmax(axis=0), y)


# Figure 3: one decomposition


def decomposition() -> str:
    """Return Figure 3: [P; X] = [Y; Z] + [E_P; E_X], of the digits above."""
    one = example()
    blocks = {
        "P": (one.P, "observed"),
        "Y": (one.Y, "low-rank"),
        "E_P": (one.P - one.Y, "noise"),
        "X": (one.X, "observed"),
        "Z": (one.Z, "low-rank"),
        "E_X": (one.X - one.Z, "noise"),
    }
    tiles = "".join(
        _tile(name, part, block, "labels" if name in ("P", "Y", "E_P") else "pixels")
        for name, (block, part) in blocks.items()
    )
    ranks = [_rank(np.vstack([one.P, one.X])), _rank(np.vstack([one.Y, one.Z]))]
    ambiguous = one.candidates.sizes > 1
    caption = (
        f"One column per digit, sorted by class; {len(DIGITS)} rows of labels above, {len(one.X)} "
        "pixels below; black is 0, and grey in the noise. As found by MCar to the letter: the "
        f"observed matrix has rank {ranks[0]}, the recovered one {ranks[1]}."
    )
    facts = [
        f"{int(ambiguous.sum())} of {len(ambiguous)} digits had two candidates; the label found "
        f"is wrong for {one.wrong}",
        f"labels and features are recovered together: E<sub>P</sub> has "
        f"{np.linalg.norm(one.P - one.Y) / np.linalg.norm(one.P):.0%} of the norm of P, "
        f"E<sub>X</sub> {np.linalg.norm(one.X - one.Z) / np.linalg.norm(one.X):.0%} of that of X",
    ]
    return figure(f"<div class=blocks>{tiles}</div>", caption) + told(facts)


def _tile(name: str, part: str, block: Array, kind: str) -> str:
    says = f"{name}, {part}: {len(block)} rows, one column per digit"
    symbol, _, index = name.partition("_")
    shown = f"{symbol}<sub>{index}</sub>" if index else symbol
    picture = _grey(block, signed=bool(index))
    return (
        f'<div><img class={kind} alt="{says}" src="{picture}"><small>{shown}, {part}</small></div>'
    )


def _rank(matrix: Array) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=1e-6 * np.linalg.norm(matrix, 2)))


def _grey(block: Array, *, signed: bool) -> str:
    """Return a matrix as a picture with one pixel per number."""
    scaled = block / 2 + 0.5 if signed else block
    grey = (np.clip(scaled, 0, 1) * 255).round().astype(np.uint8)
    return grey_png(grey)
