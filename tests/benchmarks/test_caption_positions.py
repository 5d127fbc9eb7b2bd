"""The command that scores places read from captions, on captions made up here."""

import json

import typer
from typer.testing import CliRunner

from benchmarks.photos import caption_positions
from benchmarks.photos.caption_names import LabelledCaption
from candidly.photos.records import Cue, Mention

LIST = "From left: Ann Lee, Bob Ray and Eva Stone."


def test_each_person_is_right_wrong_missed_or_extra():
    true = {"Ann Lee": ["left", 1, 3], "Bob Ray": ["left", 2, 3], "Eva Stone": ["left", 3, 3]}
    captions = [
        LabelledCaption(LIST, frozenset(true), cues=true),
        LabelledCaption("Dee Orr", frozenset(["Dee Orr"]), cues={}),
    ]
    read = [
        [Mention("Ann Lee", 11, 18, Cue("left", 1, 3)), Mention("Bob Ray", 20, 27, Cue("left"))],
        [Mention("Dee Orr", 0, 7, Cue("right"))],
    ]
    assert caption_positions.counted(captions, read) == {
        "lists": {"right": 1, "wrong": 1, "missed": 1},
        "single": {"extra": 1},
    }


def test_true_names_are_found_where_the_text_has_them():
    caption = LabelledCaption("Lee and Ann Ray, left", frozenset(["Bo Lee", "Ann Ray", "Cy Fox"]))
    found = [(m.name, m.start, m.cue) for m in caption_positions.located(caption)]
    assert found == [("Bo Lee", 0, None), ("Ann Ray", 8, Cue("left"))]


def test_the_command_prints_shares_with_true_and_with_found_names(tmp_path):
    cues = {"Ann Lee": ["left", 1, 3], "Bob Ray": ["left", 2, 3], "Eva Stone": ["right", 1, None]}
    lines = [
        {"text": LIST, "names": list(cues), "cues": cues},
        {"text": "Not labelled, Ann Lee (L)", "names": ["Ann Lee"]},
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    app = typer.Typer()
    app.command()(caption_positions.main)
    shown = CliRunner().invoke(app, ["--own", str(tmp_path / "own.jsonl")])
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown.output.splitlines()]
    rows = {(row[0], row[1]): row[2:] for row in cells if len(row) == 7}
    assert rows["true", "lists"] == ["2", "100.0", "0.0", "0.0", "0.0"]
    assert rows["true", "single"] == ["1", "0.0", "100.0", "0.0", "0.0"]
    assert rows["found", "lists"] == rows["true", "lists"]
    assert CliRunner().invoke(app, [], env={"CANDIDLY_DATA": ""}).exit_code == 2
