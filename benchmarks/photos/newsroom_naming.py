"""python -m benchmarks.photos.newsroom_naming: names on faces of the newsroom photos, end to end.

All photos except 100 are taken in and solved, then those 100 on a second day, to measure the time.
Then other 100 photos are set aside and brought back, to compare a second day with a full solve.
Then everything is solved together, with and without position cues, and compared with
``truth.json``, which nothing else reads. At last the captions are exchanged for those that have the
sentences of real captions (``captions-real.csv``), read by a model that was fitted without these.
Results go to ``results/photos.json``.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.captions.train_mentions import fitted, training_texts
from benchmarks.documents import RESULTS, put_into
from benchmarks.photos.face_canvases import newsroom
from benchmarks.photos.newsroom_truth import figures, labels
from candidly import __version__
from candidly.datasets.store import data_folder
from candidly.demo.album import compare
from candidly.extras import require
from candidly.photos.ingesting import Choices, default_parts
from candidly.photos.ingesting import ingest_folder as ingest
from candidly.photos.names import mentions
from candidly.photos.project import Project
from candidly.photos.reporting import report as write_report
from candidly.photos.solving import solve

LATER = 100  # photos of the second day


def name(project: Project, folder: Path) -> dict[str, float]:
    """Name photos as ``candidly name`` does, and return the seconds of its parts."""
    started = time.perf_counter()
    ingest(project, folder, default_parts(Choices()))
    taken_in = time.perf_counter()
    solve(project)
    solved = time.perf_counter()
    write_report(project, project.path.with_suffix(".html"))
    ended = time.perf_counter()
    return {"ingest": taken_in - started, "solve": solved - taken_in, "all": ended - started}


def two_days(project: Project, source: Path, folder: Path, seed: int) -> dict[str, Any]:
    """Name most photos, then the others on a second day, and return how long it took."""
    files = sorted(path.name for path in (source / "photos").iterdir())
    second = set(np.random.default_rng(seed).permutation(files)[:LATER].tolist())
    (folder / "photos").mkdir(parents=True)
    shutil.copyfile(source / "captions.csv", folder / "captions.csv")
    days = []
    for names in ([file for file in files if file not in second], sorted(second)):
        for file in names:
            shutil.copyfile(source / "photos" / file, folder / "photos" / file)
        days.append(name(project, folder))
    first, later = days
    return {
        "photos": [len(files) - LATER, LATER],
        "seconds": [{part: round(value, 1) for part, value in day.items()} for day in days],
        "second day of the first, time, %": round(100 * later["all"] / first["all"], 1),
        "full solve of ingest, time, %": round(100 * first["solve"] / first["ingest"], 1),
    }


def agreement(place: Path, seed: int) -> dict[str, float]:
    """Return how many labels of a second day are those of a full solve, in %."""
    with Project.open(place, write=True) as project:
        solve(project, full=True)
        whole = labels(project)
        files = [file for (file,) in project.connection.execute("SELECT id FROM files ORDER BY id")]
        aside = np.random.default_rng(seed).permutation(files)[:LATER].tolist()
        with project.transaction() as sql:
            sql.executemany("UPDATE files SET gone = 1 WHERE id = ?", [(file,) for file in aside])
            sql.execute("DELETE FROM solved")
            sql.execute("DELETE FROM weighed")
            sql.execute("DELETE FROM labels")
        solve(project)
        old = set(labels(project))
        with project.transaction() as sql:
            sql.execute("UPDATE files SET gone = 0")
        done = solve(project)
        daily = labels(project)
    same = {face: daily[face] == who for face, who in whole.items()}
    return {
        "photos solved": done.photos,
        "of all faces, %": round(100 * float(np.mean(list(same.values()))), 2),
        "of the faces of the second day, %": round(
            100 * float(np.mean([kept for face, kept in same.items() if face not in old])), 2
        ),
    }


def with_and_without_cues(project: Project, truth: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of a full solve, and what position cues contribute."""
    found = {}
    for cues in (True, False):
        solve(project, full=True, cues=cues)
        found[cues] = figures(compare(project, truth))
    wrong = {cues: 100 - found[cues]["by tag"]["cue"]["right"] for cues in found}
    return {
        **found[True],
        "cues": {
            "error on photos with cues, %": round(wrong[True], 1),
            "the same without using them, %": round(wrong[False], 1),
            "less, %": round(100 * (1 - wrong[True] / wrong[False]), 1),
            "right name or rightly nobody without": found[False]["right name or rightly nobody"],
        },
    }


