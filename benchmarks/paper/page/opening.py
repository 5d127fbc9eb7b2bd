"""The opening of the page: what reproduces, what does not, and why, in words from the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from benchmarks.paper.page.claim_cards import (
    MEASURES,
    NOT_SUPPORTED,
    SUPPORTED,
    ClaimRecord,
    Document,
    main_verdict,
    whole_sentence,
)
from benchmarks.paper.page.html import details, escape, note, table, told
from benchmarks.paper.page.paper_order import SECTIONS

SURE = "beyond two standard errors"
ELSEWHERE = "the text"
TWO_MEASURES = (
    "The numbers above are by the measure that the paper's sentence is about. Where the paper "
    "keeps nothing back, test errors are of faces kept back for this alone; class sizes have "
    "none."
)


def opening(document: Document) -> str:
    """Return the opening: one number, what holds, what does not and why, and what is open."""
    counted = [claim for claim in document["claims"] if claim["kind"] == "comparison"]
    if not counted:
        return "<p>No claim was judged yet.</p>"
    setting = document["faithful"]
    holding = [c for c in counted if _word(c, setting) == SUPPORTED]
    failing = [c for c in counted if _word(c, setting) == NOT_SUPPORTED]
    undecided = [c for c in counted if c not in holding and c not in failing]
    parts = [
        _headline(document, len(holding), len(failing), len(undecided)),
        _by_figure(counted, setting),
        "<h3>What reproduces</h3>",
        _by_place(holding, setting) or "<p>Nothing yet.</p>",
        "<h3>What does not, and why</h3>",
        _reasons(failing, setting) or "<p>Nothing that was run.</p>",
    ]
    if undecided:
        words = f"{len(undecided)} sentences, and what is missing"
        parts += ["<h3>What stays open</h3>", details(words, _open(undecided, setting))]
    parts += [
        "<h3>The same under other settings, by labels and by test error</h3>",
        note(TWO_MEASURES),
        _by_one_measure(holding, setting),
        _counts(document),
        _rules(document),
    ]
    return f"<div class=said>{''.join(parts)}</div>"


def _by_figure(claims: Iterable[ClaimRecord], setting: str) -> str:
    """Return how many claims hold, for each figure and table of the paper."""
    order = [figure for section in SECTIONS for figure in section.figures]
    anchors = {figure.number: figure.anchor for figure in order}
    counts: dict[str, Counter[str]] = {}
    for claim in claims:
        place = place_of(claim).split("(")[0]
        place = place if place in anchors else ELSEWHERE
        counts.setdefault(place, Counter())[_word(claim, setting)] += 1
    rows = []
    for place in sorted(counts, key=_rank):
        found = counts[place]
        name = f'<a href="#{anchors[place]}">{place}</a>' if place in anchors else ELSEWHERE
        open_ = found.total() - found[SUPPORTED] - found[NOT_SUPPORTED]
        numbers = (found[SUPPORTED], found[NOT_SUPPORTED], open_)
        rows.append([name, *map(str, numbers)])
    head = ["of", "hold", "do not", "open"]
    caption = "Sentences that compare methods, by figure"
    return table(head, rows, numbers=(1, 2, 3), raw=True, caption=caption)


def _word(claim: ClaimRecord, setting: str) -> str:
    return str(main_verdict(claim, setting)["verdict"])


def _headline(document: Document, holds: int, fails: int, undecided: int) -> str:
    setting = document["faithful"]
    says = next((s["says"] for s in document["settings"] if s["name"] == setting), "")
    sure = sum(
        main_verdict(claim, setting).get("strength") == SURE
        for claim in document["claims"]
        if claim["kind"] == "comparison" and _word(claim, setting) == SUPPORTED
    )
    others = Counter(claim["kind"] for claim in document["claims"])
    return (
        f"<p class=big>Of {holds + fails + undecided} sentences of the paper that compare methods, "
        f"<b>{holds} hold here</b>, {sure} of them {SURE}, with its methods in one setting for "
        f"all: “{escape(setting)}”. {fails} do not, and {undecided} stay open: not run yet, or no "
        f"difference to see.</p><p>“{escape(setting)}” is {escape(says)}.</p>"
        f"<p>Another {others['figure']} sentences state figures, {others['definition']} are true "
        f"by definition and {others['explanation']} explain; these are judged below and not "
        "counted. What the paper says is told in our words; its own are in quotation marks.</p>"
    )


def _by_place(claims: Iterable[ClaimRecord], setting: str) -> str:
    """Return claims as a list, those of a figure or section together."""
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        groups.setdefault(place_of(claim), []).append(claim)
    items = []
    for place in sorted(groups, key=_rank):
        said = " ".join(f"{_linked(claim)}{_if_weak(claim, setting)}" for claim in groups[place])
        items.append(f"<b>{escape(place)}.</b> {said}")
    return told(items)


def _reasons(claims: Iterable[ClaimRecord], setting: str) -> str:
    """Return claims as a list by reason, so that one reason is read once."""
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        reason = (claim.get("why") or {}).get("text", "")
        groups.setdefault(reason or claim["name"], []).append(claim)
    items = []
    for reason, group in groups.items():
        said = " ".join(
            f"{escape(place_of(claim))}: {_linked(claim)}{_gap(claim, setting)}" for claim in group
        )
        known = reason != group[0]["name"]
        items.append(f"{said} <b>Why:</b> {escape(reason)}" if known else said)
    return told(items)


def _by_one_measure(claims: Iterable[ClaimRecord], setting: str) -> str:
    """Return which claims hold by the measure that decides, and not by the other one."""
    said = []
    for measure, words in MEASURES.items():
        found = [
            _linked(claim)
            for claim in claims
            if (claim["verdicts"][setting].get(measure) or {}).get("verdict") == NOT_SUPPORTED
        ]
        if found:
            said.append(f"<b>Not by {escape(words)}:</b> {' '.join(found)}")
    return f"<p>Of what holds by the deciding measure:</p>{told(said)}" if said else ""


def _open(claims: Iterable[ClaimRecord], setting: str) -> str:
    items = []
    for claim in claims:
        verdict = main_verdict(claim, setting)
        told_ = verdict.get("missing") or ""
        items.append(f"{_linked(claim)} <b>{escape(verdict['verdict'])}</b> {escape(told_)}")
    return told(items)


def place_of(claim: ClaimRecord) -> str:
    """Return the figure or table of a claim, or its section."""
    return str(claim.get("figure") or claim["place"].split(",")[0] or ELSEWHERE)


def _rank(place: str) -> tuple[int, str]:
    """Order places as the paper does: by figure, tables after Figure 8, the rest by section."""
    order = [figure.number for section in SECTIONS for figure in section.figures]
    known = [k for k, number in enumerate(order) if place.split("(")[0] == number]
    return (known[0] if known else len(order), place)


def _linked(claim: ClaimRecord) -> str:
    name = escape(claim["name"], quote=True)
    return f'<a href="#claim-{name}">{escape(whole_sentence(claim["says"]))}</a>'


def _if_weak(claim: ClaimRecord, setting: str) -> str:
    strength = main_verdict(claim, setting).get("strength", "")
    return " (in direction only)" if strength == "direction" else ""


def _gap(claim: ClaimRecord, setting: str) -> str:
    gap = main_verdict(claim, setting).get("gap", "")
    return f" ({escape(gap)})" if gap else ""


def _counts(document: Document) -> str:
    """Return how many comparisons hold, per setting and measure."""
    names = [SUPPORTED, SURE, NOT_SUPPORTED, "no difference to see", "not run yet"]
    rows = []
    for setting in document["settings"]:
        for measure, words in MEASURES.items():
            counts = document["counts"][setting["name"]].get(measure)
            if counts:
                numbers = [str(counts.get(name, 0)) for name in (*names, "of")]
                rows.append([setting["name"], words, *numbers])
    head = ["setting", "judged by", SUPPORTED, "of these sure", *names[2:], "of"]
    return table(head, rows, numbers=range(2, len(head)), caption="Sentences that compare methods")


def _rules(document: Document) -> str:
    rules = document.get("rules") or {}
    if not rules:
        return ""
    said = (
        f"<p class=note>Rules were written down before the runs: {escape(rules.get('file', ''))}"
        f", {escape(str(rules.get('dated', '')))}."
    )
    changes = rules.get("changes") or []
    if not changes:
        return said + " None was changed since.</p>"
    rows = [[str(change.get(key, "")) for key in _CHANGE] for change in changes]
    return said + "</p>" + table(list(_CHANGE), rows, caption="Rules changed since, and why")


_CHANGE = ("claim", "date", "was", "now", "why")
