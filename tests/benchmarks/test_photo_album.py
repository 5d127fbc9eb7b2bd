"""The drawn album: the same for a seed, true, found by the real models, varied in its captions."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from benchmarks.album import draw
from benchmarks.album.caption_writing import KINDS, write
from benchmarks.album.face_drawing import Light, draw_person, portrait
from benchmarks.album.heads import Pose
from benchmarks.album.invented_people import LARGEST_CAST, cast
from benchmarks.album.plans import plan
from benchmarks.photos.drawn_album import look, told_apart
from candidly.photos.captions import CaptionReader
from candidly.photos.names import find_mentions
from candidly.photos.pictures import find, open_picture

PHOTOS = 24


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn") / "album"
    return folder, draw(folder, photos=PHOTOS, seed=3)


@pytest.fixture(scope="module")
def written():
    """Captions of a whole album, which need no pictures."""
    shots = plan(25, 120, seed=0)
    return [(shot, write(shot, np.random.default_rng([0, 7, k]))) for k, shot in enumerate(shots)]


def contents(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


# The album


def test_a_seed_always_draws_the_same_album_and_another_seed_another(tmp_path):
    one, same, other = (draw(tmp_path / str(k), photos=4, seed=k // 2) for k in range(3))
    assert contents(tmp_path / "0") == contents(tmp_path / "1")
    assert one == same
    assert one != other
    times = [[f.mtime_ns for f in find(tmp_path / name)] for name in "01"]
    assert times[0] == times[1]


@pytest.mark.slow
def test_the_truth_is_about_the_files_and_not_among_them(album, tmp_path):
    folder, truth = album
    assert {photo.file for photo in truth.photos} == {f.path.name for f in find(folder)}
    assert len(truth.photos) == PHOTOS
    assert not list(folder.glob("*truth*"))
    truth.write(tmp_path / "truth.json")
    records = json.loads((tmp_path / "truth.json").read_text())
    assert [record["file"] for record in records] == [photo.file for photo in truth.photos]
    assert records[0]["faces"][0]["box"] == pytest.approx(truth.photos[0].faces[0].box, abs=0.06)


def test_boxes_lie_in_the_upright_picture_and_do_not_overlap(album):
    folder, truth = album
    turned = 0
    for photo in truth.photos:
        picture = open_picture(folder / photo.file)
        turned += "turned" in photo.tags
        for face in photo.faces:
            x, y, w, h = face.box
            assert x >= 0
            assert y >= 0
            assert x + w <= picture.width
            assert y + h <= picture.height
        middles = sorted((f.box.x + f.box.w / 2, f.box.y + f.box.h / 2) for f in photo.faces)
        width = max(f.box.w for f in photo.faces)
        for k, (x, y) in enumerate(middles):
            assert all(abs(x - u) > width or abs(y - v) > width for u, v in middles[k + 1 :])
    assert turned


def test_captions_are_read_from_wherever_the_album_put_them(album):
    folder, truth = album
    reader = CaptionReader(folder)
    for photo in truth.photos:
        caption = reader.read(folder / photo.file)
        assert caption.text == photo.caption
        assert caption.origin in photo.tags
    assert not reader.problems
    origins = Counter(tag for photo in truth.photos for tag in photo.tags)
    assert origins["csv"] > PHOTOS / 2
    assert sum(origins[way] > 0 for way in ("txt", "xmp", "iptc", "sidecar")) >= 2
    with (folder / "captions.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == origins["csv"]


def test_the_truth_of_a_face_is_a_mentioned_name_or_none(album):
    _, truth = album
    for photo in truth.photos:
        names = [face.name for face in photo.faces if face.name]
        assert len(names) == len(set(names))
        assert set(names) <= set(photo.mentioned)
        for face in photo.faces:
            assert face.name in (face.person, None)
            assert face.name or face.person not in photo.mentioned


def test_sizes_lights_and_colours_vary(album):
    _, truth = album
    widths = [face.box.w for photo in truth.photos for face in photo.faces]
    assert min(widths) < 80
    assert max(widths) > 200
    tags = {tag for photo in truth.photos for tag in photo.tags}
    assert {"grey", "large", "turned"} <= tags


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty"):
        draw(tmp_path, photos=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"people": 3}, "people is from"), ({"people": 99}, "not 99"), ({"photos": 0}, "not 0")],
)
def test_numbers_that_make_no_album_are_refused_before_anything_is_written(
    tmp_path, wrong, message
):
    with pytest.raises(ValueError, match=message):
        draw(tmp_path / "album", **wrong)
    assert not (tmp_path / "album").exists()


# The people


@pytest.mark.parametrize("seed", range(5))
def test_people_have_names_of_their_own_and_some_share_a_surname(seed):
    people = cast(LARGEST_CAST, seed)
    assert len({person.name for person in people}) == LARGEST_CAST
    shared = Counter(person.surname for person in people)
    assert sorted(shared.values())[-3:] == [2, 2, 2]


@pytest.mark.slow
def test_the_real_models_find_the_faces_and_tell_people_apart(album):
    folder, truth = album
    seen = look(folder, truth)
    assert seen.found >= 0.99 * seen.faces
    assert seen.others <= 2
    assert seen.overlap > 0.75
    apart = told_apart(seen.people, seen.X)
    assert apart["AUC"] > 0.98
    assert apart["EER %"] > 0  # as with photos, some are mistaken


def test_light_and_pose_change_the_picture_and_a_turn_moves_the_face():
    looks = cast(1)[0].looks
    plain = np.full((300, 300, 3), 120, dtype=np.uint8)
    pictures = [plain.copy() for _ in range(3)]
    poses = (Pose(), Pose(turn=20), Pose())
    lights = (Light(), Light(), Light(x=0.9, strength=0.4))
    boxes = [
        draw_person(picture, looks, pose, light, 150, 130, 90)
        for picture, pose, light in zip(pictures, poses, lights, strict=True)
    ]
    assert boxes[1].x > boxes[0].x
    assert boxes[2] == boxes[0]
    left, right = (
        p[:, part].mean() for p in pictures[2:] for part in (slice(150), slice(150, 300))
    )
    assert right > left + 5


def test_portraits_of_other_seeds_are_of_other_people():
    assert np.array_equal(portrait(100, 1), portrait(100, 1))
    assert not np.array_equal(portrait(100, 1), portrait(100, 2))


# The captions


def test_every_kind_of_caption_occurs(written):
    assert {shot.kind for shot, _ in written} == set(KINDS)
    tags = Counter(tag for _, caption in written for tag in caption.tags)
    kinds = ("cue", "rows", "title", "surname", "foreign", "again", "typo", "absent", "credit")
    assert all(tags[tag] for tag in (*kinds, "nobody", "de", "es", "fr"))
    assert 1 <= tags["typo"] <= 2
    texts = " ".join(caption.text for _, caption in written)
    for words in ("(L)", "From left", "second from", "Front row", "unidentified", "did not attend"):
        assert words in texts


def test_people_are_mentioned_often_once_and_without_being_shown(written):
    often = Counter(name for _, caption in written for name in caption.mentioned)
    shown = {person.name for shot, _ in written for person in shot.named}
    assert sum(count == 1 for count in often.values()) >= 3
    assert max(often.values()) > 10
    assert set(often) - shown
    assert any(not who.named for shot, _ in written for who in shot.shown)


def test_a_wrong_spelling_stands_in_the_caption_and_the_right_one_does_not(written):
    for _, caption in written:
        for right, wrong in caption.spelled.items():
            assert wrong in caption.text
            assert right not in caption.text
            assert sorted(right) == sorted(wrong)


def test_names_are_read_from_the_captions(written):
    right = true = found = 0
    for _, caption in written:
        expected = {caption.spelled.get(name, name) for name in caption.mentioned}
        surnames = {name.split()[-1] for name in expected}
        mentions = {m.name for m in find_mentions(caption.text)} - surnames
        right += len(expected & mentions)
        true += len(expected)
        found += len(mentions)
    assert right >= 0.95 * true
    assert right >= 0.95 * found


def test_cues_are_true(written):
    cued = 0
    for shot, caption in written:
        if len(shot.rows) > 1:
            continue
        names = [who.person.name for who in shot.rows[0]]
        for mention in find_mentions(caption.text):
            if mention.cue and mention.cue.side in {"left", "right"} and mention.name in names:
                order = names if mention.cue.side == "left" else names[::-1]
                assert order.index(mention.name) + 1 == mention.cue.place, caption.text
                cued += 1
    assert cued > 40
