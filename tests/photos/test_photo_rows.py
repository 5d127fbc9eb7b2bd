"""People in rows: which faces are in which row, and who of a row is which face."""

import numpy as np
import pytest

from candidly.photos.geometry import Box
from candidly.photos.records import Cue
from candidly.photos.solving.placement import by_cue, odds
from candidly.photos.solving.problem import PhotoProblem
from candidly.photos.solving.rows import in_rows, row_sizes

RNG = np.random.default_rng(0)


def row(name, number, y, left=0):
    """Names, cues and boxes of a row from left to right, with heads that are not quite level."""
    return {
        f"{name}{place}": (
            Cue("left", place, number, name),
            Box(left + 60 * place, y + RNG.uniform(-4, 4), 40, 40),
        )
        for place in range(1, number + 1)
    }


def best(people, missing=(), others=()):
    """Return who is the most likely for each face that is found."""
    cues = {name: cue for name, (cue, _) in people.items()}
    names = [name for name in people if name not in missing]
    boxes = [people[name][1] for name in names] + list(others)
    found = odds(PhotoProblem(1, dict(enumerate(boxes)), cues))
    most = [max(own, key=own.__getitem__) for own in found.values()]
    return dict(zip(names, most, strict=False))


@pytest.mark.parametrize("apart", [25, 60])
@pytest.mark.parametrize(("front", "back"), [(2, 5), (4, 4), (5, 3), (1, 4)])
def test_two_rows_of_any_length_are_told_apart_by_height(front, back, apart):
    people = row("front", front, apart, left=25) | row("back", back, 0)
    assert best(people) == {name: name for name in people}


def test_three_rows_are_told_apart():
    people = row("front", 3, 120) | row("middle", 4, 60, left=-20) | row("back", 3, 0)
    assert best(people) == {name: name for name in people}


def test_a_missed_face_does_not_move_the_other_row():
    people = row("front", 3, 60, left=25) | row("back", 4, 0)
    found = best(people, missing=["back4"])
    assert {name: found[name] for name in ("front1", "front2", "front3")} == {
        name: name for name in ("front1", "front2", "front3")
    }
    assert {found[name][:4] for name in ("back1", "back2", "back3")} == {"back"}


def test_of_a_group_with_one_row_named_the_others_are_behind_it():
    people = row("front", 3, 60)
    behind = [Box(x, 0, 38, 38) for x in (30, 90, 150, 210)]
    assert best(people, others=behind) == {name: name for name in people}
    boxes = [box for _, box in people.values()] + behind
    assert in_rows({"front": 3}, boxes)["front"].round(1).tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_where_only_one_row_is_found_all_are_in_it():
    people = row("front", 3, 0)
    assert best(people) == {name: name for name in people}
    boxes = [Box(0, 0, 40, 40), Box(60, 90, 40, 40)]
    assert in_rows({"back": 3}, boxes)["back"].tolist() == [1, 1]


def test_level_faces_are_in_a_row_as_likely_as_people_are():
    boxes = [Box(60 * at, at % 2, 40, 40) for at in range(6)]
    rows = in_rows({"front": 4, "back": 2}, boxes)
    np.testing.assert_allclose(rows["front"], 2 / 3)
    np.testing.assert_allclose(rows["back"], 1 / 3)
    # Then the places go from left to right over all faces, as without rows.
    first = by_cue(Cue("left", 1, 4, "front"), boxes, rows=rows)
    assert (np.diff(first) < 1e-12).all()


def test_passers_by_do_not_say_where_rows_are():
    people = row("front", 2, 60) | row("back", 2, 0)
    far = [Box(x, y, 8, 8) for x, y in ((10, -200), (400, -150), (200, 30))]
    assert best(people, others=far) == {name: name for name in people}


def test_a_row_without_an_order_is_shared_by_its_people():
    boxes = [Box(60 * at, y, 40, 40) for at, y in enumerate((0, 60, 0, 60))]
    cues = {"Ann": Cue("front", row="front"), "Bob": Cue("front", row="front")}
    share = by_cue(cues["Ann"], boxes, 2, in_rows(row_sizes(cues.values()), boxes))
    np.testing.assert_allclose(share, [0, 0.5, 0, 0.5], atol=0.03)


def test_without_rows_there_are_none():
    assert row_sizes([Cue("left", 1, 3), None]) == {}
    assert in_rows({}, [Box(0, 0, 9, 9)]) == {}


def test_a_crowd_is_split_in_bounded_memory():
    boxes = [Box(60 * (at % 40), 50 * (at // 40), 40, 40) for at in range(600)]
    rows = in_rows({"front": 40, "middle": 40, "back": 40}, boxes)
    np.testing.assert_allclose(sum(rows.values()), 1)
