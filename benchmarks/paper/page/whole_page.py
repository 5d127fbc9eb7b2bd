"""The page from its parts: the paper's order, figure by figure, with the claims of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.paper.declaration import COMMAND, Experiment
from benchmarks.paper.page import label_counts, low_rank_example, sensitivity
from benchmarks.paper.page.claim_cards import Document, cards
from benchmarks.paper.page.face_pictures import decompositions
from benchmarks.paper.page.html import details, escape, note, table, told
from benchmarks.paper.page.iterations import traces
from benchmarks.paper.page.method_curves import method_figures
from benchmarks.paper.page.method_looks import as_css
from benchmarks.paper.page.news_photo import news_photo
from benchmarks.paper.page.opening import opening
from benchmarks.paper.page.paper_order import (
    SECTIONS,
    PaperFigure,
    PaperSection,
    without_a_place,
)
from benchmarks.paper.page.premise import premise_table
from benchmarks.paper.page.rounds_of_ice import rounds_of_elimination
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.page.settings_box import settings_box
from benchmarks.paper.page.side_measurements import side_measurement
from benchmarks.paper.page.table_of_errors import table_of_errors
from benchmarks.paper.published import NO_NUMBERS, in_plain_words, passages
from benchmarks.paper.stored_runs import PaperResults
from benchmarks.paper.tables import PUBLISHED, errors, other_figures
from candidly.extras import installed

PAPER = (
    "C.-H. Chen, V. M. Patel and R. Chellappa, Learning from ambiguously labeled face images, "
    "IEEE Transactions on Pattern Analysis and Machine Intelligence, 2018"
)
WITHOUT_FIGURES = "Figures need matplotlib: pip install 'candidly[plot]'"
OTHER_FIGURES = ("removal", "propositions")
"""Protocols whose errors say little without the other numbers that they store."""
OWN = PaperSection("own", "One change at a time, and other experiments of our own")
"""What the paper has no section for."""


@dataclass(frozen=True)
class Contents:
    """What the page is made of."""

    results: PaperResults
    document: Document
    experiments: dict[str, Experiment]
    chain: SettingChain
    folder: Path | None

    def was_run(self, name: str) -> bool:
        """Return whether an experiment has stored runs."""
        return any(line["settings"]["experiment"] == name for line in self.results.lines)

    def claims(self, experiment: str) -> list[Any]:
        """Return the claims about an experiment."""
        return [one for one in self.document["claims"] if one["experiment"] == experiment]


def whole_page(
    results: PaperResults,
    document: Document,
    experiments: Sequence[Experiment],
    *,
    made_by: str = COMMAND,
    folder: Path | None = None,
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    results : PaperResults
    document : mapping
        Settings, claims and verdicts, as ``claims.json`` has them.
    experiments : sequence of Experiment
    made_by : str
        The command that repeats it.
    folder : Path, optional
        Where measurements beside the runs are stored.
    """
    named = {one.name: one for one in experiments}
    contents = Contents(results, document, named, SettingChain.of(document), folder)
    own = PaperSection(OWN.number, OWN.title, further=without_a_place(experiments))
    sections = [*SECTIONS, *([own] if own.further else [])]
    shown = {section.anchor: _section(section, contents) for section in sections}
    body = [
        "<section id=reproduced><h2>What reproduces, what does not, and why</h2>"
        f"{_openly(contents)}</section>",
        settings_box(document, list(experiments), results),
        *(text for text in shown.values() if text),
        _whole(contents),
        f"<section id=time><h2>Time</h2>{_time(contents)}</section>",
    ]
    links = [("reproduced", "What reproduces"), ("settings", "Settings")]
    for section in sections:
        if shown[section.anchor]:
            links += [(one.anchor, one.number) for one in section.figures]
            links += [] if section.figures else [(section.anchor, section.title)]
    links += [("whole", "The paper as a whole"), ("time", "Time")]
    here = Path(__file__).parent
    return Template((here / "page.html").read_text(encoding="utf-8")).substitute(
        css=as_css() + (here / "page.css").read_text(encoding="utf-8"),
        paper=escape(PAPER),
        run=f"Every experiment of its section on results, by <code>{escape(made_by)}</code>; "
        "errors are in percent.",
        contents="".join(f'<li><a href="#{at}">{escape(name)}</a></li>' for at, name in links),
        body="\n".join(body),
    )


def _openly(contents: Contents) -> str:
    if not contents.results.lines:
        return "<p>Nothing has been run yet.</p>"
    return opening(contents.document)


def _section(section: PaperSection, contents: Contents) -> str:
    """Return a section: its figures with their claims, then experiments without a figure."""
    parts = []
    done: set[str] = set()
    last = {name: one for one in section.figures for name in one.experiments}
    for one in section.figures:
        parts.append(_figure(one, contents, done))
        # A claim stands under the last figure of its experiment.
        names = [name for name in one.experiments if last[name] is one]
        parts.append(cards([c for name in names for c in contents.claims(name)], contents.document))
    for name in section.further:
        if name in contents.experiments:
            parts.append(_experiment(contents.experiments[name], contents))
            parts.append(cards(contents.claims(name), contents.document))
    parts += [side_measurement(name, contents.folder) for name in section.beside]
    text = "\n".join(filter(None, parts))
    if not text:
        return ""
    title = (
        section.title
        if section is OWN or section.number == "own"
        else (f"{section.number} {section.title}")
    )
    return f'<section id="{section.anchor}"><h2>{escape(title)}</h2>\n{text}\n</section>'


