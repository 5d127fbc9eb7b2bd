"""The house: how large the code is, how many files a call passes through, what is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.house import (
    HOUSE,
    LABORATORY,
    called_files,
    code_lines,
    files_of_fit,
    files_of_name,
    function_lengths,
    shared_lines,
    sources,
)

BODY = "\n".join(f"    total += part_{number} * weight_{number}" for number in range(11))


def test_the_installed_code_is_small():
    # 17,000 before populations, reading who is not shown, saying what is sure, and decisions;
    # 23,300 before audits and exports; 31,500 before solves on disk, on Ray and on a device;
    # 37,000 before what is equal but for rounding stayed equal in all of these, and sources and
    # folders of solves were refused that are not what they were; 37,500 before memory was bounded
    # whatever the shape, and candidates on disk took their places whole.
    assert sum(len(code_lines(text)) for text in sources(HOUSE).values()) <= 39_000


def test_fitting_one_family_passes_through_few_files():
    # 35 before the loops of solvers were over shards, 39 before costs were foretold.
    assert len(files_of_fit().files) <= 42


@pytest.mark.slow
def test_naming_photos_passes_through_few_files():
    pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
    assert len(files_of_name().files) <= 99


@pytest.mark.slow
def test_no_two_places_share_more_than_ten_lines():
    assert shared_lines(sources(HOUSE, LABORATORY)) == []


def test_docstrings_comments_and_blank_lines_are_not_code():
    text = '"""About it."""\n\nX = 1  # why\n"""About X."""\n\n\ndef f(\n    a,\n):\n'
    text += '    """Do."""\n    return (\n        a\n    )\n'
    assert sorted(code_lines(text)) == [3, 4, 7, 8, 9, 11, 12, 13]
    assert function_lengths(text) == [7]


@pytest.mark.parametrize("twice", ["in one file", "in two files"])
def test_a_copied_body_is_found_wherever_it_is(twice):
    one, two = f"def first(a):\n{BODY}\n", f"def second(\n    b,\n):\n    # copied\n{BODY}\n"
    if twice == "in one file":
        modules = {Path("a.py"): f"{one}\n\n{two}"}
    else:
        modules = {Path("a.py"): one, Path("b.py"): f"if True:\n    X = 1\n\n\n{two}"}
    ((first, second),) = shared_lines(modules)
    assert (first.file, first.first, first.last) == (Path("a.py"), 2, 12)
    assert second.last - second.first == 10
    assert shared_lines(modules, most=11) == []


def test_parameter_lists_docstrings_and_imports_may_be_shared():
    names = [f"name_{number}" for number in range(20)]
    parameters = "".join(f"    {name},\n" for name in names)
    text = f"from a import (\n{parameters})\n\n\ndef f(\n{parameters}):\n" + '    """Do.\n\n'
    text += "".join(f"    {name} : int\n" for name in names) + '    """\n    return {}\n'
    assert shared_lines({Path(f"{k}.py"): text.format(k) for k in "ab"}) == []


def test_files_and_steps_are_those_of_calls_alone(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text(
        "import two\n\n\ndef call():\n    return sorted([1], key=two.key)\n"
    )
    (tmp_path / "two.py").write_text("import three\n\n\ndef key(x):\n    return x\n")
    (tmp_path / "three.py").write_text("def unused():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import one

    found = called_files(one.call, tmp_path)
    here = [str(tmp_path / name) for name in ("one.py", "two.py")]
    assert found.files == set(here)
    assert found.steps == {tuple(here)}
