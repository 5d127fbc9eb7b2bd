"""Methods side by side: folds, budgets, what is kept, and the tests of differences."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from typer.testing import CliRunner

import candidly
from candidly import registry
from candidly.baselines import PLKNN
from candidly.cli import app
from candidly.comparison import Comparison, FoldResult, corrected_t_test, holm
from candidly.comparison import runner as comparison_runner
from candidly.comparison.store import Store
from candidly.comparison.workers import work
from candidly.registry import Method

runner = CliRunner()
QUICK = ["PL-KNN"]


class Sleeper(PLKNN):
    """Leaves the number of its process, and does not come back."""

    def label(self, problem):
        Path(os.environ["SLEEPER"]).write_text(str(os.getpid()))
        time.sleep(600)
        return super().label(problem)


class Sudden(PLKNN):
    def label(self, problem):
        os._exit(7)


class Blocked(PLKNN):
    """Labels one fold, and refuses the next."""

    def label(self, problem):
        if Path(os.environ["BLOCKED"]).exists():
            raise RuntimeError("the door\nis [shut]")
        Path(os.environ["BLOCKED"]).touch()
        return super().label(problem)


def without_extra():
    raise ImportError("networks need torch: pip install 'candidly[torch]'")


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Methods of these tests beside the real ones."""
    methods = dict(registry._METHODS)
    monkeypatch.setattr(registry, "_METHODS", methods)
    monkeypatch.setenv("SLEEPER", str(tmp_path / "pid"))
    monkeypatch.setenv("BLOCKED", str(tmp_path / "door"))
    for name, make in {
        "sleeper": Sleeper,
        "sudden": Sudden,
        "blocked": Blocked,
        "absent": without_extra,
    }.items():
        methods[name] = Method(name, make, "nobody (2000)", "none", "tests")
    return methods


def digits(each=8):
    return candidly.datasets.load("digits", each=each, n_extra=1, random_state=0)


def run(data, **options):
    return candidly.compare(data.X, data.candidates, data.y, **{"folds": 2, **options})


def inline(monkeypatch):
    """Run in this process, where a test is about something else; returns what was run."""
    ran = []

    class Inline(comparison_runner.Worker):
        def __init__(self, method, estimator, data, splits, *, alone):
            super().__init__(method, estimator, data, splits, alone=alone)
            self.job = (estimator, data, splits)

        def start(self):
            ran.extend((self.method, split.repeat, split.fold) for split in self.job[2])
            work(self._theirs, *self.job)

    monkeypatch.setattr(comparison_runner, "Worker", Inline)
    return ran


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_method_over_its_budget_is_ended_and_listed_as_not_run(known, tmp_path):
    out = tmp_path / "runs.jsonl"
    found = run(digits(), methods=["sleeper", "PL-KNN"], time_budget=3.0, out=out, n_jobs=2)
    assert [row.status for row in found.rows] == ["not run", "not run", "done", "done"]
    assert found.rows[0].reason == "over its time budget of 3 s"
    assert not alive(int((tmp_path / "pid").read_text()))
    assert found.summary()[-1].method == "sleeper"
    assert "| sleeper |  |  |  |  | not run: over its time budget of 3 s |" in found.table()
    lines = out.read_text().splitlines()
    assert len(lines) == 3  # two folds, and one line about the sleeper

    (tmp_path / "pid").unlink()
    again = run(digits(), methods=["sleeper", "PL-KNN"], time_budget=3.0, out=out)
    assert again.rows == found.rows
    assert not (tmp_path / "pid").exists()  # it would go over the same budget again
    line = json.loads(next(text for text in lines if "sleeper" in text))
    settings = {name: line[name] for name in ("data", "folds", "seed", "version")}
    parameters = {"sleeper": line["parameters"]}
    for budget, kept in ((1.0, True), (3.0, True), (3.1, False), (None, False)):
        stored = Store(out, settings, parameters, budget).read()
        assert (("sleeper", 0, 0) in stored) is kept  # with more time it gets another chance


