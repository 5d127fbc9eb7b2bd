"""Pictures: which files are found, how they are opened, and what their identity is."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image

from candidly.photos.geometry import Box
from candidly.photos.pictures import (
    PictureProblem,
    find,
    identify,
    open_picture,
)
from candidly.photos.pictures import picture as decoding

needs_exiftool = pytest.mark.skipif(
    shutil.which("exiftool") is None,
    reason="needs ExifTool: Debian's package libimage-exiftool-perl",
)


def scene(width=48, height=32):
    """A picture whose corners differ, so that every turn shows."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 5, y * 7, (x + y) * 3], axis=2).clip(0, 255).astype(np.uint8)


def exiftool(path, *settings):
    subprocess.run(
        ["exiftool", "-q", "-m", "-overwrite_original", *settings, str(path)],
        check=True,
        capture_output=True,
    )


def age(path, days):
    then = (datetime.now() - timedelta(days=days)).timestamp()
    os.utime(path, (then, then))


def touch(path, days=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    age(path, days)
    return path


def names(found, root):
    return [item.path.relative_to(root).as_posix() for item in found]


# ---- finding


def test_pictures_are_found_in_every_folder_newest_first(tmp_path):
    touch(tmp_path / "old.JPG", 30)
    touch(tmp_path / "a" / "b" / "new.webp", 1)
    touch(tmp_path / "a" / "middle.tiff", 5)
    touch(tmp_path / "a" / "notes.txt")
    touch(tmp_path / ".hidden" / "c.jpg")
    touch(tmp_path / "a" / "._middle.jpg")
    found = find(tmp_path)
    assert names(found, tmp_path) == ["a/b/new.webp", "a/middle.tiff", "old.JPG"]
    assert found[0].size == 1
    assert found[0].mtime_ns == (tmp_path / "a/b/new.webp").stat().st_mtime_ns


def test_since_keeps_what_changed_then_or_later(tmp_path):
    touch(tmp_path / "old.jpg")
    edge = touch(tmp_path / "edge.jpg")
    touch(tmp_path / "new.jpg", 1)
    os.utime(edge, (1_500_000_000, 1_500_000_000))
    os.utime(tmp_path / "old.jpg", (1_499_999_999, 1_499_999_999))
    then = datetime.fromtimestamp(1_500_000_000)
    assert names(find(tmp_path, since=then), tmp_path) == ["new.jpg", "edge.jpg"]
    assert names(find(tmp_path, since=date.today() - timedelta(days=3)), tmp_path) == ["new.jpg"]


def test_only_looks_into_some_folders_and_names_paths_from_the_root(tmp_path):
    for name in ("a/1.jpg", "a/deep/2.jpg", "b/3.jpg", "c/4.jpg"):
        touch(tmp_path / name)
    assert set(names(find(tmp_path, only="a"), tmp_path)) == {"a/1.jpg", "a/deep/2.jpg"}
    both = find(tmp_path, only=[tmp_path / "b", "c"])
    assert set(names(both, tmp_path)) == {"b/3.jpg", "c/4.jpg"}
    assert names(find(tmp_path, only=["a/deep", "a/deep/2.jpg"]), tmp_path) == ["a/deep/2.jpg"]
    with pytest.raises(ValueError, match="is not in"):
        find(tmp_path / "a", only="../b")
    with pytest.raises(FileNotFoundError, match="'nowhere'"):
        find(tmp_path, only="nowhere")


def test_a_root_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(NotADirectoryError, match="is not there: give the folder"):
        find(tmp_path / "none")
    with pytest.raises(NotADirectoryError, match="is a file"):
        find(touch(tmp_path / "a.jpg"))


def test_links_in_a_circle_end_and_no_file_is_found_twice(tmp_path):
    touch(tmp_path / "z" / "1.jpg")
    (tmp_path / "z" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a").symlink_to(tmp_path / "z", target_is_directory=True)
    (tmp_path / "again.jpg").symlink_to(tmp_path / "z" / "1.jpg")
    (tmp_path / "self.jpg").symlink_to(tmp_path / "self.jpg")
    problems = []
    assert names(find(tmp_path, problems=problems), tmp_path) == ["z/1.jpg"]
    assert [(p.path.name, "leads nowhere" in p.reason) for p in problems] == [("self.jpg", True)]


def test_folders_linked_from_outside_are_followed(tmp_path):
    touch(tmp_path / "elsewhere" / "1.jpg")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert names(find(root), root) == ["link/1.jpg"]


def test_a_pipe_or_socket_with_a_pictures_name_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(tmp_path / "socket.png"))
        problems = []
        assert find(tmp_path, problems=problems) == []
    assert len(problems) == 2
    with pytest.raises(PictureProblem, match="not a file"):
        open_picture(tmp_path / "pipe.jpg")


def test_a_file_name_that_is_not_unicode_is_reported(tmp_path):
    touch(tmp_path / "a.jpg")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jpg")).write_bytes(b"x")
    problems = []
    assert names(find(tmp_path, problems=problems), tmp_path) == ["a.jpg"]
    assert "rename it" in problems[0].reason


def test_file_names_with_line_breaks_and_markup_are_kept_as_they_are(tmp_path):
    odd = ["a\nb.jpg", "<b>x.jpg", "..jpg.jpg", "'; drop--.png", "日本.jpg"]
    for name in odd:
        touch(tmp_path / name)
    assert set(names(find(tmp_path), tmp_path)) == set(odd) - {"..jpg.jpg"}  # hidden


AS_SOMEBODY = """
import os, sys
from pathlib import Path
from candidly.photos.pictures import PictureProblem, find, open_picture
if os.getuid() == 0:
    os.setuid(65534)  # root may read all
problems = []
print([found.path.name for found in find(sys.argv[1], problems=problems)])
for problem in problems:
    print(problem.path.name, problem.reason)
try:
    open_picture(Path(sys.argv[1]) / "secret.jpg")
except PictureProblem as problem:
    print(problem)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs the rights of a POSIX system")
def test_folders_and_files_without_permission_are_reported_and_the_rest_is_found():
    # Not in tmp_path, whose parents let nobody else in.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        touch(root / "fine.jpg")
        touch(root / "closed" / "x.jpg")
        touch(root / "secret.jpg", 3).chmod(0)
        (root / "closed").chmod(0)
        answer = subprocess.run(
            [sys.executable, "-c", AS_SOMEBODY, folder], capture_output=True, text=True
        )
        (root / "closed").chmod(0o755)
    assert answer.stderr == ""
    found, closed, secret = answer.stdout.splitlines()
    assert found == "['fine.jpg', 'secret.jpg']"
    assert closed.startswith("closed no permission")
    assert "secret.jpg: no permission" in secret


# ---- opening


def save(path, image, **settings):
    image.save(path, **settings)
    return path


@pytest.mark.parametrize(
    ("suffix", "mode"),
    [
        *(("jpg", mode) for mode in ("RGB", "L")),
        *(("webp", mode) for mode in ("RGB", "RGBA")),
        *((suffix, mode) for suffix in ("png", "tif") for mode in ("RGB", "L", "P", "RGBA", "1")),
    ],
)
def test_a_huge_picture_is_reduced_and_keeps_its_size(tmp_path, monkeypatch, suffix, mode):
    path = tmp_path / f"a.{suffix}"
    image = Image.fromarray(np.kron(scene(), np.ones((8, 8, 1), np.uint8))).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(path, exif=exif)
    whole = open_picture(path)
    monkeypatch.setattr(decoding, "HUGE", image.width * image.height // 15)
    small = open_picture(path)
    assert (small.width, small.height) == (whole.width, whole.height) == whole.pixels.shape[1::-1]
    assert small.pixels.shape[:2] == (whole.height // 4, whole.width // 4)
    assert small.identity == whole.identity == identify(path)
    mean = whole.pixels.reshape(whole.height // 4, 4, whole.width // 4, 4, 3).mean((1, 3))
    assert np.abs(small.pixels - mean).mean() < (6 if suffix in ("jpg", "webp") else 1)
    assert small.reduced(Box(8, 4, 40, 20)) == Box(2, 1, 10, 5)


def test_a_transparent_huge_picture_is_white_where_nothing_is(tmp_path, monkeypatch):
    values = np.zeros((64, 64, 4), np.uint8)
    values[:32] = (200, 0, 0, 255)  # black below, if alpha were not counted
    path = save(tmp_path / "a.png", Image.fromarray(values))
    monkeypatch.setattr(decoding, "HUGE", 1024)
    pixels = open_picture(path).pixels
    assert pixels.shape == (32, 32, 3)
    assert (pixels[:16] == (200, 0, 0)).all()
    assert (pixels[16:] == 255).all()


MEMORY = """
import resource, sys
from candidly.photos.pictures import open_picture
import numpy, PIL.JpegImagePlugin
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
picture = open_picture(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(picture.width, picture.height, *picture.pixels.shape[:2], (after - before) // 1000)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads memory in the units of Linux")
def test_289_megapixels_stay_under_the_memory_that_is_stated(tmp_path):
    path = tmp_path / "huge.jpg"
    Image.new("L", (17_000, 17_000), 90).save(path)
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True
    )
    *sizes, megabytes = map(int, found.stdout.split())
    assert sizes == [17_000, 17_000, 8500, 8500]
    assert megabytes < 700
