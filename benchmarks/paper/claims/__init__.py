"""Every claim the paper makes about its results, judged from stored runs.

A claim is judged twice: with the paper's methods to the letter, and at our settings. ``base`` says
what a claim is and how it is judged, ``shared_rules`` has rules of several claims, and the other
files have the claims: ``general``, ``fiw_inductive``, ``fiw_extra``, ``pie``, ``lost``, ``yahoo``,
``lambda_gamma``, ``elimination_rounds`` and ``projection``.
"""

from benchmarks.paper.claims import (
    elimination_rounds,
    fiw_extra,
    fiw_inductive,
    general,
    lambda_gamma,
    lost,
    pie,
    projection,
    yahoo,
)
from benchmarks.paper.claims.base import (
    SETTINGS,
    Claim,
    ClaimVerdict,
    Finding,
    Judgement,
    judged,
)

CLAIMS: tuple[Claim, ...] = (
    *general.CLAIMS,
    *fiw_inductive.CLAIMS,
    *fiw_extra.CLAIMS,
    *pie.CLAIMS,
    *lost.CLAIMS,
    *yahoo.CLAIMS,
    *lambda_gamma.CLAIMS,
    *elimination_rounds.CLAIMS,
    *projection.CLAIMS,
)

__all__ = ["CLAIMS", "SETTINGS", "Claim", "ClaimVerdict", "Finding", "Judgement", "judged"]