@pytest.mark.slow
def test_methods_that_fail_are_not_run_with_their_reason(known, tmp_path, monkeypatch):
    out = tmp_path / "runs.jsonl"
    found = run(digits(), methods=["sudden", "blocked", "absent", "PL-KNN"], out=out, n_jobs=2)
    reasons = {row.method: row.reason for row in found.rows if row.status == "not run"}
    assert reasons["sudden"] == "its process ended by itself, exit code 7"
    assert reasons["blocked"] == "RuntimeError: the door is [shut]"
    assert reasons["absent"] == "networks need torch: pip install 'candidly[torch]'"
    assert [s.method for s in found.summary() if s.status == "done"] == ["PL-KNN"]
    blocked = next(s for s in found.summary() if s.method == "blocked")
    assert blocked.test_error is None  # the mean of one fold of two would mislead
    assert blocked.state.startswith("not run after 1 of 2 folds: ")
    assert len(out.read_text().splitlines()) == 3
    (tmp_path / "door").unlink()
    inline(monkeypatch)
    mended = run(digits(), methods=["blocked"], out=out)
    assert [row.status for row in mended.rows] == ["done", "done"]
    assert len(out.read_text().splitlines()) == 4  # only the fold that was missing


def test_rows_are_what_the_method_gives_on_the_fold(monkeypatch):
    inline(monkeypatch)
    data = digits()
    found = run(data, methods=["PL-KNN", "WMCar"], folds=4)
    splits = comparison_runner._splits(data.candidates, 4, 1, 0)
    assert len(found.rows) == 8
    for row, split in zip(found.rows, [*splits, *splits], strict=True):
        model = candidly.methods.get(row.method)
        model.fit(data.X[split.train], data.candidates[split.train])
        predicted = model.predict(data.X[split.test])
        labels = model.transduction_
        assert row.labelling_error == candidly.labelling_error(data.y[split.train], labels)
        assert row.test_error == candidly.labelling_error(data.y[split.test], predicted)
        inside = candidly.covering_rate(data.candidates[split.test], predicted)
        assert row.covering_rate == inside
        assert (row.n_train, row.n_test) == (60, 20)


def test_without_truth_the_covering_rate_is_what_counts(monkeypatch):
    inline(monkeypatch)
    data = digits()
    found = candidly.compare(data.X, data.candidates, methods=["PL-KNN", "RowSpace"], folds=3)
    assert found.measure == "covering_rate"
    assert all(row.test_error is None and row.labelling_error is None for row in found.rows)
    rates = {s.method: s.covering_rate[0] for s in found.summary()}
    assert rates[found.best] == max(rates.values())
    assert found.significance()[0].difference >= 0
    assert "covering rate" in found.table()


def test_what_is_done_is_not_run_twice(monkeypatch, tmp_path):
    ran = inline(monkeypatch)
    out = tmp_path / "runs.jsonl"
    data = digits()
    first = run(data, methods=QUICK, folds=3, out=out)
    assert len(ran) == len(out.read_text().splitlines()) == 3
    again = run(data, methods=QUICK, folds=3, out=out)
    assert len(ran) == len(out.read_text().splitlines()) == 3
    assert again.rows == first.rows
    run(data, methods=[*QUICK, "RowSpace"], folds=3, out=out)
    run(data, methods=QUICK, folds=3, repeats=2, out=out)  # the first three are the same
    assert len(set(ran)) == len(ran) == 9
    line = json.loads(out.read_text().splitlines()[0])
    assert line["parameters"]["n_neighbors"] == "10"
    assert line["version"] == candidly.__version__
    assert {"method", "repeat", "fold", "seed", "data", "seconds"} <= set(line)


