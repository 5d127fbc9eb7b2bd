"""Tables of what ``collection_sizes`` measured, every value beside its limit."""

from __future__ import annotations

from typing import Any

from benchmarks.photos.sure_names import Figures, Limit, limits

PARTS = {
    "arrays": "true boxes",
    "end-to-end": "end to end",
    "real-captions": "end to end, real sentences",
    "other-photos": "other photos, true boxes",
}
COLUMNS = {
    "sure names wrong %": "sure names wrong %",
    "right %": "right %",
    "right of the names given %": "right of the names given %",
    "right, shown 3 times %": "people shown 3 times: right %",
    "sure of these %": "of these sure %",
    "right, shown 3 times, also not mentioned %": "right, also not mentioned %",
    "ECE": "ECE",
}
CLOUDS: tuple[tuple[int, str, Limit | None], ...] = (
    (20, "error %", Limit(4, 2, most=True)),
    (6, "error %", None),
    (6, "sure names", None),
    (6, "sure names wrong %", Limit(3, most=True)),
)
HALF, SAME = Limit(0.5, most=True), Limit(99)


def table(result: dict[str, Any]) -> str:
    """Return all tables in Markdown; parts that were not measured are left out."""
    drawn = [
        _row(part, kind, size, found)
        for part in PARTS
        for kind, row in result.get(part, {}).items()
        for size, found in row.items()
    ]
    tables = []
    if drawn:
        heads = ["photos", "draws", "faces", "names", "sure", *COLUMNS.values()]
        tables.append(_table(heads, drawn))
    if "clouds" in result:
        heads = ["people", *(f"{d} dimensions" for d in _dimensions(result["clouds"]))]
        tables.append(_table([*heads], _cloud_rows(result["clouds"])))
    if "stills" in result:
        heads = ["five stills", "draws", "faces", "names", "sure", "surest wrong name", "right %"]
        tables.append(_table(heads, [_still(*item) for item in result["stills"].items()]))
    if "second-day" in result:
        heads = [
            "second day",
            "draws",
            "faces",
            "same as together %",
            "least of a draw %",
            "denied",
        ]
        tables.append(_table(heads, [_day(row) for row in result["second-day"]]))
    return "\n".join(tables)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(part: str, kind: str, size: str, found: Figures) -> list[str]:
    held = limits(kind, int(size))
    counts = [found["draws"], found["true faces"], found["names"], found["sure names"]]
    values = [held[key].cell(found[key]) if key in held else _plain(found[key]) for key in COLUMNS]
    return [f"{PARTS[part]}: {size} {kind}", *map(str, counts), *values]


def _plain(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _dimensions(clouds: list[dict[str, Any]]) -> list[int]:
    return sorted({row["dimensions"] for row in clouds})


def _cloud_rows(clouds: list[dict[str, Any]]) -> list[list[str]]:
    """Return errors and sure names that are wrong, each the largest value of all seeds."""
    rows = []
    for each, key, limit in CLOUDS:
        for people in sorted({row["people"] for row in clouds}):
            cells = []
            for dimensions in _dimensions(clouds):
                case = {"people": people, "dimensions": dimensions, "faces each": each}
                values = [row[key] for row in clouds if case.items() <= row.items()]
                worst = max((value for value in values if value is not None), default=None)
                cells.append(_plain(worst) if limit is None else limit.cell(worst))
            rows.append([f"{people} with {each} faces: {key}", *cells])
    return rows


def _still(way: str, found: dict[str, Any]) -> list[str]:
    counts = [found["draws"], found["true faces"], found["names"], found["sure names"]]
    surest = HALF.cell(found["largest confidence of a wrong name"])
    return [PARTS[way], *map(str, counts), surest, _plain(found["right %"])]


def _day(row: dict[str, Any]) -> list[str]:
    first, later = row["photos"]
    return [
        f"{first} + {later} photos {row['kind']}",
        str(row["draws"]),
        str(row["faces"]),
        SAME.cell(row["same %"]),
        f"{row['least same %']:g}",
        Limit(0, most=True).cell(row["denied"]),
    ]
