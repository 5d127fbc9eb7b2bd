"""Parts of the page as HTML: tables, figures, notes, what opens on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["details", "escape", "figure", "grid", "heat_table", "note", "table", "told"]


def table(
    head: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Iterable[int] = (),
    raw: bool = False,
    caption: str = "",
) -> str:
    """Return a table that scrolls by itself where it is wider than the page.

    Parameters
    ----------
    head : iterable of str
    rows : iterable of sequences of str
    numbers : iterable of int
        Columns that are set to the right.
    raw : bool
        Whether cells are HTML already.
    caption : str
        What it shows; also its name for those who hear the page.

    Examples
    --------
    >>> table(["a"], [["<"]]).count("&lt;")
    1
    """
    right = set(numbers)

    def row(cells: Iterable[str], tag: str, as_is: bool) -> str:
        return "".join(_cell(cell, tag, as_is, number=k in right) for k, cell in enumerate(cells))

    body = "".join(f"<tr>{row(cells, 'td', raw)}</tr>\n" for cells in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    # Something that scrolls has to be reached by keyboard, so it needs a name and a place.
    name = escape(caption or "table", quote=True)
    return (
        f'<div class=wide tabindex=0 role=group aria-label="{name}"><table>{title}<thead><tr>'
        f"{row(head, 'th', False)}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, tag: str, as_is: bool, *, number: bool) -> str:
    kind = "td" if tag == "th" and not text else tag  # a heading without words is none
    scope = " scope=col" if kind == "th" else ""
    place = " class=number" if number else ""
    return f"<{kind}{place}{scope}>{text if as_is else escape(text)}</{kind}>"


def heat_table(
    corner: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str], Sequence[float]]],
    *,
    marked: tuple[int, int] | None = None,
    caption: str = "",
) -> str:
    """Return a table whose cells are shaded by a number from 0 to 1; empty cells are not.

    Parameters
    ----------
    corner : str
        What rows and columns are.
    columns : sequence of str
    rows : sequence of (str, texts, shades)
        Texts are HTML.
    marked : (int, int), optional
        A cell that is framed: row and column.
    caption : str
    """
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in columns)
    lines = []
    for i, (name, texts, shades) in enumerate(rows):
        cells = "".join(
            f'<td class="heat{" marked" if (i, j) == marked else ""}" '
            f'style="--shade:{shade_of(shade)}">{text}</td>'
            if text
            else "<td></td>"
            for j, (text, shade) in enumerate(zip(texts, shades, strict=True))
        )
        lines.append(f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>\n")
    label = escape(caption or corner, quote=True)
    return (
        f'<div class="wide heat" tabindex=0 role=group aria-label="{label}"><table><thead><tr>'
        f"<th scope=col>{escape(corner)}</th>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
        "</table></div>"
    )


def shade_of(value: float) -> str:
    """Return a shade as a percentage, light enough for text to be read on it.

    Examples
    --------
    >>> shade_of(0.5)
    '28%'
    """
    return f"{100 * 0.55 * min(max(value, 0.0), 1.0):.0f}%"


def figure(drawing: str, caption: str) -> str:
    """Return a drawing with its caption; the caption is plain text."""
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def grid(figures: Iterable[str]) -> str:
    """Return figures side by side where the page is wide enough."""
    shown = "".join(figures)
    return f"<div class=figures>{shown}</div>" if shown else ""


def details(summary: str, body: str) -> str:
    """Return what is shown on demand; nothing where there is nothing to show."""
    return f"<details><summary>{escape(summary)}</summary>\n{body}</details>" if body else ""


def note(text: str) -> str:
    """Return a remark in small type."""
    return f"<p class=note>{escape(text)}</p>" if text else ""


def told(items: Iterable[str]) -> str:
    """Return a list, of HTML."""
    lines = "".join(f"<li>{item}</li>\n" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""
