"""The benchmark of scale: its made-up files, its floor, and tables drawn from what is stored."""

import json
from pathlib import Path

import numpy as np

from benchmarks.scale.disk_and_flop import floor_seconds
from benchmarks.scale.drawn_problems import differences, drawn
from benchmarks.scale.expectation import expectation
from benchmarks.scale.made_up import write
from benchmarks.scale.scale_report import renew, rows_of
from candidly import RowSpace
from candidly.datasets import load
from candidly.distributed import solve
from problems import captions

ROOT = Path(__file__).parents[2]


def test_made_up_files_are_solved_to_their_truth(tmp_path):
    write(tmp_path, 3000, 64, 20)
    model = solve((tmp_path / "features.npy", tmp_path / "candidates"), RowSpace())
    assert (model.transduction_ == np.load(tmp_path / "truth.npy")).mean() > 0.95


def test_the_floor_is_disk_and_flop(tmp_path):
    np.save(tmp_path / "features.npy", np.zeros((1000, 8), dtype=np.float32))
    floor = floor_seconds(tmp_path / "features.npy", 1000, 8, 3000, steps=10, reads=13)
    assert floor["seconds"] == floor["disk seconds"] + floor["FLOP seconds"]
    work = 3 * 1000 * 64 + 10 * 4 * 3000 * 8
    np.testing.assert_allclose(floor["FLOP seconds"] * floor["FLOP per second"], work)


def test_what_is_computed_grows_with_what_was_measured():
    measured = {"iterations": 8, "CPU seconds": 72.0, "instances": 8_000_000}
    on_ray = {"seconds of a round on one core": 0.5, "instances": 1_000_000}
    found = expectation(measured, on_ray)
    slower = expectation({**measured, "CPU seconds": 144.0}, on_ray)
    name = "out of core: CPU hours of 30 rounds"
    assert slower[name] == 2 * found[name]
    assert found["computed, not measured"] is True


def test_the_tables_are_drawn_from_the_stored_figures(tmp_path):
    stored = json.loads((ROOT / "results" / "scale.json").read_text())
    document = tmp_path / "scale.md"
    text = (ROOT / "docs" / "scale.md").read_text()
    document.write_text(text)
    renew(stored, document)
    assert document.read_text() == text
    assert len(rows_of(stored)) >= 4


def test_problems_drawn_have_whole_groups_and_one_broken_row():
    X, candidates = captions(400)
    problems = {
        what: (features, sets)
        for what, features, sets in drawn(X, candidates, np.random.default_rng(0))
    }
    some, sets = problems["a tenth"]
    assert len(some) == 40
    assert (np.unique(sets.groups, return_counts=True)[1] == 2).all()
    broken = (problems["a broken row"][0] != some).any(axis=1)
    assert broken.sum() == 1
    assert sorted(map(tuple, problems["other order"][0])) == sorted(map(tuple, some))
    digits = load("digits", each=30, n_extra=2, random_state=0)
    alone = list(drawn(digits.X, digits.candidates, np.random.default_rng(0)))
    assert 0 < len(alone[-1][1]) < len(alone[0][1])


def test_differences_of_two_fits_are_counted():
    digits = load("digits", people=4, each=15, n_extra=2, random_state=0)
    one = RowSpace().fit(digits.X, digits.candidates)
    assert set(differences(one, one, digits.X).values()) == {0}
    two = RowSpace(ridge=10.0).fit(digits.X, digits.candidates)
    found = differences(two, one, digits.X)
    assert found["labels that differ"] == (one.transduction_ != two.transduction_).sum() > 0
    assert found["largest difference of a soft label"] > 0
