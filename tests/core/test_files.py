"""People's files: what is read, and what is said about what cannot be."""

from __future__ import annotations

import csv
import json
import re
import sys

import numpy as np
import pytest
from scipy import io, sparse
from typer.testing import CliRunner

from candidly import ContradictionError, datasets, extras
from candidly.cli import app
from candidly.datasets import DataFileError, read
from candidly.datasets.store import available

runner = CliRunner()
X = np.random.default_rng(0).normal(size=(12, 3))
MASK = np.eye(3, dtype=int)[np.arange(12) % 3] | np.eye(3, dtype=int)[(np.arange(12) + 1) % 3]
Y = np.arange(12) % 3
HEADER = "a,b,candidates\n"


def write(folder, text, name="data.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def good_csv(folder, **columns):
    path = folder / "good.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "z", "candidates", *columns])
        for k in range(12):
            names = "|".join("abc"[i] for i in np.flatnonzero(MASK[k]))
            writer.writerow([*X[k], names, *(values[k] for values in columns.values())])
    return path


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_matrix])
def test_mat_files_in_the_communitys_layout(tmp_path, store):
    target = np.eye(3)[Y].T
    io.savemat(
        tmp_path / "set.mat",
        {"data": store(X), "partial_target": store(MASK.T.astype(float)), "target": store(target)},
    )
    data = read(tmp_path / "set.mat")
    np.testing.assert_allclose(data.X, X)
    np.testing.assert_array_equal(data.candidates.mask, MASK)
    np.testing.assert_array_equal(data.y, Y)


def communitys(store=sparse.csc_matrix):
    """Return the arrays of a partial-label set as the community shares it."""
    target = np.eye(3)[Y].T
    return {"data": X, "partial_target": store(MASK.T.astype(float)), "target": store(target)}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("yahoo-news", "Yahoo! News.mat"),
        ("yahoo-news", "yahoo_news.mat"),
        ("soccer", "Soccer Player.mat"),
        ("soccer", "SoccerPlayer.MAT"),
    ],
)
def test_sets_without_a_checksum_are_read_from_their_usual_files(tmp_path, monkeypatch, name, file):
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    (tmp_path / "pll").mkdir()
    io.savemat(tmp_path / "pll" / file, communitys(), appendmat=False)
    (tmp_path / "pll" / "Yahoo! News 2.mat").write_bytes(b"another")
    data = datasets.load(name)
    np.testing.assert_allclose(data.X, X)
    np.testing.assert_array_equal(data.candidates.mask, MASK)
    np.testing.assert_array_equal(data.y, Y)
    assert data.groups is None
    assert data.citation
    assert available(name)


@pytest.mark.parametrize(
    ("name", "file"), [("yahoo-news", "Yahoo! News.mat"), ("soccer", "Soccer Player.mat")]
)
def test_a_set_that_is_not_there_says_its_file_and_where_to_put_it(
    tmp_path, monkeypatch, name, file
):
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    where = re.escape(str(tmp_path / "pll" / file))
    with pytest.raises(FileNotFoundError, match=f"^{where} is not there.*CANDIDLY_DATA"):
        datasets.load(name)
    assert not available(name)
    (tmp_path / "pll" / file).mkdir(parents=True)  # a folder of that name is no file
    with pytest.raises(FileNotFoundError, match="is not there"):
        datasets.load(name)


def test_a_set_in_another_layout_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CANDIDLY_DATA", str(tmp_path))
    (tmp_path / "pll").mkdir()
    given = communitys()
    transposed = given | {"partial_target": given["partial_target"].T}
    io.savemat(tmp_path / "pll" / "Soccer Player.mat", transposed)
    with pytest.raises(DataFileError, match=r"partial_target of Soccer Player\.mat has shape"):
        datasets.load("soccer")


