"""Claims of the paper as short texts with a verdict, and their evidence as small tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.paper.page.html import details, escape, table

Document = Mapping[str, Any]
"""Claims, settings and verdicts, as ``claims.json`` has them."""
ClaimRecord = Mapping[str, Any]
MEASURES = {"labels": "labels found", "test": "test error"}
SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
KINDS = {
    "comparison": "Comparisons",
    "figure": "What figures show",
    "definition": "True by definition, not counted",
    "explanation": "Explanations, not counted",
}
"""Kinds of claims in the order of the page; only comparisons are counted."""


def main_verdict(claim: ClaimRecord, setting: str) -> Mapping[str, Any]:
    """Return the verdict on the measure that the paper's sentence is about."""
    found = claim["verdicts"][setting]
    verdict = found.get(claim["main"]) or found.get("labels") or found.get("test")
    return verdict or {"verdict": "not run yet", "strength": "", "gap": "", "missing": ""}


def cards(claims: Iterable[ClaimRecord], document: Document, *, level: int = 4) -> str:
    """Return claims, the counted ones first, under headings of a level."""
    claims = list(claims)
    parts = []
    for kind, title in KINDS.items():
        group = [claim for claim in claims if claim["kind"] == kind]
        if group:
            heading = f"<h{level}>{escape(title)}</h{level}>" if kind != "comparison" else ""
            each = "".join(card(claim, document) for claim in group)
            parts.append(f"{heading}<div class=claims>{each}</div>")
    return "\n".join(parts)


def card(claim: ClaimRecord, document: Document) -> str:
    """Return one claim: what the paper says, what was found, and why not where it does not hold."""
    faithful = document["faithful"]
    found = claim["verdicts"][faithful]
    measured = {name: found[name] for name in MEASURES if found.get(name)}
    lines = [
        f"{_word(verdict)} {_strength(verdict)}"
        + (f" <span class=note>({MEASURES[name]})</span>" if len(measured) > 1 else "")
        for name, verdict in measured.items()
    ]
    parts = [
        f"<p>{escape(whole_sentence(claim['says']))} <span class=note>"
        f"{escape(claim['place'])}</span></p>",
        f"<p>{'; '.join(lines)}</p>",
        _why(claim),
        details("Evidence, rule, other settings", _evidence(claim, measured, document)),
    ]
    name = escape(claim["name"], quote=True)
    return f'<div class=claim id="claim-{name}">{"".join(parts)}</div>\n'


def whole_sentence(says: str) -> str:
    """Return a part of a sentence as if it stood alone.

    Examples
    --------
    >>> whole_sentence("but not past 0.7,")
    'But not past 0.7.'
    >>> whole_sentence("f_e = 0.5 is good.")
    'f_e = 0.5 is good.'
    """
    kept = says.rstrip(" ,;:.")
    first = kept[:1].upper() if kept[1:2].islower() else kept[:1]
    return f"{first}{kept[1:]}."


def _word(verdict: Mapping[str, Any]) -> str:
    name = verdict["verdict"]
    kind = name.replace(" ", "-") if name in (SUPPORTED, NOT_SUPPORTED) else "open"
    return f'<span class="verdict {kind}">{escape(name)}</span>'


def _strength(verdict: Mapping[str, Any]) -> str:
    told = [verdict.get(key) or "" for key in ("strength", "gap", "missing")]
    return escape(", ".join(text for text in told if text))


def _why(claim: ClaimRecord) -> str:
    why = claim.get("why")
    if not why:
        return ""
    evidence = why.get("table")
    said = f"<p><b>Why not:</b> {escape(why['text'])}</p>"
    if evidence and evidence["rows"]:
        name = f"One change at a time: {claim['name']}"
        said += evidence_table(evidence, name)
    return said


def evidence_table(evidence: Mapping[str, Any], caption: str) -> str:
    """Return evidence, numbers to the right."""
    rows = [list(map(str, row)) for row in evidence["rows"]]
    numbers = [
        k
        for k in range(len(evidence["columns"]))
        if rows and all(row[k][:1] in "+-−0123456789" or not row[k] for row in rows)
    ]
    return table(evidence["columns"], rows, numbers=numbers, caption=caption)


def _evidence(
    claim: ClaimRecord, measured: Mapping[str, Mapping[str, Any]], document: Document
) -> str:
    parts = []
    if claim["rule"]:
        parts.append(f"<p class=note>Supported if {escape(claim['rule'])}.</p>")
    for name, verdict in measured.items():
        evidence = verdict.get("evidence")
        if evidence and evidence["rows"]:
            caption = f"{claim['name']}, {MEASURES[name]}, “{document['faithful']}”"
            parts.append(evidence_table(evidence, caption))
    if not claim.get("settled"):
        parts.append(_by_setting(claim, document, list(measured)))
    return "".join(parts)


def _by_setting(claim: ClaimRecord, document: Document, measures: list[str]) -> str:
    rows = [
        [
            escape(setting["name"]),
            *(
                f"{_word(verdict)} {_strength(verdict)}" if verdict else ""
                for verdict in (claim["verdicts"][setting["name"]].get(name) for name in measures)
            ),
        ]
        for setting in document["settings"]
    ]
    head = ["setting", *(MEASURES[name] for name in measures)]
    return table(head, rows, raw=True, caption=f"{claim['name']}, by setting")
