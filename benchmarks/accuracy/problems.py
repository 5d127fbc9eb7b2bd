"""Problems of many kinds, real and made up, to measure the choice without truth on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.utils import Bunch

from benchmarks.accuracy.broken_data import NOISE_COLUMNS, Damage, clean, filled, scaled
from candidly import Candidates, __version__, datasets, json_lines, make_ambiguous


@dataclass(frozen=True)
class Problem:
    """A problem for each seed: a draw of the candidates, of the rows, or of everything."""

    name: str
    load: Callable[[int], Bunch]
    seeds: tuple[int, ...] = (0,)


def real(name: str) -> Callable[[int], Bunch]:
    """Return a loader of a whole data set; the seed draws nothing."""
    return lambda seed: datasets.load(name)


def tenth(name: str) -> Callable[[int], Bunch]:
    """Return a loader of a random tenth of a data set."""

    def load(seed: int) -> Bunch:
        data = datasets.load(name)
        rows = np.sort(np.random.default_rng(seed).permutation(len(data.y))[: len(data.y) // 10])
        return Bunch(X=data.X[rows], candidates=data.candidates[rows], y=data.y[rows])

    return load


def digits(damage: Damage = clean, columns: int = 0) -> Callable[[int], Bunch]:
    """Return a loader of 10 x 60 digits with three extra candidates, damaged."""

    def load(seed: int) -> Bunch:
        data = datasets.load("digits", each=60, n_extra=3, random_state=seed)
        rng = np.random.default_rng(seed)
        X = np.hstack([data.X, rng.normal(size=(len(data.X), columns))])
        damage(X, rng)
        return Bunch(X=X, candidates=data.candidates, y=data.y)

    return load


def skewed_digits(seed: int) -> Bunch:
    """Return digits in classes of 170 down to 10, three others listed by their frequency."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    sizes = np.geomspace(170, 10, 10).round().astype(int)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(y == k))[:n] for k, n in enumerate(sizes)]
    )
    mask = np.zeros((len(rows), 10), dtype=bool)
    for row, label in zip(mask, y[rows], strict=True):
        chance = np.where(np.arange(10) == label, 0, sizes)
        row[rng.choice(10, 3, replace=False, p=chance / chance.sum())] = True
        row[label] = True
    return Bunch(X=X[rows] / 16, candidates=Candidates.from_mask(mask), y=y[rows])


def texts(n_samples: int, distractors: str, n_classes: int = 10) -> Callable[[int], Bunch]:
    """Return a loader of made-up texts."""
    return lambda seed: datasets.make_text_like(
        n_samples, distractors=distractors, n_classes=n_classes, random_state=seed
    )


def noise(seed: int) -> Bunch:
    """Return features that tell nothing about six skewed classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(6, 500, p=np.array([6, 5, 4, 3, 2, 1]) / 21)
    candidates = make_ambiguous(y, n_extra=2, random_state=seed)
    return Bunch(X=rng.normal(size=(500, 20)), candidates=candidates, y=y)


def blobs(seed: int) -> Bunch:
    """Return Gaussian clusters, in features whose units differ by up to eight powers of ten."""
    X, y = make_blobs(600, 12, centers=8, cluster_std=7.0, random_state=seed)
    rng = np.random.default_rng(seed)
    candidates = make_ambiguous(y, n_extra=2, random_state=seed)
    return Bunch(X=X * 10 ** rng.uniform(-4, 4, X.shape[1]), candidates=candidates, y=y)


def wine(seed: int) -> Bunch:
    """Return wines of three growers, one of the two others listed."""
    X, y = load_wine(return_X_y=True)
    return Bunch(X=X, candidates=make_ambiguous(y, n_extra=1, random_state=seed), y=y)


def breast_cancer(seed: int) -> Bunch:
    """Return two kinds of tumours, nine in ten of which may be either."""
    X, y = load_breast_cancer(return_X_y=True)
    ambiguous = make_ambiguous(y, n_extra=1, ambiguous_fraction=0.9, random_state=seed)
    return Bunch(X=X, candidates=ambiguous, y=y)


TWO, THREE = (0, 1), (0, 1, 2)
DIGITS = Problem("digits 10 x 60, 3 extra", digits(), THREE)
SKEWED = Problem("digits, skewed classes", skewed_digits, THREE)
LOST = Problem("Lost", real("lost"))
BIRDSONG = Problem("BirdSong", real("birdsong"))
MSRCV2 = Problem("MSRCv2", real("msrcv2"))
BIRDSONG_TENTH = Problem("BirdSong, a tenth", tenth("birdsong"), THREE)
TEXTS = Problem("texts, 2,000, by frequency", texts(2000, "frequency"), TWO)
WINE = Problem("wine", wine, THREE)
PROBLEMS = (
    LOST,
    BIRDSONG,
    MSRCV2,
    Problem("Lost, a tenth", tenth("lost"), THREE),
    BIRDSONG_TENTH,
    Problem("MSRCv2, a tenth", tenth("msrcv2"), THREE),
    DIGITS,
    Problem(f"digits, {NOISE_COLUMNS} columns of noise", digits(columns=NOISE_COLUMNS), TWO),
    Problem("digits, one row x 1e6", digits(scaled(0, 1e6)), TWO),
    Problem("digits, 1% of rows -9999", digits(filled(0.01, -9999)), TWO),
    SKEWED,
    Problem("texts, 500, by frequency", texts(500, "frequency"), THREE),
    Problem("texts, 500, by label", texts(500, "label"), THREE),
    Problem("texts, 500, by input", texts(500, "input"), THREE),
    TEXTS,
    Problem("texts, 2,000, by label", texts(2000, "label"), TWO),
    Problem("texts, 2,000, by input", texts(2000, "input"), TWO),
    Problem("texts, 2,000, 77 classes", texts(2000, "frequency", n_classes=77)),
    Problem("clusters, units differ", blobs, THREE),
    WINE,
    Problem("breast cancer", breast_cancer, THREE),
    Problem("noise", noise, TWO),
)


def read(path: Path, record: type[Any]) -> dict[tuple[str, int], Any]:
    """Return the stored records of this version, by problem and seed."""
    stored = [record(**line) for line in json_lines.read(path)]
    return {(each.problem, each.seed): each for each in stored if each.version == __version__}


def measure_missing(
    problems: Sequence[Problem],
    measure: Callable[[str, int, Bunch], Any],
    record: type[Any],
    path: Path,
    console: Console,
) -> list[Any]:
    """Return a record for each draw of the problems; those not in the file are measured.

    Problems of data that is not there are left out, with a line on the console.
    """
    path.parent.mkdir(exist_ok=True)
    done = read(path, record)
    draws = [(problem, seed) for problem in problems for seed in problem.seeds]
    for problem, seed in track(draws, path.stem, console=console):
        if (problem.name, seed) in done:
            continue
        try:
            data = problem.load(seed)
        except FileNotFoundError as error:
            console.print(f"{problem.name} is not run: {error}")
            continue
        done[problem.name, seed] = measure(problem.name, seed, data)
        json_lines.append(path, asdict(done[problem.name, seed]))
    return [done[p.name, seed] for p, seed in draws if (p.name, seed) in done]
