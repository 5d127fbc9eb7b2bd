"""Files of how the faces of an embedder vary: within one person, and over everybody.

A file is an .npz without pickled objects: ``mean``, and the upper triangles of ``within`` and
``total`` in float32, with ``card``, a JSON text that says which detector and embedder they are for
and how they were made. The same population gives the same bytes. One for YuNet and SFace comes with
Candidly; ``docs/population.md`` is its card.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.population import Population

SHIPPED = Path(__file__).parent / "data" / "sface_population.npz"
"""The population of YuNet and SFace, which comes with Candidly."""
SHA256 = "566801e096f3d43804b7a7cf347a1c19711953357462354eedfa67f1b5cc6ac0"
"""Checksum of the shipped file."""
FORMAT = 1
ROUNDING = 1e-5  # of float32, in parts of the largest variance; an embedder may have idle numbers
LARGEST = 64_000_000  # bytes: 2,800 numbers per face


class PopulationProblem(Exception):  # noqa: N818  like WeightsProblem
    """A population that cannot be read, made or used; the message says why and what to do."""


@dataclass(frozen=True)
class EmbedderPopulation:
    """A population, and the detector and embedder whose faces it is about.

    Parameters
    ----------
    model : str
        Detector and embedder, as they are stored with faces.
    population : Population
    made : mapping, optional
        How it was made, in words: of whom, by which command and version.
    """

    model: str
    population: Population
    made: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, model: str) -> bool:
        """Return whether faces of a model are compared by the same weights in the same way."""
        return _weights(self.model) == _weights(model)


def population_of(model: str) -> Population | None:
    """Return what comes with Candidly about a detector and an embedder, or None.

    Parameters
    ----------
    model : str
        Detector and embedder, as they are stored with faces.

    Examples
    --------
    >>> population_of("my detector:0123456789ab; my embedder:ba9876543210 mean=0 scale=1") is None
    True
    """
    shipped = _shipped()
    return shipped.population if shipped.fits(model) else None


def read_population(path: str | Path) -> EmbedderPopulation:
    """Return the population in a file.

    Parameters
    ----------
    path : path
        A file that ``write_population`` wrote.

    Raises
    ------
    PopulationProblem
        If there is no such file, or something is wrong with its content.
    """
    try:
        if Path(path).stat().st_size > LARGEST:
            raise PopulationProblem(f"{path} is no population: it is over {LARGEST // 10**6} MB")
        data = Path(path).read_bytes()
    except OSError as error:
        raise PopulationProblem(
            f"{path} cannot be read: {error.strerror}; candidly population makes such a file"
        ) from error
    return population_from_bytes(data, str(path))


def write_population(path: str | Path, made: EmbedderPopulation) -> None:
    """Write a population to a file."""
    try:
        Path(path).write_bytes(population_to_bytes(made))
    except OSError as error:
        raise PopulationProblem(
            f"{path} cannot be written: {error.strerror}; choose another place"
        ) from error


def population_to_bytes(made: EmbedderPopulation) -> bytes:
    """Return the content of a file; the same for the same population."""
    known = made.population
    card = {
        "format": FORMAT,
        "model": made.model,
        "people": known.people,
        "instances": known.instances,
        "even": round(known.even, 4),  # its fit is no more exact
        **made.made,
    }
    content = io.BytesIO()
    np.savez(
        content,
        card=np.array(json.dumps(card, sort_keys=True)),
        mean=known.mean.astype("<f4"),
        within=_packed(known.within),
        total=_packed(known.total),
    )
    return content.getvalue()


def population_from_bytes(data: bytes, name: str) -> EmbedderPopulation:
    """Return the population that bytes hold; ``name`` says in errors where they are from."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            card = json.loads(str(file["card"]))
            mean = np.asarray(file["mean"], dtype=float)
            within, total = (_unpacked(file[key], len(mean)) for key in ("within", "total"))
        if card.pop("format") != FORMAT:
            raise ValueError("another version of Candidly made it")
        model, even = str(card.pop("model")), float(card.pop("even"))
        people, instances = int(card.pop("people")), int(card.pop("instances"))
        known = Population(mean, within, total, even, people, instances)
        _check(known)
    except Exception as error:  # bytes can be wrong in many ways
        raise PopulationProblem(
            f"{name} is no population that can be used: {' '.join(str(error).split())}; "
            "candidly population makes one"
        ) from error
    return EmbedderPopulation(model, known, card)


@cache
def _shipped() -> EmbedderPopulation:
    data = SHIPPED.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise PopulationProblem(
            f"{SHIPPED} is not what came with Candidly: SHA-256 {found}, expected {SHA256}; "
            "install Candidly again"
        )
    return population_from_bytes(data, str(SHIPPED))


def _weights(model: str) -> tuple[str, str]:
    """Return what embeddings depend on: the detector's weights, the embedder's and its settings.

    Weights are known by their checksum, whatever their file is called; a part without one is known
    by its whole identity.
    """
    detector, _, embedder = model.rpartition("; ")
    found = re.search(r":([0-9a-f]{12})\b", detector)
    return found[1] if found else detector, re.sub(r"^.*:(?=[0-9a-f]{12}\b)", "", embedder)


def _packed(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    return matrix[np.triu_indices(len(matrix))].astype("<f4")


def _unpacked(values: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Return a symmetric matrix from its upper triangle."""
    if values.shape != (k * (k + 1) // 2,):
        raise ValueError(f"a triangle of {k} x {k} numbers has not the shape {values.shape}")
    matrix = np.zeros((k, k))
    matrix[np.triu_indices(k)] = values
    return matrix + np.triu(matrix, 1).T


def _check(known: Population) -> None:
    """Raise where the numbers cannot be a population."""
    if known.mean.ndim != 1 or not len(known.mean):
        raise ValueError(f"its mean has the shape {known.mean.shape}")
    if not all(np.isfinite(part).all() for part in (known.mean, known.within, known.total)):
        raise ValueError("some of its numbers are not finite")
    if not np.isfinite(known.even) or not 2 <= known.people <= known.instances:
        raise ValueError(f"it cannot be of {known.instances} faces of {known.people} people")
    for name, part in (("one person", known.within), ("everybody", known.total)):
        variances = np.linalg.eigvalsh(part)
        if variances[0] < -ROUNDING * abs(variances[-1]):
            raise ValueError(f"the covariance of {name} is negative in some direction")
    if not np.trace(known.within) < np.trace(known.total):
        raise ValueError("one person varies as much as everybody")
