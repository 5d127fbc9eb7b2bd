"""Claims about the projection of the labels, and about convergence."""

from __future__ import annotations

from benchmarks.paper.claims.base import Claim, Finding
from benchmarks.paper.experiments import PROJECTION
from benchmarks.paper.stored_runs import PaperResults

TEXT = "Section 7.5"


def _euclidean(results: PaperResults, ending: str) -> Finding:
    said, gaps = [], []
    for where in results.points("projection", PROJECTION):
        for method in ("MCar", "WMCar"):
            at = {PROJECTION: where}
            pair = [f"{kind}: {method}{ending}" for kind in ("euclidean", "simple")]
            gap = results.difference("projection", pair[0], pair[1], **at)
            gap.known(f"projection: {where}")
            gaps.append(gap)
            one, two = (results.mean("projection", name, **at) for name in pair)
            said.append(f"{where}, {method}: Euclidean {one:.1f}, simple {two:.1f} ({gap})")
    worse = sum(gap.above() for gap in gaps)
    return Finding(2 * worse >= len(gaps) and not any(gap.below() for gap in gaps), "; ".join(said))


def _less_sparse(results: PaperResults, ending: str) -> Finding:
    said, holds = [], True
    for where in results.points("projection", PROJECTION):
        simple, euclidean = (
            _figure(results, "support", f"{kind}: MCar{ending}", where)
            for kind in ("simple", "euclidean")
        )
        holds &= euclidean > simple
        said.append(f"{where}: simple {simple:.2f}, Euclidean {euclidean:.2f}")
    return Finding(holds, "candidates with soft labels above 0, per face: " + "; ".join(said))


def _converges(results: PaperResults, ending: str) -> Finding:
    said, holds = [], True
    for where in results.points("projection", PROJECTION):
        residual, gap, changed = (
            _figure(results, name, f"simple: MCar{ending}", where)
            for name in ("residual", "gap", "changed_at_end")
        )
        holds &= residual < 1e-4 and gap < 1e-2 and changed == 0
        said.append(
            f"{where}: residual {residual:.0e}, gap {gap:.0e}, {changed:.0f} labels changed in "
            "the last ten iterations"
        )
    return Finding(holds, "; ".join(said))


def _figure(results: PaperResults, name: str, method: str, where: str) -> float:
    """Return the largest value of a figure over the repeats."""
    return float(results.figures(name, "projection", method, **{PROJECTION: where}).max())


CLAIMS = (
    Claim(
        "projection",
        "projection",
        TEXT,
        "With the Euclidean projection MCar is clearly worse,",
        "beyond 2 standard errors for half of the data sets and variants or more, and better for "
        "none; the paper does not say on which data",
        _euclidean,
    ),
    Claim(
        "projection-sparse",
        "projection",
        TEXT,
        "because it leaves soft labels less sparse.",
        "more candidates with soft labels above 0 per face, on each data set",
        _less_sparse,
    ),
    Claim(
        "convergence",
        "projection",
        TEXT,
        "MCar is seen to converge.",
        "residual below 1e-4, label gap below 1e-2, and no label changed in the last ten "
        "iterations, in every run",
        _converges,
    ),
    Claim(
        "convergence-theory",
        "projection",
        TEXT,
        "The simple projection is not non-expansive, so the usual proof does not apply.",
        "",
        None,
        "A matter of proof, not of results: (0.01, 0) and (0, 0.01) are close, and go to (1, 0) "
        "and (0, 1).",
    ),
)
