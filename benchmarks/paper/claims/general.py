"""Claims of the abstract, the introduction and the conclusions about all results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from benchmarks.paper.claims.base import (
    Claim,
    ClaimKind,
    Evidence,
    Finding,
    OneChange,
    Rule,
    Strength,
    strength,
)
from benchmarks.paper.claims.changes import by_setting
from benchmarks.paper.claims.rules import PRIOR, by_face, over, pooled, seen, total
from benchmarks.paper.claims.rules import meeting as met_at
from benchmarks.paper.claims.view import NoTestError, SettingView
from benchmarks.paper.experiments import COLLECTION, EPSILON, EXTRA, FRACTION
from benchmarks.paper.stored_runs import Difference

GRIDS = {
    "fiw-fraction": (FRACTION, 0.1, 1),
    "fiw-cooccurrence": (EPSILON, 0, 1),
    "fiw-extra": (EXTRA, 1, 8),
    "pie-fraction": (FRACTION, 0.1, 1),
    "pie-extra": (EXTRA, 1, 9),
}
"""Points where labels are ambiguous and can be resolved."""
RIVALS: dict[str, tuple[str, ...]] = {
    "lost": ("naive", "CLPL", "MMS", "IPAL"),
    "yahoo": ("CL-SVM", "MM-SVM", "MMS", "LR-SVM"),
}
Rivals = Callable[[str], Sequence[str]]


def _one(
    view: SettingView, experiment: str, first: str, seconds: Sequence[str]
) -> Difference | None:
    """Return the difference over an experiment; None where there is no error to compare."""
    if experiment == "lost":
        view.figure_name("lost")
        best = min(seconds, key=lambda name: view.mean("lost", name))
        return by_face(view, "lost", first, best)
    if experiment == "yahoo":
        at = {COLLECTION: "LFW"}
        met = [met_at(view, experiment, [first], seconds, "LFW", **at)]
    else:
        met = over(view, experiment, *GRIDS[experiment], [first], seconds)
    left = seen(met)
    return total(left) if left else None


def everywhere(first: str, against: Rivals, experiments: Sequence[str] = ()) -> Rule:
    """Return the rule that a method is better over experiments, and in more than half of them."""

    def judge(view: SettingView) -> Finding:
        gaps: dict[str, Difference | None] = {}
        for name in experiments or (*GRIDS, "lost", "yahoo"):
            with suppress(NoTestError):
                gaps[name] = _one(view, name, first, against(name))
        known = {name: gap for name, gap in gaps.items() if gap is not None}
        if not gaps:
            raise NoTestError(first)
        rows = tuple(
            (name, "no error to compare" if gap is None else str(gap)) for name, gap in gaps.items()
        )
        table = Evidence(("experiment", f"{first} minus the best other"), rows)
        if not known:
            return Finding(None, Strength.NONE, table)
        whole = pooled(list(known.values()))
        most = 2 * sum(gap.mean < 0 for gap in known.values()) > len(known)
        sure = strength(whole) if most or whole.mean >= 0 else Strength.OPPOSITE
        return Finding(whole.mean < 0 and most, sure, table, str(whole))

    return judge


def _rivals(name: str) -> Sequence[str]:
    return RIVALS.get(name, PRIOR)


def _robust(view: SettingView) -> Finding:
    gaps = {
        "fiw-extra, 1 to 4": total(seen(over(view, "fiw-extra", EXTRA, 1, 4, ["MCar"], ["CLPL"]))),
        "lost": _one(view, "lost", "MCar", ("CLPL", "MMS")),
    }
    known = [gap for gap in gaps.values() if gap is not None]
    whole = pooled(known)
    both = all(gap.mean < 0 for gap in known)
    table = Evidence(
        ("experiment", "MCar minus the best discriminative one"),
        tuple((name, str(gap)) for name, gap in gaps.items()),
    )
    sure = strength(whole) if both or whole.mean >= 0 else Strength.OPPOSITE
    return Finding(whole.mean < 0 and both, sure, table, str(whole))


def _lead(experiment: str, view: SettingView) -> float:
    gap = _one(view, experiment, "WMCar-ICE", _rivals(experiment))
    return 0.0 if gap is None else gap.mean


_EVERY = (*GRIDS, "lost", "yahoo")
WHERE_IT_LEADS = OneChange(
    "One change after the other: labels of WMCar-ICE minus those of the best earlier method, in "
    "points of error, over the ambiguous points of each experiment.",
    "",
    by_setting(_EVERY, [partial(_lead, name) for name in _EVERY]),
)
_MANY = "averaged over experiments, and in more than half of them; each over its ambiguous points"
CLAIMS = (
    Claim(
        "improvement",
        "",
        "Abstract",
        "The approach improves on existing methods on several data sets.",
        f"WMCar-ICE has less error than the best earlier method, {_MANY}",
        everywhere("WMCar-ICE", _rivals),
        why=WHERE_IT_LEADS,
    ),
    Claim(
        "ice-in-general",
        "",
        "Section 1, contribution 4",
        "WMCar-ICE beats WMCar in general.",
        f"less error, {_MANY}",
        everywhere("WMCar-ICE", lambda name: ("WMCar",)),
    ),
    Claim(
        "resolves",
        "",
        "Section 8",
        "The methods consistently resolve ambiguity, of single faces and of groups.",
        f"WMCar-ICE has less error than taking all candidates for true (naive, CL-SVM), {_MANY}",
        everywhere("WMCar-ICE", lambda name: ("CL-SVM",) if name == "yahoo" else ("naive",)),
    ),
    Claim(
        "robust",
        "",
        "Sections 1 and 8",
        "Low rank makes it more robust to variations than discriminative methods.",
        "MCar has less error than CLPL on FIW-like with 1 to 4 extra labels, and than the better "
        "of CLPL and MMS on Lost",
        _robust,
    ),
    Claim(
        "em-like",
        "",
        "Section 2",
        "EM-like methods are sensitive to where they start, and may end up suboptimal.",
        "",
        None,
        ClaimKind.EXPLANATION,
        why=OneChange(
            "A remark on others' work: no experiment of the paper, or here, varies a start."
        ),
    ),
)
