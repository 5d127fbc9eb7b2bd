"""All claims with their verdicts as data: claims.json, which the page reads."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.paper.claims import CLAIMS
from benchmarks.paper.claims.base import (
    LABELS,
    MEASURES,
    TEST,
    Claim,
    ClaimKind,
    Judgement,
    Strength,
    Verdict,
    judged,
)
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.declaration import COMMAND
from benchmarks.paper.settings import FAITHFUL, SETTINGS, PaperSetting
from benchmarks.paper.stored_runs import PaperResults

RULES = "benchmarks/paper/rules.md"
DATED = "2026-11-18"
CHANGES: tuple[dict[str, str], ...] = (
    {
        "claim": "all",
        "date": "2026-11-18",
        "was": "beyond two standard errors of any number of repeats above one",
        "now": "of three repeats and more",
        "why": "a standard error of two values is one difference",
    },
    {
        "claim": "gamma-two, parameters",
        "date": "2026-11-18",
        "was": "where the paper's choice is the best it is compared with itself, 0 ± 0",
        "now": "it is compared with the best other",
        "why": "0 ± 0 is always beyond two standard errors",
    },
    {
        "claim": "pie-marginal",
        "date": "2026-11-18",
        "was": "points at which both have no error count",
        "now": "they do not",
        "why": "so the rule for all claims has it",
    },
    {
        "claim": "all about experiments without a test",
        "date": "2026-11-18",
        "was": "labels alone, since the paper keeps nothing back there",
        "now": "beside the labels, which go on deciding, test errors on faces kept back",
        "why": "labels and test error are two things; written down before these runs",
    },
)
"""Rules changed after their results were seen: claim, date, was, now, why."""
OF = "of"


def document(results: PaperResults, made_by: str = COMMAND) -> dict[str, Any]:
    """Return every claim with its verdict by labels and by test, under every setting."""
    verdicts = {claim.name: _verdicts(claim, results) for claim in CLAIMS}
    return {
        "command": made_by,
        "settings": [
            {"name": one.name, "ending": one.projected, "says": one.says} for one in SETTINGS
        ],
        "faithful": FAITHFUL.name,
        "rules": {"file": RULES, "dated": DATED, "changes": list(CHANGES)},
        "counts": {one.name: counted(verdicts, one) for one in SETTINGS},
        "headline": headline(verdicts),
        "claims": [_claim(claim, verdicts[claim.name], results) for claim in CLAIMS],
    }


def write(results: PaperResults, folder: Path, made_by: str = COMMAND) -> Path:
    """Write ``claims.json`` into a folder."""
    path = folder / "claims.json"
    text = json.dumps(document(results, made_by), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    return path


Verdicts = dict[str, dict[str, Judgement | None]]
"""By setting and measure."""


def _verdicts(claim: Claim, results: PaperResults) -> Verdicts:
    found: Verdicts = {}
    for setting in SETTINGS:
        if claim.settled and found:
            found[setting.name] = found[SETTINGS[0].name]
        else:
            found[setting.name] = {
                measure: judged(claim, SettingView(results, setting, measure))
                for measure in MEASURES
            }
    return found


def _claim(claim: Claim, verdicts: Verdicts, results: PaperResults) -> dict[str, Any]:
    return {
        "name": claim.name,
        "kind": str(claim.kind),
        "experiment": claim.experiment,
        "figure": claim.figure,
        "place": claim.place,
        "says": claim.says,
        "rule": claim.rule,
        "main": claim.main,
        "settled": claim.settled,
        "verdicts": {
            setting: {measure: _judgement(one) for measure, one in of.items()}
            for setting, of in verdicts.items()
        },
        "why": _why(claim, main_verdict(claim, verdicts, FAITHFUL), results),
    }


def _judgement(one: Judgement | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "verdict": str(one.verdict),
        "strength": str(one.strength),
        "gap": one.gap,
        "missing": one.missing,
        "evidence": asdict(one.evidence),
    }


def _why(claim: Claim, found: Judgement, results: PaperResults) -> dict[str, Any] | None:
    """Return why a claim does not hold in the faithful setting, with its table."""
    if claim.why is None or found.verdict in (Verdict.SUPPORTED, Verdict.NOT_RUN):
        return None
    table = None
    if claim.why.table is not None:
        table = asdict(claim.why.table(SettingView(results, FAITHFUL, LABELS)))
    return {"text": claim.why.text, "experiment": claim.why.experiment, "table": table}


def main_verdict(claim: Claim, verdicts: Verdicts, setting: PaperSetting) -> Judgement:
    """Return the verdict by the measure that the paper's sentence is about."""
    of = verdicts[setting.name]
    found = of[claim.main] or of[TEST if claim.main == LABELS else LABELS]
    assert found is not None
    return found


def counted(verdicts: dict[str, Verdicts], setting: PaperSetting) -> dict[str, dict[str, int]]:
    """Return how many comparisons have which verdict, by measure."""
    found = {}
    for measure in MEASURES:
        judgements = [
            one
            for claim in CLAIMS
            if claim.kind is ClaimKind.COMPARISON
            and (one := verdicts[claim.name][setting.name][measure]) is not None
        ]
        found[measure] = _numbers(judgements)
    return found


def _numbers(judgements: list[Judgement]) -> dict[str, int]:
    counts = Counter(str(one.verdict) for one in judgements)
    sure = sum(
        one.verdict is Verdict.SUPPORTED and one.strength is Strength.SURE for one in judgements
    )
    names = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.NOTHING, Verdict.NOT_RUN)
    return {
        **{str(name): counts[str(name)] for name in names},
        str(Strength.SURE): sure,
        OF: len(judgements),
    }


def headline(verdicts: dict[str, Verdicts]) -> dict[str, Any]:
    """Return how many comparisons are supported in the faithful setting, by their main measure."""
    judgements = [
        main_verdict(claim, verdicts[claim.name], FAITHFUL)
        for claim in CLAIMS
        if claim.kind is ClaimKind.COMPARISON
    ]
    numbers = _numbers(judgements)
    return {
        "setting": FAITHFUL.name,
        "supported": numbers[str(Verdict.SUPPORTED)],
        "sure": numbers[str(Strength.SURE)],
        "not supported": numbers[str(Verdict.NOT_SUPPORTED)],
        "no difference to see": numbers[str(Verdict.NOTHING)],
        "not run yet": numbers[str(Verdict.NOT_RUN)],
        "of": numbers[OF],
    }
