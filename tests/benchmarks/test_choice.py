"""The commands that measure the choice without truth, on a tiny problem."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.accuracy import chosen_families, probabilities
from benchmarks.accuracy.problems import PROBLEMS, Problem, measure_missing, read
from candidly import datasets

ROOT = Path(__file__).parents[2]
TINY = Problem(
    "tiny",
    lambda seed: datasets.load("digits", people=3, each=12, n_extra=1, random_state=seed),
    (0, 1),
)


def absent(seed):
    raise FileNotFoundError("no such data")


def test_families_are_measured_once_and_drawn(tmp_path):
    problems = [TINY, Problem("elsewhere", absent)]
    path, console = tmp_path / "families.jsonl", Console(file=io.StringIO())
    args = chosen_families.FamilyRecord, path, console
    records = measure_missing(problems, chosen_families.measure, *args)
    assert [(r.problem, r.seed) for r in records] == [("tiny", 0), ("tiny", 1)]
    assert "elsewhere is not run: no such data" in console.file.getvalue()
    assert set(records[0].single) == {*chosen_families.SINGLE, chosen_families.SMALL}
    assert records[0].error < records[0].floor
    stored = path.read_text()
    assert measure_missing(problems, chosen_families.measure, *args) == records
    assert path.read_text() == stored

    document = tmp_path / "choosing.md"
    document.write_text("<!-- families: begin -->\n<!-- families: end -->\nrest")
    text = chosen_families.draw(records, tmp_path, document)
    assert text in document.read_text()
    assert document.read_text().endswith("rest")
    assert "| tiny | 2 |" in text


@pytest.mark.parametrize(
    ("command", "record", "name", "document"),
    [
        (chosen_families, chosen_families.FamilyRecord, "families.jsonl", "docs/choosing.md"),
        (probabilities, probabilities.ProbabilityRecord, "probabilities.jsonl", "docs/results.md"),
    ],
)
def test_the_tables_are_drawn_from_the_stored_runs(command, record, name, document):
    stored = read(ROOT / "results" / name, record)
    assert command.table(list(stored.values())) in (ROOT / document).read_text()


def test_an_estimate_that_is_wrong_is_counted_as_wrong():
    values = {"floor": 60.0, "single": {"IPAL": 4.0, "CLPL": 9.0}, "error": 12.0, "estimate": 3.0}
    record = chosen_families.FamilyRecord(
        "made up", 0, "0", **values, low=1.0, high=5.0, labeller="RowSpace", sets_follow="label",
        doubtful=False, seconds=1.0,
    )  # fmt: skip
    assert record.best == "IPAL"
    assert not record.inside
    text = chosen_families.summary([record])
    assert "in 0 of 1 draws; the median width is 4.0" in text
    assert "+8.0 points (IPAL)" in text
    assert "-48.0 points" in text


def test_probabilities_are_of_instances_left_out(tmp_path):
    record = probabilities.measure("tiny", 0, TINY.load(0))
    assert record.accuracy > 0.8
    assert abs(record.accuracy - record.confidence) <= record.ece + 1e-4
    assert "| tiny |" in probabilities.table([record])


def test_problems_have_the_truth_among_their_candidates():
    made_up = [p for p in PROBLEMS if "BirdSong" not in p.name and "MSRC" not in p.name]
    for problem in (p for p in made_up if "Lost" not in p.name):
        data = problem.load(0)
        assert data.candidates.contain(data.y).all(), problem.name