def as_version_7_3(path, *, header):
    """Write the community's arrays as MATLAB's save -v7.3 does, targets sparse."""
    h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'candidly[matlab]'")
    with h5py.File(path, "w", userblock_size=512 if header else 0) as file:
        for name, value in communitys().items():
            if not sparse.issparse(value):
                file[name] = value.T
                continue
            group = file.create_group(name)
            group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
            group["data"], group["ir"], group["jc"] = value.data, value.indices, value.indptr
        file.create_group("#refs#")
    if header:
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    return path


@pytest.mark.parametrize("header", [True, False])
def test_mat_files_of_version_7_3_are_read(tmp_path, header):
    data = read(as_version_7_3(tmp_path / "new.mat", header=header))
    np.testing.assert_allclose(data.X, X)
    np.testing.assert_array_equal(data.candidates.mask, MASK)
    np.testing.assert_array_equal(data.y, Y)


def test_version_7_3_without_h5py_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataFileError, match=r"7\.3 need h5py.*candidly\[matlab\].*-v7"):
        read(tmp_path / "new.mat")


def test_npz_files_in_both_layouts(tmp_path):
    np.savez(tmp_path / "theirs.npz", data=X, partial_target=MASK.T)
    theirs = read(tmp_path / "theirs.npz")
    assert theirs.y is None
    np.savez(
        tmp_path / "ours.npz",
        X=X,
        candidates=MASK,
        y=np.array(list("abc"))[Y],
        classes=np.array(list("abc")),
        groups=np.arange(12) // 2,
    )
    ours = read(tmp_path / "ours.npz")
    np.testing.assert_array_equal(ours.candidates.mask, theirs.candidates.mask)
    assert ours.y[1] == "b"
    assert ours.groups[3] == 1
    np.savez(tmp_path / "soft.npz", X=X, candidates=MASK * 0.3)
    np.testing.assert_allclose(read(tmp_path / "soft.npz").candidates.priors.max(), 0.5)


