"""Files that are changed, damaged, lost or not written while solves read them, and their paths."""

import os
import pickle

import numpy as np
import pytest

from candidly import Candidates, RowSpace
from candidly.distributed import Features, SourceError, solve, store_candidates
from candidly.distributed.npy_file import read_array
from candidly.distributed.npy_part import NpyPart
from candidly.distributed.out_of_core import OutOfCore
from candidly.distributed.source_reading import read_source

FLIPS = [0, ord("#"), ord("("), ord("'"), ord(")"), ord("9"), ord("-"), ord(" "), 255]
"""Bytes that a byte of a header is replaced by."""


def made(count=40, m=3):
    """Return features and candidates that RowSpace labels in several iterations."""
    rng = np.random.default_rng(0)
    who = np.arange(count) % 4
    X = 2 * rng.normal(size=(4, m))[who] + rng.normal(size=(count, m))
    return X, [{int(one), int(one + 1 + number % 3) % 4} for number, one in enumerate(who)]


def small_shards(monkeypatch, rows=10):
    monkeypatch.setattr("candidly.distributed.solving.rows_in", lambda *_: rows)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Features in four parts, a folder of candidates, and what they are."""
    X, y = made()
    (tmp_path / "parts").mkdir()
    for k in range(4):
        np.save(tmp_path / "parts" / f"part-{k}.npy", X[10 * k : 10 * (k + 1)])
    store_candidates(y, tmp_path / "candidates")
    small_shards(monkeypatch)
    return (tmp_path / "parts", tmp_path / "candidates"), X, y


def interrupted(source, folder, monkeypatch, calls=5):
    real, count = OutOfCore._call, [0]

    def dying(*arguments):
        count[0] += 1
        if count[0] > 4 * calls:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(OutOfCore, "_call", dying)
        with pytest.raises(KeyboardInterrupt):
            solve(source, RowSpace(), folder=folder)


def named(path, read):
    """Return what a function returns, or None where it raises an error that names the file."""
    try:
        return read()
    except SourceError as error:
        said = str(error)
    assert str(path) in said
    return None


def header_flips(content, size=128):
    for at in range(size):
        for value in FLIPS:
            if content[at] != value:
                yield content[:at] + bytes([value]) + content[at + 1 :]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_damaged_header_of_features_is_an_error_or_changes_nothing(tmp_path, dtype):
    X, y = made(12)
    path = tmp_path / "X.npy"
    np.save(path, X.astype(dtype))
    said = 0
    for content in header_flips(path.read_bytes()):
        path.write_bytes(content)
        found = named(path, lambda: read_source((path, y)).features.rows(slice(0, 12)))
        said += found is None
        if found is not None:  # of spaces that nothing stands in
            np.testing.assert_array_equal(found, X.astype(dtype))
    assert said > 500


def test_a_damaged_header_of_candidates_is_an_error_or_changes_nothing(tmp_path):
    store_candidates([{0, 1}, {1}, {0, 2}], tmp_path)
    path = tmp_path / "classes.npy"
    for content in header_flips(path.read_bytes()):
        path.write_bytes(content)
        found = named(path, lambda: read_source((np.eye(3), tmp_path)).classes)
        if found is not None:
            np.testing.assert_array_equal(found, [0, 1, 1, 0, 2])


@pytest.mark.parametrize("values", [np.arange(6.0), np.arange(6) % 2 == 0, np.arange(6), np.eye(3)])
def test_a_damaged_header_of_a_state_is_said_or_changes_nothing(tmp_path, values):
    path = tmp_path / "state.npy"
    np.save(path, values)
    for content in header_flips(path.read_bytes()):
        path.write_bytes(content)
        for mapped in (False, True):
            try:
                found = read_array(path, mapped)
            except ValueError:
                continue
            assert found.dtype.isnative  # so that its bytes have a checksum
            assert found.nbytes <= values.nbytes


@pytest.mark.parametrize("kind", ["shard-00001-y*", "call-00004-sums-B*", "shard-*"])
@pytest.mark.parametrize("at", [9, 21, 60, 70])
def test_damaged_headers_of_a_checkpoint_are_made_again(parts, tmp_path, monkeypatch, kind, at):
    source = parts[0]
    whole = solve(source, RowSpace())
    interrupted(source, tmp_path / "solve", monkeypatch)
    broken = list((tmp_path / "solve").glob(kind))
    assert broken
    for path in broken:
        content = bytearray(path.read_bytes())
        content[at : at + 3] = b"#('"
        path.write_bytes(content)
    found = solve(source, RowSpace(), folder=tmp_path / "solve")
    np.testing.assert_array_equal(found.solution_.labels, whole.solution_.labels)


def replaced(path, values):
    np.save(path.with_name("new"), values)
    path.with_name("new.npy").replace(path)


def written(path, values):
    np.save(path, values)


@pytest.mark.parametrize("write", [replaced, written])
@pytest.mark.parametrize(
    "other",
    [
        lambda values: -values,
        lambda values: values.astype(np.float32),
        lambda values: values.astype(int),
        lambda values: values[:-1],
        lambda values: values[:, :-1],
        lambda values: np.asfortranarray(values) * 2,
    ],
)
def test_a_part_that_is_changed_while_a_solve_runs_is_an_error(parts, tmp_path, write, other):
    source, _, _ = parts
    whole, path = solve(source, RowSpace()), source[0] / "part-2.npy"
    before, passes = path.read_bytes(), []

    def tell(progress):
        if progress.passes == 5 and progress.shard == 2:
            write(path, other(np.load(path)))

    with pytest.raises(SourceError, match=r"part-2\.npy was changed while the solve ran; put the"):
        solve(source, RowSpace(), folder=tmp_path / "solve", on_progress=tell)
    path.write_bytes(before)
    found = solve(
        source, RowSpace(), folder=tmp_path / "solve", on_progress=lambda p: passes.append(p.passes)
    )
    assert passes[0] in (5, 6)  # it goes on
    np.testing.assert_array_equal(found.solution_.labels, whole.solution_.labels)


def test_what_is_read_while_a_part_is_changed_is_not_used(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.eye(3))
    features, real = Features.of(tmp_path / "a.npy"), NpyPart.read

    def read(part, *arguments):
        np.save(part.path, 2 * np.eye(3)[:2])
        return real(part, *arguments)

    monkeypatch.setattr(NpyPart, "read", read)
    for rows in (slice(0, 3), np.array([2, 0])):
        with pytest.raises(SourceError, match=r"a\.npy was changed while"):
            features.rows(rows)


def test_other_processes_know_what_parts_were(parts):
    source = read_source(parts[0])
    sent = pickle.dumps(source)
    path = parts[0][0] / "part-1.npy"
    pickle.loads(sent).features.rows(slice(10, 20))
    np.save(path, np.load(path) + 1)
    with pytest.raises(SourceError, match=r"part-1\.npy was changed while"):
        pickle.loads(sent).features.rows(slice(10, 20))


def test_features_of_an_earlier_solve_are_looked_at_again(tmp_path):
    X, y = made()
    np.save(tmp_path / "X.npy", X)
    features = Features([tmp_path / "X.npy"])
    solve((features, y), RowSpace())
    np.save(tmp_path / "X.npy", -2 * X[:, :2].astype(np.float32))
    found = solve((features, y), RowSpace())
    assert found.n_features_in_ == 2


@pytest.mark.parametrize("name", ["start", "classes", "groups", "priors", "weight"])
def test_candidates_that_are_written_to_while_a_solve_runs_are_an_error(
    tmp_path, monkeypatch, name
):
    X, y = made()
    small_shards(monkeypatch)
    y = Candidates.from_sets(y)
    priors = y.mask * np.array([1.0, 2, 3, 4])
    y = Candidates.from_priors(priors / priors.sum(axis=1)[:, None])
    folder = tmp_path / "candidates"
    source = X, store_candidates(y, folder, np.arange(40) // 2, sample_weight=np.arange(1, 41))
    whole, path = solve(source, RowSpace()), folder / f"{name}.npy"
    before = path.read_bytes()

    def tell(progress):
        if progress.passes == 5 and progress.shard == 2:
            with path.open("r+b") as file:
                file.seek(-9, os.SEEK_END)
                file.write(b"\1")

    with pytest.raises(SourceError, match=rf"{name}\.npy was changed while the solve ran"):
        solve(source, RowSpace(), folder=tmp_path / "solve", on_progress=tell)
    path.write_bytes(before)
    found = solve(source, RowSpace(), folder=tmp_path / "solve")
    np.testing.assert_array_equal(found.solution_.labels, whole.solution_.labels)


def test_candidates_that_are_replaced_while_a_solve_runs_are_those_of_before(parts, tmp_path):
    source, _, y = parts
    whole = solve(source, RowSpace())

    def tell(progress):
        if progress.passes == 5:
            store_candidates([{0, 1}, *y[1:]], source[1])

    found = solve(source, RowSpace(), folder=tmp_path / "solve", on_progress=tell)
    np.testing.assert_array_equal(found.solution_.labels, whole.solution_.labels)
