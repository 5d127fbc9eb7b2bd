"""Every claim the paper makes about its results, judged from stored runs.

A claim is judged twice: with the paper's methods to the letter, and at our settings.
"""

from benchmarks.paper.claims import (
    elimination,
    fiw_extra,
    fiw_inductive,
    general,
    lost,
    pie,
    projection,
    weights,
    yahoo,
)
from benchmarks.paper.claims.base import (
    SETTINGS,
    Claim,
    Finding,
    Judgement,
    Verdict,
    judged,
)

CLAIMS: tuple[Claim, ...] = (
    *general.CLAIMS,
    *fiw_inductive.CLAIMS,
    *fiw_extra.CLAIMS,
    *pie.CLAIMS,
    *lost.CLAIMS,
    *yahoo.CLAIMS,
    *weights.CLAIMS,
    *elimination.CLAIMS,
    *projection.CLAIMS,
)

__all__ = ["CLAIMS", "SETTINGS", "Claim", "Finding", "Judgement", "Verdict", "judged"]
