"""Every claim the paper makes about its results, judged from stored runs.

A claim is judged under four settings of the paper's methods, by labels and by test error. ``base``
says what a claim and a verdict are, ``view`` shows a rule the stored runs under a setting,
``rules`` has what several claims share, ``changes`` the experiments with one change, and
``document`` writes all of it. The other files have
the claims: ``general``, ``fiw_inductive``, ``fiw_extra``, ``pie``, ``lost``, ``yahoo``,
``lambda_gamma``, ``elimination_rounds`` and ``projection``. ``../rules.md`` has the rules as they
were written before the runs.
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
from benchmarks.paper.claims.base import Claim, ClaimKind, Judgement, Strength, Verdict, judged
from benchmarks.paper.claims.view import SettingView

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

__all__ = [
    "CLAIMS",
    "Claim",
    "ClaimKind",
    "Judgement",
    "SettingView",
    "Strength",
    "Verdict",
    "judged",
]
