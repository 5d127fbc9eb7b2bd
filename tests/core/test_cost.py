"""What a fit will take is said before it, and grows with the problem."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from candidly import ICE, CandidateClassifier, MCar, OpenSet, RowSpace, WMCar, datasets
from candidly.base import Context
from candidly.cli import app
from candidly.selection.family_cost import MOST_WORK, labeller_work, too_large
from candidly.solvers import CandidateSets
from candidly.solvers.cost import FORECAST, Cost, MachineSpeed, machine_speed
from candidly.telling import listening

SLOW = MachineSpeed(1e6, 1e6, 1e2)


class Shaped:
    """Features of which only the shape and the type count."""

    def __init__(self, *shape, dtype=np.float64):
        self.shape, self.itemsize = shape, np.dtype(dtype).itemsize

    def __len__(self):
        return self.shape[0]


def sets_of(N, c, size=3):
    classes = (np.arange(N)[:, None] * 7 + np.arange(size)) % c
    return CandidateSets(size * np.arange(N + 1), np.sort(classes, axis=1).ravel(), c)


def context(null=None):
    return Context(None, (), None, null)


@pytest.fixture
def digits():
    return datasets.load("digits", each=10, n_extra=1, random_state=0)


ESTIMATORS = [
    (MCar(), None), (WMCar(), None), (ICE(), None), (RowSpace(), None),
    (RowSpace(lift="rbf", denoise=True), None), (OpenSet(), 0), (CandidateClassifier(), None),
    (CandidateClassifier(denoise=True), None), (CandidateClassifier(), 0),
]  # fmt: skip


@pytest.mark.parametrize(("model", "null"), ESTIMATORS, ids=lambda each: str(each)[:40])
def test_more_instances_features_classes_and_candidates_cost_more(model, null):
    def cost(N, m, c, size=3):
        return model.predicted_cost(Shaped(N, m), sets_of(N, c, size), context(null))

    once = cost(3000, 50, 20)
    for more in (
        cost(6000, 50, 20),
        cost(3000, 100, 20),
        cost(3000, 50, 40),
        cost(3000, 50, 20, 9),
    ):
        assert more.seconds(SLOW) >= once.seconds(SLOW)
        assert more.memory >= once.memory
    assert cost(6000, 50, 20).seconds(SLOW) > once.seconds(SLOW)


def test_a_family_that_is_left_out_is_not_in_the_cost():
    N = next(
        N
        for N in range(1000, 10**6, 1000)
        if labeller_work(N, 100, sets_of(9, 9))["neighbours"] > MOST_WORK
    )
    assert too_large({"row-space", "neighbours"}, (N, 100), sets_of(9, 9)) == ["neighbours"]
    sizes = [
        CandidateClassifier().predicted_cost(Shaped(n, 100), sets_of(n, 9), context()).products
        for n in (N - 1000, N)
    ]
    assert sizes[1] < sizes[0]


def test_costs_add_and_are_repeated_one_after_the_other():
    once = Cost(1, 2, 3, 4)
    assert 2 * once + Cost(memory=1) == Cost(2, 4, 6, 5)
    assert once.seconds(MachineSpeed(1, 1, 1)) == 6
    text = Cost(memory=3e9).forecast("It")
    assert text == f"It {FORECAST} 1 s and 3.0 GB of memory"
    speed = machine_speed()
    assert min(speed.products, speed.moved, speed.calls) > 0
    assert machine_speed() is speed  # measured once


def test_a_long_fit_says_so_first_and_a_short_one_does_not(digits, monkeypatch, capsys):
    lines = []
    with listening(lines.append):
        RowSpace().fit(digits.X, digits.candidates)
    assert not lines
    monkeypatch.setattr("candidly.base.LONG", 0.0)
    with listening(lines.append):
        RowSpace().fit(digits.X, digits.candidates)
    assert lines[0].startswith(f"RowSpace {FORECAST} ")
    MCar(verbose=1).fit(digits.X, digits.candidates)
    assert f"MCar {FORECAST} " in capsys.readouterr().out.splitlines()[0]
    MCar().fit(digits.X, digits.candidates)
    assert not capsys.readouterr().out


def test_the_command_line_always_says_it(digits, monkeypatch, tmp_path):
    file = tmp_path / "digits.npz"
    np.savez(file, data=digits.X, partial_target=digits.candidates.mask.T)
    monkeypatch.setattr("candidly.base.LONG", 0.0)
    found = CliRunner().invoke(app, ["resolve", str(file), "--method", "RowSpace"])
    assert found.exit_code == 0, found.output
    assert f"RowSpace {FORECAST} 1 s" in found.output
