"""Files that are changed, damaged, lost or not written while solves read them, and their paths."""

import errno
import os
import pickle
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from candidly import Candidates, RowSpace
from candidly.distributed import (
    Features,
    SourceError,
    solve,
    store_candidates,
    store_checksums,
)
from candidly.distributed.checksums import CHECKSUMS
from candidly.distributed.npy_file import read_array
from candidly.distributed.npy_part import NpyPart
from candidly.distributed.out_of_core import OutOfCore
from candidly.distributed.source_reading import read_source

FLIPS = [0, ord("#"), ord("("), ord("9"), ord("-")]
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
    assert said > 300


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


@pytest.fixture
def tables(tmp_path):
    """Write DataFrames as parts of a folder, and return it."""
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'candidly[ray]'")
    pytest.importorskip("pandas")
    (tmp_path / "tables").mkdir()

    def write(*frames, **options):
        for k, frame in enumerate(frames):
            frame.to_parquet(tmp_path / "tables" / f"part-{k}.parquet", **options)
        return tmp_path / "tables"

    return write


def frame_of(X, names="abc"):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list(names))


def test_columns_of_parquet_are_read_by_their_names(tables):
    X, y = made()
    frame = frame_of(X)
    folder = tables(frame[:15], frame[15:15], frame[15:30][["c", "a", "b"]], frame[30:])
    found = solve((folder, y), RowSpace())
    alone = RowSpace().fit(frame, y)
    np.testing.assert_array_equal(found.transduction_, alone.transduction_)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    assert found.feature_names_in_.dtype == alone.feature_names_in_.dtype
    np.testing.assert_array_equal(found.predict(frame), alone.predict(frame))  # and no warning
    with pytest.raises(ValueError, match="should match those"):
        found.predict(frame[["c", "a", "b"]])


def test_other_processes_read_columns_by_their_names(tables):
    X, y = made()
    frame = frame_of(X)
    sent = pickle.dumps(read_source((tables(frame[:15], frame[15:][["c", "a", "b"]]), y)))
    np.testing.assert_array_equal(pickle.loads(sent).features.rows(slice(20, 30)), X[20:30])


def test_columns_are_in_the_order_of_names_that_are_given(tables):
    X, _ = made()
    folder = tables(frame_of(X))
    features = Features([folder / "part-0.parquet"], np.array(["b", "c", "a"]))
    np.testing.assert_array_equal(features.rows(slice(0, 9)), X[:9, [1, 2, 0]])
    with pytest.raises(
        SourceError, match=r"part-0\.parquet lacks the column 'd', other than names"
    ):
        len(Features([folder / "part-0.parquet"], np.array(["a", "d", "b"])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.rename(columns={"b": "B"}), "lacks the column 'b', other than .*-0"),
        (lambda frame: frame.drop(columns="c"), "lacks the column 'c', other than"),
        (lambda frame: frame.assign(id=1.0), "has the column 'id', other than"),
    ],
)
def test_a_part_with_other_columns_is_an_error(tables, change, message):
    X, y = made()
    frame = frame_of(X)
    with pytest.raises(SourceError, match=rf"part-1\.parquet {message}"):
        solve((tables(frame[:20], change(frame[20:])), y), RowSpace())


def test_the_index_of_a_table_is_no_feature(tables):
    X, y = made()
    frame = frame_of(X)
    shuffled = frame.sample(frac=1, random_state=0)
    found = solve((tables(shuffled), y), RowSpace())
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(SourceError, match="has numbers of type int64 in the column 'id'; give"):
        solve((tables(frame.assign(id=1)), y), RowSpace())


def test_names_that_are_no_texts_are_no_names_of_features(tables):
    pandas = pytest.importorskip("pandas")
    X, y = made()
    frame = pandas.DataFrame(X)
    folder = tables(frame[:20], frame[20:][[2, 0, 1]])
    found = solve((folder, y), RowSpace())
    assert not hasattr(found, "feature_names_in_")
    np.testing.assert_array_equal(found.predict(frame), RowSpace().fit(frame, y).predict(frame))


@pytest.mark.parametrize("typed", [True, False])
def test_a_parquet_part_of_no_lists_is_passed_over(tables, typed):
    pyarrow = pytest.importorskip("pyarrow")
    X, _ = made()
    schema = pyarrow.schema([("e", pyarrow.list_(pyarrow.float64()))]) if typed else None
    lists = [frame_of([[row] for row in X[own]], "e") for own in np.split(np.arange(40), [10])]
    folder = tables(lists[0][:0], lists[0], lists[1][:0], lists[1], schema=schema)
    features = Features.of(folder)
    assert features.shape == X.shape
    assert features.dtype == X.dtype
    np.testing.assert_array_equal(features.rows(slice(5, 33)), X[5:33])
    np.testing.assert_array_equal(features.rows(np.array([39, 9, 10])), X[[39, 9, 10]])


