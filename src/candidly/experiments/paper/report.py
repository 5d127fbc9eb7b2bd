"""One page with every experiment: figures, tables with the paper's numbers, and the claims."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from candidly.experiments.paper import figures
from candidly.experiments.paper.claims import CLAIMS, SETTINGS, Claim, Judgement, Verdict, judged
from candidly.experiments.paper.declaration import Cell, Experiment
from candidly.experiments.paper.entries import LETTER
from candidly.experiments.paper.experiments import EXPERIMENTS
from candidly.experiments.paper.published import LOST, NO_NUMBERS, YAHOO
from candidly.experiments.paper.results import Results
from candidly.extras import installed

PAPER = (
    "C.-H. Chen, V. M. Patel and R. Chellappa, Learning from ambiguously labeled face images, "
    "IEEE Transactions on Pattern Analysis and Machine Intelligence, 2018"
)
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
code { background: #f3f3f3; padding: 0 .2rem }
"""


def write(results: Results, folder: Path, *, made_by: str = "candidly paper") -> Path:
    """Write ``report.html`` and ``claims.json`` into a folder; return the page.

    Parameters
    ----------
    results : Results
    folder : Path
    made_by : str
        The command, for the reader who wants to repeat it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    verdicts = judgements(results)
    (folder / "claims.json").write_text(
        json.dumps(_as_data(verdicts), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    page = folder / "report.html"
    page.write_text(text(results, made_by=made_by), encoding="utf-8")
    return page


def judgements(results: Results) -> dict[str, dict[str, Judgement]]:
    """Every claim under each setting that matters to it."""
    return {
        claim.name: {
            ending: judged(claim, results, ending)
            for ending in SETTINGS
            if ending == LETTER or not (claim.settled or claim.judge is None)
        }
        for claim in CLAIMS
    }


def text(results: Results, *, made_by: str = "candidly paper") -> str:
    """The page."""
    verdicts = judgements(results)
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
        "<h2>The paper as a whole</h2>",
        _claims([claim for claim in CLAIMS if not claim.experiment], verdicts),
        "<h2>Processor time</h2>",
        _time(results),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper, reproduced</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _versions(results: Results) -> str:
    if not results.lines:
        return "Nothing has been run yet."
    versions = sorted({line["version"] for line in results.lines})
    hours = sum(line["figures"].get("seconds") or 0 for line in results.lines) / 3600
    return escape(
        f"{len(results.lines)} runs, {hours:.1f} hours of processor time, "
        f"candidly {', '.join(versions)}."
    )


def _time(results: Results) -> str:
    """Where the time went: experiments, and the dearest methods of each."""
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


def _summary(verdicts: dict[str, dict[str, Judgement]]) -> list[str]:
    rows = []
    for ending, setting in SETTINGS.items():
        # A claim that the settings do not matter to counts under both.
        counts = Counter(found.get(ending, found[LETTER]).verdict for found in verdicts.values())
        rows.append([setting, *(str(counts[verdict]) for verdict in Verdict)])
    head = ["claims", *(verdict.value for verdict in Verdict)]
    contents = " · ".join(f'<a href="#{e.name}">{e.name}</a>' for e in EXPERIMENTS)
    return [table(head, rows, numbers=range(1, len(head))), f"<p>{contents}</p>"]


def _section(
    experiment: Experiment, results: Results, verdicts: dict[str, dict[str, Judgement]]
) -> str:
    parts = [
        f'<h2 id="{experiment.name}">{escape(experiment.title)}</h2>',
        f'<p class="note"><code>candidly paper {experiment.name}</code> · the paper: '
        f"{escape(experiment.place)}. {escape(experiment.differs)}</p>",
    ]
    if installed("plot"):
        for caption, source in figures.drawings(experiment, results):
            parts.append(
                f'<figure><img alt="{escape(caption)}" src="{source}">'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )
    else:
        parts.append("<p class=note>Figures need matplotlib: pip install 'candidly[plot]'</p>")
    parts.append(_errors(experiment, results))
    parts.append(_failed(experiment, results))
    parts.append(_claims([c for c in CLAIMS if c.experiment == experiment.name], verdicts))
    return "\n".join(parts)


def _errors(experiment: Experiment, results: Results) -> str:
    """Means, deviations and repeats of every method at every point, the paper's beside them."""
    if experiment.protocol == "distribution":
        return f'<p class="note">{NO_NUMBERS}</p>'
    tables: dict[str, dict[str, Any]] = {"lost": {**LOST}, "yahoo": {**YAHOO}}
    published = tables.get(experiment.name)
    parts = []
    for part in dict.fromkeys(cell.part for cell in experiment.cells):
        cells = [cell for cell in experiment.cells if cell.part == part]
        names = [
            e.name
            for e in experiment.methods
            if any(e in experiment.entries(cell) for cell in cells)
        ]
        if len(cells) > 30:  # a surface: its figure has the numbers
            continue
        head = ["method", *map(_point, cells)]
        rows = [
            [name, *(_cell(results, experiment, cell, name) for cell in cells)] for name in names
        ]
        if published is not None:
            head.append("the paper")
            for row in rows:
                row.append(_number(published.get(row[0].removesuffix(LETTER), "")))
        parts.append(table(head, rows, numbers=range(1, len(head))))
    if published is None:
        parts.append(f'<p class="note">{NO_NUMBERS}</p>')
    parts.append(
        '<p class="note">Mean ± standard deviation (repeats, where there are several).</p>'
    )
    return "\n".join(parts)


