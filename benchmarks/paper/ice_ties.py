"""python -m benchmarks.paper.ice_ties: what decides between equal soft labels in ICE, and how much.

ICE takes the least likely candidate from the instances where it is least likely. Many soft labels
are exactly 0, and the paper does not say which of those goes first. Here all tie orders of
``ICE(ties=...)`` are run on Lost, under three settings, and as often with features that differ in
the twelfth digit, which shows how much of an effect is rounding, under the two
orders that depend on the features. Nothing is chosen by this. Figures
go to ``results/paper/ice_ties.json``, a table into ``docs/methods.md``. Needs ``CANDIDLY_DATA``.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from benchmarks.documents import put_into
from candidly import ICE, MCar, WMCar, datasets, labelling_error
from candidly.base import DoubtfulLabelsWarning

DRAWS = 10
ROUNDING = 1e-12
"""Size of the noise on features, relative to them, that stands for rounding."""
SETTINGS: dict[str, dict[str, Any]] = {
    "letter": {"setting": "paper"},
    "letter, 3 λ0, features / 255": {"setting": "paper", "noise_weight": 3.0, "divisor": 255.0},
    "ours": {},
}
LABELLERS = {"MCar": MCar, "WMCar": WMCar}
ORDERS = ("evidence", "scores", "index", "random", "evidence, rounding", "scores, rounding")
"""Columns of errors, as they are stored."""


def zeros(labeller: Any, data: Bunch) -> dict[str, int]:
    """Return how many least scores of the first round are exactly 0, and how many may go."""
    solution = labeller.fit(data.X, data.candidates).solution_
    sets = solution.sets
    several = sets.sizes > 1
    least = -sets.largest(-solution.labels)[several]
    nothing = solution.labels == 0
    return {
        "ambiguous": int(several.sum()),
        "zero": int((least == 0).sum()),
        "two_zeros": int((sets.total(nothing.astype(float))[several] > 1).sum()),
        "eliminated": int(np.ceil(0.5 * several.sum() - 1e-9)),
    }


def errors(
    labeller: Any, data: Bunch, ties: str, *, draws: int = 1, noise: float = 0
) -> list[float]:
    """Return the labelling error in % of each draw, of ties or of noise on the features."""
    found = []
    for draw in range(draws):
        shift = noise * np.random.default_rng(draw).standard_normal(data.X.shape)
        model = ICE(labeller, ties=ties, classifier=None, random_state=draw)
        labels = model.fit_predict(data.X * (1 + shift), data.candidates)
        found.append(round(100 * labelling_error(data.y, labels), 3))
    return found


def measure(data: Bunch, draws: int, console: Console) -> list[dict[str, Any]]:
    """Return the figures of every setting and labeller."""
    cases = [(setting, name) for setting in SETTINGS for name in LABELLERS]
    rows = []
    for setting, name in track(cases, "tie orders", console=console):
        labeller = LABELLERS[name](classifier=None, **SETTINGS[setting])
        rows.append(
            {
                "setting": setting,
                "method": f"{name}-ICE",
                **zeros(labeller, data),
                **{ties: errors(labeller, data, ties) for ties in ("evidence", "scores", "index")},
                "random": errors(labeller, data, "random", draws=draws),
                **{
                    f"{ties}, rounding": errors(labeller, data, ties, draws=draws, noise=ROUNDING)
                    for ties in ("evidence", "scores")
                },
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Return the figures as a table in Markdown."""
    text = (
        f"| setting | method | ambiguous | least score 0 | {' | '.join(ORDERS)} |\n"
        f"|---|---|---:|---:|{'---:|' * len(ORDERS)}\n"
    )
    for row in rows:
        cells = [_spread(row[name]) for name in ORDERS]
        counts = f"{row['ambiguous']} | {row['zero']}"
        text += f"| {row['setting']} | {row['method']} | {counts} | {' | '.join(cells)} |\n"
    return text


def _spread(values: list[float]) -> str:
    low, high = min(values), max(values)
    if len(values) == 1:
        return f"{low:.1f}"
    return f"{np.mean(values):.1f} ({low:.1f} to {high:.1f})"


def main(
    draws: Annotated[int, typer.Option(help="Draws of ties, and of rounding.")] = DRAWS,
    out: Annotated[Path, typer.Option(help="File of the figures.")] = Path(
        "results/paper/ice_ties.json"
    ),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = Path(
        "docs/methods.md"
    ),
) -> None:
    """Measure all orders, store the figures and renew the table."""
    console = Console(width=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DoubtfulLabelsWarning)
        rows = measure(datasets.load("lost"), draws, console)
    command = f"python -m benchmarks.paper.ice_ties --draws {draws}"
    stored = {"command": command, "data": "Lost", "rounding": ROUNDING, "rows": rows}
    out.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    put_into(document, table(rows), "ice-ties")
    console.print(table(rows), highlight=False)


if __name__ == "__main__":
    typer.run(main)
