"""The page about the paper: its order, its own numbers, ours as stored, readable anywhere."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra plot: pip install 'candidly[plot]'")

from benchmarks.paper import EXPERIMENTS, experiment, paper_report, planned
from benchmarks.paper.page import (
    curves,
    low_rank_example,
    opening,
    paper_order,
    settings_box,
    side_measurements,
    whole_page,
)
from benchmarks.paper.page.method_looks import LOOKS, numbered
from benchmarks.paper.page.premise import premise_table
from benchmarks.paper.published import (
    LOST,
    RANGES,
)
from benchmarks.paper.stored_runs import PaperResults
from benchmarks.paper.tables import by_setting, errors
from candidly.estimators.scaling import SETTINGS

VOID = {"meta", "img", "br", "link", "input", "hr"}
STORED = Path(__file__).parents[2] / "results" / "paper"
CHROMIUM = shutil.which("chromium")
CHAIN = {"letter": " (paper)", "centred": " (paper, centred)", "dear": " (paper, 3 λ0)", "ours": ""}


class StrictPage(HTMLParser):
    """Reads a page: what is opened is closed, no attribute or identifier is twice."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        raise AssertionError(f"<{tag}/> is not HTML")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def ids(self):
        return [found["id"] for _, found in self.tags if "id" in found]


def figures_of(run):
    """Figures made up for a run: an error that tells method, point and seed apart."""
    error = 5 + (hash_of(run.entry.name) + 7 * hash_of(str(run.cell.at))) % 40 + run.seed / 4
    return {
        "error": error,
        "common_error": error / 2,
        "labelling_error": error / 4,
        "seconds": 1.0,
        "imbalance": 1.5,
        "by_round": [error, error - 1, error - 2],
        "rank": 7,
        "noise_share": 0.5,
        "within_X": 0.5,
        "within_Z": 0.25,
        "near_before": 1.0,
        "near_after": 2.0,
        "trace": {name: [1.0, 0.1, 0.01] for name in ("residual", "gap", "changed")},
        "pictures": {"shape": [4, 1, 1, 1], "bytes": "eNpjYGBgAAAABAAB"},
        "classes": ["a", "b"],
        "counts": [[3, 1], [0, 2]],
        "soft": [[3, 1], [0, 2]],
        "true": [4, 2],
        "estimated": [3.5, 2.5],
    }


def hash_of(text):
    """The same on every machine, unlike that of Python."""
    return sum(k * ord(letter) for k, letter in enumerate(text, 1))


def stored_lines(repeats=2):
    return [
        {
            "settings": run.settings,
            "seed": run.seed,
            "version": "0",
            "machine": "x86_64",
            "made_by": {"commit": "abc123", "numpy": "2.0", "blas": "openblas"},
            "figures": figures_of(run),
        }
        for run in planned(EXPERIMENTS, repeats=repeats)
    ]


def claim(name, of, verdict, *, kind="comparison", why=None, strength="direction"):
    evidence = {"columns": ["point", "MCar", "difference"], "rows": [["0.3", "4.1", "-1.6 ± 0.4"]]}
    found = {
        "verdict": verdict,
        "strength": strength,
        "gap": "-1.6 ± 0.4",
        "missing": "",
        "evidence": evidence,
    }
    return {
        "name": name,
        "kind": kind,
        "experiment": of,
        "figure": "Figure 4(a)" if of == "fiw-fraction" else "",
        "place": "Section 7.2.1, Figure 4(a)",
        "says": f"The paper says {name} & more.",
        "rule": "MCar is below the others",
        "main": "labels",
        "verdicts": {setting: {"labels": found, "test": None} for setting in CHAIN},
        "settled": False,
        "why": why,
    }


def made_up_document(claims):
    counts = {"supported": 1, "beyond two standard errors": 0, "not supported": 1, "of": 2}
    return {
        "command": "python -m benchmarks.paper",
        "settings": [{"name": n, "ending": e, "says": f"what {n} is"} for n, e in CHAIN.items()],
        "faithful": "dear",
        "rules": {"file": "rules.md", "dated": "2026-11-18", "changes": []},
        "counts": {name: {"labels": counts, "test": counts} for name in CHAIN},
        "claims": claims,
    }


