"""Made-up instances on disk: rows around the mean of their name, with wrong candidates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PIECE = 100_000
SEED = 0


def write(
    folder: Path,
    N: int,
    m: int,
    c: int,
    wrong: int = 2,
    spread: float = 1.0,
    nobody: float = 0.0,
) -> None:
    """Write ``features.npy`` (N x m, float32), ``candidates`` and ``truth.npy``, piece by piece.

    ``nobody`` is the part of the instances that have none of the names; then all may be nobody.
    """
    rng = np.random.default_rng(SEED)
    means = (0.5 * rng.normal(size=(c, m))).astype(np.float32)
    listed = folder / "candidates"
    listed.mkdir(parents=True, exist_ok=True)

    def room(path: Path, dtype: type, shape: tuple[int, ...]) -> np.memmap:
        return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)

    truth = room(folder / "truth.npy", np.int32, (N,))
    start = room(listed / "start.npy", np.int64, (N + 1,))
    features = folder / "features.npy"
    room(features, np.float32, (N, m)).flush()
    header = features.stat().st_size - 4 * N * m
    parts, total = [], 0
    with features.open("r+b") as file:
        file.seek(header)
        for begin in range(0, N, PIECE):
            n = min(PIECE, N - begin)
            y = rng.integers(c, size=n)
            own = means[y]
            X = spread * rng.standard_normal((n, m), dtype=np.float32)
            some = [y, rng.integers(c, size=(n, wrong))]
            if nobody:  # of somebody else, whom no instance lists
                gone = rng.random(n) < nobody
                own[gone] = 0.5 * rng.standard_normal((int(gone.sum()), m), dtype=np.float32)
                y = np.where(gone, c, y)
                some.append(np.full(n, c))
            (X + own).tofile(file)
            rows = np.sort(np.column_stack(some), axis=1)
            kept = np.diff(rows, axis=1, prepend=-1) > 0
            parts.append(rows[kept].astype(np.int32))
            truth[begin : begin + n] = y
            start[begin : begin + n] = total + np.append(0, np.cumsum(kept.sum(axis=1)))[:-1]
            total += int(kept.sum())
    start[N] = total
    start.flush()
    truth.flush()
    np.save(listed / "classes.npy", np.concatenate(parts))
    names = {"names": list(range(c + bool(nobody))), "null": c if nobody else None}
    (listed / "names.json").write_text(json.dumps(names), encoding="utf-8")
