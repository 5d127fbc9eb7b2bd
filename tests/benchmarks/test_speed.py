"""Speed: measurements run and agree on small problems, and the document shows what is stored."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from benchmarks.speed import __main__ as command
from benchmarks.speed.alm_solves import against_the_paper, low_rank_problem
from benchmarks.speed.floors import thresholding_floor
from benchmarks.speed.growing_problems import METHODS, foretold
from benchmarks.speed.growth_plot import draw
from benchmarks.speed.labelling_solves import around_means, drawn_labels
from benchmarks.speed.measuring import Figures, measurement, timed
from benchmarks.speed.rpca_solves import against_others
from benchmarks.speed.speed_parts import PARTS, measurements
from benchmarks.speed.speed_report import conditions, growth, row, table
from candidly import RowSpace, datasets
from candidly.solvers import ALM

ROOT = Path(__file__).parents[2]


def test_the_alm_and_the_paper_line_by_line_end_at_the_same_labels():
    problem = low_rank_problem(60, 30, 5, 10, 0.01)
    double = against_the_paper(problem, ALM(tol=1e-6))
    assert double.agreement["labels"] < 1e-9
    assert double.details["iterations"] == double.details["iterations line by line"]
    assert double.details["rank"] == double.details["rank line by line"]
    single = against_the_paper(problem, ALM(tol=1e-5), np.float32)
    assert single.agreement["labels"] < 1e-4
    assert single.details["labels that differ"] == 0


def test_robust_pca_finds_the_low_rank_part_whoever_else_is_installed():
    found = against_others(120, 60, "pyrpca")
    assert found.details["error"] < 1e-5
    assert found.details["residual"] < 1e-7
    assert all(difference < 1e-5 for difference in found.agreement.values())
    assert found.cpu > 0


def test_every_part_declares_measurements_whose_names_differ():
    assert {name.split("-")[0] for name in measurements()} >= {"floor", "alm", "rpca"}
    assert len(set(PARTS)) == len(PARTS)
    with pytest.raises(ValueError, match="two measurements 'floor-gemm'"):
        measurement("floor-gemm", "again")(lambda quick: Figures(1.0, 1.0))


def test_the_fewest_seconds_of_several_calls_count():
    calls = []
    found = timed(lambda: calls.append(1) or len(calls), repeats=3)
    assert len(calls) == 3
    assert 0 <= found.cpu < 1
    assert thresholding_floor(np.eye(10, 20), [1, 10]) > 0


def test_quick_measurements_are_printed_and_not_stored(tmp_path):
    app = typer.Typer()
    app.command()(command.main)
    out = tmp_path / "speed.json"
    found = CliRunner().invoke(app, ["--quick", "--only", "floor-band*", "--out", str(out)])
    assert found.exit_code == 0, found.output
    assert "copying" in found.output
    assert not out.exists()
    listed = CliRunner().invoke(app, ["--list"])
    assert [line.split(":")[0] for line in listed.output.splitlines()] == list(measurements())
    unknown = CliRunner().invoke(app, ["--only", "warp"])
    assert unknown.exit_code == 2


def test_what_runs_on_a_device_needs_one_and_is_only_tried_on_the_cpu(tmp_path):
    pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    app = typer.Typer()
    app.command()(command.main)
    out, document = tmp_path / "speed.json", tmp_path / "speed.md"
    options = ["--only", "device-floors", "--out", str(out), "--document", str(document)]
    without = CliRunner().invoke(app, options)
    assert without.exit_code == 2
    found = CliRunner().invoke(app, [*options, "--device", "cpu"])
    assert found.exit_code == 0, found.output
    assert "device: product" in found.output
    assert not out.exists()
    assert not document.exists()


@pytest.mark.parametrize("name", ["device-alm-924x100000", "device-row-space-million"])
def test_solves_on_a_device_find_the_labels_of_numpy(name):
    pytest.importorskip("torch", reason="needs torch: pip install 'candidly[torch]'")
    found = measurements()[name].run(True, "cpu")
    assert found.agreement["labels of fewer"] < 1e-3
    assert found.details.get("error", 0) < 0.05
    assert found.details["iterations"] > 1


def test_a_row_says_how_many_times_as_fast():
    record = asdict(Figures(2.0, 3.0, {"line by line": 9.0}, 1.0, {"labels": 1e-12}))
    record |= {"threads": 1, "peak memory MB": 100.0}
    text = row(measurements()["alm-5416x1122"], record)
    assert "| 2 | 3 | 100 | line by line 9 | 4.5 | 2.0 x | labels 1.0e-12 | 4 x; 6 x |" in text


def test_the_table_of_speed_is_drawn_from_the_stored_figures():
    stored = json.loads((ROOT / "results" / "speed.json").read_text())
    text = (ROOT / "docs" / "speed.md").read_text()
    assert table(stored) in text
    assert conditions(stored) in text
    assert growth(stored) in text
    assert not any(record["quick"] for record in stored.values())


def test_growth_and_the_plot_are_of_what_was_measured(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot: pip install 'candidly[plot]'")
    seconds = {name: [1.0, 2.0] for name in METHODS}
    record = {"details": {"sizes": [10, 20], "CPU seconds": seconds}}
    assert draw({"growth-classes": record}, tmp_path) is None
    path = draw({"growth-classes": record, "growth-instances": record}, tmp_path)
    assert path is not None
    assert 1000 < path.stat().st_size < 200_000
    text = growth({"open-set-125000": {"cpu": 2.0}, "open-set-250000": {"cpu": 5.0}})
    assert "| open-set, CPU s | 2.50 | not run | not run |" in text


def test_a_forecast_is_compared_with_what_it_took():
    data = datasets.load("digits", each=10, n_extra=1, random_state=0)
    found, held, cost = foretold(RowSpace(), data.X, data.candidates)
    assert len(found.answer.transduction_) == 100
    assert cost.seconds() > 0
    assert held >= 0


def test_memory_that_a_fit_takes_is_counted_from_its_beginning():
    X, mask, _ = around_means(20_000, 128, 10)
    held = [foretold(RowSpace(classifier=None), X, mask)[1] for _ in range(2)]
    assert min(held) > 0.5 * X.nbytes  # the second after the peak of the first, too
    assert max(held) < 20 * X.nbytes


def test_candidates_are_drawn_for_methods_that_take_one_label():
    data = datasets.load("digits", each=10, n_extra=1, random_state=0)
    assert drawn_labels(data.candidates.sparse_priors).shape == (100,)
