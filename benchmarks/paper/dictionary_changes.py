"""python -m benchmarks.paper.dictionary_changes: the dictionary methods, one change at a time.

Why do DLSD, DLHD and KDLSD label faces so badly? Each row changes one thing: atoms, codes,
features, or on what a code is. *Test* is the error on the other half, by the method's own
dictionaries and by naive's linear machine on the labels found; *labels* that of the labels found.
No setting is chosen by these figures: what they show is a cause. Means over seeds go to
``results/paper/dictionary_changes.json``, a table into ``docs/methods.md``. Needs
``CANDIDLY_DATA``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from benchmarks.documents import put_into
from candidly import datasets, labelling_error, make_ambiguous, methods

SEEDS = 2
Rows = NDArray[np.floating]


@dataclass(frozen=True)
class Change:
    """One thing that is changed: parameters, or the features given a half to learn them from."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    features: Callable[[Rows], Callable[[Rows], Rows]] | None = None


def centred(X: Rows) -> Callable[[Rows], Rows]:
    """Return a function that subtracts the mean picture."""
    mean = X.mean(axis=0)
    return lambda rows: rows - mean


def whitened(X: Rows) -> Callable[[Rows], Rows]:
    """Return a function to 100 principal components of equal size."""
    return PCA(100, whiten=True, random_state=0).fit(X).transform


STANDS = Change("as it stands: 15 atoms at most, 5 in a code")
ATOMS = Change("as many atoms as instances, up to 15", {"atom_share": 1.0})
CODES = Change("10 atoms in a code", {"sparsity": 10})
JOINT = Change("one code over all classes", {"coding": "joint"})
BOTH = Change("that, and as many atoms as instances", {"coding": "joint", "atom_share": 1.0})
CHANGES = {
    "DLSD": (
        STANDS,
        ATOMS,
        Change("the same, up to 50", {"atom_share": 1.0, "n_atoms": 50}),
        CODES,
        Change("2 atoms in a code", {"sparsity": 2}),
        Change(
            "all instances as atoms, codes of all",
            {"atom_share": 1.0, "n_atoms": 50, "sparsity": 50},
        ),
        Change("the mean picture subtracted", features=centred),
        Change("100 principal components, whitened", features=whitened),
        JOINT,
        BOTH,
    ),
    "DLHD": (STANDS, ATOMS, CODES, JOINT, BOTH),
    "KDLSD": (STANDS, ATOMS, CODES, JOINT, BOTH),
}
COLUMNS = {
    "clear_test": "FIW 0: test",
    "test": "FIW 0.9: test",
    "machine_test": "FIW 0.9: naive's machine",
    "labels": "FIW 0.9: labels",
    "pie_labels": "PIE: labels",
    "lost_labels": "Lost: labels",
}


def halves(method: str, change: Change, fraction: float, seed: int) -> dict[str, float]:
    """Return errors in % on FIW-like: half to learn from, 2 extra labels for a fraction of it."""
    data = datasets.load("fiw10b", n_extra=0)
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y, random_state=seed)
    X, new = _featured(change, data.X[train]), _featured(change, data.X[train], data.X[test])
    candidates = make_ambiguous(
        data.y[train], ambiguous_fraction=fraction, n_extra=2, random_state=seed
    )
    model = methods.get(method).set_params(**change.params, random_state=seed).fit(X, candidates)
    machine = methods.get("naive").fit(data.X[train], model.transduction_)
    return {
        "labels": 100 * labelling_error(data.y[train], model.transduction_),
        "test": 100 * labelling_error(data.y[test], model.predict(new)),
        "machine_test": 100 * labelling_error(data.y[test], machine.predict(data.X[test])),
    }


def labels(method: str, change: Change, data: Any, seed: int) -> float:
    """Return the error in % of the labels found for all instances."""
    model = methods.get(method).set_params(**change.params, classifier=None, random_state=seed)
    return 100 * labelling_error(
        data.y, model.fit_predict(_featured(change, data.X), data.candidates)
    )


def measure(method: str, change: Change, seeds: int) -> dict[str, Any]:
    """Return the mean errors in % of a method with a change."""
    found: dict[str, list[float]] = {name: [] for name in COLUMNS}
    for seed in range(seeds):
        found["clear_test"].append(halves(method, change, 0, seed)["test"])
        for name, value in halves(method, change, 0.9, seed).items():
            found[name].append(value)
        pie = datasets.load("pie", people=18, each=21, n_extra=3, random_state=seed)
        found["pie_labels"].append(labels(method, change, pie, seed))
        found["lost_labels"].append(labels(method, change, datasets.load("lost"), seed))
    means = {name: round(float(np.mean(values)), 2) for name, values in found.items()}
    return {"method": method, "change": change.name, "params": change.params, **means}


def _featured(change: Change, X: Rows, new: Rows | None = None) -> Rows:
    rows = X if new is None else new
    return rows if change.features is None else change.features(X)(rows)


def table(found: list[dict[str, Any]]) -> str:
    """Return the means as a table in Markdown."""
    text = f"| method | change | {' | '.join(COLUMNS.values())} |\n"
    text += f"|---|---|{'---:|' * len(COLUMNS)}\n"
    for row in found:
        cells = " | ".join(f"{row[name]:.1f}" for name in COLUMNS)
        text += f"| {row['method']} | {row['change']} | {cells} |\n"
    return text


def shows(found: list[dict[str, Any]]) -> str:
    """Return in words what the changes show of DLSD, and what remains."""
    of = {row["change"]: row for row in found if row["method"] == "DLSD"}
    if not {STANDS.name, ATOMS.name, CODES.name, JOINT.name, BOTH.name} <= of.keys():
        return ""

    def clear(change: Change) -> str:
        return f"{of[change.name]['clear_test']:.1f}"

    return (
        f"Without any ambiguity DLSD has {clear(STANDS)}% test error as it stands. More atoms "
        f"({clear(ATOMS)}) or longer codes ({clear(CODES)}) alone do not mend it: a class that "
        "codes a face alone spends its atoms on what all faces share. One code over all classes, "
        f"nothing else changed, brings it to {clear(JOINT)}, with as many atoms as instances to "
        f"{clear(BOTH)}. That is an option (coding='joint'), not the default: the publication "
        "codes by class, and it was found while looking at test errors. What remains: repaired so, "
        f"DLSD still labels {of[BOTH.name]['labels']:.1f}% wrong where nine faces of ten are "
        "ambiguous; the claims about dictionaries are judged on the methods as they stand, which "
        "makes them easier to hold."
    )


def main(
    seeds: Annotated[int, typer.Option(help="Repeats.")] = SEEDS,
    out: Annotated[Path, typer.Option(help="File of the figures.")] = Path(
        "results/paper/dictionary_changes.json"
    ),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = Path(
        "docs/methods.md"
    ),
) -> None:
    """Measure all changes, store the means and renew the table."""
    console = Console(width=200)
    cases = [(method, change) for method, changes in CHANGES.items() for change in changes]
    found = [measure(*case, seeds) for case in track(cases, "changes", console=console)]
    command = f"python -m benchmarks.paper.dictionary_changes --seeds {seeds}"
    stored = {"command": command, "seeds": seeds, "rows": found}
    out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    put_into(document, table(found), "dictionary-changes")
    console.print(table(found), highlight=False)


if __name__ == "__main__":
    typer.run(main)
