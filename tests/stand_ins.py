"""Small parts for ingest that really work: pictures that Pillow draws, squares for faces.

Run as a program it waits for orders on standard input, so that tests can kill a real process
without waiting for imports: each line is a JSON object with keyword arguments of ``work``.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from candidly.photos.geometry import Box
from candidly.photos.ingesting import ingest_folder
from candidly.photos.parts import IngestParts
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.records import Caption, Cue, Face, Mention, PeopleByCaption

GREY = (90, 90, 90)


class Found(NamedTuple):
    path: Path
    size: int
    mtime_ns: int


class PictureProblem(Exception):  # noqa: N818  the name that the real one has
    pass


class Picture(NamedTuple):
    pixels: np.ndarray
    identity: str
    width: int
    height: int
    orientation: int = 1


def draw(path, squares=(), *, size=(64, 48), seed=0, comment=None):
    """A picture with squares: x, y, side and a shade that tells one from the other."""
    picture = Image.new("RGB", size, GREY)
    pen = ImageDraw.Draw(picture)
    for x, y, side, shade in squares:
        pen.rectangle((x, y, x + side - 1, y + side - 1), (255, shade, 0))
    picture.putpixel((0, 0), (seed % 256, seed // 256 % 256, 7))  # pictures differ
    info = PngInfo()
    if comment is not None:
        info.add_text("Comment", comment)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, "PNG", pnginfo=info)


@dataclass
class Pictures:
    opened: list = field(default_factory=list)
    identified: list = field(default_factory=list)

    def find(self, root, since, only):
        found = []
        for path in (root if only is None else only).rglob("*.png"):
            stat = path.stat()
            if since is None or stat.st_mtime >= since.timestamp():
                found.append(Found(path, stat.st_size, stat.st_mtime_ns))
        return sorted(found, key=lambda file: (-file.mtime_ns, file.path)), []

    def identify(self, path):
        self.identified.append(path.name)
        return

    def open(self, path):
        self.opened.append(path.name)
        try:
            with Image.open(path) as picture:
                pixels = np.asarray(picture.convert("RGB"))
        except OSError as error:
            raise PictureProblem("it is no picture: copy it again") from error
        identity = hashlib.sha256(pixels.tobytes()).hexdigest()
        return Picture(pixels, identity, pixels.shape[1], pixels.shape[0])


@dataclass
class Squares:
    """A detector of squares, or of those larger than ``least``."""

    least: int = 0
    wait: float = 0.0
    identity: str = "squares"

    def detect(self, pixels):
        time.sleep(self.wait)
        red = (pixels[..., 0] == 255) & (pixels[..., 2] == 0)
        faces = []
        for shade in np.unique(pixels[red][:, 1]):
            rows, columns = np.nonzero(red & (pixels[..., 1] == shade))
            x, y, w, h = columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1
            if w > self.least:
                marks = np.full((5, 2), [x, y], dtype=np.float32)
                faces.append(Face(Box(x, y, w, h), 0.9, marks, quality=0.5))
        return faces


@dataclass
class Shades:
    """An embedder: the shade of a square."""

    identity: str = "shades"

    def embed(self, pixels, faces):
        shades = [float(pixels[int(f.box.y), int(f.box.x), 1]) for f in faces]
        return np.array([[shade, 1, 2, 3] for shade in shades], dtype=np.float32)


class Captions:
    """Reads ``captions.csv`` of the root on first use, and text beside a photo."""

    def __init__(self, root):
        self.table = root / "captions.csv"
        self.problems = []
        self.rows = None

    def _read_table(self):
        self.rows = {}
        if not self.table.exists():
            return
        with self.table.open(newline="") as file:
            for row in csv.DictReader(file):
                if row["caption"] is None:
                    self.problems.append(f"{self.table.name}: a row without a caption")
                else:
                    self.rows[row["file"]] = row

    def read(self, path):
        beside = path.with_suffix(".txt")
        if beside.exists():
            return Caption(beside.read_text(), "txt")
        if self.rows is None:
            self._read_table()
        row = self.rows.get(path.name)
        if row is None:
            return Caption("", "")
        given = tuple(name for name in (row.get("names") or "").split("|") if name)
        return Caption(row["caption"], "csv", "en", given)


@dataclass
class Names:
    """Two capitalised words are a name; "(L)" after it is a cue. Aliases are of people."""

    identity: str = "two words"
    aliases: dict = field(default_factory=dict)

    def read(self, text, file):
        return [
            Mention(m[1], m.start(1), m.end(1), Cue("left") if m[2] else None)
            for m in re.finditer(r"([A-Z]\w+ [A-Z]\w+)( \(L\))?", text)
        ]

    def people(self, captions):
        return PeopleByCaption(
            [
                [replace(m, name=self.aliases.get(m.name, m.name)) for m in one.mentions]
                for one in captions
            ],
            [{name: name for name in one.given} for one in captions],
        )


def parts(**changes):
    """Parts with a detector and an embedder that all threads share: they have no state."""
    chosen = {
        "pictures": Pictures(),
        "captions": Captions,
        "names": Names(),
        "detector": Squares,
        "embedder": Shades,
    }
    return IngestParts(**{**chosen, **changes})


def work(project, photos, wait=0.0, hold=0.0, file_limit=None):
    """What a process of the tests does; tells on standard output how far it is."""
    if file_limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    try:
        with Project.open(Path(project), write=True) as opened:
            print("open", flush=True)  # noqa: T201  the test waits for it
            time.sleep(hold)
            ingest_folder(
                opened, Path(photos), parts(detector=lambda: Squares(wait=wait)), n_jobs=2
            )
        print("done", flush=True)  # noqa: T201
    except ProjectProblem as problem:
        print("refused", problem, flush=True)  # noqa: T201


def serve():
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print("pid", os.getpid(), flush=True)  # noqa: T201
            work(**json.loads(line))
            os._exit(0)
        os.waitpid(child, 0)
        print("ended", flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
