"""Tables 1 and 2: errors as bars with the paper's values, and a column for every setting."""

from __future__ import annotations

from benchmarks.paper.declaration import Experiment
from benchmarks.paper.page.bars import Bar, bars, published_value
from benchmarks.paper.page.curves import deviation
from benchmarks.paper.page.html import figure
from benchmarks.paper.page.method_curves import FAMILY
from benchmarks.paper.page.method_looks import base_name
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.stored_runs import PaperResults
from benchmarks.paper.tables import PUBLISHED, by_setting


def table_of_errors(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return a table of the paper, as bars and with a column for every setting."""
    parts = []
    for place, cell in enumerate(experiment.cells):
        names = [entry.name for entry in experiment.entries(cell)]
        setting, ending = chain.there(names)
        shown = [n for n in names if base_name(n) not in FAMILY or n == f"{base_name(n)}{ending}"]
        measure = _measure(experiment, results)
        items = []
        for name in shown:
            lines = results.select(experiment.name, name, cell.part, **cell.at)
            found = [line["figures"].get(measure) for line in lines]
            values = [value for value in found if value is not None]
            if values:
                base = base_name(name) if base_name(name) in FAMILY else name
                published = published_value(PUBLISHED.get(experiment.name, {}), base)
                items.append(Bar(base, sum(values) / len(values), deviation(values), published))
        if not items:
            continue
        where = ", ".join(map(str, cell.at.values()))
        caption = f"{where}: errors in percent, the paper's methods as “{setting}”."
        drawing = bars(
            items,
            f"{experiment.name}-bars-{place}",
            caption,
            xlabel="error, %",
            published="the paper, on its own data",
        )
        others = {name: end for name, end in chain.endings.items() if name != setting}
        ordered = {setting: ending, **others}  # what is drawn comes first
        tables = [
            by_setting(experiment, cell, results, ordered, name)
            for name in ("common_error", "error", "labelling_error")
        ]
        parts.append(
            f"<div class=beside>{figure(drawing, caption)}<div>{''.join(tables)}</div></div>"
        )
    return "\n".join(parts)


def _measure(experiment: Experiment, results: PaperResults) -> str:
    """Return the error that is drawn: with the common machine where there is one."""
    common = any("common_error" in line["figures"] for line in results.select(experiment.name))
    return "common_error" if common else "error"
