"""python -m benchmarks.album: draw the album that ships with the package.

Writes photos, captions and ``truth.json`` to ``src/candidly/demo/data``. With the same seed and
the versions of ``constraints.txt`` it writes the same bytes again.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.album import draw

PHOTOS, PEOPLE = 40, 14
SIZE, QUALITY = 0.9, 80  # smaller than a drawn album usually is: it is part of every installation
OUT = Path("src/candidly/demo/data")


def draw_shipped(out: Path, seed: int = 0) -> None:
    """Draw the album of the demo into a folder: ``photos`` and ``truth.json``."""
    with tempfile.TemporaryDirectory() as work:
        photos = Path(work, "photos")
        truth = draw(photos, people=PEOPLE, photos=PHOTOS, seed=seed, size=SIZE, quality=QUALITY)
        shutil.rmtree(out / "photos", ignore_errors=True)
        shutil.copytree(photos, out / "photos")
    truth.write(out / "truth.json")


def main(
    random_state: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder; photos in it are replaced.")] = OUT,
) -> None:
    """Draw the album of the demo, and print how large it is."""
    draw_shipped(out, random_state)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    Console().print(f"{PHOTOS} photos in {out}, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    typer.run(main)