def test_a_line_that_was_cut_off_is_measured_again(monkeypatch, tmp_path):
    ran = inline(monkeypatch)
    out = tmp_path / "runs.jsonl"
    data = digits()
    first = run(data, methods=QUICK, folds=3, out=out)
    whole = out.read_text()
    for cut in (20, 1):  # in the middle, and only the end of the line
        out.write_text(whole[:-cut])
        ran.clear()
        again = run(data, methods=QUICK, folds=3, out=out)
        assert [row.test_error for row in again.rows] == [row.test_error for row in first.rows]
        assert len(ran) == (1 if cut > 1 else 0)
    out.write_text(whole[:30])  # nothing but half a line
    assert run(data, methods=QUICK, folds=3, out=out).best == "PL-KNN"
    parsed = [json.loads(text) for text in out.read_text().splitlines()[1:]]
    assert len(parsed) == 3


@pytest.mark.parametrize(
    "change", ["features", "candidates", "truth", "random_state", "folds", "groups"]
)
def test_lines_of_other_data_or_settings_are_left_alone(monkeypatch, tmp_path, change):
    ran = inline(monkeypatch)
    out = tmp_path / "runs.jsonl"
    data, options = digits(), {"methods": ["RowSpace"], "folds": 2, "out": out}
    run(data, **options)
    before = out.read_text()
    ran.clear()
    if change == "features":
        data.X = data.X + np.eye(*data.X.shape) * 1e-9
    elif change == "candidates":
        data.candidates = candidly.Candidates(data.candidates.mask | np.eye(80, 10, dtype=bool))
    elif change == "truth":
        data.y = np.roll(data.y, 1)
    elif change == "random_state":
        options["random_state"] = 1
    elif change == "folds":
        options["folds"] = 3
    else:
        options["groups"] = np.arange(80) // 2
    run(data, **options)
    assert len(ran) == options["folds"]
    assert out.read_text().startswith(before)


def test_lines_of_other_parameters_or_versions_are_left_alone(monkeypatch, tmp_path, known):
    ran = inline(monkeypatch)
    out = tmp_path / "runs.jsonl"
    run(digits(), methods=QUICK, out=out)
    known["PL-KNN"] = Method("PL-KNN", lambda: PLKNN(n_neighbors=3), "", "", "")
    run(digits(), methods=QUICK, out=out)
    monkeypatch.setattr(candidly, "__version__", "99")
    run(digits(), methods=QUICK, out=out)
    assert len(ran) == 6


def test_a_file_that_is_no_comparison_is_refused_untouched(tmp_path):
    for text in ("name,price\npear,3\n", '{"method": 3}\n', "[1]\n", "pear"):
        path = tmp_path / "mine.jsonl"
        path.write_text(text)
        with pytest.raises(ValueError, match=r"mine\.jsonl is there, and is no comparison"):
            Store(path, {}, {}, None)
        assert path.read_text() == text
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Store(tmp_path / "no" / "runs.jsonl", {}, {}, None)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        Store(tmp_path, {}, {}, None)


def test_folds_are_the_same_for_a_seed_and_never_split_a_group():
    mask = np.ones((60, 2), dtype=bool)
    photos = np.random.default_rng(0).integers(25, size=60)
    grouped = candidly.Candidates.from_mask(mask, null=1, groups=photos)
    splits = comparison_runner._splits(grouped, 5, 3, 0)
    assert len(splits) == 15
    for split in splits:
        assert not set(photos[split.train]) & set(photos[split.test])
        assert sorted([*split.train, *split.test]) == list(range(60))
    for repeat in range(3):
        tests = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(tests)) == list(range(60))
    again = comparison_runner._splits(grouped, 5, 2, 0)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(splits, again, strict=False))
    other = comparison_runner._splits(grouped, 5, 1, 1)
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(splits, other, strict=False))
    assert len({split.seed for split in splits}) == 15
    assert not np.array_equal(splits[0].test, splits[5].test)


