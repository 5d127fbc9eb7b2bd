"""JSON lines: what was written whole is read, and a torn line spoils no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from candidly import json_lines

VALUES = st.none() | st.booleans() | st.integers() | st.text()


@given(st.lists(st.dictionaries(st.text(), VALUES), max_size=5), st.data())
def test_after_an_interruption_everything_written_whole_is_read(tmp_path_factory, records, data):
    path = tmp_path_factory.mktemp("lines") / "runs.jsonl"
    for record in records:
        json_lines.append(path, record)
    whole = path.read_bytes() if records else b""
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    json_lines.append(path, {"after": "the interruption"})
    kept = whole[:cut].count(b"\n") + (cut < len(whole) and whole[cut : cut + 1] == b"\n")
    assert json_lines.read(path) == [*records[:kept], {"after": "the interruption"}]


def test_a_file_that_is_not_there_has_no_records(tmp_path):
    assert json_lines.read(tmp_path / "none.jsonl") == []


def test_lines_that_are_no_objects_are_left_out(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'[1]\nnot JSON\n{"a": "\xff"}\r\n\n7\n{"b": 2}')
    assert json_lines.read(path) == [{"a": "\ufffd"}, {"b": 2}]


def test_marks_that_end_lines_elsewhere_stay_inside_a_record(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"a": "x\u2028y\x85z"}\n', encoding="utf-8")
    assert json_lines.read(path) == [{"a": "x\u2028y\x85z"}]
