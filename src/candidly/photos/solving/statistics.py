"""What is known beforehand of how the faces of a project vary.

It is what the user gave for the project's detector and embedder, which is kept in the project, else
what comes with Candidly.
"""

from __future__ import annotations

import sqlite3

from candidly.photos.faces.population_file import (
    EmbedderPopulation,
    population_from_bytes,
    population_of,
    population_to_bytes,
)
from candidly.solvers.population import Population

UNKNOWN = (
    "nothing is known of how faces of this embedder vary: names are given with caution; "
    "candidly population estimates it"
)


def project_population(
    sql: sqlite3.Connection, model: str | None = None
) -> tuple[Population | None, str]:
    """Return what is known beforehand of a project's faces, and a sentence where nothing is.

    Parameters
    ----------
    sql : Connection
        Of a project.
    model : str, optional
        Detector and embedder, as they are stored with faces; those of the project's comparable
        embeddings by default.

    Returns
    -------
    population : Population or None
    sentence : str
        For the summary; empty where something is known, and where there are no faces.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos.project import Project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/empty.candidly", write=True) as project:
    ...         project_population(project.connection, "my detector; my embedder")
    (None, 'nothing is known of how faces of this embedder vary: names are given with caution; ...
    """
    model = comparable_model(sql) if model is None else model
    if model is None:
        return None, ""
    for (data,) in sql.execute("SELECT data FROM populations ORDER BY model"):
        given = population_from_bytes(data, "the population kept in the project")
        if given.fits(model):
            return given.population, ""
    shipped = population_of(model)
    return shipped, UNKNOWN if shipped is None else ""


def comparable_model(sql: sqlite3.Connection) -> str | None:
    """Return the detector and embedder of the faces that are compared; None without faces."""
    row = sql.execute(
        "SELECT model FROM comparable JOIN faces ON faces.id = comparable.face LIMIT 1"
    ).fetchone()
    return None if row is None else str(row[0])


def keep_population(sql: sqlite3.Connection, given: EmbedderPopulation) -> None:
    """Store a population in the project, instead of another for the same weights."""
    rows = sql.execute("SELECT model FROM populations").fetchall()
    sql.executemany(
        "DELETE FROM populations WHERE model = ?", [row for row in rows if given.fits(*row)]
    )
    sql.execute("INSERT INTO populations VALUES (?, ?)", (given.model, population_to_bytes(given)))