def test_a_method_that_takes_no_groups_is_not_run_and_says_so(monkeypatch):
    inline(monkeypatch)
    data = digits()
    found = run(data, methods=["PL-KNN", "RowSpace"], groups=np.arange(80) % 40)
    assert found.best == "RowSpace"
    (reason,) = {row.reason for row in found.rows if row.method == "PL-KNN"}
    assert "takes no groups" in reason


def test_the_corrected_t_test_equals_one_worked_by_hand():
    # Ten folds, n_test/n_train = 1/9, mean 0.02, s² = 0.0004: t = 0.02/sqrt((1/10 + 1/9) s²).
    d = 0.02 + 0.02 * np.sqrt(0.9) * np.array([1, -1] * 5)
    assert np.isclose(d.var(ddof=1), 0.0004)
    t, p = corrected_t_test(d, 1 / 9)
    assert np.isclose(t, 2.176429)
    assert np.isclose(p, 2 * stats.t.cdf(-2.176429, 9), atol=1e-6)
    plain = stats.ttest_1samp(d, 0)
    np.testing.assert_allclose(corrected_t_test(d, 0), [plain.statistic, plain.pvalue])
    assert p > plain.pvalue
    assert corrected_t_test([0.0, 0.0], 1) == (0.0, 1.0)
    assert np.isnan(corrected_t_test([0.1, 0.1], 1)).all()  # nothing tells how much it varies
    with pytest.raises(ValueError, match="two differences or more"):
        corrected_t_test([1.0], 1)


def test_holm_equals_its_definition():
    p = [0.01, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def rows_of(figures, measure="test_error"):
    return [
        FoldResult(name, 0, fold, 90, 10, "done", seconds=1.0, **{measure: value})
        for name, values in figures.items()
        for fold, value in enumerate(values)
    ]


def test_each_method_is_tested_against_the_best_fold_by_fold():
    figures = {"b": [0.3, 0.2, 0.4], "a": [0.1, 0.2, 0.2], "c": [0.5, 0.7, 0.6]}
    partial = [
        FoldResult("d", 0, 0, 90, 10, "done", test_error=0.0),
        FoldResult("d", 0, 1, 90, 10, reason="x"),
    ]
    found = Comparison(rows_of(figures) + partial)
    tests = found.significance()
    assert [(test.method, test.best) for test in tests] == [("b", "a"), ("c", "a")]
    differences = np.subtract(figures["b"], figures["a"])
    np.testing.assert_allclose((tests[0].t, tests[0].p), corrected_t_test(differences, 1 / 9))
    assert [test.p_holm for test in tests] == holm([test.p for test in tests])
    assert [summary.method for summary in found.summary()] == ["a", "b", "c", "d"]
    rates = Comparison(rows_of(figures, "covering_rate"))
    assert rates.best == "c"
    np.testing.assert_allclose(rates.significance()[0].difference, np.mean(figures["c"]) - 0.3)
    with pytest.raises(ValueError, match="labelling_error"):
        found.significance("labelling_error")


def test_a_comparison_is_written_as_table_csv_and_json(tmp_path):
    found = Comparison(
        [*rows_of({"a": [0.1, 0.3]}), FoldResult("b|c", 0, 0, 9, 1, reason="no [torch]")]
    )
    assert "| a | 20.0% ± 14.1 | 1.0 |  | done |" in found.table()
    assert r"| b\|c |  |  |  | not run: no [torch] |" in found.table()
    stored = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "rows.csv"))))
    assert stored[0]["test_error"] == "0.1"
    assert stored[2]["reason"] == "no [torch]"
    assert (tmp_path / "rows.csv").read_text() == found.to_csv()
    parsed = json.loads(found.to_json(tmp_path / "all.json"))
    assert [FoldResult(**row) for row in parsed["rows"]] == found.rows
    console = Console(file=io.StringIO(), width=80)
    console.print(found)
    assert "not run" in console.file.getvalue()


