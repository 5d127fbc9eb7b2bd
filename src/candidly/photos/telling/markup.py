"""Pieces of the page. Every text of a user's goes through ``safe``."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from candidly.photos.telling.contents import Shown
from candidly.photos.telling.crops import SIDE
from candidly.photos.telling.likeness import SURE, percent

NOBODY = "nobody"


def safe(text: str) -> str:
    """A text that is only text in HTML, whatever is in it.

    Examples
    --------
    >>> safe('<b onclick="x">A & B')
    '&lt;b onclick=&quot;x&quot;&gt;A &amp; B'
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    return escape("".join(c if c.isprintable() or c == "\n" else "�" for c in text))


def name_of(name: str | None) -> str:
    """A name that leaves the direction of the text around it alone."""
    return f"<bdi>{safe(name)}</bdi>" if name is not None else NOBODY


def picture(crop: bytes | None, alt: str) -> str:
    """A face, or a grey square where there is none."""
    if crop is None:
        return f'<span class="none" role="img" aria-label="{safe(alt)}, no picture">?</span>'
    data = b64encode(crop).decode("ascii")
    return (
        f'<img src="data:image/jpeg;base64,{data}" width="{SIDE}" height="{SIDE}" loading="lazy"'
        f' decoding="async" alt="{safe(alt)}">'
    )


def face_card(face: Shown, crops: Mapping[int, bytes]) -> str:
    """A face with how sure it is, who else it might be, and where it is."""
    sure = "confirmed" if face.confirmed else percent(face.confidence)
    second = ""
    if face.second is not None and face.second[1] >= 0.005:
        second = f"<br>or {name_of(face.second[0])} {percent(face.second[1])}"
    kind = "confirmed" if face.confirmed else "sure" if face.confidence >= SURE else "unsure"
    short = face.file.rpartition("/")[2]
    return (
        f'<figure class="{kind}">{picture(crops.get(face.face), face.name or NOBODY)}'
        f"<figcaption><b>{sure}</b>{second}<br>"
        f'<span class="file" title="{safe(face.file)}">{safe(short)}</span><br>'
        f"face {face.face}</figcaption></figure>"
    )


def small_face(
    number: int, probability: float, became: str | None, crops: Mapping[int, bytes]
) -> str:
    """A face that wanted a name, and who it became."""
    return (
        f"<figure>{picture(crops.get(number), f'face {number}')}"
        f"<figcaption><b>{percent(probability)}</b><br>is {name_of(became)}<br>"
        f"face {number}</figcaption></figure>"
    )


def more(left: int, where: str) -> str:
    """A word on what is not shown."""
    return "" if left <= 0 else f'<p class="more">and {left:,} more: <code>{safe(where)}</code></p>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are markup already."""
    top = "".join(f'<th scope="col">{safe(text)}</th>' for text in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def section(key: str, title: str, note: str, body: str) -> str:
    """A part of the page, or nothing where it has no body."""
    if not body:
        return ""
    return f'<section id="{key}"><h2>{safe(title)}</h2><p>{safe(note)}</p>{body}</section>\n'
