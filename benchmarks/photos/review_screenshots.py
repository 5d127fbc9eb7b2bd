"""python -m benchmarks.photos.review_screenshots: the pictures of docs/review.md.

The drawn album is named and reviewed in Debian's chromium, through Playwright (the extra ``test``).
"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.photos.review_speed import RunningReview
from candidly import photos
from candidly.demo.album import copy_album

COLOURS = 128
PLACES = {
    # picture: (part of the page, what has to be there)
    "questions": ("", ".candidates button"),
    "unnamed": ("#unnamed", ".group img"),
    "person": ("#person/Hannah%20Pellworth", ".grid input"),
}


def take(address: str, folder: Path) -> None:
    """Write one picture for each part of the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        for name, (place, there) in PLACES.items():
            page.goto(address + place)
            page.wait_for_selector(there)
            for image in page.locator("img").all():
                image.scroll_into_view_if_needed()  # pictures load when they are in sight
                image.evaluate("image => image.decode()")
            page.mouse.wheel(0, -10_000)
            (folder / f"review_{name}.png").write_bytes(_smaller(page.screenshot()))
        browser.close()


def _smaller(data: bytes) -> bytes:
    """Return a picture with few colours, which a page of text and drawings does not show."""
    from PIL import Image

    image: Any = Image.open(BytesIO(data)).convert("RGB").quantize(COLOURS)
    kept = BytesIO()
    image.save(kept, "PNG", optimize=True)
    return kept.getvalue()


def main(
    out: Annotated[Path, typer.Option(help="Folder of the pictures.")] = Path("docs"),
) -> None:
    """Take the pictures of docs/review.md."""
    with tempfile.TemporaryDirectory() as folder:
        album = Path(folder, "album")
        copy_album(album)
        photos.name(album / "photos", album / "album.candidly")
        server = RunningReview(album / "album.candidly")
        try:
            take(server.address, out)
        finally:
            server.end()


if __name__ == "__main__":
    typer.run(main)