def test_notes_on_convergence_reach_the_table():
    rows = [FoldResult("a", 0, k, 9, 1, "done", test_error=0.1, note="stopped" * k) for k in (0, 1)]
    assert Comparison(rows).summary()[0].state == "done; in 1 of 2 folds: stopped"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds is a whole number of at least 2, got 1"),
        ({"folds": 81}, "81 folds need as many instances, and there are 80"),
        ({"repeats": 0}, "repeats is a whole number of at least 1, got 0"),
        ({"random_state": -1}, "random_state is a whole number of at least 0, got -1"),
        ({"time_budget": 0}, "time_budget is a number of seconds above 0, or None, got 0"),
        ({"time_budget": "1"}, "time_budget is .* got '1'"),
        ({"methods": ["PL-KNM"]}, "there is no method 'PL-KNM'; there are .*WMCar"),
        ({"methods": []}, "no method is named"),
        ({"groups": [0] * 80}, "2 folds need as many groups, and there are 1"),
    ],
)
def test_errors_name_the_value_at_fault(options, message):
    with pytest.raises(ValueError, match=message):
        run(digits(), **options)


def test_data_that_does_not_fit_together_is_refused():
    data = digits()
    with pytest.raises(ValueError, match="80 rows and y 79"):
        candidly.compare(data.X, data.candidates, data.y[1:])
    with pytest.raises(ValueError, match="80 rows and there are 79 candidate sets"):
        candidly.compare(data.X, data.candidates[1:])
    with pytest.raises(ValueError, match="y has '0', the candidates 0; name them alike"):
        candidly.compare(data.X, data.candidates, data.y.astype(str))
    with pytest.raises(ValueError, match="NaN"):
        candidly.compare(np.full((80, 2), np.nan), data.candidates)


def test_every_registered_method_can_be_named_and_packed():
    assert comparison_runner.chosen_methods("all") == candidly.methods.names()
    assert set(comparison_runner.chosen_methods(None)) <= set(comparison_runner.QUICK)
    for name in candidly.methods.names():
        entry = comparison_runner._entry(name)
        assert not entry.problem
        assert type(pickle.loads(entry.estimator)) is type(candidly.methods.get(name))


SCRIPT = """
import candidly
from candidly.baselines import PLKNN
from candidly.registry import register

print("once")

class Mine(PLKNN):
    pass

register("Mine", Mine, "", "", "")
digits = candidly.datasets.load("digits", each=8, n_extra=1, random_state=0)
print(candidly.compare(digits.X, digits.candidates, methods="Mine", folds=2).best)
"""


