"""One page of a project that needs nothing but a browser."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from candidly.photos.project import Project, ProjectProblem
from candidly.photos.telling.contents import Contents, Shown, read_contents
from candidly.photos.telling.crops import crops
from candidly.photos.telling.likeness import percent
from candidly.photos.telling.markup import (
    face_card,
    more,
    name_of,
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
OURS = b'name="generator" content="candidly'


@dataclass(frozen=True)
class Written:
    """A page that was written: how large, with how many faces, and how many have no picture."""

    path: Path
    size: int
    faces: int
    missing: int


def write_report(
    project: Project,
    path: Path,
    *,
    force: bool = False,
    on_photo: Callable[[int, int], None] | None = None,
) -> Written:
    """Write the report of a project: one file that fetches nothing.

    Parameters
    ----------
    project : Project
    path : Path
        Where to; never in a folder of photos.
    force : bool
        Replace a file that is no report of ours.
    on_photo : callable, optional
        Told how many photos were opened for their faces, and of how many.
    """
    _check(project, path, force)
    contents = read_contents(project)
    shown = _faces_shown(contents)
    wanted = {face for faces in shown.values() for face in faces} | _others_shown(contents)
    with project.snapshot() as sql:
        cut = crops(sql, wanted, on_photo)
    page = _page(project, contents, shown, cut)
    text = page.replace(SIZE, f"{max(len(page.encode()) / 1e6, 0.1):.1f} MB")
    _write(path, text.encode())
    return Written(path, path.stat().st_size, len(wanted), len(wanted - cut.keys()))


def _check(project: Project, path: Path, force: bool) -> None:
    whole = path.resolve()
    for root in project.roots():
        if whole.is_relative_to(root.path):
            raise ProjectProblem(
                f"{path} would lie among the photos in {root.path}, where nothing is written; "
                "choose another place with --out FILE"
            )
    if whole.is_dir():
        raise ProjectProblem(f"{path} is a folder; choose a file with --out FILE")
    if not whole.parent.is_dir():
        raise ProjectProblem(f"there is no folder {whole.parent}; make it, or choose another")
    if whole.exists() and not force:
        with whole.open("rb") as file:
            if OURS not in file.read(2048):
                raise ProjectProblem(
                    f"{path} is there already and is no report; choose another with --out FILE, "
                    "or --force to replace it"
                )


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.resolve().parent, delete=False) as file:
            made = Path(file.name)
            try:
                file.write(data)
                file.flush()
                made.chmod(0o666 & ~_umask())
                made.replace(path)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise ProjectProblem(
            f"{path} cannot be written ({error.strerror}); choose another place with --out FILE"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _faces_shown(contents: Contents) -> dict[str, list[int]]:
    """The faces of each person that are shown, least sure first, until the page is full."""
    left, found = MOST, {}
    per = max(1, min(PER_PERSON, MOST // max(len(contents.people), 1)))
    for person, faces in contents.people:
        found[person.name] = [face.face for face in faces[: min(per, left)]]
        left -= len(found[person.name])
    return found


def _others_shown(contents: Contents) -> set[int]:
    conflicts = {face for one in contents.wanted[:CONFLICTS] for face, _ in one.faces}
    return conflicts | {face.face for face in contents.nobody[:NOBODY]}


def _page(
    project: Project,
    contents: Contents,
    shown: Mapping[str, list[int]],
    cut: Mapping[int, bytes],
) -> str:
    parts = list(_sections(contents, shown, cut))
    links = [
        f'<a href="#{part.split(chr(34))[1]}">{part.split("<h2>")[1].split("</h2>")[0]}</a>'
        for part in parts
        if part
    ]
    data = files(__package__).joinpath("data")
    return Template(data.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        title=f"Who is who: {safe(project.path.stem)}",
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
    yield section("people", "People", "Whoever has the least sure face comes first.", everybody)
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
        table(
            ("Name", "likely", "why"),
            (
                (name_of(pair.name), name_of(pair.likely), safe(pair.why))
                for pair in contents.proposals[:ROWS]
            ),
        )
        + more(len(contents.proposals) - ROWS, "candidly people")
        if contents.proposals
        else "",
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
    unsure = sum(not face.confirmed and face.confidence < 0.9 for face in faces)
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
        + "".join(small_face(face, percent(value), cut) for face, value in one.faces)
        + "</div></div>"
        for one in contents.wanted[:CONFLICTS]
    ]
    return "".join(rows) + more(len(contents.wanted) - CONFLICTS, "candidly why FACE")


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
