"""Claims about FIW with a test half: Figures 4(a) and 4(b)."""

from __future__ import annotations

import numpy as np

from benchmarks.paper.claims.base import (
    PRIOR,
    Claim,
    Finding,
    beats,
    meetings,
    told,
)
from benchmarks.paper.claims.shared_rules import (
    AHEAD,
    ALIKE,
    BALANCED,
    OVERALL,
    alike,
    balanced,
    between,
    imbalance,
    lead,
    two_stages,
    versus,
)
from benchmarks.paper.experiments import EPSILON, FRACTION
from benchmarks.paper.published import IMBALANCE
from benchmarks.paper.stored_runs import NotRunError, PaperResults

A, B = "fiw-fraction", "fiw-cooccurrence"
TEXT = "Section 7.2.1"
PAST = 1e-6  # "past 0.7" leaves 0.7 out
ENOUGH = 5  # repeats for a correlation
_SECOND_STAGE = (
    "The labels of the training half are resolved, but the second stage is weak: a linear SVM, "
    "one against one, on the pixels of 250 faces does no better on the true labels themselves, "
    "while CLPL, one against all on standardised features, does. These faces are also better "
    "aligned than the paper's, which favours linear scores."
)


def _mcar_until(results: PaperResults, ending: str) -> Finding:
    mine, points = (f"MCar{ending}",), between(results, B, EPSILON, 0, 0.7)
    met = meetings(results, B, EPSILON, points, mine, PRIOR)
    return Finding(beats(met), told(met) + two_stages(results, B, EPSILON, points, mine))


def _mcar_loses(results: PaperResults, ending: str) -> Finding:
    points = between(results, B, EPSILON, 0.7 + PAST, 1)
    met = meetings(results, B, EPSILON, points, [f"MCar{ending}"], PRIOR)
    return Finding(not any(one.gap.below() for one in met), told(met))


def _factor(results: PaperResults, ending: str) -> Finding:
    points = results.points(B, EPSILON)
    mean = {x: imbalance(results, B, ending, EPSILON, x) for x in points}
    least, greatest = IMBALANCE
    near = abs(mean[points[0]] - least) <= 0.2 and abs(mean[points[-1]] - greatest) <= 0.75
    if points[0] > 0.2 or points[-1] < 1:
        raise NotRunError(f"{B}: the ends of the grid")
    text = "; ".join(f"{x}: {value:.2f}" for x, value in mean.items())
    return Finding(near, f"{text} (the paper: {least} to {greatest})")


def _imbalance_hurts(results: PaperResults, ending: str) -> Finding:
    """Judge imbalance at one ε, where labels co-occur equally often and only imbalance differs."""
    name, points = f"MCar{ending}", between(results, B, EPSILON, 0.7, 1)
    seen: dict[int, list[tuple[float, float]]] = {}
    for x in points:
        for line in results.select(B, name, **{EPSILON: x}):
            if line["figures"]["error"] is not None:
                pair = line["figures"]["imbalance"], line["figures"]["error"]
                seen.setdefault(line["seed"], []).append(pair)
    # A seed draws the same partners at every ε, so that it counts once.
    means = np.array(
        [np.mean(pairs, axis=0) for pairs in seen.values() if len(pairs) == len(points)]
    )
    if len(means) < ENOUGH:
        raise NotRunError(f"{B}: {name}, {ENOUGH} repeats")
    factor, error = means.T
    alike = float(np.corrcoef(factor, error)[0, 1]) if factor.std() * error.std() > 0 else 0.0
    return Finding(
        alike > 2 / np.sqrt(len(means)),
        f"correlation {alike:+.2f} over {len(means)} repeats; imbalance factor "
        f"{factor.min():.1f} to {factor.max():.1f}, error {error.min():.1f} to {error.max():.1f}",
    )