def _figure(one: PaperFigure, contents: Contents, done: set[str]) -> str:
    """Return a figure of the paper as it is here."""
    heading = f'<h3 id="{one.anchor}">{one.number}: {escape(one.shows)}</h3>'
    if not one.experiments:
        return heading + (
            _ILLUSTRATIONS[one.number]() if installed("plot") else note(WITHOUT_FIGURES)
        )
    parts = [heading]
    for place, name in enumerate(one.experiments):
        panel = f"({'abc'[place]}) " if one.panels else ""
        parts.append(_panel(one, panel, contents.experiments[name], contents, name not in done))
        done.add(name)
    return "\n".join(parts)


def _panel(
    one: PaperFigure, panel: str, experiment: Experiment, contents: Contents, first: bool
) -> str:
    """Return what an experiment has to show for a figure; its numbers where it comes first."""
    parts = [_head(experiment, panel)] if first else []
    if not contents.was_run(experiment.name):
        return "\n".join([*parts, "<p>Not run yet.</p>"]) if first else ""
    if not installed("plot"):
        parts.append(note(WITHOUT_FIGURES))
    else:
        parts.append(_DRAW[one.number](experiment, contents))
    if first:
        parts.append(_numbers(experiment, contents) or note(NO_NUMBERS))
        every = "".join(errors(experiment, contents.results))
        parts.append(details("All errors, as a table", every))
        parts.append(_failed(experiment, contents.results))
    return "\n".join(parts)


def _experiment(experiment: Experiment, contents: Contents) -> str:
    """Return an experiment that has no figure in the paper."""
    parts = [_head(experiment, "", level=3)]
    if not contents.was_run(experiment.name):
        return "\n".join([*parts, "<p>Not run yet.</p>"])
    if not installed("plot"):
        parts.append(note(WITHOUT_FIGURES))
    elif experiment.name == "projection":
        parts.append(traces(experiment, contents.results, contents.chain))
    elif _along_an_axis(experiment):
        parts.append(method_figures(experiment, contents.results, contents.chain))
    if experiment.protocol in OTHER_FIGURES:
        parts.append(other_figures(experiment, contents.results))
    else:
        first, *others = errors(experiment, contents.results) or [""]
        parts += [first, details("Other errors, as tables", "".join(others))]
    return "\n".join([*parts, _failed(experiment, contents.results)])


def _along_an_axis(experiment: Experiment) -> bool:
    """Return whether one number varies over all points."""
    at = [list(cell.at.values()) for cell in experiment.cells]
    numbers = all(len(one) == 1 and isinstance(one[0], int | float) for one in at)
    parts = {(cell.part, cell.data) for cell in experiment.cells}
    return numbers and len(parts) == 1 and len(at) > 2


def _head(experiment: Experiment, panel: str, level: int = 4) -> str:
    says = f"{experiment.title[0].upper()}{experiment.title[1:]}"
    command = f"<code>{COMMAND} {experiment.name}</code>"
    return (
        f'<h{level} id="{experiment.name}">{panel}{escape(says)}</h{level}>'
        f"<p class=note>{command} · the paper: {escape(experiment.place)}. "
        f"{escape(experiment.differs)}</p>"
    )


def _numbers(experiment: Experiment, contents: Contents) -> str:
    """Return what the paper's text has in numbers; the tables have theirs in a column."""
    if experiment.name in PUBLISHED and not passages(experiment.name):
        return "<p class=note>The paper's errors stand beside ours.</p>"
    quotes = [in_plain_words(passage) for passage in passages(experiment.name)]
    return told(f"The paper: “{escape(quote)}”" for quote in quotes)


def _failed(experiment: Experiment, results: PaperResults) -> str:
    reasons = Counter(
        (line["settings"]["method"], line["figures"]["reason"])
        for line in results.lines
        if line["settings"]["experiment"] == experiment.name and line["figures"].get("reason")
    )
    items = [
        f"{escape(method)}, {count} runs: {escape(reason)}"
        for (method, reason), count in reasons.items()
    ]
    return f"<p class=note>Failed:</p>{told(items)}" if items else ""


def _whole(contents: Contents) -> str:
    claims = [one for one in contents.document["claims"] if not one["experiment"]]
    return (
        "<section id=whole><h2>The paper as a whole</h2>"
        f"{cards(claims, contents.document, level=3)}</section>"
    )


def _time(contents: Contents) -> str:
    """Return a table of the time that experiments took, and the slowest methods of each."""
    took: dict[str, Counter[str]] = {name: Counter() for name in contents.experiments}
    runs: Counter[str] = Counter()
    for line in contents.results.lines:
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
    return table(head, rows, numbers=(1, 2), caption="Processor time") if rows else ""


_Drawn = Callable[[Experiment, Contents], str]
_ILLUSTRATIONS: dict[str, Callable[[], str]] = {
    "Figure 1": news_photo,
    "Figure 2": low_rank_example.hulls,
    "Figure 3": low_rank_example.decomposition,
}
_DRAW: dict[str, _Drawn] = {
    "Figure 4": lambda one, all_: method_figures(one, all_.results, all_.chain),
    "Figure 5": lambda one, all_: method_figures(one, all_.results, all_.chain),
    "Figure 6": lambda _, all_: decompositions(all_.results, all_.chain),
    "Figure 7": lambda _, all_: label_counts.confusion(all_.results),
    "Figure 8": lambda _, all_: label_counts.class_sizes(all_.results),
    "Table 1": lambda one, all_: table_of_errors(one, all_.results, all_.chain),
    "Table 2": lambda one, all_: (
        table_of_errors(one, all_.results, all_.chain) + premise_table(one, all_.results)
    ),
    "Figure 9": lambda one, all_: sensitivity.lambda_and_gamma(one, all_.results, all_.chain),
    "Figure 10": lambda one, all_: sensitivity.gamma_alone(one, all_.results, all_.chain),
    "Figure 11": lambda one, all_: rounds_of_elimination(one, all_.results, all_.chain),
}
"""How each figure and table is drawn."""
