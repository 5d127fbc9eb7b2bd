"""Claims about Lost: the table, and the distribution of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.claims.base import COMPONENTS, Claim, Finding, Judge
from benchmarks.paper.stored_runs import NotRunError, PaperResults

TEXT = "Section 7.3.1"
SURE = "beyond 2 standard errors, face by face"


def _below(first: tuple[str, ...], second: tuple[str, ...]) -> Judge:
    """Return the rule that each of the first methods is better than each of the second."""

    def judge(results: PaperResults, ending: str) -> Finding:
        pairs = [(_named(a, ending), _named(b, ending)) for a in first for b in second]
        gaps = [(a, b, results.difference("lost", a, b)) for a, b in pairs]
        text = "; ".join(
            f"{a} {results.mean('lost', a):.1f}, {b} {results.mean('lost', b):.1f} ({gap})"
            for a, b, gap in gaps
        )
        return Finding(all(gap.below() for _, _, gap in gaps), text)

    return judge


def _named(method: str, ending: str) -> str:
    return f"{method}{ending}" if method.startswith(("MCar", "WMCar")) else method


def _close(results: PaperResults, ending: str) -> Finding:
    one, two = results.mean("lost", "MMS"), results.mean("lost", "CLPL")
    return Finding(abs(one - two) <= 2, f"MMS {one:.1f}, CLPL {two:.1f}")


def _slightly(results: PaperResults, ending: str) -> Finding:
    first, second = f"WMCar{ending}", f"MCar{ending}"
    gap = results.difference("lost", first, second)
    one, two = (results.mean("lost", name) for name in (first, second))
    return Finding(gap.mean < 0, f"{first} {one:.1f}, {second} {two:.1f} ({gap})")


def _minorities(results: PaperResults, ending: str) -> Finding:
    names = f"MCar-ICE{ending}", f"WMCar-ICE{ending}"
    rare = [float(results.figures("rare_error", "lost", name)[0]) for name in names]
    every = [results.mean("lost", name) for name in names]
    text = ", ".join(
        f"{name}: {r:.1f} on rare people, {e:.1f} on all"
        for name, r, e in zip(names, rare, every, strict=True)
    )
    return Finding(rare[0] - rare[1] > max(every[0] - every[1], 0), text)


def _sizes(results: PaperResults) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    kept = _kept(results)
    return np.array(kept["true"], float), np.array(kept["estimated"], float)


def _kept(results: PaperResults) -> dict[str, Any]:
    lines = [line for line in results.select("distribution") if "true" in line["figures"]]
    if not lines:
        raise NotRunError("distribution")
    return dict(lines[-1]["figures"])


def _close_sizes(results: PaperResults, ending: str) -> Finding:
    true, estimated = _sizes(results)
    moved = float(np.abs(true - estimated).sum() / 2 / true.sum())
    alike = float(np.corrcoef(true, estimated)[0, 1])
    return Finding(
        moved <= 0.15 and alike >= 0.9,
        f"{moved:.1%} of the mass is elsewhere, correlation {alike:.2f}; true sizes "
        f"{true[true > 0].min():.0f} to {true.max():.0f}, estimated "
        f"{estimated[estimated > 0].min():.0f} to {estimated.max():.0f}",
    )


def _imbalanced(results: PaperResults, ending: str) -> Finding:
    factor = _kept(results)["imbalance"]
    return Finding(factor > 3, f"imbalance factor {factor:.1f}")


CLAIMS = (
    Claim(
        "lost-imbalance",
        "distribution",
        f"{TEXT}, Figure 7",
        "The candidate labels of Lost are imbalanced.",
        "the imbalance factor is above 3, near the largest of the controlled experiments",
        _imbalanced,
        settled=True,
    ),
    Claim(
        "lost-sizes",
        "distribution",
        f"{TEXT}, Figure 8",
        "Class sizes estimated from the candidates are close to the true ones.",
        "at most 15% of the mass is in other classes, and the correlation is at least 0.9",
        _close_sizes,
        settled=True,
    ),
    Claim(
        "lost-discriminative",
        "lost",
        f"{TEXT}, Table 1",
        "The MCar-based methods clearly beat CLPL and MMS.",
        f"each of the four beats both {SURE}",
        _below(("MCar", "WMCar", "MCar-ICE", "WMCar-ICE"), ("CLPL", "MMS")),
        COMPONENTS,
    ),
    Claim(
        "lost-alike",
        "lost",
        f"{TEXT}, Table 1",
        "MMS is close to CLPL, since without groups their losses are alike.",
        "they differ by at most 2 points",
        _close,
        settled=True,
    ),
    Claim(
        "lost-weights",
        "lost",
        f"{TEXT}, Table 1",
        "WMCar is slightly better than MCar.",
        "its error is smaller; the paper has 0.3 points, three faces, so nothing more is asked",
        _slightly,
        "The difference is a face or two, here as there, and at our settings (centred features) "
        "the weights have less to put right.",
    ),
    Claim(
        "lost-weights-ice",
        "lost",
        f"{TEXT}, Table 1",
        "WMCar-ICE is clearly better than MCar.",
        SURE,
        _below(("WMCar-ICE",), ("MCar",)),
        "It is better, by about a dozen of 1122 faces, which is within chance; the paper has 37.",
    ),
    Claim(
        "lost-ice",
        "lost",
        f"{TEXT}, Table 1",
        "MCar-ICE is worse than WMCar-ICE,",
        SURE,
        _below(("WMCar-ICE",), ("MCar-ICE",)),
        "It is worse, and far worse on rare people (next claim), but those are few: over all faces "
        "the difference is within chance.",
    ),
    Claim(
        "lost-minorities",
        "lost",
        TEXT,
        "because without weights ICE takes away the labels of rare people.",
        "against WMCar-ICE, MCar-ICE loses more on people with fewer faces than the median than "
        "it loses on all",
        _minorities,
    ),
    Claim(
        "lost-ipal",
        "lost",
        f"{TEXT}, Table 1",
        "IPAL does not resolve these labels: scarce and imbalanced.",
        f"worse than CLPL and MMS {SURE}",
        _below(("CLPL", "MMS"), ("IPAL",)),
        settled=True,
    ),
    Claim(
        "lost-low-rank",
        "lost",
        f"{TEXT}, Table 1",
        "Low-rank methods as they were, RPCA and MC-Pos, do not resolve the ambiguity.",
        f"both are worse than naive {SURE}",
        _below(("naive",), ("RPCA", "MC-Pos")),
        settled=True,
    ),
)
