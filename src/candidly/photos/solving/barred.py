"""Names that were recognised, and are not to be given any more by the user's lists."""

from __future__ import annotations

import os
import sqlite3

from candidly.photos.names.lists import Lists
from candidly.photos.solving.stored import RECOGNISED, Change, forget_faces

NEVER = "by the lists given they are not to be named, or nobody is in this folder"


def take_back(sql: sqlite3.Connection, run: int, lists: Lists) -> list[Change]:
    """Take such names off faces in photos about which nothing is written.

    Where something is written, names are of people who may be named to begin with.
    """
    rows = sql.execute(
        "SELECT face, name, barred, path FROM labels JOIN people ON people.id = person"
        " JOIN runs ON runs.id = run JOIN faces ON faces.id = face"
        " JOIN files ON files.photo = faces.photo AND gone = 0"
        " WHERE json_extract(settings, '$.solve') = ? ORDER BY face",
        (RECOGNISED,),
    ).fetchall()
    taken = {
        face: name
        for face, name, barred, path in rows
        if barred or not lists.permits_folder(os.fsdecode(path))
    }
    forget_faces(sql, taken)
    return [Change(run, face, name, None, NEVER) for face, name in taken.items()]
