"""Plots of cost against the number of instances and of classes, from the stored figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from candidly.extras import require

LABELS = {"growth-instances": "instances", "growth-classes": "classes"}
MARKS = "osD^vx"
FILE = "speed_growth.png"


def draw(stored: Mapping[str, Mapping[str, Any]], folder: Path) -> Path | None:
    """Draw both plots beside each other, if they were measured, and return the file."""
    if not all(name in stored for name in LABELS):
        return None
    pyplot = require("matplotlib.pyplot", "plot")
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for panel, (name, label) in zip(panels, LABELS.items(), strict=True):
        details = stored[name]["details"]
        for mark, (method, seconds) in zip(MARKS, details["CPU seconds"].items(), strict=True):
            sizes = details["sizes"][: len(seconds)]
            panel.plot(sizes, seconds, marker=mark, markersize=4, linewidth=1, label=method)
        panel.set(xscale="log", yscale="log", xlabel=label)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("CPU seconds")
    panels[0].legend(fontsize=7)
    path = folder / FILE
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    return path
