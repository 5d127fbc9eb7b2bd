"""The page of the report: its parts, put into the template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from string import Template

from candidly.photos.telling.contents import Contents, Shown
from candidly.photos.telling.likeness import SURE
from candidly.photos.telling.markup import (
    face_card,
    more,
    name_of,
    picture,
    safe,
    section,
    small_face,
    table,
)
from candidly.photos.telling.people import Person

PER_PERSON = 12
"""Faces of a person that are shown, the least sure."""
MOST = 4000
"""Faces on the page, so that it opens anywhere."""
NOBODY = 120
CONFLICTS = 60
ROWS = 200
OPEN = 12
"""People whose faces are shown at once; the others open on a click."""
SIZE = "@size@"


def pictures_of(contents: Contents) -> set[int]:
    """The faces that the page shows."""
    people = {face for faces in _faces_shown(contents).values() for face in faces}
    return people | _others_shown(contents)


def _faces_shown(contents: Contents) -> dict[str, list[int]]:
    """The faces of each person that are shown, least sure first, until the page is full."""
    left, found = MOST, {}
    per = max(1, min(PER_PERSON, MOST // max(len(contents.people), 1)))
    for person, faces in contents.people:
        found[person.name] = [face.face for face in faces[: min(per, left)]]
        left -= len(found[person.name])
    return found


def _others_shown(contents: Contents) -> set[int]:
    conflicts = {face for one in contents.wanted[:CONFLICTS] for face, *_ in one.faces}
    surest = _surest(contents)
    pairs = {name for pair in contents.proposals[:ROWS] for name in (pair.name, pair.likely)}
    spellings = {surest[name] for name in pairs & surest.keys()}
    return conflicts | spellings | {face.face for face in contents.nobody[:NOBODY]}


def _surest(contents: Contents) -> dict[str, int]:
    return {person.name: faces[-1].face for person, faces in contents.people}


def page_of(title: str, contents: Contents, cut: Mapping[int, bytes]) -> str:
    """The page as text; ``SIZE`` stands where its size is to be told.

    Parameters
    ----------
    title : str
    contents : Contents
    cut : dict of int to bytes
        Pictures of faces, as JPEG.
    """
    parts = list(_sections(contents, _faces_shown(contents), cut))
    links = [
        f'<a href="#{part.split(chr(34))[1]}">{part.split("<h2>")[1].split("</h2>")[0]}</a>'
        for part in parts
        if part
    ]
    data = files(__package__).joinpath("data")
    return Template(data.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        title=f"Who is who: {safe(title)}",
        css=data.joinpath("report.css").read_text(encoding="utf-8"),
        js=data.joinpath("report.js").read_text(encoding="utf-8"),
        run=safe(contents.run),
        figures="".join(
            f"<div><dt>{safe(name)}</dt><dd>{value:,}</dd></div>"
            for name, value in contents.figures.items()
        ),
        links="".join(links),
        body="".join(parts),
        size=SIZE,
    )


def _sections(
    contents: Contents, shown: Mapping[str, list[int]], cut: Mapping[int, bytes]
) -> Iterator[str]:
    everybody = "".join(
        _person(person, faces, set(shown[person.name]), cut, at < OPEN)
        for at, (person, faces) in enumerate(contents.people)
    )
    yield section(
        "people",
        "People",
        "Whoever has the least sure face comes first.",
        f'<div class="people">{everybody}</div>' if everybody else "",
    )
    yield section("conflicts", "Conflicts", "Faces that wanted one name.", _wanted(contents, cut))
    yield section(
        "absent",
        "Named, but no face got the name",
        "They may be absent, turned away, or one of the faces that nobody named.",
        _absent(contents),
    )
    yield section(
        "spellings",
        "Likely one person",
        "Nothing is merged; a list of aliases says who is who.",
        _spellings(contents, cut),
    )
    nobody = "".join(face_card(face, cut) for face in contents.nobody[:NOBODY])
    yield section(
        "nobody",
        "Faces that nobody named",
        "The least sure first.",
        f'<div class="faces">{nobody}</div>' + more(len(contents.nobody) - NOBODY, "candidly faces")
        if nobody
        else "",
    )
    yield section("changes", "Changed since the run before", "", _changes(contents))
    yield section("failed", "Photos that failed", "They were left out.", _failed(contents))


def _person(
    person: Person, faces: list[Shown], shown: set[int], cut: Mapping[int, bytes], is_open: bool
) -> str:
    cards = "".join(face_card(face, cut) for face in faces if face.face in shown)
    unsure = sum(not face.confirmed and face.confidence < SURE for face in faces)
    notes = [f"{len(faces)} face{'s' * (len(faces) != 1)}"]
    notes += [f"{unsure} unsure"] if unsure else []
    notes += [f"{person.confirmed} confirmed"] if person.confirmed else []
    notes += [f"named in {person.photos} photo{'s' * (person.photos != 1)}"]
    likely = "".join(f"<p>Likely the same as {name_of(name)}.</p>" for name in person.likely)
    return (
        f'<details class="person"{" open" * is_open} data-name="{safe(person.name.casefold())}">'
        f"<summary><h3>{name_of(person.name)}</h3> <small>{', '.join(notes)}</small></summary>"
        f'{likely}<div class="faces">{cards}</div>'
        f"{more(len(faces) - len(shown), 'candidly faces')}</details>\n"
    )


def _wanted(contents: Contents, cut: Mapping[int, bytes]) -> str:
    rows = [
        f'<div class="conflict"><h3>{name_of(one.name)}</h3> <small>{safe(one.file)}</small>'
        '<div class="faces">'
        + "".join(small_face(face, value, became, cut) for face, value, became in one.faces)
        + "</div></div>"
        for one in contents.wanted[:CONFLICTS]
    ]
    return "".join(rows) + more(len(contents.wanted) - CONFLICTS, "candidly why FACE")


def _spellings(contents: Contents, cut: Mapping[int, bytes]) -> str:
    if not contents.proposals:
        return ""
    surest = _surest(contents)

    def who(name: str) -> str:
        crop = cut.get(surest.get(name, -1))
        return ("" if crop is None else picture(crop, name)) + name_of(name)

    rows = (
        (who(pair.name), who(pair.likely), safe(pair.why)) for pair in contents.proposals[:ROWS]
    )
    left = len(contents.proposals) - ROWS
    return table(("Name", "likely", "alike in"), rows) + more(left, "candidly people")


def _absent(contents: Contents) -> str:
    if not contents.absent:
        return ""
    rows = (
        (safe(file), ", ".join(name_of(name) for name in names))
        for file, names in contents.absent[:ROWS]
    )
    return table(("Photo", "names"), rows) + more(len(contents.absent) - ROWS, "candidly photos")


def _changes(contents: Contents) -> str:
    if not contents.changes:
        return ""
    rows = (
        (safe(file), str(one.face), name_of(one.before), name_of(one.after), safe(one.why))
        for file, one in contents.changes[:ROWS]
    )
    head = ("Photo", "face", "was", "is now", "why")
    return table(head, rows) + more(len(contents.changes) - ROWS, "candidly changes")


def _failed(contents: Contents) -> str:
    rows = [(safe(file), safe(why)) for file, why in contents.failures]
    rows += [("", safe(text)) for text in contents.problems]
    if not rows:
        return ""
    return table(("Photo", "why"), rows[:ROWS]) + more(len(rows) - ROWS, "candidly photos")
