"""Figure 1: a photo, its caption, and no word about who is who."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from benchmarks.paper.page.data_address import data_address
from benchmarks.paper.page.html import details, escape, figure, table
from candidly.extras import require

PHOTO_WIDTH = 720


def news_photo() -> str:
    """Return Figure 1: a photo of the drawn album whose caption names everybody in it."""
    album = files("candidly.demo").joinpath("data")
    truth = json.loads(album.joinpath("truth.json").read_text(encoding="utf-8"))
    photo = max(truth, key=_suits)
    names, faces = photo["mentioned"], photo["faces"]
    data = album.joinpath("photos", photo["file"]).read_bytes()
    picture, size, boxes = _cut(data, [face["box"] for face in faces])
    marks = "".join(_question(box, k) for k, box in enumerate(boxes, 1))
    says = f"A drawn photo of {len(faces)} people; the caption names {', '.join(names)}"
    drawing = (
        f'<svg class=photo viewBox="0 0 {size[0]} {size[1]}" role=img '
        f'aria-label="{escape(says, quote=True)}"><image href="{picture}" width="{size[0]}" '
        f'height="{size[1]}"></image>{marks}</svg><blockquote>{escape(photo["caption"])}'
        "</blockquote>"
    )
    steps = [
        f"features <b>X</b>: {len(faces)} faces",
        f"candidates <b>P</b>: {len(names)} names for each, equally likely",
        "completion: labels <b>Y</b> that make [Y; Z] low-rank",
        "a support vector machine on these labels, for new faces",
    ]
    caption = (
        "A photo of the album that the library brings (invented people, drawn): the caption says "
        "who is there, and not who is who."
    )
    who = table(
        ["face, from the left", "candidates", "who it is, which no method sees"],
        [[str(k), ", ".join(names), face["person"]] for k, face in enumerate(faces, 1)],
    )
    line = f"<ol class=steps>{''.join(f'<li>{step}</li>' for step in steps)}</ol>"
    return figure(drawing, caption) + line + details("Who is who", who)


def _suits(photo: dict[str, Any]) -> tuple[bool, int, str]:
    """Order photos: everybody in it is named once and nobody else, then two to three faces."""
    named = sorted(face["name"] or "" for face in photo["faces"])
    exact = named == sorted(photo["mentioned"]) and not photo["spelled"]
    return exact and len(named) in (2, 3), len(named), photo["file"]


def _cut(data: bytes, boxes: list[list[float]]) -> tuple[str, tuple[int, int], list[list[float]]]:
    """Return the part of a photo around the faces as a data address, its size, and the boxes."""
    picture = require("PIL.Image", "plot").open(io.BytesIO(data)).convert("RGB")
    sides = np.array(boxes)
    unit = sides[:, 2:].mean()
    left, top = np.maximum(sides[:, :2].min(axis=0) - np.array([1.5, 1]) * unit, 0)
    corner = (sides[:, :2] + sides[:, 2:]).max(axis=0) + np.array([1.5, 2]) * unit
    right, bottom = np.minimum(corner, picture.size)
    by = min(PHOTO_WIDTH / (right - left), 1.0)
    size = round((right - left) * by), round((bottom - top) * by)
    file = io.BytesIO()
    picture.resize(size, box=(left, top, right, bottom)).save(file, "JPEG", quality=80)
    address = data_address(file.getvalue(), "jpeg")
    moved = (sides - (left, top, 0, 0)) * by
    return address, size, moved.tolist()


def _question(box: Sequence[float], number: int) -> str:
    x, y, width, height = box
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="4"></rect>'
        f'<text x="{x + width / 2:.0f}" y="{y - 8:.0f}">{number}: who?</text>'
    )
