"""What changed since the last solve, as triggers keep it: no solve has to look at every photo.

``touched`` has the photos about which something was stored that a solve depends on: files, captions
and names, faces and embeddings, decisions, exports, and who somebody is. ``label_counts`` has how
many faces each person has by labels, and how sure they are, so that neither a list of people nor
how far a review is has to be counted from all faces.
"""

from __future__ import annotations

SURE, LIKELY = 0.95, 0.5  # as in photos.certainty when this was written: another value migrates

_OF_CAPTION = (
    "SELECT photo FROM captions JOIN files ON files.id = file"
    " WHERE captions.id = {row}.caption AND photo IS NOT NULL"
)
_OF_FACE = "SELECT photo FROM faces WHERE id = {row}.face"
# The photo that a row is about, and the columns whose change matters ("" for all).
_PHOTO_OF = {
    "files": ("SELECT {row}.photo AS photo WHERE {row}.photo IS NOT NULL", "photo, gone"),
    "captions": (
        "SELECT photo FROM files WHERE id = {row}.file AND photo IS NOT NULL",
        "file, text",
    ),
    "mentions": (_OF_CAPTION, ""),
    "given": (_OF_CAPTION, ""),
    "regions": (_OF_CAPTION, ""),
    "faces": ("SELECT {row}.photo AS photo", "photo, x, y, w, h, model, forgotten"),
    "embeddings": (_OF_FACE, ""),
    "exported": (_OF_FACE, ""),
    "decisions": (_OF_FACE, ""),
    "undone": (
        "SELECT photo FROM decisions JOIN faces ON faces.id = face"
        " WHERE decisions.id = {row}.decision",
        "",
    ),
    "photos": ("SELECT {row}.id AS photo", "model, barred"),
}
_NAMES_OF = "SELECT id FROM people WHERE id = NEW.id OR stands_for = NEW.id"


def _noting(photos: str) -> str:
    """Return the statement that notes photos which are not noted yet.

    Not with OR IGNORE: the statement that fires a trigger decides what its conflicts do.
    """
    there = "SELECT 1 FROM touched WHERE touched.photo = found.photo"
    return (
        f"INSERT INTO touched SELECT DISTINCT photo FROM ({photos}) AS found"
        f" WHERE NOT EXISTS ({there});"
    )


def _touching() -> list[str]:
    """Return the triggers that note photos."""
    found = []
    for table, (photo, columns) in _PHOTO_OF.items():
        of = f" OF {columns}" if columns else ""
        for when, rows in (
            ("AFTER INSERT", ("NEW",)),
            ("BEFORE DELETE", ("OLD",)),
            (f"AFTER UPDATE{of}", ("OLD", "NEW")),
        ):
            noted = "".join(_noting(photo.format(row=row)) for row in rows)
            kind = when.split()[1].lower()
            found.append(
                f"CREATE TRIGGER {table}_{kind}_touches {when} ON {table} BEGIN {noted} END"
            )
    photos = "".join(
        _noting(
            "SELECT photo FROM captions JOIN files ON files.id = file"
            f" JOIN {table} ON caption = captions.id"
            f" WHERE {table}.person IN ({_NAMES_OF}) AND photo IS NOT NULL"
        )
        for table in ("mentions", "given", "regions")
    ) + "".join(
        _noting(
            f"SELECT photo FROM {table} JOIN faces ON faces.id = face"
            f" WHERE {table}.person IN ({_NAMES_OF})"
        )
        for table in ("decisions", "exported")
    )
    return [
        *found,
        "CREATE TRIGGER people_update_touches AFTER UPDATE OF name, stands_for, barred ON people"
        f" BEGIN {photos} END",
    ]


def _counting() -> list[str]:
    """Return the triggers that count labels."""
    change = (
        "INSERT INTO label_counts VALUES (coalesce({row}.person, 0), {sign}1,"
        f" {{sign}}({{row}}.confidence >= {SURE}),"
        f" {{sign}}({{row}}.confidence >= {LIKELY} AND {{row}}.confidence < {SURE}),"
        " {sign}(1 - {row}.confidence)) ON CONFLICT (person) DO UPDATE SET"
        " faces = faces + excluded.faces, sure = sure + excluded.sure,"
        " likely = likely + excluded.likely, doubt = doubt + excluded.doubt;"
    )
    more, less = change.format(row="NEW", sign="+"), change.format(row="OLD", sign="-")
    less += "DELETE FROM label_counts WHERE person = coalesce(OLD.person, 0) AND faces = 0;"
    # Sums of faces that a solve counted are no longer right when their labels go otherwise.
    stale = (
        "DELETE FROM known_sums WHERE EXISTS (SELECT 1 FROM faces JOIN solved"
        " ON solved.photo = faces.photo WHERE faces.id = OLD.face AND counted);"
    )
    return [
        f"CREATE TRIGGER labels_insert_counts AFTER INSERT ON labels BEGIN {more} END",
        f"CREATE TRIGGER labels_delete_counts AFTER DELETE ON labels BEGIN {less} {stale} END",
        f"CREATE TRIGGER labels_update_counts AFTER UPDATE ON labels BEGIN {less} {more} {stale}"
        " END",
    ]


_COUNT_LABELS = f"""INSERT INTO label_counts SELECT coalesce(person, 0), count(*),
    sum(confidence >= {SURE}), sum(confidence >= {LIKELY} AND confidence < {SURE}),
    sum(1 - confidence) FROM labels GROUP BY coalesce(person, 0)"""
COUNTED_AGAIN = (
    "DELETE FROM label_counts",
    _COUNT_LABELS,
    "DELETE FROM person_sums",
    "DELETE FROM known_sums",
    "INSERT INTO touched SELECT id FROM photos WHERE id NOT IN (SELECT photo FROM touched)",
)

STATEMENTS = (
    "CREATE TABLE touched (photo INTEGER PRIMARY KEY)",
    "INSERT INTO touched SELECT id FROM photos",
    *_touching(),
    # person: 0 for nobody; doubt: the sum of what confidences leave
    """CREATE TABLE label_counts (
        person INTEGER PRIMARY KEY,
        faces INTEGER NOT NULL,
        sure INTEGER NOT NULL,
        likely INTEGER NOT NULL,
        doubt REAL NOT NULL
    )""",
    "CREATE INDEX people_by_doubt ON label_counts (doubt DESC)",
    _COUNT_LABELS,
    # what new photos are compared with, one row: features x have the coordinates x A + b, in which
    # people vary by "between"; arrays are little-endian f8
    """CREATE TABLE known_sums (
        run INTEGER PRIMARY KEY REFERENCES runs,
        model TEXT NOT NULL,
        map BLOB NOT NULL,
        shift BLOB NOT NULL,
        "between" BLOB NOT NULL,
        even REAL NOT NULL
    )""",
    # people by the labels of solved photos: how many faces, and the sum of their coordinates
    """CREATE TABLE person_sums (
        person INTEGER PRIMARY KEY REFERENCES people ON DELETE CASCADE,
        faces REAL NOT NULL,
        total BLOB NOT NULL
    )""",
    # counted: whether the labels of the photo's faces are in these sums
    "ALTER TABLE solved ADD COLUMN counted INTEGER NOT NULL DEFAULT 0",
    *_counting(),
)