@pytest.fixture(scope="module")
def document():
    reason = {"columns": ["change", "error"], "rows": [["letter", "20.9"], ["centred", "4.6"]]}
    each = [claim(f"of-{one.name}", one.name, "supported") for one in EXPERIMENTS]
    sure = claim("sure", "fiw-fraction", "supported", strength="beyond two standard errors")
    why = {"text": "Because of <this>.", "experiment": "one-change", "table": reason}
    return made_up_document(
        [
            *each,
            sure,
            claim("fails", "fiw-fraction", "not supported", why=why, strength="opposite"),
            claim("later", "lost", "not run yet"),
            claim("defined", "", "supported", kind="definition"),
        ]
    )


@pytest.fixture(scope="module")
def results():
    return PaperResults(stored_lines())


@pytest.fixture(scope="module")
def text(results, document):
    return whole_page.whole_page(results, document, EXPERIMENTS)


@pytest.fixture(scope="module")
def page(text):
    return StrictPage(text)


pytestmark = pytest.mark.slow


def test_the_page_is_sound_fetches_nothing_and_needs_no_script(page, text):
    ids = set(page.ids)
    assert len(page.ids) == len(ids)
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object")
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "srcset", "action"):
            address = attributes.get(name, "#")
            assert address.startswith(("data:", "#"))
            if address.startswith("#") and address != "#":
                assert address[1:] in ids, address
    assert "url(h" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text


def test_figures_and_tables_are_those_of_the_paper_in_its_order(page):
    wanted = [f"figure-{k}" for k in range(1, 9)]
    wanted += ["table-1", "table-2", "figure-9", "figure-10", "figure-11"]
    assert [name for name in page.ids if re.fullmatch(r"(figure|table)-\d+", name)] == wanted


def test_every_experiment_and_claim_is_there_once(page, document):
    for one in EXPERIMENTS:
        assert page.ids.count(one.name) == 1, one.name
    for one in document["claims"]:
        assert page.ids.count(f"claim-{one['name']}") == 1
    placed = [name for section in paper_order.SECTIONS for name in section.experiments]
    assert len(placed) == len(set(placed))
    assert not set(placed) & set(paper_order.without_a_place(EXPERIMENTS))
    assert not set(placed) - {one.name for one in EXPERIMENTS}


def test_no_figure_has_more_than_seven_curves(text):
    drawings = re.findall(r"<svg.*?</svg>", text, re.S)
    counts = [len(re.findall(r'id="[^"]*-curve-\d+"', drawing)) for drawing in drawings]
    assert max(counts) == curves.MOST_CURVES  # it is used, and not passed
    one = curves.Curve("a", (0.0, 1.0), (1.0, 2.0), (0.0, 0.0), numbered(0))
    with pytest.raises(ValueError, match="8 curves, more than 7"):
        curves.draw([one] * 8, "many", "many", xlabel="x", ylabel="y")


def test_methods_left_out_of_the_first_figure_are_in_one_on_demand(text):
    start = text.index('id="pie-extra"')
    part = text[start : text.index("<h3", start)]
    drawn, more = part.split("<summary>Other settings and other methods</summary>")
    for entry in experiment("pie-extra").methods:
        name = entry.name.split(" (")[0]
        assert f">{name}</text>" in drawn + more.split("</details>")[0], name
    assert ">DLHD</text>" not in drawn


def test_the_papers_values_are_drawn_where_the_text_has_them(text):
    found = {
        name: len(re.findall("<use", marks))
        for name, marks in re.findall(r'<g id="([^"]*)-published-\d+">(.*?)</g>', text, re.S)
    }
    assert found["lost-bars-0"] == len(LOST)
    assert found["fiw-cooccurrence-imbalance"] == 2
    assert found["pie-fraction-0"] == len(experiment("pie-fraction").cells)
    assert sum(name.startswith("sensitivity-gamma") for name in found) >= 1
    assert sum(name.startswith(("sensitivity-rounds", "elimination-rounds")) for name in found) >= 2
    for of in ("fiw-fraction", "fiw-cooccurrence", "fiw-extra", "pie-extra"):
        for one in RANGES[of]:
            assert f"paper: {one.label}" in text
    assert "the paper, on pixels of Lost 8.2" in text


def test_curves_are_the_means_of_the_stored_runs(results):
    of = experiment("pie-extra")
    one = curves.curve(results, of.name, "CLPL", "extra labels", LOOKS["CLPL"])
    for x, mean, deviation in zip(one.x, one.mean, one.deviation, strict=True):
        stored = results.figures("error", of.name, "CLPL", "", **{"extra labels": x})
        assert mean == pytest.approx(stored.mean())
        assert deviation == pytest.approx(stored.std(ddof=1) if len(stored) > 1 else 0.0)