@pytest.mark.parametrize("checked", [True, False])
def test_a_damaged_page_of_parquet_is_named(tables, checked):
    X, y = made()
    frame, rng, said = frame_of(X), np.random.default_rng(0), 0
    options = {"compression": "snappy", "write_page_checksum": checked}
    path = tables(frame[:20], frame[20:], **options) / "part-1.parquet"
    content = path.read_bytes()
    for _ in range(60):
        broken, at = bytearray(content), int(rng.integers(4, len(content) // 3))
        broken[at : at + 8] = rng.integers(0, 256, 8, dtype=np.uint8).tobytes()
        path.write_bytes(broken)
        read = named(path, lambda: read_source((path.parent, y)).features.rows(slice(0, 40)))
        said += read is None
        if checked and read is not None:
            np.testing.assert_array_equal(read, X)
    assert said > 5


@pytest.mark.parametrize("rows", ["npy", "parquet"])
def test_values_that_are_no_numbers_are_named_with_their_part(tables, parts, rows):
    source, X, y = parts
    if rows == "npy":
        np.save(source[0] / "part-2.npy", np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1))
        with pytest.raises(
            SourceError, match=r"row 21, column 1, which is row 1 of .*part-2\.npy;"
        ):
            solve(source, RowSpace())
    else:
        frame = frame_of(X)
        frame.loc[25, "b"] = np.inf
        with pytest.raises(
            SourceError, match=r"inf in row 25, column 1, which is row 5 of .*-1\.p"
        ):
            solve((tables(frame[:20], frame[20:]), y), RowSpace())


@contextmanager
def files_of_at_most(size):
    """A limit that ends writes as a full disk does."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("size", [100, 20, 700])
def test_candidates_that_find_no_room_leave_those_of_before(tmp_path, size):
    folder = store_candidates([{0, 1}, {1}], tmp_path / "candidates", groups=[0, 1])
    store_checksums(folder)
    before = contents(folder)
    many = [{0, 1, 2}] * (10 if size < 700 else 100)
    with (
        files_of_at_most(size),
        pytest.raises(SourceError, match=r"/(start|classes)\.npy was not written.*make room and"),
    ):
        store_candidates(many, folder)
    assert contents(folder) == before
    assert read_source((np.eye(2), folder)).groups.tolist() == [0, 1]
    store_candidates(many, folder)
    assert len(read_source((np.zeros((len(many), 2)), folder))) == len(many)


@pytest.mark.parametrize("name", [CHECKSUMS, "names.json", "unfinished"])
def test_each_file_that_finds_no_room_leaves_those_of_before(tmp_path, monkeypatch, name):
    folder = store_candidates([{0, 1}, {1}], tmp_path / "candidates")
    store_checksums(folder)
    before, real = contents(folder), Path.open

    def full(path, *arguments, **options):
        if path.name.startswith(name) and arguments[:1] == ("wb",):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(SourceError, match=rf"candidates/{name} was not written: the disk of"):
            store_candidates([{0}, {1}], folder)
        if name == CHECKSUMS:
            with pytest.raises(SourceError, match="what was there before is as it was"):
                store_checksums(folder)
    assert contents(folder) == before
    read_source((np.eye(2), folder))


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(SourceError, match=r"/a cannot be written: .*; give a folder that can be"):
        store_candidates([{0}, {1}], tmp_path / "a")


def test_checksums_of_nothing_are_an_error(tmp_path):
    with pytest.raises(SourceError, match=r"there is no folder .*nowhere"):
        store_checksums(tmp_path / "nowhere")
    with pytest.raises(SourceError, match=r"has no \.npy or \.parquet files to write"):
        store_checksums(tmp_path)


def test_files_of_somebody_else_beside_a_checkpoint_stay(parts, tmp_path, monkeypatch):
    source, folder = parts[0], tmp_path / "solve"
    interrupted(source, folder, monkeypatch)
    mine = ["call-notes.txt", "call-00001.txt", "shard-00001.npy", "shard-list-00002.csv", "call-1"]
    for name in mine:
        (folder / name).write_text("mine")
    ours = ["call-00900.part", "call-00900-sums-B.npy", "shard-00001-y-00900.part", "job.part"]
    for name in ours:
        (folder / name).write_text("of a call that was interrupted")
    interrupted(source, folder, monkeypatch, calls=1)
    assert not any((folder / name).exists() for name in ours)
    solve(source, RowSpace(), folder=folder)
    left = {path.name for path in folder.glob("*-*")} - {p.name for p in folder.glob("result-*")}
    assert left == set(mine)


def test_features_are_given_by_paths(parts, tmp_path, monkeypatch):
    (folder, candidates), X, y = parts
    paths = [str(folder / f"part-{k}.npy") for k in range(4)]
    for features in (paths, tuple(paths), [Path(path) for path in paths], Features(paths)):
        np.testing.assert_array_equal(read_source((features, y)).features.rows(slice(0, 40)), X)
    monkeypatch.setenv("HOME", str(tmp_path))
    source = read_source(("~/parts", "~/candidates"))
    np.testing.assert_array_equal(source.features.rows(slice(0, 40)), X)
    assert Features(["~/parts/part-0.npy"]).shape == (10, 3)
    assert store_checksums("~/parts").parent == folder
    assert store_candidates(y, "~/candidates") == candidates
    with pytest.raises(SourceError, match=r"nowhere\.npy cannot be read as features"):
        solve((["nowhere.npy", *paths], y), RowSpace())


def test_a_missing_part_is_asked_for(parts, tmp_path):
    (folder, candidates), _, y = parts
    (folder / "part-1.npy").unlink()
    asked = rf"30 rows of features in 3 parts of {folder}, part-0\.npy to part-3\.npy, and 40 .* is"
    with pytest.raises(SourceError, match=f"{asked} one missing"):
        solve((folder, candidates), RowSpace())
    with pytest.raises(SourceError, match=r"30 rows of features in 3 .* 20 .* give one set"):
        solve((folder, y[:20]), RowSpace())
    with pytest.raises(SourceError, match=r"10 rows of features and 40 candidate sets; give one"):
        solve((folder / "part-0.npy", y), RowSpace())


@pytest.mark.parametrize("name", ["groups", "sample_weight"])
@pytest.mark.parametrize("given", ["w.npy", Path("w.npy"), "balanced"])
def test_values_of_instances_are_no_paths(parts, tmp_path, name, given):
    source, _, y = parts
    asked = rf"{name} is an array, and not .*; load it .* store_candidates\(\.\.\., {name}=\.\.\.\)"
    with pytest.raises(SourceError, match=asked):
        solve(source, RowSpace(), **{name: given})
    with pytest.raises(SourceError, match=asked):
        store_candidates(y, tmp_path / "new", **{name: given})
    assert not (tmp_path / "new").exists()


def groups_of(kind, count):
    rng = np.random.default_rng(0)
    if kind == "one large":
        return np.concatenate([np.zeros(count - 50, dtype=int), rng.integers(1, 9, 50)])
    groups = {"in order": np.arange(count) // 3, "from the last": (count - np.arange(count)) // 3}
    return groups[kind] if kind in groups else rng.permutation(groups["in order"])


@pytest.mark.parametrize("most", [1, 7, 64, 300, 1000])
@pytest.mark.parametrize("kind", ["in order", "from the last", "in no order", "one large"])
def test_shards_have_as_many_whole_groups_as_fit(monkeypatch, kind, most):
    monkeypatch.setattr("candidly.distributed.sources.ROWS", 16)
    groups = groups_of(kind, 300)
    source = read_source((np.zeros((300, 1)), [{0}] * 300))
    source.groups = groups
    names, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    wanted, room = [], 0
    for group in np.argsort(first):  # in the order in which they appear
        if sizes[group] > room or not wanted:
            wanted.append([])
            room = most
        wanted[-1].extend(np.flatnonzero(groups == names[group]).tolist())
        room -= sizes[group]
    cuts = [np.arange(300)[cut] for cut in source.cut(most)]
    assert [cut.tolist() for cut in cuts] == [sorted(rows) for rows in wanted]


@pytest.mark.parametrize(("kind", "most"), [("in order", 3), ("in no order", 26)])
def test_cutting_takes_little_memory_per_row(tmp_path, kind, most):
    count = 300_000
    np.save(tmp_path / "groups.npy", groups_of(kind, count))
    source = read_source((np.zeros((1, 1)), [{0}]))
    source.start = np.broadcast_to(0, count + 1)
    source.groups = np.load(tmp_path / "groups.npy", mmap_mode="r")
    tracemalloc.start()
    try:
        cuts = source.cut(10_000)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(cuts) == 31
    assert peak < most * count
    assert kept < (5 if kind == "in no order" else 0.5) * count
