"""What the documents show is run, and what they count is true."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import candidly
from benchmarks import store
from benchmarks.accuracy import accuracy, alternatives, compared, confidence
from benchmarks.paper import EXPERIMENTS, planned, report
from benchmarks.paper.claims import CLAIMS, Verdict
from benchmarks.paper.results import Results
from benchmarks.paper.summary import as_text, summary
from benchmarks.photos import captions, ingest, photos
from candidly.cli import app

ROOT = Path(__file__).parents[2]


def test_the_code_in_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "600 instances, 10 classes" in capsys.readouterr().out


def test_the_tables_in_the_readme_are_drawn_from_the_stored_runs():
    runs = accuracy.read_runs(ROOT / "results" / "accuracy.jsonl").values()
    text = accuracy.table(list(runs))
    assert "not run" not in text
    assert text in (ROOT / "README.md").read_text()
    assert text == (ROOT / "results" / "accuracy.md").read_text()


def test_the_other_tables_are_drawn_from_the_stored_runs_too():
    readme = (ROOT / "README.md").read_text()
    text = confidence.table(confidence.read(ROOT / "results" / "confidence.jsonl"))
    assert "not run" not in text
    assert text in readme
    lines = store.read(ROOT / "results" / "methods.jsonl")
    latest = {line["method"]: line for line in lines}
    assert set(latest) == set(candidly.methods.names())
    assert compared.table(latest) in (ROOT / "docs" / "methods.md").read_text()
    found = {x["problem"]: x["errors"] for x in store.read(ROOT / "results/alternatives.jsonl")}
    assert alternatives.table(found) in (ROOT / "docs" / "choosing.md").read_text()
    assert (ROOT / "results" / "ten-fold.md").read_text() in readme
    assert ingest.table(json.loads((ROOT / "results" / "ingest.json").read_text())) in readme
    assert photos.table(json.loads((ROOT / "results" / "photos.json").read_text())) in readme
    assert captions.table(json.loads((ROOT / "results/captions-own.json").read_text())) in readme


def test_the_verdicts_on_the_paper_are_those_of_the_stored_runs():
    folder = ROOT / "results" / "paper"
    results = Results.read(folder)
    if not results.lines:
        pytest.skip("the source distribution leaves the single runs out; the repository has them")
    assert all(run in results for run in planned(EXPERIMENTS))
    verdicts = report.judgements(results)
    for claim in CLAIMS:
        supported = all(j.verdict is Verdict.SUPPORTED for j in verdicts[claim.name].values())
        assert supported or claim.reason, claim.name
    stored = json.loads((folder / "claims.json").read_text())
    assert report.as_data(verdicts, "candidly paper") == stored
    assert as_text(summary(results, "candidly paper")) == (folder / "means.json").read_text()
    letter, ours = report.counted(verdicts).values()
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert (
        "of {} claims {} are supported by the paper's settings to the letter, {} are not, and {} "
        "cannot be tested here; by our settings {}, {} and {}."
    ).format(
        len(CLAIMS), *(counts[v] for counts in (letter, ours) for v in list(Verdict)[:3])
    ) in readme
    collections = ("newsroom", "LFW, embeddings", "LFW, pixels")
    for method in ("ours, own classifier", "SVM on true labels"):
        means = [results.mean("yahoo", method, collection=name) for name in collections]
        assert " / ".join(f"{mean:.1f}" for mean in means) + "%" in readme


def test_files_that_the_architecture_names_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    named = set(re.findall(r"`((?:candidates|solvers|methods|estimators)/[\w/]+\.py)`", text))
    assert len(named) > 8
    for file in named:
        assert (ROOT / "src" / "candidly" / file).is_file(), file


def test_every_public_name_is_documented_with_an_example():
    for name in candidly.__all__:
        value = getattr(candidly, name)
        assert value.__doc__, name
        problem = isinstance(value, type) and issubclass(value, Exception)
        if not problem and not inspect.ismodule(value):
            assert ">>> " in value.__doc__, name


def test_every_command_is_in_the_readme():
    text = (ROOT / "README.md").read_text()
    commands = [command.callback.__name__ for command in app.registered_commands]
    assert len(commands) >= 4
    for command in commands:
        assert f"candidly {command}" in text


def test_accuracy_measures_what_is_missing_and_continues(tmp_path, monkeypatch):
    small = accuracy.Problem("digits", "digits", {"each": 10, "n_extra": 1}, (0, 1))
    news = accuracy.Problem("absent", "newsroom", variants=("both",), methods=("WMCar",))
    monkeypatch.setattr(accuracy, "PROBLEMS", (small, news))
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    readme = tmp_path / "README.md"
    readme.write_text("before <!-- accuracy: begin --> old <!-- accuracy: end --> after")
    accuracy.main(tmp_path / "out", readme)
    lines = (tmp_path / "out" / "accuracy.jsonl").read_text().splitlines()
    assert len(lines) == 2 * (4 * 2 + 3) + 1
    text = readme.read_text()
    assert text.startswith("before")
    assert text.endswith("after")
    assert "| absent | both |  | not run |" in text
    assert "old" not in text
    changed = json.loads(lines[0])
    changed["error"] = 99.0
    torn = json.dumps(changed) + "\n" + lines[1][:20]  # stopped in the middle of a line
    (tmp_path / "out" / "accuracy.jsonl").write_text(torn)
    accuracy.main(tmp_path / "out", readme)
    lines = (tmp_path / "out" / "accuracy.jsonl").read_text().splitlines()
    assert len(lines) == 2 * (4 * 2 + 3) + 2
    assert json.loads(lines[0])["error"] == 99.0  # what is there is not measured again
    stored = json.loads((tmp_path / "out" / "accuracy.json").read_text())
    assert len(stored) == 2 * (4 * 2 + 3) + 1


def test_results_keep_errors_of_repeated_names_and_null_apart():
    run = accuracy.Run("p", "WMCar", "both", 0, error=30.0, repeated_error=20.0, null_error=60.0)
    assert accuracy._cell([run]) == "30.0 (20.0 / 60.0)"
    assert accuracy._cell([]) == "not run"


def test_the_other_experiments_measure_what_they_say():
    small = accuracy.Problem("digits", "digits", {"each": 12, "n_extra": 2}, (0,))
    line = confidence.measure(small, draws=3)
    assert line.draws == 3
    assert 0 <= line.error < 0.2
    assert line.kept == 1
    assert sum(size for _, _, size in line.reliability) == 120
    errors = alternatives.averaged(small)
    assert list(errors) == list(alternatives.AVERAGES)
    assert errors["as it is"] == pytest.approx(100 * line.error, abs=0.02)
    data = small.load()
    assert compared.measure("PL-KNN", data)["error"] < 40
    assert "not run" in confidence.table({})


@pytest.mark.parametrize("command", ["demo", "test", "accuracy"])
def test_make_targets_named_in_the_readme_exist(command):
    assert f"make {command}" in (ROOT / "README.md").read_text()
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_help_of_every_command_has_an_example():
    for command in app.registered_commands:
        result = CliRunner().invoke(app, [command.callback.__name__, "--help"])
        assert "Example" in result.output