def test_csv_files_with_and_without_the_optional_columns(tmp_path):
    data = read(good_csv(tmp_path))
    np.testing.assert_allclose(data.X, X)
    assert data.feature_names == ["x", "y", "z"]
    assert data.y is None
    assert data.groups is None
    full = read(
        good_csv(tmp_path, group=np.arange(12) // 2, label=list("abc" * 4), id=range(100, 112)),
        null="nobody",
    )
    assert full.y.tolist() == list("abc" * 4)
    assert full.groups[2] == "1"
    assert full.ids[0] == "100"
    assert full.candidates.null == "nobody"
    assert full.candidates.sets()[0] == {"a", "b", "nobody"}


def test_a_star_is_any_label_and_signatures_and_spaces_do_not_matter(tmp_path):
    text = "a,candidates\n1, x | y \n2,*\n\n3,x\n"
    data = read(write(tmp_path, text, encoding="utf-8-sig"))
    assert data.candidates.sets() == [{"x", "y"}, {"x", "y"}, {"x"}]
    latin = write(tmp_path, "a,candidates\n1,Zoé\n", "latin.csv", "latin-1")
    assert read(latin, encoding="latin-1").candidates.sets() == [{"Zoé"}]


BAD = {
    "missing column": ("a,b\n1,2\n", "has no column 'candidates'; it has a, b"),
    "duplicate header": ("a,a,candidates\n1,2,x\n", "two columns 'a'"),
    "empty file": ("", "is empty"),
    "only line ends": ("\n\n", "is empty"),
    "no rows": (HEADER, "a header and no rows"),
    "no features": ("candidates\nx\n", "no feature columns"),
    "a word for a number": (HEADER + "1,two,x\n", "line 2: column 'b' holds 'two'"),
    "an empty number": (HEADER + "1,,x\n", "line 2: column 'b' holds ''"),
    "nan": (HEADER + "1,nan,x\n", "no finite number"),
    "short row": (HEADER + "1,2,x\n1,2\n", "line 3: 2 cells where the header has 3"),
    "no candidates": (HEADER + "1,2,x\n1,2,|\n", "line 3: no candidates"),
    "any label alone": (HEADER + "1,2,*\n", "every row allows any label"),
    "a million characters": (HEADER + "1,2," + "x" * 1_000_000 + "\n", "over 131,072 characters"),
    "an open quote": (HEADER + '1,2,"x\n', "line 2"),
    "a label that is no class": ("a,label,candidates\n1,z,x\n", None),
    "a missing label": ("a,label,candidates\n1,x,x\n2,,x\n", "line 3: no label"),
    "any label beside others": (HEADER + "1,2,x|*\n", "* stands for any label"),
    "an id twice": (
        "a,id,candidates\n1,p,x\n2,q,x\n3,p,x\n",
        "lines 2 and 4 have the id 'p'; give each row its own",
    ),
    "semicolons": ("a;b;candidates\n1;2;x\n", "separates its cells by ; or tabs"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_told_by_library_and_command_alike(tmp_path, case):
    text, message = BAD[case]
    path = write(tmp_path, text)
    if message is None:
        with pytest.warns(UserWarning, match="no candidate set lists"):
            read(path)
        return
    with pytest.raises(DataFileError) as caught:
        read(path)
    assert message in str(caught.value)
    result = runner.invoke(app, ["resolve", str(path)])
    assert result.exit_code == 1
    assert "error:" in result.stderr
    assert message.split(";")[0] in result.stderr
    assert "Traceback" not in result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv"]


def test_unknown_encodings_are_told(tmp_path):
    path = write(tmp_path, HEADER + "1,2,Zoé\n", encoding="latin-1")
    with pytest.raises(DataFileError, match=r"is not utf-8: byte .* Save it as UTF-8"):
        read(path)
    result = runner.invoke(app, ["resolve", str(path)])
    assert result.exit_code == 1
    assert "--encoding" in result.stderr
    with pytest.raises(DataFileError, match="is not utf-16"):
        read(path, encoding="utf-16")
    with pytest.raises(DataFileError, match="there is no encoding 'klingon'"):
        read(path, encoding="klingon")


def test_files_that_are_no_data_are_told(tmp_path):
    with pytest.raises(DataFileError, match="is not there"):
        read(tmp_path / "gone.csv")
    with pytest.raises(DataFileError, match=r"none of \.mat, \.npz and \.csv"):
        read(write(tmp_path, "x", "data.xlsx"))
    with pytest.raises(DataFileError, match="cannot be read as a MATLAB file"):
        read(write(tmp_path, "not MATLAB at all, but long enough to look at" * 9, "bad.mat"))
    with pytest.raises(DataFileError, match="cannot be read as a numpy archive"):
        read(write(tmp_path, "not numpy", "bad.npz"))
    np.savez(tmp_path / "other.npz", weights=X)
    with pytest.raises(DataFileError, match="no array 'data'; it holds weights"):
        read(tmp_path / "other.npz")
    np.savez(tmp_path / "turned.npz", data=X, partial_target=MASK)
    with pytest.raises(DataFileError, match="classes x instances"):
        read(tmp_path / "turned.npz")
    np.savez(tmp_path / "empty.npz", data=X, partial_target=MASK.T * (np.arange(12) > 0))
    with pytest.raises(DataFileError, match="row 0 has an empty candidate set"):
        read(tmp_path / "empty.npz")
    np.savez(tmp_path / "long.npz", X=X, candidates=MASK[:-1])
    with pytest.raises(DataFileError, match="12 rows of features and 11 candidate sets"):
        read(tmp_path / "long.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.full((2, 2), np.nan), "candidates": MASK[:2]}, "hold nan in row 0, column 0"),
        ({"X": np.ones((2, 0)), "candidates": MASK[:2]}, "no features, or no rows"),
        ({"X": X, "candidates": MASK, "y": np.array(3)}, r"labels of shape \(\)"),
        ({"X": X, "candidates": MASK, "y": np.repeat("a", 12)}, "label 'a' is not one of"),
        ({"data": X, "partial_target": MASK.T - 0.5}, "a mask holds only 0 and 1"),
        ({"data": X, "partial_target": MASK.T, "target": MASK.T}, "marks 2 classes for instance 0"),
    ],
)
def test_arrays_that_make_no_sense_are_told(tmp_path, arrays, message):
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(DataFileError, match=message):
        read(tmp_path / "odd.npz")
    assert runner.invoke(app, ["resolve", str(tmp_path / "odd.npz")]).exit_code == 1


def test_null_can_be_a_column_or_a_new_one(tmp_path):
    np.savez(tmp_path / "plain.npz", data=X, partial_target=MASK.T)
    assert read(tmp_path / "plain.npz", null="1").candidates.null == 1
    wider = read(tmp_path / "plain.npz", null="nobody").candidates
    assert wider.shape == (12, 4)
    assert wider.mask[:, 3].all()


def test_an_empty_group_is_a_group_of_its_own(tmp_path):
    data = read(good_csv(tmp_path, group=["p", "p"] + [" "] * 10))
    assert len(set(data.groups.tolist())) == 11


def test_spaces_around_labels_do_not_matter(tmp_path):
    data = read(good_csv(tmp_path, label=[f" {name} " for name in "abc" * 4]))
    assert data.y.tolist() == list("abc" * 4)


def test_resolve_writes_labels_summary_and_picture(tmp_path):
    path = good_csv(tmp_path, label=list("abc" * 4), id=[f"row {k}" for k in range(12)])
    picture = tmp_path / "labels.png"
    result = runner.invoke(app, ["resolve", str(path), "--plot", str(picture)])
    assert result.exit_code == 0, result.stderr
    assert "12 instances, 3 classes" in result.stderr
    assert "labelling error against the labels in the file" in result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "good.labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"row {k}" for k in range(12)]
    for k, row in enumerate(rows):
        listed = {"abc"[i] for i in np.flatnonzero(MASK[k])}
        assert {row["label"], row["runner_up"]} == listed
        assert 0 <= float(row["confidence"]) <= 1


def test_resolve_writes_json_and_to_standard_output(tmp_path):
    path = good_csv(tmp_path)
    out = tmp_path / "labels.json"
    assert runner.invoke(app, ["resolve", str(path), "--out", str(out)]).exit_code == 0
    rows = json.loads(out.read_text())
    assert [row["id"] for row in rows] == list(range(1, 13))
    printed = runner.invoke(app, ["resolve", str(path), "--out", "-"])
    assert printed.stdout.splitlines()[0] == "id,label,confidence,runner_up"
    assert [line.split(",")[1] for line in printed.stdout.splitlines()[1:]] == [
        row["label"] for row in rows
    ]


def test_resolve_never_replaces_a_file_unasked(tmp_path):
    path = good_csv(tmp_path)
    before = path.read_bytes()
    (tmp_path / "good.labels.csv").write_text("mine")
    result = runner.invoke(app, ["resolve", str(path)])
    assert result.exit_code == 1
    assert "is there already" in result.stderr
    assert (tmp_path / "good.labels.csv").read_text() == "mine"
    assert runner.invoke(app, ["resolve", str(path), "--force"]).exit_code == 0
    assert (tmp_path / "good.labels.csv").read_text() != "mine"
    assert path.read_bytes() == before


def test_resolve_keeps_the_names_of_a_group_apart(tmp_path):
    path = good_csv(tmp_path, group=np.arange(12) // 2)
    out = tmp_path / "labels.json"
    result = runner.invoke(app, ["resolve", str(path), "--out", str(out), "--method", "WMCar"])
    assert result.exit_code == 0, result.stderr
    labels = [row["label"] for row in json.loads(out.read_text())]
    assert all(a != b for a, b in zip(labels[::2], labels[1::2], strict=True))
    crowded = good_csv(tmp_path, group=np.zeros(12, int))
    result = runner.invoke(app, ["resolve", str(crowded), "--out", str(tmp_path / "no.csv")])
    assert result.exit_code == 1
    assert "cannot be labelled" in result.stderr
    with_nobody = runner.invoke(
        app, ["resolve", str(crowded), "--out", str(tmp_path / "yes.csv"), "--null", "nobody"]
    )
    assert with_nobody.exit_code == 0, with_nobody.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "magic"], "there is no method 'magic'"),
        (["--out", "/no/such/folder/x.csv"], "there is no folder"),
        (["--out", "labels.txt"], "should end in one of .csv, .json"),
        (["--plot", "labels.xyz"], "should end in one of .png"),
    ],
)
def test_resolve_refuses_before_it_works(tmp_path, arguments, message):
    result = runner.invoke(app, ["resolve", str(good_csv(tmp_path)), *arguments])
    assert result.exit_code == 1
    assert message in result.stderr


