"""python -m candidly.experiments.photos: names on the faces of the newsroom photos, end to end.

All but 100 photos are taken in and solved, then those 100 on a second day; then everything is
solved together, with and without position cues, and compared with ``truth.json``, which nothing
else reads. Results go to ``results/photos.json``.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from candidly import __version__
from candidly.datasets.store import data_folder
from candidly.experiments.newsroom_truth import compare, figures, labels, read_truth
from candidly.extras import require
from candidly.photos.defaults import Choices, default_parts
from candidly.photos.ingest import ingest
from candidly.photos.project import Project
from candidly.photos.solving import Solved, solve


def run(project: Project, folder: Path) -> tuple[dict[str, float], Solved]:
    """What ``candidly name`` does, with the seconds of its parts."""
    started = time.perf_counter()
    ingest(project, folder, default_parts(Choices()))
    taken_in = time.perf_counter()
    done = solve(project)
    ended = time.perf_counter()
    return {"ingest": taken_in - started, "solve": ended - taken_in, "all": ended - started}, done


def two_days(console: Console, source: Path, work: Path, later: int, seed: int) -> dict[str, Any]:
    """A project of all but some photos, those on a second day, and what came of it."""
    files = sorted(path.name for path in (source / "photos").iterdir())
    second = set(np.random.default_rng(seed).permutation(files)[:later].tolist())
    folder = work / "newsroom"
    (folder / "photos").mkdir(parents=True)
    shutil.copyfile(source / "captions.csv", folder / "captions.csv")

    def bring(names: list[str]) -> None:
        for name in names:
            shutil.copyfile(source / "photos" / name, folder / "photos" / name)

    with Project.open(work / "newsroom.candidly", write=True) as project:
        console.print(f"first day: {len(files) - later} photos")
        bring([name for name in files if name not in second])
        first, _ = run(project, folder)
        console.print(f"second day: {later} photos")
        bring(sorted(second))
        day, done = run(project, folder)
        daily = labels(project)
        started = time.perf_counter()
        solve(project, full=True)
        full = time.perf_counter() - started
        whole = labels(project)
    same = {place: daily[place] == name for place, name in whole.items()}
    new = [kept for (file, _), kept in same.items() if file in second]
    return {
        "photos of the first day": len(files) - later,
        "photos of the second day": later,
        "seconds of the first day": _rounded(first),
        "seconds of the second day": _rounded(day),
        "photos solved on the second day": done.photos,
        "names changed on the second day": len(done.changes),
        "second day of the first, time, %": round(100 * day["all"] / first["all"], 1),
        "same labels as a full solve, %": round(100 * float(np.mean(list(same.values()))), 2),
        "same labels, photos of the second day, %": round(100 * float(np.mean(new)), 2),
        "full solve, seconds": round(full, 1),
        "full solve of ingest, time, %": round(100 * first["solve"] / first["ingest"], 1),
    }


def with_and_without_cues(place: Path, truth: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures of the project solved together; it ends as it was, with cues."""
    found = {}
    with Project.open(place, write=True) as project:
        for cues in (False, True):
            solve(project, full=True, cues=cues)
            found[cues] = figures(compare(project, truth))
    wrong = {cues: 100 - found[cues]["by tag"]["cue"]["right"] for cues in found}
    return {
        **found[True],
        "cues": {
            "error on photos with cues, %": round(wrong[True], 1),
            "the same without using them, %": round(wrong[False], 1),
            "less, %": round(100 * (1 - wrong[True] / wrong[False]), 1),
            "right name or rightly nobody without, %": found[False]["right name or rightly nobody"],
        },
    }


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {part: round(value, 1) for part, value in seconds.items()}


def main(
    later: Annotated[int, typer.Option(help="Photos of the second day.")] = 100,
    seed: Annotated[int, typer.Option(help="Of which photos these are.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="Keep the project in this folder.")] = None,
    use: Annotated[
        Path | None, typer.Option(help="Only figures, of the project kept in this folder.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure, print, and store what was measured."""
    console, source = Console(), data_folder() / "newsroom"
    truth = read_truth(source)
    result: dict[str, Any] = {}
    if use is not None:
        result = with_and_without_cues(use / "newsroom.candidly", truth)
        console.print(_table(result))
        console.print({name: value for name, value in result.items() if name != "by tag"})
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) if keep is None else keep
        days = two_days(console, source, work, later, seed)
        result = with_and_without_cues(work / "newsroom.candidly", truth)
    result |= {
        "second day": days,
        "seed": seed,
        "version": __version__,
        "machine": f"{platform.machine()}, OpenCV {require('cv2', 'photos').__version__}",
    }
    out.mkdir(exist_ok=True)
    (out / "photos.json").write_text(json.dumps(result, indent=1) + "\n")
    console.print(_table(result))
    console.print({name: value for name, value in result.items() if name != "by tag"})


def _table(result: dict[str, Any]) -> Table:
    table = Table("tag", "true faces", "right", "right of the names given")
    rows = {
        "all": {
            "true faces": result["true faces"],
            "right": result["right name or rightly nobody"],
            "right of the names given": result["right of the names given"],
        },
        **result["by tag"],
    }
    for tag, row in rows.items():
        table.add_row(tag, *(str(value) for value in row.values()))
    return table


if __name__ == "__main__":
    typer.run(main)
