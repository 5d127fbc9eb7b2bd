"""The page of the report as HTML. All text from outside goes through ``escaped``."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from shlex import quote
from string import Template

from candidly.photos.certainty import LIKELY, SURE, in_words, percent
from candidly.photos.reporting.contents import (
    PersonCounts,
    ReportContents,
    ReportFace,
    ReportPhoto,
)
from candidly.wording import count

PER_PERSON = 12
"""Number of faces shown per person: half the likeliest, half the least sure."""
MOST = 4000
"""Largest number of faces on the page, so that it opens anywhere."""
MOST_NOBODY = 120
MOST_CONFLICTS = 60
ROWS = 200
OPEN = 12
"""Number of people whose faces are shown at once; the others open on a click."""
FACE_PIXELS = 96
"""Width and height of the picture of a face."""
SIZE = "@size@"
NOBODY = "nobody"


def faces_on_page(contents: ReportContents) -> set[int]:
    """Return the faces that the page shows."""
    people = {face for faces in _faces_shown(contents).values() for face in faces}
    return people | _others_shown(contents)


def _faces_shown(contents: ReportContents) -> dict[str, list[int]]:
    """Return the faces of each person that are shown, the likeliest first, until it is full."""
    left, found = MOST, {}
    per = max(1, min(PER_PERSON, MOST // max(len(contents.people), 1)))
    for person, faces in contents.people:
        found[person.name] = _selected(person, [face.face for face in faces], min(per, left))
        left -= len(found[person.name])
    return found


def _selected(person: PersonCounts, faces: list[int], most: int) -> list[int]:
    """Return the likeliest and the least sure faces, or some of both groups that are unlike."""
    if len(faces) <= most:
        return faces
    few = most // 2
    last = faces[len(faces) - few :]
    if person.unlike is not None:
        last = [face for face in faces if face in person.unlike.smaller][:few]
    first = [face for face in faces if face not in last][: most - len(last)]
    return first + last


def _others_shown(contents: ReportContents) -> set[int]:
    conflicts = {face for one in contents.conflicts[:MOST_CONFLICTS] for face, *_ in one.faces}
    surest = _surest(contents)
    pairs = {name for pair in contents.proposals[:ROWS] for name in (pair.name, pair.likely)}
    spellings = {surest[name] for name in pairs & surest.keys()}
    return conflicts | spellings | {face.face for face in contents.nobody[:MOST_NOBODY]}


def _surest(contents: ReportContents) -> dict[str, int]:
    return {person.name: faces[0].face for person, faces in contents.people}


def render_page(
    title: str,
    contents: ReportContents,
    crops: Mapping[int, bytes],
    pictures: Mapping[int, bytes],
) -> str:
    """Return the page as text, in which ``SIZE`` is a placeholder for its size.

    Parameters
    ----------
    title : str
    contents : ReportContents
    crops : dict of int to bytes
        Pictures of faces, as JPEG.
    pictures : dict of int to bytes
        Whole photos, as JPEG.
    """
    parts = list(_sections(contents, _faces_shown(contents), crops, pictures))
    links = [
        f'<a href="#{part.split(chr(34))[1]}">{part.split("<h2>")[1].split("</h2>")[0]}</a>'
        for part in parts
        if part
    ]
    data = files(__package__).joinpath("data")
    return Template(data.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        title=f"Who is who: {escaped(title)}",
        css=data.joinpath("report.css").read_text(encoding="utf-8"),
        js=data.joinpath("report.js").read_text(encoding="utf-8"),
        run=escaped(contents.run),
        figures="".join(
            f"<div><dt>{escaped(name)}</dt><dd>{value:,}</dd></div>"
            for name, value in contents.figures.items()
        ),
        notes="".join(f"<p>{escaped(_sentence(text))}</p>" for text in contents.notes),
        links="".join(links),
        body="".join(parts),
        size=SIZE,
    )


def _sections(
    contents: ReportContents,
    shown: Mapping[str, list[int]],
    crops: Mapping[int, bytes],
    pictures: Mapping[int, bytes],
) -> Iterator[str]:
    everybody = "".join(
        _person(person, faces, set(shown[person.name]), crops, at < OPEN)
        for at, (person, faces) in enumerate(contents.people)
    )
    yield _section(
        "people",
        "People",
        f"Whoever has most sure faces comes first. A name is sure from {SURE:.0%} on, and likely "
        f"from {LIKELY:.0%}; below that it is a guess, and who it is stays unknown.",
        f'<div class="people">{everybody}</div>'
        + _more(contents.people.total - len(contents.people), "candidly people --all")
        if everybody
        else "",
    )
    yield _section(
        "conflicts", "Conflicts", "Faces that wanted one name.", _conflicts(contents, crops)
    )
    yield _section(
        "absent",
        "Named, but no face got the name",
        "They may be absent, turned away, or one of the faces that nobody named.",
        _absent(contents),
    )
    yield _section(
        "spellings",
        "Likely one person",
        "Nothing is merged; a list of aliases says who is who.",
        _spellings(contents, crops),
    )
    nobody = "".join(_face_card(face, crops) for face in contents.nobody[:MOST_NOBODY])
    yield _section(
        "nobody",
        "Faces that nobody named",
        "Those first who may yet have a name.",
        f'<div class="faces">{nobody}</div>'
        + _more(contents.nobody.total - MOST_NOBODY, "candidly faces")
        if nobody
        else "",
    )
    yield _section(
        "photos",
        "Photos to look at",
        "Those of the least sure faces; the command opens one on a page where you decide.",
        "".join(_whole_photo(one, pictures.get(one.photo)) for one in contents.photos),
    )
    yield _section("changes", "Changed since the run before", "", _changes(contents))
    yield _section("failed", "Photos that failed", "They were left out.", _failed(contents))


def _person(
    person: PersonCounts,
    faces: list[ReportFace],
    shown: set[int],
    crops: Mapping[int, bytes],
    is_open: bool,
) -> str:
    cards = "".join(_face_card(face, crops) for face in faces if face.face in shown)
    guesses = len(faces) - person.sure - person.likely_faces
    notes = [count(len(faces), "face"), f"{person.sure} sure"]
    notes += [f"{person.likely_faces} likely"] if person.likely_faces else []
    notes += [f"{guesses} a guess"] if guesses else []
    notes += [f"{person.confirmed} confirmed"] if person.confirmed else []
    notes += [f"named in {count(person.photos, 'photo')}"]
    said = "".join(f"<p>Likely the same as {_name(name)}.</p>" for name in person.likely)
    if person.unlike is not None:
        said += f'<p class="doubt">{escaped(_sentence(person.unlike.sentence))}</p>'
    return (
        f'<details class="person"{" open" * is_open} data-name="{escaped(person.name.casefold())}">'
        f"<summary><h3>{_name(person.name)}</h3> <small>{', '.join(notes)}</small></summary>"
        f'{said}<div class="faces">{cards}</div>'
        f"{_more(len(faces) - len(shown), 'candidly faces')}</details>\n"
    )


def _conflicts(contents: ReportContents, crops: Mapping[int, bytes]) -> str:
    rows = [
        f'<div class="conflict"><h3>{_name(one.name)}</h3> <small>{escaped(one.file)}</small>'
        '<div class="faces">'
        + "".join(_small_face(face, value, became, crops) for face, value, became in one.faces)
        + "</div></div>"
        for one in contents.conflicts[:MOST_CONFLICTS]
    ]
    return "".join(rows) + _more(contents.conflicts.total - MOST_CONFLICTS, "candidly why FACE")


def _spellings(contents: ReportContents, crops: Mapping[int, bytes]) -> str:
    if not contents.proposals:
        return ""
    surest = _surest(contents)

    def who(name: str) -> str:
        crop = crops.get(surest.get(name, -1))
        return ("" if crop is None else _picture(crop, name)) + _name(name)

    rows = (
        (who(pair.name), who(pair.likely), escaped(pair.why)) for pair in contents.proposals[:ROWS]
    )
    left = len(contents.proposals) - ROWS
    return _table(("Name", "likely", "alike in"), rows) + _more(left, "candidly people")


def _absent(contents: ReportContents) -> str:
    if not contents.absent:
        return ""
    rows = (
        (escaped(file), ", ".join(_name(name) for name in names))
        for file, names in contents.absent[:ROWS]
    )
    return _table(("Photo", "names"), rows) + _more(
        contents.absent.total - ROWS,
        "candidly photos",
        over=contents.absent.total > len(contents.absent),
    )


def _changes(contents: ReportContents) -> str:
    if not contents.changes:
        return ""
    rows = (
        (escaped(one.file), str(one.face), _name(one.before), _name(one.after), escaped(one.why))
        for one in contents.changes[:ROWS]
    )
    head = ("Photo", "face", "was", "is now", "why")
    return _table(head, rows) + _more(contents.changes.total - ROWS, "candidly changes")


def _failed(contents: ReportContents) -> str:
    rows = [(escaped(file), escaped(why)) for file, why in contents.failures]
    rows += [("", escaped(text)) for text in contents.problems]
    if not rows:
        return ""
    return _table(("Photo", "why"), rows[:ROWS]) + _more(len(rows) - ROWS, "candidly photos")


# Pieces of the page


def escaped(text: str) -> str:
    """Return a text escaped for HTML.

    Examples
    --------
    >>> escaped('<b onclick="x">A & B')
    '&lt;b onclick=&quot;x&quot;&gt;A &amp; B'
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    return escape("".join(c if c.isprintable() or c == "\n" else "�" for c in text))


