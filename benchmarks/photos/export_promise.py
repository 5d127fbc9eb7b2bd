"""python -m benchmarks.photos.export_promise: whether promises about exported names are kept.

Newsroom photos are named from embeddings at true boxes, once. Then names are drawn to be asked
about, many times over, and ``truth.json`` answers as a person would, until the promise of
``candidly export --max-error`` holds or the questions are used up. The same is done on collections
of 500 photos with at most 100 questions. Measured is how often more of the written names are wrong
than promised, how many of the rightly named faces that were not asked about are written, how often
the intervals of ``candidly audit`` hold at the moment at which it stops, and how many answers an
export needs after an audit. Results go to ``results/export_promise.json``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.documents import put_into
from benchmarks.photos.collection_draws import FaceCollection, at_random, by_person, newsroom_faces
from benchmarks.photos.review_effort import fill
from candidly import __version__
from candidly.photos.auditing.audit import PILOT, PRECISE, make_promise, surest_first
from candidly.photos.auditing.result import audit_result
from candidly.photos.auditing.sample import AuditSample, draw_sample, read_sample
from candidly.photos.project import Project
from candidly.photos.project.named_faces import named_faces
from candidly.photos.solving import solve

DOCUMENT = Path("docs/export.md")
ERRORS = (0.01, 0.02, 0.05)


@dataclass(frozen=True)
class JudgedNames:
    """The names of a collection that an audit draws from, each with whether it is wrong.

    ``right`` is how many faces are rightly named in all, guesses included.
    """

    sample: AuditSample
    wrong: NDArray[np.bool_]
    right: int

    def drawn(self, seed: int, questions: int) -> tuple[AuditSample, NDArray[np.bool_]]:
        """Return the names in another random order, nothing asked yet."""
        order = np.random.default_rng(seed).permutation(len(self.wrong))
        one = self.sample
        return replace(
            one,
            pilot=max(questions // PILOT, 1),
            faces=one.faces[order],
            names=[one.names[at] for at in order.tolist()],
            confidence=one.confidence[order],
            mentions=one.mentions[order],
            wrong=np.full(len(order), -1, dtype=np.int8),
        ), self.wrong[order]


def judged(collection: FaceCollection) -> JudgedNames:
    """Name a collection, and return its names with whether they are wrong."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.open(Path(folder, "a.candidly"), write=True) as project,
    ):
        truth = fill(project, collection)
        solve(project)
        with project.transaction() as sql:
            draw_sample(sql, 0, 1)
        with project.snapshot() as sql:
            sample = read_sample(sql)
            right = sum(truth[one.face] == one.name for one in named_faces(sql))
    assert sample is not None
    pairs = zip(sample.faces.tolist(), sample.names, strict=True)
    return JudgedNames(sample, np.array([truth[face] != name for face, name in pairs]), right)


def promise_figures(
    found: JudgedNames, max_error: float, questions: int, seed: int, audited: int = 0
) -> dict[str, float]:
    """Return what came of one draw.

    Parameters
    ----------
    found : JudgedNames
    max_error : float
    questions : int
        Questions that may be asked.
    seed : int
    audited : int
        Answers that an audit before has asked for, of all names in their order.
    """
    sample, wrong = found.drawn(seed, questions)
    order = surest_first(sample)
    truth = wrong[order].astype(np.int8)
    promise = make_promise(sample, max_error, questions)
    known = np.full(len(order), -1, dtype=np.int8)
    known[order < audited] = truth[order < audited]
    state = promise.state(known)
    while len(state.ask) and (known >= 0).sum() + len(state.ask) <= max(questions, audited):
        known[state.ask] = truth[state.ask]
        state = promise.state(known)
    asked = known >= 0
    inside = (np.arange(len(order)) < state.size) & state.holds
    written = (inside | asked) & (known != 1)
    free = int((truth[asked] == 0).sum())
    return {
        "holds": float(state.holds),
        "broken": float((truth[written] == 1).sum() > max_error * written.sum()),
        "asked": float(asked.sum()),
        "more": float(state.more),
        "written": float((inside & ~asked & (truth == 0)).sum() / max(found.right - free, 1)),
        "wrong": float((truth[written] == 1).sum() / max(written.sum(), 1)),
    }


