"""python -m benchmarks.photos.caption_names: names read from captions, per tag and mode.

Reads ``newsroom/`` in the folder that ``CANDIDLY_DATA`` names; ``--own FILE`` reads your own
captions: one JSON object per line with ``text``, ``names``, and perhaps ``lang``, ``kind`` and
``cues``. Results are precision and recall, in ``results/captions-newsroom.json`` or
``results/captions-own.json``.
"""

from __future__ import annotations

import csv
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.documents import RESULTS, put_into
from candidly.extras import installed
from candidly.photos.names import Finder, People, Spacy, find_mentions, resolve
from candidly.photos.records import NAMED, Mention


@dataclass(frozen=True)
class LabelledCaption:
    """A caption with the names that are really in it."""

    text: str
    names: frozenset[str]
    tags: tuple[str, ...] = ()
    spelled: dict[str, str] = field(default_factory=dict)
    cues: dict[str, list[Any]] | None = None


@dataclass
class NameCounts:
    """Counts of names found, missed and made up."""

    found: int = 0
    missed: int = 0
    extra: int = 0

    def add(self, got: set[str], want: frozenset[str] | set[str]) -> None:
        """Count one caption."""
        self.found += len(got & want)
        self.missed += len(want - got)
        self.extra += len(got - want)

    @property
    def precision(self) -> float:
        """Fraction of the names found that are right."""
        return self.found / max(1, self.found + self.extra)

    @property
    def recall(self) -> float:
        """Fraction of the true names that were found."""
        return self.found / max(1, self.found + self.missed)

    def figures(self) -> dict[str, float]:
        """Return the figures to store: the number of names, precision and recall."""
        return {
            "names": self.found + self.missed,
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
        }


def newsroom(folder: Path) -> list[LabelledCaption]:
    """Read the captions of newsroom with their truth."""
    truth = {photo["file"]: photo for photo in json.loads((folder / "truth.json").read_text())}
    with (folder / "captions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        LabelledCaption(
            row["caption"],
            frozenset(truth[row["file"]]["mentioned"]),
            tuple(truth[row["file"]]["tags"]),
            truth[row["file"]].get("spelled", {}),
        )
        for row in rows
    ]


def own(path: Path) -> list[LabelledCaption]:
    """Read your own captions, one JSON object per line."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        LabelledCaption(
            line["text"],
            frozenset(line["names"]),
            tuple(line[tag] for tag in ("lang", "kind") if tag in line),
            cues=line.get("cues"),
        )
        for line in lines
    ]


def modes() -> Iterator[tuple[str, Finder | None, bool]]:
    """Yield each mode that can run here: its title, the finder, and whether it is alone."""
    yield "Candidly", None, False
    if installed("names") and Spacy.installed():
        finder = Spacy()
        yield f"{finder.pipeline} alone", finder, True
        yield f"Candidly and {finder.pipeline}", finder, False


def measure(
    captions: list[LabelledCaption], finder: Finder | None = None, alone: bool = False
) -> tuple[People, dict[str, NameCounts]]:
    """Find the names of a collection; return them, and a score per tag and over all."""
    if alone and finder is not None:
        read = [(c.text, _alone(c.text, finder)) for c in captions]
    else:
        read = [(c.text, find_mentions(c.text, finder=finder)) for c in captions]
    people = resolve(read)
    scores: dict[str, NameCounts] = defaultdict(NameCounts)
    for caption, found in zip(captions, people.mentions, strict=True):
        mentions = [mention for mention in found if mention.probability >= NAMED]
        got = {mention.name for mention in mentions}
        if "typo" not in caption.tags:
            for tag in ("all but typo", *(caption.tags or ("no tag",))):
                scores[tag].add(got, caption.names)
        else:
            scores["typo, as spelled"].add(
                got, {caption.spelled.get(name, name) for name in caption.names}
            )
        if caption.cues is not None:
            placed = {f"{m.name}: {[m.cue.side, m.cue.place, m.cue.of]}" for m in mentions if m.cue}
            scores["cues"].add(placed, {f"{n}: {cue}" for n, cue in caption.cues.items()})
    return people, scores


def _alone(text: str, finder: Finder) -> list[Mention]:
    """Return the people that a finder finds alone, for comparison."""
    found = [entity for entity in finder.find(text) if entity.person]
    return [Mention(text[e.start : e.end], e.start, e.end) for e in found]


def proposed(captions: list[LabelledCaption], people: People) -> tuple[int, int, int]:
    """Return how many misspelt names are proposed as theirs, how many there are, all proposals."""
    pairs = {frozenset((p.name, p.likely)) for p in people.proposals}
    slips = [
        frozenset((wrong, name)) for caption in captions for name, wrong in caption.spelled.items()
    ]
    return sum(slip in pairs for slip in slips), len(slips), len(pairs)


def main(
    own_file: Annotated[Path | None, typer.Option("--own", help="Your own captions.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Print precision and recall per tag and mode."""
    console = Console()
    if own_file is None:
        root = os.environ.get("CANDIDLY_DATA")
        if not root:
            raise typer.BadParameter("set CANDIDLY_DATA to the data folder, or give --own FILE")
        captions = newsroom(Path(root) / "newsroom")
    else:
        captions = own(own_file)
    results: dict[str, Any] = {}
    for title, finder, alone in modes():
        started = time.perf_counter()
        people, scores = measure(captions, finder, alone)
        seconds = time.perf_counter() - started
        shown = Table("tag", "P", "R", "names", title=f"{title} ({seconds:.1f} s)")
        for tag, score in sorted(scores.items()):
            names = str(score.found + score.missed)
            shown.add_row(tag, f"{score.precision:.3f}", f"{score.recall:.3f}", names)
        console.print(shown)
        results[title] = {tag: score.figures() for tag, score in sorted(scores.items())}
        right, slips, pairs = proposed(captions, people)
        if slips:
            console.print(
                f"{right} of {slips} misspelt names proposed as theirs, {pairs} proposals"
            )
    out.mkdir(exist_ok=True)
    if own_file is None:
        (out / "captions-newsroom.json").write_text(json.dumps(results, indent=1) + "\n")
    else:
        (out / "captions-own.json").write_text(json.dumps(results, indent=1) + "\n")
        put_into(document, table(results), "captions")


def table(results: dict[str, Any]) -> str:
    """Return the table in Markdown: precision and recall of each mode over all captions."""
    lines = ["| names by | precision | recall |", "|---|---:|---:|"]
    for title, scores in results.items():
        score = scores["all but typo"]
        lines.append(f"| {title} | {score['precision']:.3f} | {score['recall']:.3f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
