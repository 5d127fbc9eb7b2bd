"""One page with every experiment: figures, tables with the paper's numbers, and the claims."""

from __future__ import annotations

import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.paper import figures
from benchmarks.paper.claims import CLAIMS, SETTINGS, Claim, ClaimVerdict, Judgement, judged
from benchmarks.paper.declaration import COMMAND, Experiment
from benchmarks.paper.experiments import EXPERIMENTS
from benchmarks.paper.means import as_text, summary
from benchmarks.paper.method_entries import LETTER
from benchmarks.paper.page.html import table
from benchmarks.paper.stored_runs import PaperResults
from benchmarks.paper.tables import errors
from candidly.extras import installed

PAPER = (
    "C.-H. Chen, V. M. Patel and R. Chellappa, Learning from ambiguously labeled face images, "
    "IEEE Transactions on Pattern Analysis and Machine Intelligence, 2018"
)
Verdicts = dict[str, dict[str, Judgement]]
"""By claim and ending of the methods' names."""
WHOLE = "whole"
"""The place of claims about several experiments."""
SAME = "<span class=note>the same</span>"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c1c1c }
h1, h2 { line-height: 1.2 } h2 { margin-top: 3rem }
table { border-collapse: collapse; font-size: 14px; margin: 1rem 0; display: block; overflow: auto }
th, td { border: 1px solid #ddd; padding: .25rem .5rem; text-align: left; vertical-align: top }
td.number, th.number { text-align: right; white-space: nowrap }
img { max-width: 100% } figure { margin: 1rem 0 } figcaption, .note { color: #555; font-size: 14px }
.verdict { white-space: nowrap; font-weight: 600 }
.supported { color: #1b7f4d } .not-supported { color: #c8322b }
.not-testable-here, .not-run-yet { color: #777 }
.glance table { font-size: 13px } .glance th, .glance td { padding: 0 .5rem }
code { background: #f3f3f3; padding: 0 .2rem }
"""


def write(results: PaperResults, folder: Path, *, made_by: str = COMMAND) -> Path:
    """Write ``report.html``, ``claims.json`` and ``means.json`` into a folder; return the page.

    Parameters
    ----------
    results : PaperResults
    folder : Path
    made_by : str
        The command that repeats it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    verdicts = judgements(results)
    (folder / "claims.json").write_text(
        json.dumps(as_data(verdicts, made_by), ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
    )
    (folder / "means.json").write_text(as_text(summary(results, made_by)), encoding="utf-8")
    page = folder / "report.html"
    page.write_text(text(results, verdicts, made_by=made_by), encoding="utf-8")
    return page


def judgements(results: PaperResults) -> Verdicts:
    """Judge every claim under each setting that matters to it."""
    return {
        claim.name: {
            ending: judged(claim, results, ending)
            for ending in SETTINGS
            if ending == LETTER or not (claim.settled or claim.judge is None)
        }
        for claim in CLAIMS
    }


def counted(verdicts: Verdicts) -> dict[str, Counter[ClaimVerdict]]:
    """Return how many claims have which verdict, per setting; some do not depend on it."""
    return {
        ending: Counter(found.get(ending, found[LETTER]).verdict for found in verdicts.values())
        for ending in SETTINGS
    }


def text(results: PaperResults, verdicts: Verdicts, *, made_by: str = COMMAND) -> str:
    """Return the page as HTML."""
    body = [
        "<h1>The paper, reproduced</h1>",
        f"<p>{escape(PAPER)}. Every experiment of its section on results, run by "
        f"<code>{escape(made_by)}</code>; errors in percent. {_versions(results)}</p>",
        "<p>The paper's methods appear twice: <b>to the letter</b>, named (paper) below, with what "
        "the paper says and the usual choices of robust PCA where it is silent; and at <b>our "
        "settings</b>, the library's defaults (features centred and scaled, another start). "
        "Claims are judged under both, by the rule that stands beside each.</p>",
        *(_summary(verdicts)),
        *(_section(experiment, results, verdicts) for experiment in EXPERIMENTS),
        f'<h2 id="{WHOLE}">The paper as a whole</h2>',
        _claims([claim for claim in CLAIMS if not claim.experiment], verdicts),
        "<h2>Time</h2>",
        _time(results),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper, reproduced</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _versions(results: PaperResults) -> str:
    if not results.lines:
        return "Nothing has been run yet."
    versions = sorted({line["version"] for line in results.lines})
    hours = sum(line["figures"].get("seconds") or 0 for line in results.lines) / 3600
    return escape(
        f"{len(results.lines)} runs that took {hours:.1f} hours one after another, "
        f"candidly {', '.join(versions)}; {_machines(results)}."
    )


def _machines(results: PaperResults) -> str:
    counted = Counter(line["machine"] for line in results.lines)
    return "; ".join(f"{count} on {machine}" for machine, count in counted.most_common())


def _time(results: PaperResults) -> str:
    """Return a table of the time that experiments took, and the slowest methods of each."""
    took: dict[str, Counter[str]] = {one.name: Counter() for one in EXPERIMENTS}
    runs: Counter[str] = Counter()
    for line in results.lines:
        name = line["settings"]["experiment"]
        if name in took:
            took[name][line["settings"]["method"]] += line["figures"].get("seconds") or 0
            runs[name] += 1
    rows = [
        [
            name,
            str(runs[name]),
            f"{counts.total() / 60:.1f}",
            ", ".join(f"{m} {seconds / 60:.1f}" for m, seconds in counts.most_common(4)),
        ]
        for name, counts in took.items()
        if runs[name]
    ]
    head = ["experiment", "runs", "minutes", "of which"]
    return table(head, rows, numbers=(1, 2)) if rows else ""


def _summary(verdicts: Verdicts) -> list[str]:
    rows = [
        [SETTINGS[ending], *(str(counts[verdict]) for verdict in ClaimVerdict)]
        for ending, counts in counted(verdicts).items()
    ]
    head = ["claims", *(verdict.value for verdict in ClaimVerdict)]
    contents = " · ".join(f'<a href="#{e.name}">{e.name}</a>' for e in EXPERIMENTS)
    return [
        table(head, rows, numbers=range(1, len(head))),
        f'<p>{contents} · <a href="#{WHOLE}">the paper as a whole</a></p>',
        _glance(verdicts),
    ]


def _glance(verdicts: Verdicts) -> str:
    """Return a table with one line per claim; rule and numbers are in its section."""
    rows = []
    for claim in CLAIMS:
        found = verdicts[claim.name]
        section = claim.experiment or WHOLE
        words = [_word(found.get(ending, found[LETTER])) for ending in SETTINGS]
        rows.append([f'<a href="#{section}">{section}</a>', escape(claim.says), *words])
    head = ["about", "the paper says", *SETTINGS.values()]
    return f"<div class=glance>{table(head, rows, raw=True)}</div>"


def _word(judgement: Judgement) -> str:
    name = judgement.verdict.value
    return f'<span class="verdict {name.replace(" ", "-")}">{name}</span>'


def _section(experiment: Experiment, results: PaperResults, verdicts: Verdicts) -> str:
    parts = [
        f'<h2 id="{experiment.name}">{escape(experiment.title)}</h2>',
        f'<p class="note"><code>{COMMAND} {experiment.name}</code> · the paper: '
        f"{escape(experiment.place)}. {escape(experiment.differs)}</p>",
    ]
    if not any(line["settings"]["experiment"] == experiment.name for line in results.lines):
        return "\n".join([*parts, "<p>Not run yet.</p>"])
    if installed("plot"):
        for caption, source in figures.drawings(experiment, results):
            parts.append(
                f'<figure><img alt="{escape(caption)}" src="{source}">'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )
    else:
        parts.append("<p class=note>Figures need matplotlib: pip install 'candidly[plot]'</p>")
    parts.append(errors(experiment, results))
    parts.append(_failed(experiment, results))
    parts.append(_claims([c for c in CLAIMS if c.experiment == experiment.name], verdicts))
    return "\n".join(parts)


def _failed(experiment: Experiment, results: PaperResults) -> str:
    reasons = Counter(
        (line["settings"]["method"], line["figures"]["reason"])
        for line in results.lines
        if line["settings"]["experiment"] == experiment.name and line["figures"].get("reason")
    )
    items = "".join(
        f"<li>{escape(method)}, {count} runs: {escape(reason)}</li>"
        for (method, reason), count in reasons.items()
    )
    return f'<p class="note">Failed:</p><ul class="note">{items}</ul>' if items else ""


def _claims(claims: list[Claim], verdicts: Verdicts) -> str:
    rows = []
    for claim in claims:
        found = verdicts[claim.name]
        shown = [_verdict(found[e]) if e in found else SAME for e in SETTINGS]
        wanting = any(
            j.verdict in (ClaimVerdict.NOT_SUPPORTED, ClaimVerdict.NOT_TESTABLE)
            for j in found.values()
        )
        says = f"{escape(claim.says)}<br><span class=note>{escape(claim.place)}</span>"
        if claim.rule:
            says += f"<br><span class=note>Supported if {escape(claim.rule)}.</span>"
        if wanting and claim.reason:
            says += f"<br><span class=note><b>Why not:</b> {escape(claim.reason)}</span>"
        rows.append([says, *shown])
    head = ["the paper says", *SETTINGS.values()]
    return table(head, rows, raw=True) if rows else ""


def _verdict(judgement: Judgement) -> str:
    return f"{_word(judgement)}<br><span class=note>{escape(judgement.numbers)}</span>"


def as_data(verdicts: Verdicts, made_by: str) -> dict[str, Any]:
    """Return claims and verdicts as plain values, to be stored."""
    claims = [
        {
            "claim": claim.name,
            "experiment": claim.experiment,
            "place": claim.place,
            "says": claim.says,
            "rule": claim.rule,
            "reason": claim.reason,
            "found": {
                SETTINGS[ending]: {"verdict": j.verdict.value, "numbers": j.numbers}
                for ending, j in verdicts[claim.name].items()
            },
        }
        for claim in CLAIMS
    ]
    return {"command": made_by, "claims": claims}
