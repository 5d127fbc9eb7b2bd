"""Drawings of matplotlib as SVG inside the page: its text is text, its colours are the page's."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from benchmarks.paper.page.method_looks import INK, PALETTE
from candidly.extras import require

WIDTH = 5.0
"""Inches; 360 units of SVG, so that on a phone text is about as large as drawn."""
TEXT_SIZE = 11
_STYLE = {
    "svg.fonttype": "none",
    "font.size": TEXT_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": TEXT_SIZE,
    "legend.frameon": False,
    "legend.fontsize": TEXT_SIZE - 1,
}
_COLOURS = {pair[0]: f"var(--{name})" for name, pair in PALETTE.items()} | {INK: "currentColor"}
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def new_figure(height: float, width: float = WIDTH) -> Any:
    """Return an empty figure of matplotlib."""
    figure = require("matplotlib.figure", "plot").Figure
    with require("matplotlib", "plot").rc_context(_STYLE):
        return figure(figsize=(width, height), layout="constrained")


def styled() -> Any:
    """Return the context in which figures are filled and saved."""
    return require("matplotlib", "plot").rc_context(_STYLE)


def as_svg(figure: Any, name: str, says: str) -> str:
    """Return a figure as an element of the page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    name : str
        Begins the identifiers in it, which are unique on the page if the name is.
    says : str
        What it shows, for those who cannot see it.
    """
    file = io.StringIO()
    with styled():
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    for child in list(root):
        if child.tag == f"{_SVG}metadata" or child.find(f"{_SVG}style") is not None:
            root.remove(child)
    for element in root.iter():
        _tidy(element, name)
    _share_marks(root, name)
    width, height = root.get("viewBox", "").split()[2:]
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
            "aria-label": says,
            "fill": "currentColor",
            "stroke-linejoin": "round",
            "class": "drawing",
            "style": f"--drawn: {float(width):.0f}px",
        }
    )
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    return re.sub(r">\s+<", "><", text).strip()


def _tidy(element: ElementTree.Element, name: str) -> None:
    """Make an element short and the page's own: local names, identifiers, colours, no fonts."""
    element.tag = element.tag.removeprefix(_SVG)
    if (link := element.attrib.pop(_LINK, None)) is not None:
        element.set("href", f"#{name}-{link[1:]}" if link.startswith("#") else link)
    if (own := element.get("id")) is not None:
        # Curves and the paper's values keep theirs: they are counted. Other groups need none.
        if element.tag == "g" and not own.startswith(("curve", "published")):
            del element.attrib["id"]
        else:
            element.set("id", f"{name}-{own}")
    if (clip := element.get("clip-path")) is not None:
        element.set("clip-path", clip.replace("url(#", f"url(#{name}-"))
    if (style := element.get("style")) is not None:
        style = re.sub(r"#[0-9a-f]{6}", lambda found: _COLOURS.get(found[0], found[0]), style)
        element.set("style", re.sub(r"font-family: [^;]*;? ?", "", style))
    for key in ("d", "x", "y", "transform"):
        if (value := element.get(key)) is not None:
            short = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}", value)
            element.set(key, " ".join(short.split()))
    if (element.get("transform") or "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def _share_marks(root: ElementTree.Element, name: str) -> None:
    """Give marks short identifiers, and the style of their copies once instead of in each."""
    copies: dict[str, list[ElementTree.Element]] = {}
    for use in root.iter("use"):
        copies.setdefault(use.get("href", "")[1:], []).append(use)
    for place, (own, uses) in enumerate(copies.items()):
        mark = root.find(f".//*[@id='{own}']")
        styles = {use.get("style", "") for use in uses}
        if mark is None or len(styles) > 1:
            continue
        # What a mark says itself counts more than what its copies say.
        mark.set("style", "; ".join(filter(None, [*styles, mark.get("style")])))
        mark.set("id", f"{name}-{place}")
        for use in uses:
            use.attrib.pop("style", None)
            use.set("href", f"#{name}-{place}")
