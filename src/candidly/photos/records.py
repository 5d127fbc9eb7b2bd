"""Records that the parts of the pipeline pass to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from candidly.photos.geometry import Box

NAMED = 0.4
"""Probability of a mention from which somebody counts as named; below, the name is doubtful."""
LEAST = 0.05
"""Smallest probability of a mention: what is less likely a person's name is none."""
MOST_READ = 20_000
"""Characters of a text that are read for names; the rest is ignored."""


@dataclass(frozen=True)
class Cue:
    """The place that a text gives to a person: the ``place``-th from a ``side``.

    ``side`` is "left", "right", "centre", "front", "back", "top" or "bottom"; "second from
    right" is Cue("right", 2), "(L)" is Cue("left", 1). ``of`` is how many are listed in one
    such order, where they are ("from left: A, B and C": A is Cue("left", 1, 3)). In a ``row``,
    "front", "middle" or "back", people are counted within it; those who sit are in front of those
    who stand.
    """

    side: str
    place: int = 1
    of: int | None = None
    row: str | None = None


@dataclass(frozen=True)
class Mention:
    """A person named in a text, from character ``start`` to ``end``.

    ``name`` is the full form as far as the text alone shows ("Bill Clinton" for the "Bill" of
    "Bill and Hillary Clinton"); the span is where it is written. ``shown`` is how likely the person
    is in the picture against somebody mentioned plainly, and ``absence`` the words that say so
    ("did not attend"). ``probability`` is how likely the words name a person at all, at least
    ``LEAST``.
    """

    name: str
    start: int
    end: int
    cue: Cue | None = None
    shown: float = 1.0
    absence: str = ""
    probability: float = 1.0


@dataclass(frozen=True)
class CaptionRecord:
    """A caption of a collection: the people named in its text, and names given with it."""

    id: int
    file: str
    text: str
    mentions: tuple[Mention, ...] = ()
    given: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class Proposal:
    """A name that is likely another's spelling: ``name`` is the rarer, ``why`` the reason."""

    name: str
    likely: str
    why: str


@dataclass(frozen=True)
class PeopleByCaption:
    """The people of a collection, one entry per caption in the order of the request.

    ``mentions`` has the people to name, with the name that the collection has for them; some may
    be new, and some that were read may be missing. ``given`` has a name for each given name, or
    None for a person not to be named. ``proposals`` are never merged.
    """

    mentions: list[list[Mention]]
    given: list[dict[str, str | None]]
    proposals: list[Proposal] = field(default_factory=list)


@dataclass(frozen=True)
class Region:
    """A face region of the metadata, in parts of the upright picture's size."""

    name: str | None
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True)
class Caption:
    """The caption of a photo.

    ``origin`` says where it was found ("iptc", "xmp", "txt", "sidecar", "csv", "json"); ``given``
    are names that were listed explicitly, to be used as they are.
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


@dataclass(frozen=True)
class StageProgress:
    """Progress of a run: ``done`` of ``total`` steps of a stage, and the current file.

    Stages are "ingest", "solve", "recognise" and "report"; ``total`` is None where it is not
    known yet. ``seconds`` is how long the current file has taken, where it takes long.
    """

    stage: str
    done: int = 0
    total: int | None = None
    file: str = ""
    seconds: float = 0.0