def _name(name: str | None) -> str:
    """Return a name that does not change the direction of the text around it."""
    return f"<bdi>{escaped(name)}</bdi>" if name is not None else NOBODY


def _picture(crop: bytes | None, alt: str) -> str:
    """Return the picture of a face, or a grey square where there is none."""
    if crop is None:
        return f'<span class="none" role="img" aria-label="{escaped(alt)}, no picture">?</span>'
    return (
        f'<img src="{_data(crop)}" width="{FACE_PIXELS}" height="{FACE_PIXELS}"'
        f' loading="lazy" decoding="async" alt="{escaped(alt)}">'
    )


def _face_card(face: ReportFace, crops: Mapping[int, bytes]) -> str:
    """Return a face with how sure it is, who else it might be, and where it is."""
    word = NOBODY if face.name is None else in_words(face.name, face.confidence)
    sure = "confirmed" if face.confirmed else f"{word}, {percent(face.confidence)}"
    second = ""
    if face.second is not None and face.second[1] >= 0.01:
        second = f"<br>or {_name(face.second[0])} {percent(face.second[1])}"
    kind = "confirmed" if face.confirmed else face.certainty
    short = face.file.rpartition("/")[2]
    return (
        f'<figure class="{kind}">{_picture(crops.get(face.face), face.name or NOBODY)}'
        f"<figcaption><b>{sure}</b>{second}<br>"
        f'<span class="file" title="{escaped(face.file)}">{escaped(short)}</span><br>'
        f"face {face.face}</figcaption></figure>"
    )


