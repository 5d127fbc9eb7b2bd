"""The benchmark of scale: its made-up files, its floor, and tables drawn from what is stored."""

import json
from pathlib import Path

import numpy as np

from benchmarks.scale.disk_and_flop import floor_seconds
from benchmarks.scale.expectation import expectation
from benchmarks.scale.made_up import write
from benchmarks.scale.scale_report import renew, rows_of
from candidly import RowSpace
from candidly.distributed import solve

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