def with_real_sentences(project: Project, source: Path, folder: Path, truth: Any) -> dict[str, Any]:
    """Return the figures where the sentences are those of real captions.

    ``with the names known`` are those of perfect names: every mention is one of the truth, and
    sure. What then is wrong is not for want of names.
    """
    model = fitted(training_texts(without_real=True))
    shutil.copyfile(source / "captions-real.csv", folder / "captions.csv")
    with patch.object(mentions, "shipped_model", lambda: model):
        ingest(project, folder, default_parts(Choices()))
    kept = (
        "right name or rightly nobody",
        "right of the names given",
        "named of the background faces",
    )

    def solved() -> dict[str, float]:
        solve(project, full=True)
        found = figures(compare(project, truth))
        return {key: found[key] for key in kept}

    found = solved()
    _keep_true_names(project, truth)
    return {**found, "with the names known": solved()}


def _keep_true_names(project: Project, truth: list[dict[str, Any]]) -> None:
    """Make mentions of people that captions name sure, and delete all others."""
    named = {
        photo["file"]: {*photo["mentioned"], *photo.get("spelled", {}).values()} for photo in truth
    }
    with project.transaction() as sql:
        found = sql.execute(
            "SELECT mentions.id, path, people.name FROM mentions"
            " JOIN captions ON captions.id = caption JOIN files ON files.id = file"
            " JOIN people ON people.id = person"
        ).fetchall()
        for number, path, who in found:
            if who in named[Path(os.fsdecode(path)).name]:
                sql.execute("UPDATE mentions SET probability = 1 WHERE id = ?", (number,))
            else:
                sql.execute("DELETE FROM mentions WHERE id = ?", (number,))


def table(result: dict[str, Any]) -> str:
    """Return the table in Markdown, and further figures in words."""
    lines = [
        "| faces | true faces | right % | right of the names given % |",
        "|---|---:|---:|---:|",
        f"| all | {result['true faces']} | {result['right name or rightly nobody']} "
        f"| {result['right of the names given']} |",
        f"| of people mentioned more than once | | {result['right, mentioned more than once']} | |",
    ]
    lines += [
        f"| in photos tagged {tag} | {row['true faces']} | {row['right']} "
        f"| {row['right of the names given']} |"
        for tag, row in result["by tag"].items()
    ]
    cues, days = result["cues"], result["second day"]
    real = result["with sentences of real captions"]
    known = real["with the names known"]
    same = [draw["of all faces, %"] for draw in result["labels of a full solve on second days"]]
    return "\n".join(
        [
            *lines,
            "",
            f"Of {result['background faces']} other faces in the background "
            f"{result['named of the background faces']}% got a name. The 10% least sure faces hold "
            f"{result['errors among the 10% least sure']}% of the errors. Without position cues "
            f"the error on photos tagged cue is {cues['the same without using them, %']}% instead "
            f"of {cues['error on photos with cues, %']}%. A second day of {days['photos'][1]} "
            f"photos took {days['second day of the first, time, %']}% of the time of the first "
            f"{days['photos'][0]} photos, and {min(same)} to {max(same)}% of its labels are those "
            f"of a full solve ({len(same)} draws). Solving took "
            f"{days['full solve of ingest, time, %']}% of "
            "the time of ingest. With the sentences of real captions "
            f"(`captions-real.csv`, the model of names fitted without them) "
            f"{real['right name or rightly nobody']}% of the faces are right, "
            f"{real['right of the names given']}% of the names given, and "
            f"{real['named of the background faces']}% of the other faces got a name; were all "
            f"names found for sure, {known['right name or rightly nobody']}%, "
            f"{known['right of the names given']}% and {known['named of the background faces']}%.",
            "",
        ]
    )


def main(
    draws: Annotated[int, typer.Option(help="Second days to compare with a full solve.")] = 5,
    random_state: Annotated[int, typer.Option(help="Of which photos are of the second day.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure, print, and store what was measured."""
    console, source, truth = Console(), data_folder() / "newsroom", newsroom()
    if not truth:
        raise typer.BadParameter("set CANDIDLY_DATA to the folder with newsroom/")
    with tempfile.TemporaryDirectory() as work:
        place = Path(work, "newsroom.candidly")
        with Project.open(place, write=True) as project:
            console.print("two days, for their time")
            days = two_days(project, source, Path(work, "newsroom"), random_state)
            console.print(days)
        again = []
        for draw in range(draws):
            again.append(agreement(place, random_state + draw))
            console.print(again[-1])
        with Project.open(place, write=True) as project:
            result = with_and_without_cues(project, truth)
            result["with sentences of real captions"] = with_real_sentences(
                project, source, Path(work, "newsroom"), truth
            )
    result |= {
        "second day": days,
        "labels of a full solve on second days": again,
        "seed": random_state,
        "version": __version__,
        "machine": f"{platform.machine()}, OpenCV {require('cv2', 'photos').__version__}",
    }
    out.mkdir(exist_ok=True)
    (out / "photos.json").write_text(json.dumps(result, indent=1) + "\n")
    shown = Table("", "")
    for key, value in result.items():
        if not isinstance(value, dict | list):
            shown.add_row(key, str(value))
    console.print(shown, table(result))
    put_into(document, table(result), "named")


if __name__ == "__main__":
    typer.run(main)
