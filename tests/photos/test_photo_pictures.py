"""Pictures: which files are found, how they are opened, and what their identity is."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import zlib
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image, ImageOps, PngImagePlugin

from candidly.photos.captions import CaptionReader
from candidly.photos.geometry import Box
from candidly.photos.pictures import (
    PIXEL_LIMIT,
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


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_undone_as_pillow_does(tmp_path, suffix, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = save(tmp_path / f"a.{suffix}", Image.fromarray(scene()), exif=exif)
    picture = open_picture(path)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))
    assert picture.orientation == orientation
    assert (picture.height, picture.width) == picture.pixels.shape[:2] == expected.shape[:2]
    np.testing.assert_array_equal(picture.pixels, expected)
    assert picture.pixels.flags.c_contiguous
    assert picture.pixels.flags.writeable


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "jpeg", "tiff_adobe_deflate"])
def test_tiff_is_turned_once_however_it_is_packed(tmp_path, compression):
    path = save(
        tmp_path / "a.tif", Image.fromarray(scene()), compression=compression, tiffinfo={274: 6}
    )
    plain = save(tmp_path / "b.tif", Image.fromarray(scene()), compression=compression)
    assert (open_picture(path).width, open_picture(path).height) == (32, 48)
    turned = decoding.upright(open_picture(plain).pixels, 6)
    np.testing.assert_array_equal(open_picture(path).pixels, turned)
    assert identify(path) == identify(plain)


def test_an_orientation_in_xmp_alone_turns_nothing(tmp_path):
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><a tiff:Orientation="6"/></x:xmpmeta>'
    path = save(tmp_path / "a.tif", Image.fromarray(scene()), tiffinfo={700: xmp})
    np.testing.assert_array_equal(open_picture(path).pixels, scene())


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_pictures_larger_than_a_block_are_turned_whole(orientation):
    stored = np.random.default_rng(0).integers(0, 256, (300, 530, 3), dtype=np.uint8)
    image = Image.fromarray(stored)
    image.getexif()[0x0112] = orientation
    expected = np.asarray(ImageOps.exif_transpose(image))
    np.testing.assert_array_equal(decoding.upright(stored, orientation), expected)


def test_nonsense_in_exif_counts_as_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 99
    odd = save(tmp_path / "a.png", Image.fromarray(scene()), exif=exif)
    nonsense = b"Exif\0\0MM\0*\xff\xff\xff\xf0"
    broken = save(tmp_path / "b.png", Image.fromarray(scene()), exif=nonsense)
    for path in (odd, broken):
        np.testing.assert_array_equal(open_picture(path).pixels, scene())


@pytest.mark.parametrize(
    ("name", "kind"), [("a.jpg", "PNG"), ("a.png", "WEBP"), ("a.tif", "JPEG"), ("a.webp", "TIFF")]
)
def test_the_content_decides_not_the_name(tmp_path, name, kind):
    path = tmp_path / name
    Image.fromarray(scene()).save(path, format=kind)
    assert (open_picture(path).width, open_picture(path).height) == (48, 32)


def test_cmyk_keeps_its_colours(tmp_path):
    red = Image.new("RGB", (16, 16), (250, 10, 20)).convert("CMYK")
    for path in (save(tmp_path / "a.jpg", red, quality=95), save(tmp_path / "a.tif", red)):
        assert np.abs(open_picture(path).pixels.astype(int) - (250, 10, 20)).max() < 12


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_grey_in_16_bits_is_scaled_not_cut_off(tmp_path, suffix):
    values = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    pixels = open_picture(save(tmp_path / f"a.{suffix}", Image.fromarray(values))).pixels
    assert np.abs(pixels[:, :, 0].astype(float) - values / 257.0).max() <= 1
    assert (pixels[:, :, 0] == pixels[:, :, 2]).all()


def png(width, height, depth, colour, rows, *extra):
    """A PNG file written by hand, for what Pillow does not write."""

    def part(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = part(b"IHDR", head) + b"".join(part(*more) for more in extra)
    return b"\x89PNG\r\n\x1a\n" + body + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def test_colour_in_16_bits_keeps_its_upper_half(tmp_path):
    values = scene().astype(">u2") * 257
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    (tmp_path / "a.png").write_bytes(png(48, 32, 16, 2, rows))
    np.testing.assert_array_equal(open_picture(tmp_path / "a.png").pixels, scene())


def test_numbers_with_a_point_are_scaled_by_their_usual_white(tmp_path):
    values = np.linspace(0, 1, 256, dtype=np.float32).reshape(16, 16)
    values[0, 0] = np.nan
    pixels = open_picture(save(tmp_path / "a.tif", Image.fromarray(values))).pixels
    assert pixels[0, 0, 0] == 0
    assert pixels[-1, -1, 0] == 255
    assert abs(int(pixels[8, 0, 0]) - 128) <= 1


def test_one_bit_palette_and_alpha_are_opened(tmp_path):
    half = Image.new("RGBA", (8, 8), (255, 0, 0, 0))
    half.paste((0, 0, 255, 255), (0, 0, 4, 8))
    for name in ("a.png", "a.webp", "a.tif"):
        settings = {"lossless": True} if name.endswith("webp") else {}
        pixels = open_picture(save(tmp_path / name, half, **settings)).pixels
        assert pixels[0, 0].tolist() == [0, 0, 255]
        assert pixels[0, 7].tolist() == [255, 255, 255], "transparent shows white"
    palette = Image.fromarray(scene()).quantize(16)
    expected = np.asarray(palette.convert("RGB"))
    np.testing.assert_array_equal(open_picture(save(tmp_path / "p.png", palette)).pixels, expected)
    palette.putpixel((0, 0), 3)
    clear = open_picture(save(tmp_path / "t.png", palette, transparency=3)).pixels
    assert clear[0, 0].tolist() == [255, 255, 255]
    line = Image.new("1", (8, 8), 1)
    assert (open_picture(save(tmp_path / "1.png", line)).pixels == 255).all()
    grey = Image.new("LA", (8, 8), (7, 255))
    assert (open_picture(save(tmp_path / "la.png", grey)).pixels == 7).all()


@pytest.mark.parametrize("name", ["a.webp", "a.png", "a.tif"])
def test_of_an_animation_the_first_frame_is_taken(tmp_path, name):
    frames = [Image.new("RGB", (9, 8), colour) for colour in ("red", "blue", "lime")]
    path = tmp_path / name
    settings = {"lossless": True} if name.endswith("webp") else {}
    frames[0].save(path, save_all=True, append_images=frames[1:], **settings)
    assert (open_picture(path).pixels == (255, 0, 0)).all()


def test_of_a_jpeg_with_several_pictures_the_first_is_taken(tmp_path):
    first, second = Image.new("RGB", (9, 8), "red"), Image.new("RGB", (4, 4), "blue")
    path = save(tmp_path / "a.jpg", first, format="MPO", save_all=True, append_images=[second])
    picture = open_picture(path)
    assert (picture.width, picture.height) == (9, 8)
    assert picture.pixels[0, 0, 0] > 240
    assert picture.identity == identify(save(tmp_path / "b.jpg", first))


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_one_pixel_is_a_picture(tmp_path, suffix):
    picture = open_picture(save(tmp_path / f"a.{suffix}", Image.new("RGB", (1, 1), "white")))
    assert picture.pixels.shape == (1, 1, 3)
    assert picture.pixels.min() > 250


# ---- HEIC, which nothing here can write: a white picture, 96 by 64, with a red corner

HEIC = base64.b64decode("""
AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUJtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAA
AAAAAAAAAA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFmAAEAAAAAAAAAMgAAACNpaW5mAAAAAAABAAAA
FWluZmUCAAAAAAEAAGh2YzEAAAAAwmlwcnAAAACkaXBjbwAAAHhodmNDAQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEA
GEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoDCBBZbqSSmubgQEDAgAAAMACAAA
AwAIQCIAAQAHRAHBcrAiQAAAABRpc3BlAAAAAAAAAGAAAABAAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEA
AQOBAoMAAAA6bWRhdAAAAC4oAa8ZgP1CQpv/9UYf7qC/y0Fk3Wfdp/rjmv83Ojdvt/3uXjzYv9fTKhWKG3E+
""")


def test_heic_is_opened(tmp_path):
    pytest.importorskip("pi_heif", reason="needs the extra heic: pip install 'candidly[heic]'")
    (tmp_path / "a.jpg").write_bytes(HEIC)  # the content decides
    picture = open_picture(tmp_path / "a.jpg")
    assert picture.pixels.shape == (64, 96, 3)
    assert np.abs(picture.pixels[4, 4].astype(int) - (200, 0, 0)).max() < 10
    assert picture.pixels[40, 60].min() > 245
    assert picture.identity == identify(tmp_path / "a.jpg")
    (tmp_path / "a.jpg").write_bytes(HEIC[:300])
    with pytest.raises(PictureProblem, match=r"HEIC data cannot be decoded|ends before"):
        open_picture(tmp_path / "a.jpg")


@needs_exiftool
def test_heic_keeps_its_identity_and_tells_its_caption(tmp_path):
    pytest.importorskip("pi_heif", reason="needs the extra heic: pip install 'candidly[heic]'")
    path = tmp_path / "a.heic"
    path.write_bytes(HEIC)
    before = identify(path)
    exiftool(path, "-XMP-dc:Description=Zoë", "-EXIF:Artist=Somebody")
    assert path.read_bytes() != HEIC
    assert identify(path) == before
    assert CaptionReader(tmp_path).read(path).text == "Zoë"


def test_without_the_extra_heic_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    (tmp_path / "a.heic").write_bytes(HEIC)
    (tmp_path / "a.txt").write_text("Ann")
    with pytest.raises(PictureProblem, match=r"pip install 'candidly\[heic\]'"):
        open_picture(tmp_path / "a.heic")
    assert CaptionReader(tmp_path).read(tmp_path / "a.heic").text == "Ann"


# ---- refusing


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
@pytest.mark.parametrize("kept", [0.02, 0.3, 0.6, 0.9])
def test_a_truncated_file_is_refused_with_what_to_do(tmp_path, suffix, kept):
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 256, (80, 90, 3), dtype=np.uint8))
    path = save(tmp_path / f"a.{suffix}", noise)
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(PictureProblem, match=rf"a\.{suffix}: .*(copy|save)") as caught:
        open_picture(path)
    assert "0x" not in str(caught.value), "no addresses in memory"
    assert "_io" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty .0 bytes.: copy it again"),
        (b"hello, I am text", "no picture that is read here.*save it as JPEG"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"\0" * 5000, "only zeros"),
        (b"%PDF-1.7", "a PDF"),
        (b"\0\0\0\x20ftypisom", "film"),
        (b"\xff\xd8\xff", "JPEG data cannot be decoded|ends before"),
        (b"\x89PNG\r\n\x1a\n", "PNG data cannot be decoded|ends before"),
        (b"RIFF\xff\xff\xff\xffWEBP", "WebP data cannot be decoded|ends before"),
        (b"II*\0\xff\xff\xff\xff", "TIFF data cannot be decoded|ends before"),
        (b"MM\0+\0\x08\0\0\xff\xff\xff\xff\xff\xff\xff\xff", "TIFF data cannot be decoded"),
    ],
)
def test_what_is_no_picture_is_refused_with_the_reason(tmp_path, content, said):
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    with pytest.raises(PictureProblem, match=said) as caught:
        open_picture(path)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: {caught.value.reason}")


def test_a_gif_and_a_missing_file_are_refused(tmp_path):
    save(tmp_path / "a.jpg", Image.new("P", (3, 3)), format="GIF")
    with pytest.raises(PictureProblem, match="a GIF, whatever its name says: save it as"):
        open_picture(tmp_path / "a.jpg")
    with pytest.raises(PictureProblem, match="not there"):
        open_picture(tmp_path / "b.jpg")
    with pytest.raises(PictureProblem, match="not a file"):
        open_picture(tmp_path)


def test_a_decompression_bomb_is_refused_before_it_is_decoded(tmp_path):
    side = 20_000
    assert side * side > PIXEL_LIMIT
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(png(side, side, 1, 0, b"\0" * 1000))
    tiff = tmp_path / "bomb.tif"
    tags = [(256, 4, 2**20), (257, 4, 2**20), (258, 3, 8), (259, 3, 1), (262, 3, 1)]
    tags += [(273, 4, 8), (277, 3, 1), (279, 4, 4)]
    rows = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    tiff.write_bytes(b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + rows + bytes(4))
    for path in (bomb, tiff):
        with pytest.raises(PictureProblem, match="more than 300 million: save it smaller"):
            open_picture(path)


@pytest.mark.parametrize("mode", ["RGB", "CMYK", "P", "RGBA", "I;16", "F", "1"])
def test_large_pictures_are_converted_in_bands_to_the_same(tmp_path, mode, monkeypatch):
    if mode == "F":
        image = Image.fromarray(scene()[:, :, 0].astype(np.float32) * 3)
    elif mode == "I;16":
        image = Image.fromarray(scene()[:, :, 0].astype(np.uint16) * 200)
    else:
        image = Image.fromarray(scene()).convert(mode)
    if mode == "RGBA":
        image.putalpha(Image.fromarray(scene()[:, :, 1]))
    whole = decoding.rgb(image)
    monkeypatch.setattr(decoding, "BAND", 48 * 5)
    np.testing.assert_array_equal(decoding.rgb(image), whole)
    assert whole.std() > 10


def test_a_picture_below_the_limit_opens_though_pillow_would_warn(tmp_path):
    path = save(tmp_path / "large.png", Image.new("1", (10_000, 9_500)))
    assert open_picture(path).pixels.shape == (9_500, 10_000, 3)


def test_random_damage_is_refused_or_opened_never_anything_else(tmp_path):
    rng, refused = np.random.default_rng(3), 0
    noise = Image.fromarray(rng.integers(0, 256, (20, 24, 3), dtype=np.uint8))
    for suffix in ("jpg", "png", "webp", "tif"):
        whole = save(tmp_path / f"a.{suffix}", noise).read_bytes()
        for _ in range(150):
            data = bytearray(whole)
            for at in rng.integers(0, min(len(data), 400), size=rng.integers(1, 6)):
                data[at] = rng.integers(0, 256)
            path = tmp_path / f"b.{suffix}"
            path.write_bytes(data)
            try:
                picture = open_picture(path)
            except PictureProblem:
                refused += 1
                continue
            assert picture.pixels.ndim == 3
            assert len(picture.identity) == 64
    assert 0 < refused < 600


# ---- identity


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_identity_is_a_sha256_that_pixels_change_and_place_does_not(tmp_path, suffix):
    path = save(tmp_path / f"a.{suffix}", Image.fromarray(scene()))
    moved = shutil.copy(path, tmp_path / "renamed.jpg")
    other = scene()
    other[:16] = 255 - other[:16]
    changed = save(tmp_path / f"b.{suffix}", Image.fromarray(other))
    first = open_picture(path).identity
    assert len(first) == 64
    assert int(first, 16)
    assert first == identify(path) == identify(moved) == open_picture(moved).identity
    assert identify(changed) != first


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_what_pillow_writes_beside_the_pixels_leaves_identity_alone(tmp_path, suffix):
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a description"
    more = {
        "jpg": {"exif": exif, "comment": b"hello", "xmp": b"<x/>", "dpi": (300, 300)},
        "png": {"exif": exif, "dpi": (300, 300)},
        "webp": {"exif": exif, "xmp": b"<x/>", "icc_profile": b"profile"},
        "tif": {"tiffinfo": {274: 6, 270: "a description", 700: b"<x/>"}},
    }
    if suffix == "png":
        text = PngImagePlugin.PngInfo()
        text.add_itxt("XML:com.adobe.xmp", "<x/>")
        more["png"]["pnginfo"] = text
    image = Image.fromarray(scene())
    plain = save(tmp_path / f"a.{suffix}", image)
    rich = save(tmp_path / f"b.{suffix}", image, **more[suffix])
    assert plain.read_bytes() != rich.read_bytes()
    assert open_picture(plain).identity == open_picture(rich).identity
    assert (open_picture(plain).width, open_picture(rich).width) == (48, 32)


@needs_exiftool
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_exiftool_rewrites_caption_and_orientation_and_identity_stays(tmp_path, suffix):
    path = save(tmp_path / f"a.{suffix}", Image.fromarray(scene()))
    before = identify(path)
    written = set()
    for settings in (
        ["-XMP-dc:Description=A caption", "-XMP-iptcExt:PersonInImage=Ann"],
        ["-EXIF:Orientation#=6", "-EXIF:Artist=Somebody", "-EXIF:ImageDescription=x"],
        ["-XMP-dc:Description=" + "long " * 5000],
        ["-all="],
    ):
        exiftool(path, *settings)
        written.add(path.read_bytes())
        assert identify(path) == open_picture(path).identity == before
    assert len(written) == 4
    if suffix != "webp":
        exiftool(path, "-IPTC:Caption-Abstract=A caption", "-CodedCharacterSet=UTF8")
        assert identify(path) == before


@needs_exiftool
@pytest.mark.parametrize("settings", [{"progressive": True}, {"subsampling": 2}, {"quality": 30}])
def test_jpeg_of_every_sort_keeps_its_identity(tmp_path, settings):
    for mode in ("RGB", "L", "CMYK"):
        path = save(tmp_path / "a.jpg", Image.fromarray(scene()).convert(mode), **settings)
        before = identify(path)
        exiftool(path, "-all=", "-Comment=x", "-XMP-dc:Description=A caption")
        assert identify(path) == before
        np.testing.assert_array_equal(
            open_picture(path).pixels,
            np.asarray(Image.open(path).convert("RGB")),
        )


@needs_exiftool
@pytest.mark.parametrize(
    "settings", [{"compression": "tiff_lzw"}, {"compression": "jpeg"}, {"big_tiff": True}]
)
def test_packed_and_big_tiff_keep_their_identity(tmp_path, settings):
    path = save(tmp_path / "a.tif", Image.fromarray(scene(300, 400)), **settings)
    before = open_picture(path).identity
    assert identify(path) == before
    if "big_tiff" not in settings:  # ExifTool does not write it
        exiftool(path, "-XMP-dc:Description=A caption", "-Orientation#=8")
        assert identify(path) == before
        assert open_picture(path).width == 400


def test_how_colours_are_stored_is_part_of_a_jpegs_identity(tmp_path):
    path = save(tmp_path / "a.jpg", Image.fromarray(scene()).convert("CMYK"))
    data = path.read_bytes()
    at = data.index(b"Adobe") + 11
    changed = data[:at] + bytes([2 - data[at]]) + data[at + 1 :]
    before = open_picture(path)
    path.write_bytes(changed)
    after = open_picture(path)
    assert (before.pixels != after.pixels).any()
    assert before.identity != after.identity


def test_originals_are_only_read(tmp_path):
    path = save(tmp_path / "a.jpg", Image.fromarray(scene()))
    path.chmod(0o444)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    find(tmp_path)
    open_picture(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jpg"]


# Huge pictures


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


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_a_huge_picture_of_16_bits_is_reduced_as_well(tmp_path, monkeypatch, suffix):
    shades = np.repeat(np.linspace(0, 65535, 64).astype(np.uint16)[None], 64, axis=0)
    path = save(tmp_path / f"a.{suffix}", Image.fromarray(shades))
    whole = open_picture(path).pixels.astype(float)
    monkeypatch.setattr(decoding, "HUGE", 1024)
    small = open_picture(path).pixels
    assert small.shape == (32, 32, 3)
    assert np.abs(small - whole.reshape(32, 2, 32, 2, 3).mean((1, 3))).max() <= 1


MEMORY = """
import sys
from candidly.photos.pictures import open_picture
import numpy, PIL.JpegImagePlugin

def peak():  # ru_maxrss begins at that of the process before
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
picture = open_picture(sys.argv[1])
after = peak()
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