def test_resolve_never_writes_over_its_own_input(tmp_path):
    path = good_csv(tmp_path)
    before = path.read_bytes()
    result = runner.invoke(app, ["resolve", str(path), "--out", str(path), "--force"])
    assert result.exit_code == 1
    assert "is another file of this command" in result.stderr
    assert path.read_bytes() == before
    folder = runner.invoke(app, ["resolve", str(tmp_path)])
    assert folder.exit_code == 1
    assert "is a folder" in folder.stderr


def test_resolve_without_matplotlib_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "plot", ("a_module_nobody_has", "pictures"))
    result = runner.invoke(app, ["resolve", str(good_csv(tmp_path)), "--plot", "x.png"])
    assert result.exit_code == 1
    assert "pip install 'candidly[plot]'" in result.stderr


def test_datasets_are_listed_with_terms():
    result = runner.invoke(app, ["datasets"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for name in datasets.names():
        assert name in result.stdout
    assert "research use" in result.stdout


def test_a_contradiction_is_a_value_error():
    assert issubclass(ContradictionError, ValueError)


def test_simulated_captions_follow_their_settings():
    people = np.array([f"person {k % 40}" for k in range(4000)])
    photos = np.arange(4000) // 2
    news = datasets.simulate_captions(people, photos, named=0.7, absent=0.5, random_state=0)
    assert np.mean(news.y == "nobody") == pytest.approx(0.3, abs=0.03)
    assert news.candidates.contain(news.y).all()
    np.testing.assert_array_equal(news.candidates.groups, photos)
    named = news.y != "nobody"
    np.testing.assert_array_equal(news.y[named], people[named])
    mentioned = news.candidates.sizes[::2] - 1
    assert mentioned.mean() == pytest.approx(2 * 0.7 + 0.5, abs=0.1)
    again = datasets.simulate_captions(people, photos, named=0.7, absent=0.5, random_state=0)
    assert again.candidates == news.candidates
    for wrong in ({"named": 1.5}, {"absent": -1.0}):
        with pytest.raises(ValueError, match="got"):
            datasets.simulate_captions(people, photos, **wrong)
    with pytest.raises(ValueError, match="called 'nobody'"):
        datasets.simulate_captions(["nobody"], ["p"])


@pytest.mark.slow
@pytest.mark.real_data
def test_news_collections_are_what_they_are_known_to_be():
    news = datasets.load("newsroom")
    assert news.X.shape == (2995, 128)
    assert len(np.unique(news.groups)) == 2021
    assert news.candidates.null == "nobody"
    assert len(news.classes) == 934
    assert np.mean(news.y == "nobody") == pytest.approx(0.22, abs=0.01)
    assert news.candidates.contain(news.y).all()
    lfw = datasets.load("lfw-news", random_state=3)
    assert lfw.X.shape == (8257, 128)
    assert lfw.candidates.contain(lfw.y).all()
    assert lfw.candidates != datasets.load("lfw-news", random_state=4).candidates
    crops = datasets.load("lfw-news", pixels=True)
    assert crops.X.shape == (2400, 4096)
    assert (crops.X.min(), crops.X.max()) == (0, 1)
