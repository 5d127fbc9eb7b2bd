"""Claims about the projection of the labels, convergence, and Proposition 1."""

from __future__ import annotations

from benchmarks.paper.claims.base import Claim, ClaimKind, Evidence, Finding, strength
from benchmarks.paper.claims.rules import by_face, meeting, pooled, tells, total
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.experiments import PROJECTION

TEXT = "Section 7.5"
PLACES = ("Lost", "FIW-like, 3 extra", "PIE, 3 extra")


def _euclidean(view: SettingView) -> Finding:
    view.figure_name("projection")
    rows, gaps = [], []
    for where in PLACES:
        at = {PROJECTION: where}
        for method in ("MCar", "WMCar"):
            simple, euclidean = (f"{kind}: {method}" for kind in ("simple", "euclidean"))
            if where == "Lost":
                gap = by_face(view, "projection", simple, euclidean, **at)
            else:
                gap = total([meeting(view, "projection", [simple], [euclidean], where, **at)])
            one, two = (view.mean("projection", name, **at) for name in (simple, euclidean))
            if max(one, two) > 0:
                gaps.append(gap)
            rows.append((where, method, f"{one:.1f}", f"{two:.1f}", str(gap)))
    whole = pooled(gaps)
    most = 2 * sum(gap.mean < 0 for gap in gaps) > len(gaps)
    table = Evidence(("on", "method", "simple", "Euclidean", "difference"), tuple(rows))
    return Finding(whole.mean < 0 and most, strength(whole), table, str(whole))


def _less_sparse(view: SettingView) -> Finding:
    rows, holds = [], True
    for where in PLACES:
        simple, euclidean = (
            _largest(view, "support", f"{kind}: MCar", where) for kind in ("simple", "euclidean")
        )
        holds &= euclidean > simple
        rows.append((where, f"{simple:.2f}", f"{euclidean:.2f}"))
    return tells(holds, ("candidates above 0 per face, on", "simple", "Euclidean"), rows)


def _converges(view: SettingView) -> Finding:
    rows, holds = [], True
    for where in PLACES:
        residual, gap, changed = (
            _largest(view, name, "simple: MCar", where)
            for name in ("residual", "gap", "changed_at_end")
        )
        holds &= residual < 1e-4 and gap < 1e-2 and changed == 0
        rows.append((where, f"{residual:.0e}", f"{gap:.0e}", f"{changed:.0f}"))
    return tells(holds, ("on", "residual", "label gap", "labels changed at the end"), rows)


def _largest(view: SettingView, name: str, method: str, where: str) -> float:
    found = view.stored("projection", method, **{PROJECTION: where})
    return max(float(one[name]) for one in found)


def _expands(view: SettingView) -> Finding:
    found = view.stored("propositions", "ranks")
    simple, euclidean = (max(one[name] for one in found) for name in ("simple", "euclidean"))
    rows = [("simple", f"{simple:.1f}"), ("Euclidean", f"{euclidean:.3f}")]
    holds = simple > 1 and euclidean <= 1 + 1e-9
    return tells(holds, ("projection", "largest growth of a distance"), rows)


def _proposition(view: SettingView) -> Finding:
    found = view.stored("propositions", "ranks")
    holds = all(one["rank"] <= one["vertices"] < one["rank_ambiguous"] for one in found)
    one = found[0]
    rows = [
        ("[P; X], true labels", one["rank"]),
        ("[P; X], ambiguous labels", one["rank_ambiguous"]),
        ("vertices of all hulls", one["vertices"]),
        ("instances", one["instances"]),
    ]
    return tells(holds, ("made-up hulls without noise", "rank or number"), rows)


CLAIMS = (
    Claim(
        "projection",
        "projection",
        TEXT,
        "With the Euclidean projection MCar is clearly worse,",
        "the simple one has less error, mean over data sets, MCar and WMCar, and for more than "
        "half of them; the paper does not say on which data",
        _euclidean,
    ),
    Claim(
        "projection-sparse",
        "projection",
        TEXT,
        "because it leaves soft labels less sparse.",
        "more candidates with soft labels above 0 per face, on each data set",
        _less_sparse,
        ClaimKind.EXPLANATION,
    ),
    Claim(
        "convergence",
        "projection",
        TEXT,
        "MCar is seen to converge.",
        "residual below 1e-4, label gap below 1e-2, and no label changed in the last ten "
        "iterations, in every run",
        _converges,
        ClaimKind.DEFINITION,
    ),
    Claim(
        "convergence-theory",
        "propositions",
        TEXT,
        "The simple projection is not non-expansive, so the usual proof does not apply.",
        "some of 5,000 random pairs of soft labels are farther apart after it, none after the "
        "Euclidean one",
        _expands,
        ClaimKind.DEFINITION,
        settled=True,
    ),
    Claim(
        "proposition-1",
        "propositions",
        "Section 3.1, Proposition 1",
        "Without noise the matrix of features and true labels is low-rank.",
        "for points inside made-up hulls its rank is at most the number of vertices, and greater "
        "with ambiguous labels",
        _proposition,
        ClaimKind.DEFINITION,
        settled=True,
    ),
)
