"""The figures we promise on real data, no argument given; measured, not remembered."""

from __future__ import annotations

import numpy as np
import pytest

from candidly import MCar, WMCar, WMCarICE, datasets, labelling_error

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("name", "model", "most"),
    [
        ("lost", MCar, 9.5),
        ("lost", WMCar, 9.5),
        ("lost", WMCarICE, 8.0),
        ("birdsong", WMCarICE, 15.0),
        ("msrcv2", WMCarICE, 35.0),
    ],
)
def test_partial_label_sets(name, model, most):
    data = datasets.load(name)
    labels = model(classifier=None).fit_predict(data.X, data.candidates)
    assert 100 * labelling_error(data.y, labels) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "n_extra", "most"),
    [
        ("pie", {"people": 18, "each": 21}, 3, 0.5),
        ("fiw10b", {}, 1, 2.5),
        ("fiw10b", {}, 3, 4.5),
        ("orl", {}, 3, 1.0),
    ],
)
def test_face_images_over_five_seeds(name, size, n_extra, most):
    errors = []
    for seed in range(5):
        data = datasets.load(name, n_extra=n_extra, random_state=seed, **size)
        labels = WMCar(classifier=None).fit_predict(data.X, data.candidates)
        errors.append(100 * labelling_error(data.y, labels))
    assert np.mean(errors) <= most


def test_predict_on_unseen_faces_beats_chance_by_far():
    data = datasets.load("lost")
    half = np.random.default_rng(0).permutation(len(data.y))
    train, test = half[::2], half[1::2]
    model = WMCar().fit(data.X[train], data.candidates[train])
    assert model.score(data.X[test], data.y[test]) > 0.6
