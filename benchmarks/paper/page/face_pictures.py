"""Figure 6: faces, what they are after equalisation, their low-rank part, and the noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper import decomposition_pictures as pictures
from benchmarks.paper.experiments import PICTURES
from benchmarks.paper.page.data_address import grey_png
from benchmarks.paper.page.html import details, escape, figure, grid
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.stored_runs import Line, PaperResults


def decompositions(results: PaperResults, chain: SettingChain) -> str:
    """Return the stored pictures, in the faithful setting first and in the others on demand."""
    lines = [one for one in results.select("decomposition") if "pictures" in one["figures"]]
    methods = [line["settings"]["method"] for line in lines]
    shown: list[str] = []
    rest: list[str] = []
    for line, method in zip(lines, methods, strict=True):
        (shown if chain.is_faithful(method, methods) else rest).append(_pictures(line))
    return grid(shown) + details("Other settings", grid(rest))


def _pictures(line: Line) -> str:
    grey = pictures.read(line["figures"]["pictures"])
    settings, found = line["settings"], line["figures"]
    strips = "".join(
        f'<div><img alt="{escape(name)}" src="{grey_png(_side_by_side(kind))}">'
        f"<small>{escape(name)}</small></div>"
        for name, kind in zip(pictures.ROWS, grey, strict=True)
    )
    caption = (
        f"{settings['at'][PICTURES]}, {settings['method']}: rank of Z {found['rank']}, "
        f"|E_X|/|X| {found['noise_share']:.3f}, variance within people "
        f"{found['within_X']:.1%} of all in X and {found['within_Z']:.1%} in Z."
    )
    return figure(f"<div class=strips>{strips}</div>", caption)


def _side_by_side(kind: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pictures (count x height x width) as one, from left to right."""
    return np.concatenate(list(kind), axis=1)