@pytest.mark.slow
def test_a_script_without_a_guard_and_with_a_method_of_its_own_works(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["once", "Mine"]
    assert not ran.stderr


@pytest.mark.slow
def test_an_interrupted_comparison_keeps_what_is_done(known, tmp_path):
    def interrupt(news):
        if "sleeper" in news.running and (tmp_path / "pid").exists():
            raise KeyboardInterrupt

    out = tmp_path / "runs.jsonl"
    with pytest.warns(UserWarning, match="interrupted"):
        found = run(
            digits(), methods=["PL-KNN", "sleeper", "WMCar"], out=out, on_progress=interrupt
        )
    assert found.interrupted
    assert [row.reason for row in found.rows] == ["", "", *["interrupted"] * 4]
    assert len(out.read_text().splitlines()) == 2
    assert not alive(int((tmp_path / "pid").read_text()))


def csv_file(folder, groups=False, truth=True):
    data = digits()
    path = folder / "digits.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        more = ["label"] * truth + ["group"] * groups
        writer.writerow([*(f"x{k}" for k in range(64)), "candidates", *more])
        for k, (x, names) in enumerate(zip(data.X, data.candidates.sets(), strict=True)):
            extra = [data.y[k]] * truth + [k % 40] * groups
            writer.writerow([*x, "|".join(map(str, sorted(names))), *extra])
    return path


@pytest.mark.slow
def test_the_command_prints_a_table_and_leaves_folds_and_a_picture(tmp_path, monkeypatch):
    path, picture = csv_file(tmp_path, groups=True), tmp_path / "out.png"
    command = ["compare", str(path), "--methods", "RowSpace, PL-KNN", "--folds", "2"]
    result = runner.invoke(app, [*command, "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert "RowSpace" in result.stdout
    assert "not run: PL-KNN takes no groups" in result.stdout
    assert "RowSpace: labelling error" in result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "digits.compare.jsonl").read_text().splitlines()) == 2
    inline(monkeypatch)
    again = runner.invoke(app, command)
    assert "2 of 4 folds are in" in again.stderr
    assert len((tmp_path / "digits.compare.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "PL-KNM"], "there is no method 'PL-KNM'; there are "),
        (["--out", "runs.csv"], "--out runs.csv should end in .jsonl"),
        (["--time-budget", "-3"], "--time-budget is a number of seconds above 0, got -3"),
        (["--n-jobs", "0"], "--n-jobs is 1 or more"),
        (["--folds", "90"], "90 folds need as many instances, and there are 80"),
        (["--plot", "picture.txt"], "should end in one of .png"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, arguments, message):
    path = csv_file(tmp_path)
    result = runner.invoke(app, ["compare", str(path), *arguments])
    assert result.exit_code == 1
    assert message in result.stderr
    assert not list(tmp_path.glob("*.jsonl"))


def test_the_command_knows_data_sets_by_name(tmp_path, monkeypatch):
    inline(monkeypatch)
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["compare", "digits", "--methods", "PL-KNN", "--folds", "2"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "digits.compare.jsonl").is_file()
    missing = runner.invoke(app, ["compare", "digts"])
    assert "no file digts, nor a data set of that name; there are digits," in missing.stderr
    null = runner.invoke(app, ["compare", "digits", "--null", "x"])
    assert "--null is for files" in null.stderr


def test_the_command_fails_where_no_method_ran(tmp_path, monkeypatch):
    inline(monkeypatch)
    path = csv_file(tmp_path, groups=True)
    assert runner.invoke(app, ["compare", str(path), "--methods", "PL-KNN"]).exit_code == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_keeps_what_is_done_and_says_how_to_continue(tmp_path):
    path = csv_file(tmp_path)
    command = [sys.executable, "-m", "candidly", "compare", path, "--methods", "PL-KNN,MCar"]
    running = subprocess.Popen(
        [*command, "--folds", "40"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs tests in the background ignores the signal, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    out = tmp_path / "digits.compare.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out.exists() and out.read_text()):
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers too
    printed, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "the same command again continues" in said
    assert "Traceback" not in said
    assert "interrupted" in printed
    assert 1 <= len(out.read_text().splitlines()) < 80


def test_methods_lists_each_with_its_reference(known):
    shown = runner.invoke(app, ["methods"])
    assert shown.exit_code == 0
    for name in candidly.methods.names():
        assert name in shown.stdout
    stored = {entry["name"]: entry for entry in json.loads(listing())}
    assert list(stored) == candidly.methods.names()
    assert stored["WMCar"]["takes"]["groups"] is True
    assert stored["PL-KNN"]["takes"]["groups"] is False
    assert stored["PL-KNN"]["takes"]["priors"] is True
    assert "pip install 'candidly[torch]'" in stored["absent"]["problem"]


def listing():
    return runner.invoke(app, ["methods", "--json"]).stdout


def test_methods_tells_which_extra_is_missing(known, monkeypatch):
    monkeypatch.setitem(candidly.extras.EXTRAS, "brains", ("a_module_nobody_has", "networks"))
    known["PL-KNN"] = Method("PL-KNN", PLKNN, "", "", "", extra="brains")
    stored = {entry["name"]: entry for entry in json.loads(listing())}
    assert stored["PL-KNN"]["problem"] == "needs pip install 'candidly[brains]'"
    assert stored["WMCar"]["problem"] is None
