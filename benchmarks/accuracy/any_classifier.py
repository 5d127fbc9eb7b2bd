"""python -m benchmarks.accuracy.any_classifier: any classifier in the loop, against one round.

Labelling error in %, means over three seeds. *Frequency* takes the most frequent candidate. *One
round* trains the estimator once on all candidates with equal weights, and takes the most probable
candidate by models that were not trained on the instance. The table goes to
``results/any_classifier.md`` and into ``docs/methods.md``; single runs are not stored. Real data
sets need ``CANDIDLY_DATA``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils import Bunch, _safe_indexing

from benchmarks.documents import keep
from candidly import Candidates, SelfLabelling, datasets, labelling_error, make_ambiguous
from candidly.estimators.self_labelling import default_estimator

METHODS = Path("docs/methods.md")
"""The document on methods."""
SEEDS = range(3)
TREES = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8)


def mixed_table(n_rows: int = 800, *, random_state: int = 0) -> Bunch:
    """Return a made-up table of six classes: skewed numbers, missing values, a category."""
    rng = np.random.default_rng(random_state)
    y = rng.integers(6, size=n_rows)
    numbers = rng.normal(size=(n_rows, 6))
    numbers[:, 0] += 2 * np.cos(y)
    numbers[:, 1] = np.where(y % 2, 3 * np.abs(numbers[:, 1]), numbers[:, 1])
    numbers[:, 2] = np.exp(numbers[:, 2] + y / 2)
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    colours = np.array(["red", "green", "blue", "white", "black"])
    colour = np.where(rng.random(n_rows) < 0.7, y // 2, rng.integers(5, size=n_rows))
    X = pd.DataFrame(numbers, columns=[f"number {k}" for k in range(6)])
    X["colour"] = pd.Categorical(colours[colour])
    return Bunch(X=X, y=y, candidates=make_ambiguous(y, n_extra=2, random_state=random_state))


def words(n_texts: int = 1000, *, random_state: int = 0) -> Bunch:
    """Return made-up texts: 0/1 in sparse rows, classes of 0.5 to 40%, candidates by frequency."""
    rng = np.random.default_rng(random_state)
    share = np.geomspace(0.005, 0.4, 12)
    share /= share.sum()
    y = rng.choice(12, n_texts, p=share)
    used = np.tile(rng.uniform(0.005, 0.05, 800), (12, 1))
    for row in used:
        row[rng.choice(800, 12, replace=False)] += 0.25
    mask = np.zeros((n_texts, 12), dtype=bool)
    mask[np.arange(n_texts), y] = True
    for row in mask:
        row[rng.choice(12, rng.integers(1, 4), p=share)] = True
    X = sparse.csr_array((rng.random((n_texts, 800)) < used[y]).astype(float))
    return Bunch(X=X, y=y, candidates=Candidates.from_mask(mask))


def frequency(data: Bunch) -> float:
    """Return the error of the most frequent candidate."""
    mask = data.candidates.mask
    best = np.where(mask, mask.sum(axis=0), -1).argmax(axis=1)
    return labelling_error(data.y, data.candidates.classes[best])


def one_round(estimator: Any, data: Bunch) -> float:
    """Return the error of the estimator trained once on all candidates with equal weights."""
    mask, proba = data.candidates.mask, np.zeros(data.candidates.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(proba):
        rows, labels = np.nonzero(mask[train])
        model = estimator.fit(_safe_indexing(data.X, train[rows]), labels)
        proba[np.ix_(test, model.classes_)] = model.predict_proba(_safe_indexing(data.X, test))
    best = np.where(mask, proba, -1).argmax(axis=1)
    return labelling_error(data.y, data.candidates.classes[best])


PROBLEMS: dict[str, tuple[Callable[[int], Bunch], Any]] = {
    "digits 10 x 60, 3 extra, default": (
        lambda seed: datasets.load("digits", each=60, n_extra=3, random_state=seed),
        None,
    ),
    "table with NaN and a category, boosted trees": (
        lambda seed: mixed_table(random_state=seed),
        TREES,
    ),
    "sparse words, logistic regression": (
        lambda seed: words(random_state=seed),
        LogisticRegression(),
    ),
    "sparse words, naive Bayes": (lambda seed: words(random_state=seed), MultinomialNB()),
    "Lost, default": (lambda seed: datasets.load("lost"), None),
    "MSRCv2, default": (lambda seed: datasets.load("msrcv2"), None),
}


def measure(load: Callable[[int], Bunch], estimator: Any) -> list[float]:
    """Return the errors in % of frequency, one round and the loop."""
    found = []
    for seed in SEEDS:
        data = load(seed)
        inner = default_estimator(data.X) if estimator is None else estimator
        labels = SelfLabelling(estimator, random_state=seed).fit_predict(data.X, data.candidates)
        looped = labelling_error(data.y, labels)
        found.append([frequency(data), one_round(inner, data), looped])
    return (100 * np.mean(found, axis=0)).tolist()


def main(
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = METHODS,
) -> None:
    """Measure all problems, and write the table."""
    console = Console(width=200)
    text = "| problem, estimator | frequency | one round | SelfLabelling |\n|---|---:|---:|---:|\n"
    for name, (load, estimator) in PROBLEMS.items():
        cells = " | ".join(f"{number:.1f}" for number in measure(load, estimator))
        text += f"| {name} | {cells} |\n"
    keep(text, "any-classifier", out / "any_classifier.md", document)
    console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
