"""The section on the paper in the documents: counts of verdicts, made from claims.json."""

from __future__ import annotations

from typing import Any

COUNTED = ("supported", "beyond two standard errors", "not supported", "not run yet", "of")


def section(judged: dict[str, Any], hours: float) -> str:
    """Return the section as Markdown.

    Parameters
    ----------
    judged : dict
        The document of ``claims.document``.
    hours : float
        Time of all stored runs, one after another.
    """
    head = judged["headline"]
    kinds = [one["kind"] for one in judged["claims"]]
    others = ", ".join(
        f"{kinds.count(kind)} {word}"
        for kind, word in (
            ("explanation", "explanations"),
            ("figure", "numbers that it prints"),
            ("definition", "definitions"),
        )
    )
    lines = [
        f"Of {len(kinds)} claims {head['of']} compare methods or settings; the others are "
        f"{others}, and are not counted. In the faithful setting ({head['setting']}) "
        f"{head['supported']} of the {head['of']} are supported, {head['sure']} of them beyond two "
        f"standard errors, {head['not supported']} are not, and {head['not run yet']} are not run "
        "yet. Each is counted by the measure that the paper's sentence is about: labels found, or "
        "test error. The table has both: where the paper keeps nothing back, test errors are of "
        "faces that are kept back for this table alone. Class sizes have no test error.",
        "",
        f"| setting | measure | {' | '.join(COUNTED)} |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for setting, of in judged["counts"].items():
        for measure, counts in of.items():
            cells = " | ".join(str(counts[name]) for name in COUNTED)
            lines.append(f"| {setting} | {measure} | {cells} |")
    failing = [
        one["name"]
        for one in judged["claims"]
        if one["kind"] == "comparison" and _main(one, judged["faithful"]) == "not supported"
    ]
    lines += [
        "",
        f"Not supported in the faithful setting: {', '.join(failing) or 'none'}; the page has a "
        "table with one change for each. All stored runs took "
        f"{hours:.1f} hours one after another.",
        "",
    ]
    return "\n".join(lines)


def _main(claim: dict[str, Any], setting: str) -> str:
    of = claim["verdicts"][setting]
    found = of[claim["main"]] or of["labels"] or of["test"]
    return str(found["verdict"])