def test_a_failed_run_is_in_no_curve():
    lines = [one for one in stored_lines(1) if one["settings"]["experiment"] == "pie-extra"]
    for line in lines:
        line["figures"] = {"error": None, "reason": "no memory", "seconds": 0.0}
    found = PaperResults(lines)
    assert curves.curve(found, "pie-extra", "CLPL", "extra labels", LOOKS["CLPL"]) is None


def test_the_tables_have_the_papers_and_the_stored_errors(results):
    of = experiment("lost")
    text = by_setting(of, of.cells[0], results, {"letter": " (paper)", "ours": ""})
    for name in ("MCar", "WMCar-ICE"):
        letter, ours = (results.mean("lost", f"{name}{e}") for e in (" (paper)", ""))
        cells = "".join(
            f"<td class=number>{value}</td>"
            for value in (LOST[name], f"{letter:.1f}", f"{ours:.1f}")
        )
        assert f"<td>{name}</td>{cells}" in text
    assert "<td>naive</td><td class=number>18.6</td>" in text


def test_the_papers_test_errors_do_not_stand_beside_labelling_errors(results):
    of = experiment("yahoo")
    endings = {"letter": " (paper)"}
    assert "12.9 ± 0.8" in by_setting(of, of.cells[0], results, endings, "common_error")
    assert "12.9 ± 0.8" not in by_setting(of, of.cells[0], results, endings, "labelling_error")


def test_tables_say_what_varies_once_and_leave_out_what_was_not_run(results):
    lines = [
        line
        for line in results.lines
        if line["settings"]["experiment"] == "pie-extra"
        and line["settings"]["method"] in ("CLPL", "IPAL")
        and line["settings"]["at"] == {"extra labels": 3}
        and (line["settings"]["method"] == "CLPL" or line["seed"] == 0)
    ]
    found = errors(experiment("pie-extra"), PaperResults(lines))
    text = next(one for one in found if "Errors in percent" in one)
    assert text.count("extra labels") == 1
    stored = results.figures("error", "pie-extra", "CLPL", "", **{"extra labels": 3})
    assert f"{stored.mean():.1f} ± {stored.std(ddof=1):.1f}<" in text
    assert " (1)<" in text
    assert ">7</th>" not in text


def test_the_settings_are_read_from_the_declarations(results, document, text):
    box = settings_box.settings_box(document, EXPERIMENTS, results)
    paper = SETTINGS["paper"]
    assert f"{paper.rho:g}" in box
    assert f"{paper.tol:g}" in box
    assert "1.25/σ_1" in box
    assert "1/σ_c" in box
    assert "abc123" in box
    assert box in text
    of = experiment("lost")
    changed = tuple(
        replace(entry, params={**entry.params, "rho": 1.77})
        if entry.name == "WMCar-ICE (paper)"
        else entry
        for entry in of.methods
    )
    (column,) = settings_box.columns("letter", " (paper)", [replace(of, methods=changed)])
    assert column.setting.rho == 1.77
    assert column.setting.tol == paper.tol


def test_the_opening_counts_comparisons_alone_and_says_why_not(document):
    said = StrictPage(opening.opening(document))
    words = " ".join(" ".join(said.words).split())
    holds = len(EXPERIMENTS) + 1
    assert f"Of {holds + 2} sentences of the paper that compare methods, {holds} hold here" in words
    assert "1 of them beyond two standard errors" in words
    assert "Because of <this>." in words
    reasons = words[words.index("What does not") : words.index("What stays open")]
    assert "fails" in reasons
    assert "defined" not in words
    assert "later" in words[words.index("What stays open") :]


def test_rules_that_changed_are_told_with_their_reason(document):
    change = {"claim": "lambda", "date": "2026-11-19", "was": "a", "now": "b", "why": "a mistake"}
    changed = {**document, "rules": {**document["rules"], "changes": [change]}}
    assert "a mistake" in opening.opening(changed)


def test_without_results_the_page_says_so(document):
    text = whole_page.whole_page(PaperResults([]), document, EXPERIMENTS)
    StrictPage(text)
    assert "Nothing has been run yet" in text
    assert "Not run yet." in text


def test_failed_runs_are_told_with_their_reason(document):
    failed = {"error": None, "reason": "no <memory>", "seconds": 0.0}
    lines = [{**line, "figures": failed} for line in stored_lines(1)]
    text = whole_page.whole_page(PaperResults(lines), document, EXPERIMENTS)
    StrictPage(text)
    assert "no &lt;memory&gt;" in text


