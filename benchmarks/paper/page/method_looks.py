"""The colour, mark and line of every method, the same in all figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.paper.method_entries import BOUND, OURS

INK = "#000000"
"""What stands for the colour of text; a drawing takes it from the page."""
PALETTE = {
    # name: on light paper (also what it is drawn in, hence all different), on dark paper
    "vermilion": ("#b84a00", "#ff9955"),
    "green": ("#007a59", "#3fc79a"),
    "amber": ("#8a6a01", "#e6b93c"),
    "blue": ("#0061a9", "#6cb4f5"),
    "purple": ("#8d4a9e", "#d79be6"),
    "brown": ("#7b4b2a", "#c99d78"),
    "rose": ("#b3245a", "#ff85b0"),
    "teal": ("#1b7687", "#62c7d8"),
    "grey": ("#6b6b6b", "#a3a3a3"),
    "pale": ("#d9d9d8", "#4a4a4a"),
}
"""Colours that are told apart by most people; marks differ as well."""


@dataclass(frozen=True)
class Look:
    """How a method is drawn: the name of a colour (or "ink"), a mark, a line."""

    colour: str
    marker: str
    line: str = "-"
    width: float = 1.4

    @property
    def drawn(self) -> dict[str, Any]:
        """Arguments for matplotlib."""
        return {
            "color": light(self.colour),
            "marker": self.marker,
            "linestyle": self.line,
            "linewidth": self.width,
        }


LOOKS = {
    "MCar": Look("vermilion", "o", width=2.2),
    "WMCar": Look("green", "s", width=2.2),
    "MCar-ICE": Look("amber", "^", width=2.2),
    "WMCar-ICE": Look("blue", "D", width=2.2),
    "naive": Look("grey", "x"),
    "CLPL": Look("ink", "v"),
    "DLHD": Look("teal", "<", "--"),
    "DLSD": Look("teal", ">", "-."),
    "KDLSD": Look("purple", "P"),
    "IPAL": Look("brown", "*"),
    OURS: Look("rose", "h", width=2.2),
    "ours, one setting": Look("rose", "d", "--"),
    BOUND.name: Look("ink", "", ":"),
}
_OTHERS = (
    Look("teal", "o"),
    Look("purple", "s"),
    Look("brown", "^"),
    Look("grey", "D"),
    Look("amber", "v"),
    Look("rose", "x"),
    Look("ink", "P"),
)
_UNKNOWN = Look("grey", ".")


def light(colour: str) -> str:
    """Return a colour as it is drawn."""
    return INK if colour == "ink" else PALETTE[colour][0]


def look(method: str) -> Look:
    """Return the look of a method by its name without the ending that tells the setting.

    Examples
    --------
    >>> look("WMCar-ICE (paper)").colour, look("CLPL").colour
    ('blue', 'ink')
    """
    return LOOKS.get(method, LOOKS.get(base_name(method), _UNKNOWN))


def numbered(place: int) -> Look:
    """Return the look of the curve at a place among others that have no look of their own."""
    return _OTHERS[place % len(_OTHERS)]


def base_name(method: str) -> str:
    """Return the name of a method without the setting in brackets.

    Examples
    --------
    >>> base_name("MCar (paper, 3 λ0)")
    'MCar'
    """
    return method.split(" (")[0]


def as_css() -> str:
    """Return the colours as properties of a style sheet, for light and for dark pages."""

    def rule(place: int) -> str:
        return " ".join(f"--{name}: {pair[place]};" for name, pair in PALETTE.items())

    return (
        f":root {{ {rule(0)} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {rule(1)} }} }}\n"
    )
