"""Files that are changed, damaged, lost or not written while solves read them, and their paths."""

import numpy as np
import pytest

from candidly import RowSpace
from candidly.distributed import SourceError, solve, store_candidates
from candidly.distributed.npy_file import read_array
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
        try:
            found = read_source((path, y)).features.rows(slice(0, 12))
        except SourceError as error:
            assert str(path) in str(error)
            said += 1
        else:  # of spaces that nothing stands in
            np.testing.assert_array_equal(found, X.astype(dtype))
    assert said > 500


def test_a_damaged_header_of_candidates_is_an_error_or_changes_nothing(tmp_path):
    store_candidates([{0, 1}, {1}, {0, 2}], tmp_path)
    path = tmp_path / "classes.npy"
    for content in header_flips(path.read_bytes()):
        path.write_bytes(content)
        try:
            found = read_source((np.eye(3), tmp_path)).classes
        except SourceError as error:
            assert str(path) in str(error)
        else:
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