def test_without_matplotlib_numbers_are_there_all_the_same(results, document, monkeypatch):
    monkeypatch.setattr(whole_page, "installed", lambda extra: False)
    text = whole_page.whole_page(results, document, EXPERIMENTS)
    StrictPage(text)
    assert "pip install &#x27;candidly[plot]&#x27;" in text
    assert f"{results.mean('lost', 'CLPL'):.1f}" in text


def test_measurements_beside_the_runs_are_tables(results, document, tmp_path):
    row = {"setting": "letter", "method": "MCar-ICE", "ambiguous": 1055, "zero": 564}
    row |= {"evidence": [21.1], "scores": [21.0], "index": [21.7], "random": [21.0, 22.0]}
    row |= {"evidence, rounding": [21.1], "scores, rounding": [21.2]}
    stored = {"command": "python -m benchmarks.paper.ice_ties", "rows": [row]}
    (tmp_path / "ice_ties.json").write_text(json.dumps(stored))
    found = side_measurements.side_measurement("ties", tmp_path)
    StrictPage(found)
    assert "<td class=number>564</td>" in found
    assert "21.5 (21.0 to 22.0)" in found
    assert side_measurements.side_measurement("dictionaries", tmp_path) == ""
    placed = [name for section in paper_order.SECTIONS for name in section.beside]
    assert sorted(placed) == sorted(side_measurements.SIDE_MEASUREMENTS)


def test_how_far_the_photos_meet_the_premise_is_told(results):
    assert premise_table(experiment("lost"), results) == ""
    stored = PaperResults.read(STORED)
    text = premise_table(experiment("yahoo"), stored)
    StrictPage(text)
    assert "31,147" in text
    fewest = next(
        line["figures"]["fewest mentions"]
        for line in stored.select("yahoo")
        if "fewest mentions" in line["figures"]
    )
    assert f"<td class=number>{fewest}</td>" in text


def test_the_page_says_what_the_dictionaries_show():
    text = side_measurements.side_measurement("dictionaries", STORED)
    rows = json.loads((STORED / "dictionary_changes.json").read_text())["rows"]
    joint = next(row for row in rows if row["params"] == {"coding": "joint"})
    assert f"brings it to {joint['clear_test']:.1f}" in text


def test_completion_shrinks_the_hulls_and_the_norm():
    one = low_rank_example.example()
    flat = low_rank_example._plane(one.X, one.y)
    every = one.candidates.mask.T
    found = np.arange(len(low_rank_example.DIGITS))[:, None] == one.found
    assert low_rank_example._overlap(flat, found) < low_rank_example._overlap(flat, every) / 2
    assert low_rank_example._nuclear(found, one.X) < low_rank_example._nuclear(every, one.X)
    np.testing.assert_allclose(one.Y.sum(axis=0), 1)


def test_the_page_of_the_stored_runs_has_their_numbers_in_two_megabytes(tmp_path):
    stored = PaperResults.read(STORED)
    page = paper_report.write(stored, tmp_path)
    assert page.stat().st_size < 2_000_000
    text = page.read_text(encoding="utf-8")
    StrictPage(text)
    judged = json.loads((tmp_path / "claims.json").read_text())
    headline = judged["headline"]
    assert f"<b>{headline['supported']} hold here</b>, {headline['sure']} of them" in text
    for one in judged["claims"]:
        assert f'id="claim-{one["name"]}"' in text
    for line in stored.select("lost"):
        if line["figures"].get("error") is not None:
            assert f"<td class=number>{line['figures']['error']:.1f}</td>" in text
    for of in ("fiw-fraction", "pie-extra"):
        for table in errors(experiment(of), stored):
            assert table in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install the package chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_and_nothing_is_wider_than_a_phone(text, tmp_path, scheme):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    arguments = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        opened = browser.new_page(viewport={"width": 375, "height": 800}, color_scheme=scheme)
        opened.goto(path.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= 375
        # The same elements are in both schemes: what is on demand is looked at in one.
        opened.evaluate(
            "open => document.querySelectorAll('details').forEach(one => { one.open = open })",
            scheme == "dark",
        )
        assert opened.evaluate("document.documentElement.scrollWidth") <= 375
        options = {"resultTypes": ["violations"]}
        found = axe.Axe().run(opened, options=options).response["violations"]
        assert found == [], [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        browser.close()
