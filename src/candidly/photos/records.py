"""What the parts of the pipeline hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Box(NamedTuple):
    """A rectangle in pixels of the upright picture: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Cue:
    """Where a text says that somebody is: the ``place``-th from a ``side``.

    ``side`` is "left", "right", "centre", "front", "back", "top" or "bottom"; "second from
    right" is Cue("right", 2), "(L)" is Cue("left", 1). ``of`` is how many are listed in one
    such order, where they are ("from left: A, B and C": A is Cue("left", 1, 3)).
    """

    side: str
    place: int = 1
    of: int | None = None


@dataclass(frozen=True)
class Mention:
    """Somebody named in a text, from character ``start`` to ``end``.

    ``name`` is the full form as far as the text alone tells ("Bill Clinton" for the "Bill" of
    "Bill and Hillary Clinton"); the span is where it stands.
    """

    name: str
    start: int
    end: int
    cue: Cue | None = None


@dataclass(frozen=True)
class Region:
    """A face that the metadata knows already, in parts of the upright picture's size."""

    name: str | None
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Caption:
    """What is written about a photo.

    ``origin`` says where ("iptc", "xmp", "txt", "sidecar", "csv", "json"); ``given`` are names
    that somebody listed explicitly, to be taken as they are.
    """

    text: str
    origin: str
    language: str | None = None
    given: tuple[str, ...] = ()
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True)
class Face:
    """A face in an upright picture; ``quality`` is from 0 to 1, ``score`` the detector's."""

    box: Box
    score: float
    landmarks: NDArray[np.float32] = field(compare=False)
    quality: float = 0.0
    embedding: NDArray[np.float32] | None = field(default=None, compare=False)
