"""python -m benchmarks.photos.caption_positions: places of people read from captions.

Reads ``captions/real.jsonl`` in the folder that ``CANDIDLY_DATA`` names; ``--own FILE`` reads your
own: one JSON object per line with ``text``, ``names`` and ``cues`` (name to side, place, of).
Captions without ``cues`` are left out. Scored twice: with the true names where the text has them,
so that only the places are at stake, and with the names that Candidly finds.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.photos.caption_names import LabelledCaption, own
from candidly.photos.names import find_mentions, resolve
from candidly.photos.names.cues import add_cues
from candidly.photos.records import Mention

KINDS = ("lists", "single")
FATES = ("right", "wrong", "missed", "extra")


def located(caption: LabelledCaption) -> list[Mention]:
    """Return the true names of a caption where its text has them, with their cues."""
    found: list[Mention] = []
    for whole in (True, False):
        missing = caption.names - {mention.name for mention in found}
        for name in sorted(missing, key=lambda name: (-len(name), name)):
            form = re.escape(name if whole else name.split()[-1])
            found += [
                Mention(name, *match.span())
                for match in re.finditer(rf"(?<!\w){form}(?!\w)", caption.text)
                if all(match.end() <= m.start or m.end <= match.start() for m in found)
            ]
    return add_cues(caption.text, sorted(found, key=lambda mention: mention.start))


def counted(captions: list[LabelledCaption], read: list[list[Mention]]) -> dict[str, Counter[str]]:
    """Return the people by kind of cue and by what became of it.

    A person without a place who is given one is "extra", of the kind that was given.
    """
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for caption, mentions in zip(captions, read, strict=True):
        given: dict[str, list[Any]] = {}
        for mention in mentions:
            if own_cue := mention.cue:
                given.setdefault(mention.name, [own_cue.side, own_cue.place, own_cue.of])
        true = caption.cues or {}
        for name, cue in true.items():
            fate = "right" if given.get(name) == cue else "wrong" if name in given else "missed"
            counts[_kind(cue)][fate] += 1
        for name in given.keys() - true.keys():
            counts[_kind(given[name])]["extra"] += 1
    return counts


def _kind(cue: list[Any]) -> str:
    return "lists" if cue[2] is not None else "single"


def main(
    own_file: Annotated[Path | None, typer.Option("--own", help="Your own captions.")] = None,
) -> None:
    """Print how many people get the place that a caption gives them."""
    if own_file is None:
        root = os.environ.get("CANDIDLY_DATA")
        if not root:
            raise typer.BadParameter("set CANDIDLY_DATA to the data folder, or give --own FILE")
        own_file = Path(root) / "captions" / "real.jsonl"
    captions = [caption for caption in own(own_file) if caption.cues is not None]
    found = resolve([(caption.text, find_mentions(caption.text)) for caption in captions]).mentions
    shown = Table("names", "people in", "number", *(f"{fate}, %" for fate in FATES))
    for title, read in (("true", [located(caption) for caption in captions]), ("found", found)):
        for kind, counts in counted(captions, read).items():
            number = sum(counts[fate] for fate in FATES[:3])
            shares = (f"{100 * counts[fate] / max(number, 1):.1f}" for fate in FATES)
            shown.add_row(title, kind, str(number), *shares)
    Console().print(shown)


if __name__ == "__main__":
    typer.run(main)
