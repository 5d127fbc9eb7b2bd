"""candidly why: what speaks for a face's name, and against the others."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from candidly.cli.listing import JsonOption, ProjectOption
from candidly.cli.refusal import failure, readable, writable
from candidly.photos import Project, ProjectProblem
from candidly.photos.certainty import in_words, percent
from candidly.photos.explaining import Explanation, explain, find_face
from candidly.photos.explaining.explanation import Passage

CAPTION = 160  # characters of another photo's caption


def why(
    face: Annotated[
        str, typer.Argument(help="A number of candidly faces, FILE, or FILE#2: second from left.")
    ],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a face has its name, or none.

    The caption's words, the most similar faces of that person that are confirmed or sure, who
    looks like it and is not mentioned, why every other candidate lost, who decided what, and the
    model and the run.
    """
    try:
        with Project.open(project) as opened:
            found = explain(opened, find_face(opened, face))
    except ProjectProblem as problem:
        raise failure(Console(stderr=True), problem) from problem
    if as_json:
        text = json.dumps(asdict(found), ensure_ascii=False, indent=1)
        sys.stdout.write(writable(text) + "\n")
    else:
        _show(Console(), found)


def _show(console: Console, found: Explanation) -> None:
    who, sure = found.name or "no name yet", ""
    if found.confidence is not None:
        who = found.name or "nobody"
        word = "sure" if found.certainty == "sure" else in_words(found.name, found.confidence)
        sure = f", {percent(found.confidence)}: {word}"
    place = f"face {found.face}, {found.place} of {found.of} from left"
    _line(console, Text.assemble((readable(who), "bold"), sure))
    _line(console, Text(f"{readable(found.file)}: {place}", "dim"))
    _line(console, Text(readable(found.source)))
    for reason in found.reasons:
        _line(console, Text(f"  {readable(reason)}"))
    for said in found.decisions:
        words = " ".join(filter(None, (said.what, said.name)))
        by = f"by {readable(said.by)}, {said.at}"
        _line(console, Text(f"  decided: {readable(words)}, {by} (decision {said.number})"))
    _heading(console, "What is written", bool(found.passages or found.given))
    for passage in found.passages:
        _line(console, Text("  ") + _highlighted(passage))
    if found.given:
        _line(console, Text("  listed: " + readable(", ".join(found.given))))
    _heading(console, f"Most similar sure faces of {readable(found.name or '')}", bool(found.alike))
    for near in found.alike:
        how = "confirmed" if near.confirmed else percent(near.confidence)
        _line(
            console,
            Text(f"  {near.cosine:.2f}  face {near.face}, {how}, {readable(near.file)}: ")
            + Text(readable(_short(near.caption)), "dim"),
        )
    _heading(console, "Why not another", bool(found.others))
    for other in found.others:
        chance = "" if other.probability is None else f" {other.probability:.1%}"
        who = readable(other.name or "nobody")
        _line(console, Text.assemble("  ", (who, "bold"), f"{chance}: {readable(other.because)}"))
    run = found.run
    made = "" if run is None else f"run {run['run']} ({run['solve']}), candidly {run['version']}; "
    _line(console, Text(f"{made}{readable(found.model)}", "dim"))


def _line(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def _heading(console: Console, text: str, wanted: bool) -> None:
    if wanted:
        _line(console, Text(text, "underline"))


def _short(text: str) -> str:
    return text if len(text) <= CAPTION else text[: CAPTION - 1] + "…"


def _highlighted(passage: Passage) -> Text:
    """Return the text with names marked; the face's own also by brackets, if there is no colour."""
    found, at = Text(), 0
    for span in passage.spans:
        if span.start < at:
            continue
        found.append(readable(passage.text[at : span.start]))
        words = readable(passage.text[span.start : span.end])
        found.append(f"[{words}]" if span.evidence else words, _style(span.evidence, span.name))
        if span.evidence and span.cue is not None:
            found.append(f" ({span.cue})", "dim")
        if span.evidence and span.likely_name:
            found.append(f" ({span.likely_name})", "dim")
        if span.evidence and span.absence:
            found.append(" (perhaps not shown)", "dim")
        at = span.end
    found.append(readable(passage.text[at:]))
    return found


def _style(evidence: bool, name: str | None) -> str:
    if evidence:
        return "bold green"
    return "dim" if name is None else "bold"