CLAIMS = (
    Claim(
        "fraction-lead",
        A,
        f"{TEXT}, Figure 4(a)",
        "Past an ambiguous fraction of 0.2 the MCar-based methods clearly beat all others.",
        f"at every fraction above 0.2 {AHEAD}",
        lead(A, FRACTION, 0.2 + PAST, 1),
        _SECOND_STAGE,
    ),
    Claim(
        "fraction-weights",
        A,
        f"{TEXT}, Figure 4(a)",
        "WMCar is comparable to MCar there,",
        ALIKE,
        alike(A, FRACTION, "WMCar", "MCar", 0.1, 1),
    ),
    Claim(
        "fraction-balanced",
        A,
        TEXT,
        "since these labels are not substantially imbalanced.",
        f"the imbalance factor is at most {BALANCED}",
        balanced(A, FRACTION, PAST, 1),
        settled=True,
    ),
    Claim(
        "fraction-ice",
        A,
        f"{TEXT}, Figure 4(a)",
        "Past a fraction of 0.7 WMCar-ICE beats MCar and WMCar.",
        f"against the better of the two, above 0.7: {OVERALL}",
        versus(A, FRACTION, "WMCar-ICE", ("MCar", "WMCar"), 0.7 + PAST, 1),
        "With 2 extra labels the training half is all but resolved without elimination, so that "
        "ICE has little to gain, and what it gains is lost in the second stage.",
    ),
    Claim(
        "fraction-ice-small",
        A,
        TEXT,
        "Where few faces are ambiguous ICE gains nothing to speak of.",
        f"against WMCar, up to a fraction of 0.5: {ALIKE}",
        alike(A, FRACTION, "WMCar-ICE", "WMCar", 0.1, 0.5),
    ),
    Claim(
        "fraction-ice-why",
        A,
        TEXT,
        "The order of elimination profits from the diverse soft labels of many ambiguous faces.",
        "",
        None,
        "An explanation: no result of the paper, or here, tells it from others.",
    ),
    Claim(
        "cooccurrence-lead",
        B,
        f"{TEXT}, Figure 4(b)",
        "MCar beats earlier methods at low and intermediate ε,",
        "up to ε 0.7 it is better than the best other method beyond 2 standard errors",
        _mcar_until,
        _SECOND_STAGE,
    ),
    Claim(
        "cooccurrence-limit",
        B,
        f"{TEXT}, Figure 4(b)",
        "but not past 0.7.",
        "nowhere above ε 0.7 it is better than the best other method beyond 2 standard errors",
        _mcar_loses,
    ),
    Claim(
        "cooccurrence-why",
        B,
        TEXT,
        "A label that always goes with the true one is a low-rank part of the labels too.",
        "",
        None,
        "An explanation: how often labels go together is never varied without imbalance.",
    ),
    Claim(
        "cooccurrence-factor",
        B,
        TEXT,
        "The mean imbalance factor goes from 1.33 to 3.58 as ε grows.",
        "it is within 0.2 of 1.33 at the smallest ε and within 0.75 of 3.58 at ε = 1",
        _factor,
        "How partners are drawn is not said, and decides the factor.",
        settled=True,
    ),
    Claim(
        "cooccurrence-weights",
        B,
        f"{TEXT}, Figure 4(b)",
        "At high ε WMCar beats MCar.",
        f"above ε 0.7: {OVERALL}",
        versus(B, EPSILON, "WMCar", ("MCar",), 0.7 + PAST, 1),
        "Weights cannot tell two labels apart that always go together, and results differ much "
        "between repeats.",
    ),
    Claim(
        "cooccurrence-ice",
        B,
        f"{TEXT}, Figure 4(b)",
        "WMCar-ICE beats WMCar.",
        f"over all ε: {OVERALL}",
        versus(B, EPSILON, "WMCar-ICE", ("WMCar",), 0, 1),
        "With ε = 1 nothing tells a label from the partner it always comes with, so that "
        "elimination decides between them without evidence, and for good.",
    ),
    Claim(
        "cooccurrence-imbalance",
        B,
        TEXT,
        "Imbalance of labels hurts although people have equally many faces.",
        "at the same ε, from 0.7, the error of MCar is greater in repeats with a greater imbalance "
        "factor: a correlation beyond 2 standard errors",
        _imbalance_hurts,
        "At the same ε errors differ much between repeats, but not along with the factor: that "
        "labels go together seems to hurt, more than that some are listed more often.",
    ),
)