def _whole_photo(one: ReportPhoto, picture: bytes | None) -> str:
    """Return a photo with its boxes, its caption, and the command that opens it for review."""
    boxes = "".join(
        f'<span class="box" style="left:{100 * box.x:.2f}%;top:{100 * box.y:.2f}%;'
        f'width:{100 * box.w:.2f}%;height:{100 * box.h:.2f}%" title="{escaped(name or NOBODY)}">'
        "</span>"
        for box, name, _ in one.faces
    )
    alt = f"{one.file}: {', '.join(name or NOBODY for _, name, _ in one.faces)}"
    words = "".join(
        f"<mark>{escaped(text)}</mark>" if named else escaped(text) for text, named in one.caption
    )
    command = f"candidly review --photo {quote(one.file)}"
    shown = "" if picture is None else f'<img src="{_data(picture)}" alt="{escaped(alt)}">{boxes}'
    return (
        f'<div class="photo"><div class="whole">{shown}</div><p class="caption">{words}</p>'
        f"<p><code>{escaped(command)}</code></p></div>"
    )


def _data(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"


def _small_face(
    number: int, probability: float, became: str | None, crops: Mapping[int, bytes]
) -> str:
    """Return a face of a conflict, and who it became."""
    return (
        f"<figure>{_picture(crops.get(number), f'face {number}')}"
        f"<figcaption><b>{percent(probability)}</b><br>is {_name(became)}<br>"
        f"face {number}</figcaption></figure>"
    )


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends with a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def _more(left: int, where: str, *, over: bool = False) -> str:
    """Return a line about how much is not shown, and where to find it; ``over``: at least."""
    if left <= 0:
        return ""
    number = f"over {left - 1:,}" if over else f"{left:,}"
    return f'<p class="more">and {number} more: <code>{escaped(where)}</code></p>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are markup already."""
    top = "".join(f'<th scope="col">{escaped(text)}</th>' for text in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _section(key: str, title: str, note: str, body: str) -> str:
    """Return a part of the page, or nothing where it has no body."""
    if not body:
        return ""
    return f'<section id="{key}"><h2>{escaped(title)}</h2><p>{escaped(note)}</p>{body}</section>\n'
