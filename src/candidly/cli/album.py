"""candidly demo --album: an album of invented people, drawn and named as a user would."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from candidly.cli.name import name
from candidly.cli.refusal import Refused, failure, tell
from candidly.extras import installed

DRAWN = "drawn.json"


def show_album(folder: Path, seed: int) -> None:
    """Draw an album, name its faces by ``candidly name``, and say how many names are right."""
    console = Console()
    if not installed("photos"):
        problem = Refused("candidly demo --album needs OpenCV: pip install 'candidly[photos]'")
        raise failure(console, problem)
    from benchmarks.photos.newsroom_truth import compare
    from candidly.photos.project import Project

    truth = _drawn(console, folder, seed)
    photos, project, page = folder / "photos", folder / "album.candidly", folder / "report.html"
    tell(console, f"$ candidly name {photos} --project {project} --report {page}")
    name(photos, project, report=page)
    with Project.open(project) as opened:
        seen = compare(opened, truth)
    table = Table(title="Names found, against the truth that only this demo knows")
    for column in ("faces", "right", "of", ""):
        table.add_column(column, justify="left" if column == "faces" else "right")
    for what, faces in (
        ("with the right name, or rightly none", [face for face in seen if face.true]),
        ("of people mentioned more than once", [face for face in seen if face.often]),
        ("with a name given to them", [face for face in seen if face.named]),
    ):
        right = sum(face.right for face in faces)
        share = right / max(len(faces), 1)
        table.add_row(what, str(right), str(len(faces)), f"{share:.1%}")
    console.print(table)
    tell(console, f"Open {page.absolute()} to look at it; the photos are in {photos}")


def _drawn(console: Console, folder: Path, seed: int) -> list[dict[str, object]]:
    """The truth of the album in a folder, which is drawn if it is not there yet."""
    from benchmarks.album import draw

    known = folder / DRAWN
    if known.is_file():
        kept = json.loads(known.read_text(encoding="utf-8"))
        if kept["seed"] == seed:
            tell(console, f"The album in {folder} was drawn before.")
            return list(kept["truth"])
    if folder.exists() and any(folder.iterdir()):
        problem = Refused(f"{folder} is there already and is no album of seed {seed}; move it away")
        raise failure(console, problem)
    with console.status("drawing an album of invented people"):
        truth = draw(folder / "photos", seed=seed).records()
    shown = sum(len(photo["faces"]) for photo in truth)
    tell(console, f"{len(truth)} photos of invented people drawn, {shown} faces, with captions:")
    for photo in truth[:3]:
        tell(console, f"  {photo['file']}: {photo['caption']}")
    known.write_text(json.dumps({"seed": seed, "truth": truth}), encoding="utf-8")
    return truth
