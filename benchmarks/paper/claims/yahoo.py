"""Claims about news photos with captions; Labeled Yahoo! News itself is not available."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.claims.base import TEST, Claim, ClaimKind, Finding, OneChange, Rule, Strength
from benchmarks.paper.claims.changes import NEWS_STAGE, PHOTOS
from benchmarks.paper.claims.rules import below, evidence, meeting, tells, total
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.experiments import COLLECTION
from benchmarks.paper.method_entries import BOUND
from benchmarks.paper.stored_runs import ENOUGH, NotRunError

TEXT = "Section 7.3.2"
OTHERS = ("CL-SVM", "MM-SVM", "MMS", "LR-SVM")
AT: dict[str, Any] = {COLLECTION: "LFW"}
APART = 2.0
BOTH = ("somebody has to be named", "nobody has to be named")


def _better(first: str, seconds: tuple[str, ...]) -> Rule:
    return lambda view: below([meeting(view, "yahoo", [first], seconds, "LFW", **AT)], COLLECTION)


def _slightly_worse(view: SettingView) -> Finding:
    met = [meeting(view, "yahoo", ["MCar"], ["MMS"], "LFW", **AT)]
    gap = total(met)
    holds = gap.mean <= APART
    spread = gap.error if gap.count >= ENOUGH else np.inf
    sure, surely_not = gap.mean + 2 * spread <= APART, gap.mean - 2 * spread > APART
    if holds:
        strength = Strength.SURE if sure else Strength.DIRECTION
    else:
        strength = Strength.SURELY_OPPOSITE if surely_not else Strength.OPPOSITE
    return Finding(holds, strength, evidence(COLLECTION, met), str(gap))


def _biased(view: SettingView) -> Finding:
    found = view.stored("yahoo", "MCar", **AT)
    null, true = (
        float(np.mean([one[f] for one in found])) for f in ("null_share", "true_null_share")
    )
    rows = [("LFW", f"{null:.1f}", f"{true:.1f}")]
    return tells(null > true + 1, (COLLECTION, "% labelled null", "% that are"), rows)


def _captions(view: SettingView) -> Finding:
    found = [one for one in view.stored("yahoo", BOUND.name, **AT) if "fewest mentions" in one]
    if not found:
        raise NotRunError("yahoo: the premise")
    names = (
        *("faces", "photos", "names", "null faces %", "photos with nobody named %"),
        *("fewest mentions", "most mentions", "mean mentions", "deviation of mentions"),
    )
    rows = [(name, found[0][name]) for name in names]
    holds = found[0]["fewest mentions"] >= 20
    holds &= found[0]["most mentions"] >= 10 * found[0]["fewest mentions"]
    return tells(holds, ("the LFW photos", ""), rows)


def _constraint(view: SettingView) -> Finding:
    pair = [f"MCar, {how}" for how in BOTH]
    return below([meeting(view, "named", pair[:1], pair[1:], "LFW", **AT)], COLLECTION)


def _null_takes_over(view: SettingView) -> Finding:
    shares = []
    for how in BOTH:
        found = view.stored("named", f"MCar, {how}", **AT)
        shares.append(float(np.mean([one["null_share"] for one in found])))
    true = float(found[0]["true_null_share"])
    rows = [(how, f"{share:.1f}") for how, share in zip(BOTH, shares, strict=True)]
    rows.append(("true", f"{true:.1f}"))
    holds = shares[1] > true and shares[1] > shares[0]
    return tells(holds, ("constraint", "% labelled null"), rows)


def _claim(name: str, says: str, rule: str, judge: Rule, why: OneChange = PHOTOS) -> Claim:
    place = f"{TEXT}, Table 2"
    return Claim(name, "yahoo", place, says, rule, judge, main=TEST, why=why)


CLAIMS = (
    _claim(
        "news-mms",
        "MCar-SVM is only slightly (0.2 points) worse than MMS.",
        f"it has at most {APART:.0f} points more error",
        _slightly_worse,
    ),
    Claim(
        "news-bias",
        "yahoo",
        TEXT,
        "Labels found by MCar are biased towards frequent ones.",
        "MCar labels more faces with the most frequent label, null, than belong to it, by over a "
        "point",
        _biased,
        ClaimKind.EXPLANATION,
    ),
    _claim(
        "news-lr-svm",
        "MCar-SVM beats LR-SVM (by 4.7 points).",
        "it has less error",
        _better("MCar", ("LR-SVM",)),
    ),
    _claim(
        "news-weights-ice",
        "WMCar-ICE-SVM beats MCar-SVM (by 1.6 points).",
        "it has less error",
        _better("WMCar-ICE", ("MCar",)),
    ),
    _claim(
        "news-weights",
        "WMCar-SVM beats MCar-SVM (by 0.9 points).",
        "it has less error",
        _better("WMCar", ("MCar",)),
    ),
    _claim(
        "news-ice",
        "Without weights ICE hurts: MCar-ICE-SVM is worse than MCar-SVM (by 0.5 points).",
        "MCar has less error",
        _better("MCar", ("MCar-ICE",)),
    ),
    _claim(
        "news-best",
        "WMCar-ICE-SVM has the least error of all.",
        "it has less error than the best of all others",
        _better("WMCar-ICE", (*OTHERS, "MCar", "WMCar", "MCar-ICE")),
        NEWS_STAGE,
    ),
    Claim(
        "news-imbalance",
        "yahoo",
        TEXT,
        "Names are in 20 to 1,917 captions, 64.6 ± 147.3 on average: labels are imbalanced.",
        "names are in 20 captions and more, the most frequent in ten times as many as the rarest",
        _captions,
        ClaimKind.FIGURE,
        settled=True,
    ),
    Claim(
        "news-lr-svm-why",
        "yahoo",
        TEXT,
        "It is better to assign labels across all faces than class by class in turn.",
        "",
        None,
        ClaimKind.EXPLANATION,
        why=OneChange("The two methods differ in more than that."),
    ),
    Claim(
        "named-constraint",
        "named",
        "Section 6",
        "The constraint that somebody be named avoids the trivial solution:",
        "with it MCar has fewer wrong labels than without",
        _constraint,
    ),
    Claim(
        "named-null",
        "named",
        "Section 6",
        "all faces null.",
        "without it more faces are labelled null than are, and more than with it",
        _null_takes_over,
        ClaimKind.EXPLANATION,
    ),
)