def audit_figures(found: JudgedNames, questions: int, seed: int) -> dict[str, float]:
    """Return whether the intervals of an audit hold that stops once it is precise enough."""
    sample, wrong = found.drawn(seed, questions)
    few, many = 0, min(questions, len(wrong))

    def after(count: int) -> Any:
        known = np.where(np.arange(len(wrong)) < count, wrong, -1).astype(np.int8)
        return audit_result(known, sample.confidence, sample.mentions)

    # Asked one by one it would stop at the first moment; steps of ten stop a little later.
    for few in range(10, many + 10, 10):
        result = after(min(few, many))
        if result.overall.width <= PRECISE:
            break
    low, high = result.overall.low, result.overall.high
    mentions = sample.mentions
    masks = {
        "once": mentions <= 1,
        "rarely": (mentions > 1) & (mentions < 5),
        "often": mentions > 4,
    }
    return {
        "overall": float(low <= wrong.mean() <= high),
        "asked": float(min(few, many)),
        "width": high - low,
        **{
            word: float(part.low <= wrong[masks[word]].mean() <= part.high)
            for word, part in result.groups.items()
        },
    }


def summary(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the means of figures; of what is still needed, where the promise does not hold."""
    found = {
        key: round(float(np.mean([row[key] for row in rows if key in row])), 4) for key in rows[0]
    }
    if "more" in found:
        open_ = [row["more"] for row in rows if not row["holds"]]
        found["more"] = round(float(np.median(open_)), 1) if open_ else 0.0
    return found


def measure(
    collections: Sequence[JudgedNames], questions: int, draws: int, audited: int = 0
) -> list[dict[str, Any]]:
    """Return figures for each share that may be wrong, over draws shared among collections."""
    rows = []
    for max_error in ERRORS:
        each = [
            promise_figures(
                collections[draw % len(collections)], max_error, questions, draw, audited
            )
            for draw in range(draws)
        ]
        rows.append({"max_error": max_error, "draws": draws, **summary(each)})
    return rows


def table(result: dict[str, Any]) -> str:
    """Return the tables in Markdown."""
    lines = [
        "| photos | at most wrong | draws | promise kept % | promised % | answers | more needed "
        "where not promised | written of the right names not asked about % | wrong of the written "
        "% |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for part in result["promises"]:
        for row in part["rows"]:
            lines.append(
                f"| {part['photos']} | {100 * row['max_error']:g}% | {row['draws']} "
                f"| {100 - 100 * row['broken']:.1f} | {100 * row['holds']:.1f} "
                f"| {row['asked']:.0f} | {row['more']:.0f} | {100 * row['written']:.1f} "
                f"| {100 * row['wrong']:.2f} |"
            )
    lines += [
        "",
        "| photos | audits | stops after | width, points | interval holds % | often | rarely "
        "| once |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for part in result["audits"]:
        shares = (f"{100 * part[key]:.1f}" if key in part else "" for key in GROUPS)
        lines.append(
            f"| {part['photos']} | {part['draws']} | {part['asked']:.0f} "
            f"| {100 * part['width']:.1f} | " + " | ".join(shares) + " |"
        )
    return "\n".join(lines) + "\n"


GROUPS = ("overall", "often", "rarely", "once")


def main(
    draws: Annotated[int, typer.Option(help="Draws of the questions.")] = 2000,
    collections: Annotated[int, typer.Option(help="Collections of 500 photos, of each kind.")] = 10,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = DOCUMENT,
) -> None:
    """Measure, print, and store what was measured."""
    console, everything = Console(soft_wrap=True), newsroom_faces()
    whole = judged(everything)
    console.print(f"{len(whole.wrong)} names, {whole.wrong.mean():.2%} wrong")
    promises = [
        {"photos": "2,021, 300 questions", "rows": measure([whole], 300, draws)},
        {"photos": "2,021, after an audit of 300", "rows": measure([whole], 300, draws // 4, 300)},
    ]
    audits = [("2,021", [whole], 300)]
    console.print(promises)
    for kind, draw in (("at random", at_random), ("by person", by_person)):
        small = [
            judged(everything.take(draw(everything.records, 500, (seed, 500))))
            for seed in range(collections)
        ]
        name = f"500 {kind}, 100 questions"
        promises.append({"photos": name, "rows": measure(small, 100, draws)})
        audits.append((name, small, 100))
        console.print(promises[-1])
    result = {
        "names": len(whole.wrong),
        "wrong": round(float(whole.wrong.mean()), 4),
        "promises": promises,
        "audits": [
            {
                "photos": photos,
                "draws": draws // 4,
                **summary(
                    [
                        audit_figures(found[draw % len(found)], questions, draw)
                        for draw in range(draws // 4)
                    ]
                ),
            }
            for photos, found, questions in audits
        ],
        "collections": collections,
        "version": __version__,
    }
    out.mkdir(exist_ok=True)
    (out / "export_promise.json").write_text(json.dumps(result, indent=1) + "\n")
    console.print(table(result))
    put_into(document, table(result), "promise")


if __name__ == "__main__":
    typer.run(main)