def _point(cell: Cell) -> str:
    return ", ".join(
        str(value) if isinstance(value, str) else f"{name} {value:g}"
        for name, value in cell.at.items()
    )


def _cell(results: Results, experiment: Experiment, cell: Cell, method: str) -> str:
    values = [
        line["figures"].get("error")
        for line in results.select(experiment.name, method, cell.part, **cell.at)
    ]
    found = np.array([value for value in values if value is not None])
    if not len(found):
        return "failed" if values else ""
    if len(found) == 1:
        return f"{found[0]:.1f}"
    return f"{found.mean():.1f} ± {found.std(ddof=1):.1f} ({len(found)})"


def _number(value: Any) -> str:
    return f"{value[0]} ± {value[1]}" if isinstance(value, tuple) else str(value)


def _failed(experiment: Experiment, results: Results) -> str:
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


def _claims(claims: list[Claim], verdicts: dict[str, dict[str, Judgement]]) -> str:
    rows = []
    for claim in claims:
        found = verdicts[claim.name]
        shown = []
        for ending in SETTINGS:
            judgement = found.get(ending)
            shown.append("" if judgement is None else _verdict(judgement))
        wanting = any(
            j.verdict in (Verdict.NOT_SUPPORTED, Verdict.NOT_TESTABLE) for j in found.values()
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
    name = judgement.verdict.value
    kind = name.replace(" ", "-")
    return (
        f'<span class="verdict {kind}">{name}</span><br><span class=note>'
        f"{escape(judgement.numbers)}</span>"
    )


def table(
    head: Iterable[str],
    rows: Iterable[list[str]],
    *,
    numbers: Iterable[int] = (),
    raw: bool = False,
) -> str:
    """An HTML table; ``numbers`` are columns set to the right."""
    right = set(numbers)

    def row(cells: Iterable[str], tag: str, as_is: bool) -> str:
        return "".join(
            f"<{tag}{' class=number' if k in right else ''}>{c if as_is else escape(c)}</{tag}>"
            for k, c in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td', raw)}</tr>\n" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th', False)}</tr></thead>\n<tbody>{body}</tbody></table>"


def _as_data(verdicts: dict[str, dict[str, Judgement]]) -> list[dict[str, Any]]:
    return [
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
