"""Captions: in the photo, beside it and in lists; names and regions that are given."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import subprocess

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image, PngImagePlugin

from candidly.photos.captions import CaptionReader
from candidly.photos.pictures import open_picture

needs_exiftool = pytest.mark.skipif(
    shutil.which("exiftool") is None,
    reason="needs ExifTool: Debian's package libimage-exiftool-perl",
)

HEAD = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:ext="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
 xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"
 xmlns:MP="http://ns.microsoft.com/photo/1.2/"
 xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
 xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#">
<rdf:Description rdf:about="">"""
TAIL = '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>'


def xmp(body):
    return (HEAD + body + TAIL).encode()


def description(**texts):
    items = "".join(
        f'<rdf:li xml:lang="{code.replace("_", "-")}">{text}</rdf:li>'
        for code, text in texts.items()
    )
    return f"<dc:description><rdf:Alt>{items}</rdf:Alt></dc:description>"


def people(*names):
    items = "".join(f"<rdf:li>{name}</rdf:li>" for name in names)
    return f"<ext:PersonInImage><rdf:Bag>{items}</rdf:Bag></ext:PersonInImage>"


def data_set(record, number, data):
    size = struct.pack(">H", len(data))
    if len(data) > 0x7FFF:
        size = struct.pack(">HI", 0x8004, len(data))
    return bytes([0x1C, record, number]) + size + data


def iptc(text, charset=None):
    escape = data_set(1, 90, charset) if charset else b""
    return escape + data_set(2, 0, b"\0\4") + data_set(2, 5, b"Title") + data_set(2, 120, text)


def resource(number, data):
    return (
        b"8BIM"
        + struct.pack(">H", number)
        + b"\0\0"
        + struct.pack(">I", len(data))
        + (data + b"\0" * (len(data) % 2))
    )


def photo(path, *, block=b"", digest=None, size=(40, 30), **settings):
    """A JPEG file, with an IPTC block where one is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "grey").save(path, format="JPEG", **settings)
    if block:
        parts = resource(0x03ED, b"odd") + resource(0x0404, block)
        if digest:
            parts += resource(0x0425, digest)
        parts = b"Photoshop 3.0\0" + parts
        data = path.read_bytes()
        segment = b"\xff\xed" + struct.pack(">H", len(parts) + 2) + parts
        path.write_bytes(data[:2] + segment + data[2:])
    return path


def read(path, root=None):
    reader = CaptionReader(root or path.parent)
    caption = reader.read(path)
    assert reader.problems == []
    return caption


def exiftool(path, *settings):
    subprocess.run(
        ["exiftool", "-q", "-m", "-overwrite_original", *settings, str(path)],
        check=True,
        capture_output=True,
    )


# ---- IPTC


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        (b"\x1b%G", "utf-8"),
        (None, "utf-8"),
        (None, "latin-1"),
        (None, "cp1252"),
        (b"\x1b.A", "latin-1"),
        (b"\x1b-A", "latin-1"),
        (b"\x1b%G", "latin-1"),
    ],
)
def test_the_character_set_of_iptc_is_honoured(tmp_path, charset, encoding):
    text = "José Muñoz und Zoë Groß" + (" “Straße” €" if encoding == "cp1252" else "")
    caption = read(photo(tmp_path / "a.jpg", block=iptc(text.encode(encoding), charset)))
    assert (caption.text, caption.origin) == (text, "iptc")


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        (b"\x1b-L", "iso8859-5", "Владимир Путин"),
        (b"\x1b-B", "iso8859-2", "Václav Havel, Lech Wałęsa"),
        (b"\x1b-F", "iso8859-7", "Μελίνα Μερκούρη"),
    ],
)
def test_other_declared_character_sets_are_read(tmp_path, charset, encoding, text):
    assert read(photo(tmp_path / "a.jpg", block=iptc(text.encode(encoding), charset))).text == text


@needs_exiftool
@pytest.mark.parametrize("suffix", ["jpg", "tif", "png"])
def test_iptc_written_by_exiftool_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.new("RGB", (8, 8)).save(path)
    exiftool(path, "-IPTC:Caption-Abstract=Zoë Groß, Škoda", "-CodedCharacterSet=UTF8")
    assert read(path).text == "Zoë Groß, Škoda"
    assert read(path).origin == "iptc"


def test_a_broken_iptc_block_is_no_caption(tmp_path):
    block = iptc(b"Ann")
    assert read(photo(tmp_path / "a.jpg", block=block[:7])).text == ""
    assert read(photo(tmp_path / "b.jpg", block=b"\x1c\x02\x78\xff\xff\xff")).text == ""


# ---- XMP


def test_every_language_of_xmp_is_read_the_default_first(tmp_path):
    body = description(de="Ann in Rom", x_default="Ann in Rome", en="Ann in Rome", fr="Anne à Rome")
    caption = read(photo(tmp_path / "a.jpg", xmp=xmp(body)))
    assert caption.text == "Ann in Rome\nAnn in Rom\nAnne à Rome"
    assert caption.origin == "xmp"
    assert caption.language is None


def test_the_language_is_told_where_it_is_one(tmp_path):
    one = read(photo(tmp_path / "a.jpg", xmp=xmp(description(x_default="Ann", de="Ann"))))
    assert (one.text, one.language) == ("Ann", "de")
    none = read(photo(tmp_path / "b.jpg", xmp=xmp(description(x_default="Ann"))))
    assert (none.text, none.language) == ("Ann", None)


def test_descriptions_in_short_forms_are_read(tmp_path):
    short = HEAD.replace('about="">', 'about="" dc:description="Ann &amp; Bob">') + TAIL
    assert read(photo(tmp_path / "a.jpg", xmp=short.encode())).text == "Ann & Bob"
    plain = xmp("<dc:description>Ann &lt;b&gt;</dc:description>")
    assert read(photo(tmp_path / "b.jpg", xmp=plain)).text == "Ann <b>"


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_xmp_is_read_in_every_format(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    packet = xmp(description(x_default="Zoë") + people("Zoë Groß"))
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", packet.decode(), zip=True)
    settings = {
        "jpg": {"xmp": packet},
        "png": {"pnginfo": text},
        "webp": {"xmp": packet},
        "tif": {"tiffinfo": {700: packet}},
    }
    Image.new("RGB", (8, 8)).save(path, **settings[suffix])
    caption = read(path)
    assert (caption.text, caption.given) == ("Zoë", ("Zoë Groß",))


@needs_exiftool
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "xmp"])
def test_xmp_written_by_exiftool_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    if suffix != "xmp":
        Image.new("RGB", (40, 30)).save(path)
    else:
        photo(tmp_path / "a.jpg")
    exiftool(
        path,
        "-XMP-dc:Description=Zoë <Groß>",
        "-XMP-dc:Description-de=Zoë auf Deutsch",
        "-XMP-iptcExt:PersonInImage=Zoë Groß",
        "-XMP-iptcExt:PersonInImage=Bob",
        "-XMP:RegionInfo={AppliedToDimensions={W=40,H=30,Unit=pixel},RegionList=[{Area={X=0.25,"
        "Y=0.5,W=0.2,H=0.4,Unit=normalized},Name=Zoë,Type=Face},{Area={X=0.8,Y=0.5,W=0.1,H=0.1,"
        "Unit=normalized},Type=Face},{Area={X=0.5,Y=0.5,W=0.1,H=0.1,Unit=normalized},Name=Rex,"
        "Type=Pet}]}",
    )
    caption = read(tmp_path / "a.jpg" if suffix == "xmp" else path)
    assert caption.text == "Zoë <Groß>\nZoë auf Deutsch"
    assert caption.origin == ("sidecar" if suffix == "xmp" else "xmp")
    assert caption.given == ("Zoë Groß", "Bob")
    assert [region.name for region in caption.regions] == ["Zoë", None]
    first = caption.regions[0]
    assert (first.x, first.y, first.w, first.h) == pytest.approx((0.15, 0.3, 0.2, 0.4))


@needs_exiftool
def test_a_caption_of_a_megabyte_is_read_from_a_jpeg(tmp_path):
    path, text = photo(tmp_path / "a.jpg"), "Ann Lee and Bob. " * 60_000
    (tmp_path / "caption.dat").write_text(text)
    exiftool(path, f"-XMP-dc:Description<={tmp_path / 'caption.dat'}")
    assert CaptionReader(tmp_path).read(path).text == text.strip()


def test_names_with_details_are_given_names(tmp_path):
    body = """<ext:PersonInImageWDetails><rdf:Bag><rdf:li rdf:parseType="Resource">
    <ext:PersonName><rdf:Alt><rdf:li xml:lang="en">Ann Lee</rdf:li></rdf:Alt></ext:PersonName>
    </rdf:li></rdf:Bag></ext:PersonInImageWDetails>"""
    caption = read(photo(tmp_path / "a.jpg", xmp=xmp(people("Bob ", " ", "Bob") + body)))
    assert caption.given == ("Bob", "Ann Lee")
    assert (caption.text, caption.origin) == ("", "xmp")


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (b"<x><y></x>", "broken XML: mismatched tag"),
        (b"not xml at all", "broken XML"),
        (b'<!DOCTYPE a [<!ENTITY b "' + b"c" * 99 + b'">]><a>&b;&b;</a>', "document type"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type"),
        (b"<a>" * 5000, "deep"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "broken XML"),
    ],
)
def test_broken_or_dangerous_xmp_is_a_problem_and_other_captions_are_read(tmp_path, packet, said):
    path = photo(tmp_path / "a.jpg", xmp=packet, block=iptc(b"Ann"))
    reader = CaptionReader(tmp_path)
    assert reader.read(path).text == "Ann"
    assert reader.read(path).text == "Ann"
    (problem,) = reader.problems  # told once
    assert problem.path == path
    assert said in problem.reason
    assert str(problem).startswith(str(path))


def test_xmp_in_utf_16_and_in_latin_1_is_read(tmp_path):
    photo(tmp_path / "a.jpg")
    packet = xmp(description(x_default="Zoë")).decode()
    for encoding in ("utf-16", "latin-1"):
        packet = packet.replace("\ufeff", "")
        (tmp_path / "a.xmp").write_bytes(packet.encode(encoding))
        assert read(tmp_path / "a.jpg").text == "Zoë"


# ---- regions


def mwg(*faces, size=(40, 30), unit="normalized"):
    items = "".join(
        f'<rdf:li><rdf:Description mwg-rs:Name="{name}" mwg-rs:Type="Face"><mwg-rs:Area '
        f'stArea:x="{x}" stArea:y="{y}" stArea:w="{w}" stArea:h="{h}" stArea:unit="{unit}"/>'
        "</rdf:Description></rdf:li>"
        for name, x, y, w, h in faces
    )
    applied = ""
    if size:
        applied = (
            f'<mwg-rs:AppliedToDimensions stDim:w="{size[0]}" stDim:h="{size[1]}"'
            ' stDim:unit="pixel"/>'
        )
    return (
        f'<mwg-rs:Regions rdf:parseType="Resource">{applied}<mwg-rs:RegionList><rdf:Bag>{items}'
        "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
    )


def microsoft(*faces):
    items = "".join(
        f'<rdf:li><rdf:Description MPReg:PersonDisplayName="{name}"'
        + (f' MPReg:Rectangle="{box}"' if box else "")
        + "/></rdf:li>"
        for name, box in faces
    )
    return (
        "<MP:RegionInfo><rdf:Description><MPRI:Regions><rdf:Bag>"
        f"{items}</rdf:Bag></MPRI:Regions></rdf:Description></MP:RegionInfo>"
    )


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "tif"])
def test_regions_mark_the_same_pixels_in_the_upright_picture(tmp_path, orientation, suffix):
    stored = np.full((120, 200, 3), 255, dtype=np.uint8)
    stored[20:50, 120:180] = 0  # rows 20 to 50, columns 120 to 180
    body = mwg(("Ann", 150 / 200, 35 / 120, 60 / 200, 30 / 120), size=(400, 240))
    exif = Image.Exif()
    exif[0x0112] = orientation
    settings = {"exif": exif, "xmp": xmp(body), "quality": 95}
    if suffix == "tif":
        settings = {"tiffinfo": {274: orientation, 700: xmp(body)}}
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(stored).save(path, **settings)
    picture = open_picture(path)
    (region,) = read(path).regions
    dark = picture.pixels[:, :, 0] < 128
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    shown = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
    x, y = region.x * picture.width, region.y * picture.height
    marked = (x, y, x + region.w * picture.width, y + region.h * picture.height)
    assert marked == pytest.approx(shown, abs=1e-6)
    assert region.name == "Ann"


def test_regions_drawn_on_the_upright_picture_are_taken_as_they_are(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    body = mwg(("Ann", 0.2, 0.3, 0.1, 0.2), size=(30, 40))
    (region,) = read(photo(tmp_path / "a.jpg", exif=exif, xmp=xmp(body))).regions
    assert (region.x, region.y, region.w, region.h) == pytest.approx((0.15, 0.2, 0.1, 0.2))


def test_regions_of_a_picture_that_was_cropped_since_are_not_used(tmp_path):
    path = photo(tmp_path / "a.jpg", xmp=xmp(mwg(("Ann", 0.2, 0.3, 0.1, 0.2), size=(40, 90))))
    reader = CaptionReader(tmp_path)
    assert reader.read(path).regions == ()
    assert "cropped since" in reader.problems[0].reason


def test_of_thousands_of_regions_only_the_first_are_used_and_that_is_said(tmp_path):
    many = [(f"P{number}", 0.2, 0.3, 0.1, 0.2) for number in range(1500)]
    path = photo(tmp_path / "a.jpg")
    (tmp_path / "a.xmp").write_bytes(xmp(mwg(*many)))
    reader = CaptionReader(tmp_path)
    assert len(reader.read(path).regions) == 1000
    assert "1500 face regions" in reader.problems[0].reason


def test_regions_outside_or_of_no_number_are_not_used_and_others_are_cut(tmp_path):
    body = mwg(
        ("Out", 1.5, 0.5, 0.1, 0.1),
        ("Nan", "nan", 0.5, 0.1, 0.1),
        ("Word", "x", 0.5, 0.1, 0.1),
        ("None", 0.5, 0.5, 0, 0.1),
        ("Cut", 0.0, 0.5, 0.2, 0.2),
        size=None,
    )
    reader = CaptionReader(tmp_path)
    (region,) = reader.read(photo(tmp_path / "a.jpg", xmp=xmp(body))).regions
    assert (region.name, region.x, region.w) == ("Cut", 0, pytest.approx(0.1))
    assert "3 of its 4 face regions" in reader.problems[0].reason


def test_regions_in_pixels_are_read(tmp_path):
    body = mwg(("Ann", 20, 15, 10, 6), unit="pixel")
    (region,) = read(photo(tmp_path / "a.jpg", xmp=xmp(body))).regions
    assert (region.x, region.y, region.w, region.h) == pytest.approx((0.375, 0.4, 0.25, 0.2))


def test_regions_of_microsoft_are_read_where_there_are_no_others(tmp_path):
    faces = microsoft(("Ann Lee", "0.1, 0.2, 0.3, 0.4"), ("Bob", ""))
    (region,) = read(photo(tmp_path / "a.jpg", xmp=xmp(faces))).regions
    assert region.name == "Ann Lee"
    assert (region.x, region.y, region.w, region.h) == pytest.approx((0.1, 0.2, 0.3, 0.4))
    both = xmp(faces + mwg(("Cy", 0.5, 0.5, 0.1, 0.1)))
    assert [r.name for r in read(photo(tmp_path / "b.jpg", xmp=both)).regions] == ["Cy"]


# ---- beside the photo


@pytest.mark.parametrize("name", ["a.txt", "a.jpg.txt", "A.TXT"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_text_beside_the_photo_is_read(tmp_path, name, encoding):
    (tmp_path / name).write_bytes("Zoë Groß\r\nin Rom \n".encode(encoding))
    caption = read(photo(tmp_path / "a.jpg"))
    assert (caption.text, caption.origin) == ("Zoë Groß\nin Rom", "txt")


def test_the_more_exact_name_beside_the_photo_wins(tmp_path):
    photo(tmp_path / "a.jpg")
    for suffix, make in ((".txt", str.encode), (".xmp", lambda t: xmp(description(x_default=t)))):
        (tmp_path / f"a{suffix}").write_bytes(make("less"))
        (tmp_path / f"a.jpg{suffix}").write_bytes(make("exact"))
        assert read(tmp_path / "a.jpg").text == "exact"
        (tmp_path / f"a.jpg{suffix}").unlink()
        assert read(tmp_path / "a.jpg").text == "less"
        (tmp_path / f"a{suffix}").unlink()


def test_what_is_beside_another_photo_is_not_taken(tmp_path):
    photo(tmp_path / "a.jpg")
    (tmp_path / "b.txt").write_text("Bob")
    (tmp_path / "a.b.txt").write_text("Bob")
    caption = read(tmp_path / "a.jpg")
    assert (caption.text, caption.origin, caption.given) == ("", "none", ())


def test_a_folder_with_a_captions_name_and_a_huge_text_are_problems(tmp_path):
    photo(tmp_path / "a.jpg")
    (tmp_path / "a.txt").mkdir()
    with (tmp_path / "a.jpg.txt").open("wb") as file:
        file.truncate(65 * 2**20)
    reader = CaptionReader(tmp_path)
    assert reader.read(tmp_path / "a.jpg").text == ""
    assert {problem.path.name for problem in reader.problems} == {"a.txt", "a.jpg.txt"}


# ---- lists


def test_captions_csv_gives_captions_and_names_by_path(tmp_path):
    for name in ("a.jpg", "b/c.jpg", "b/d.jpg"):
        photo(tmp_path / name)
    (tmp_path / "captions.csv").write_text(
        'file,caption,names\na.jpg,"Ann, at ""home""\nin Rome",Ann Lee|Bob;Cy\n'
        "b/c.jpg,Bob,\nb\\d.jpg,,Dan\n"
    )
    reader = CaptionReader(tmp_path)
    first = reader.read(tmp_path / "a.jpg")
    assert (first.text, first.origin) == ('Ann, at "home"\nin Rome', "csv")
    assert first.given == ("Ann Lee", "Bob", "Cy")
    assert reader.read(tmp_path / "b/c.jpg").text == "Bob"
    assert reader.read(tmp_path / "b/d.jpg").given == ("Dan",)
    assert reader.problems == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_captions_csv_of_any_program_is_read(tmp_path, encoding, separator):
    lines = [["File", "Caption"], ["Zoë.jpg", "Zoë Groß"]]
    text = "".join(separator.join(line) + "\r\n" for line in lines)
    (tmp_path / "captions.csv").write_bytes(text.encode(encoding))
    assert read(photo(tmp_path / "Zoë.jpg")).text == "Zoë Groß"


def test_commas_of_a_text_without_quotes_are_kept(tmp_path):
    (tmp_path / "captions.csv").write_text("file,caption\na.jpg,Ann, Bob and Cy\n")
    assert read(photo(tmp_path / "a.jpg")).text == "Ann, Bob and Cy"


def test_a_list_in_a_nearer_folder_stands_first(tmp_path):
    path = photo(tmp_path / "b" / "c" / "a.jpg")
    (tmp_path / "captions.csv").write_text("file,caption\nb/c/a.jpg,far\n")
    assert read(path, tmp_path).text == "far"
    (tmp_path / "b" / "captions.json").write_text('{"c/a.jpg": "near"}')
    assert read(path, tmp_path).text == "near"
    (tmp_path / "b" / "c" / "captions.csv").write_text("file,caption\na.jpg,nearest\n")
    assert read(path, tmp_path).text == "nearest"
    assert read(path, tmp_path / "b" / "c").text == "nearest"


def test_lists_above_the_root_are_not_read(tmp_path):
    (tmp_path / "captions.csv").write_text("file,caption\nb/a.jpg,above\n")
    path = photo(tmp_path / "b" / "a.jpg")
    assert read(path).text == ""
    reader = CaptionReader(tmp_path / "b", lists=[tmp_path / "captions.csv"])
    assert "not there" in reader.problems[0].reason, "files are looked for from the root"


def test_a_list_from_elsewhere_stands_first(tmp_path):
    path = photo(tmp_path / "photos" / "a.jpg")
    (tmp_path / "mine.csv").write_text("file,caption\na.jpg,Mine\n")
    (tmp_path / "photos" / "captions.csv").write_text("file,caption\na.jpg,Other\n")
    reader = CaptionReader(tmp_path / "photos", lists=[tmp_path / "mine.csv"])
    assert reader.read(path).text == "Mine"


def test_a_bare_name_is_looked_for_in_every_folder_below(tmp_path):
    path = photo(tmp_path / "photos" / "a.jpg")
    for name in ("x/twice.jpg", "y/twice.jpg"):
        photo(tmp_path / name)
    (tmp_path / "captions.csv").write_text("file,caption\na.jpg,Ann\ntwice.jpg,Who\nno.jpg,None\n")
    reader = CaptionReader(tmp_path)
    assert reader.read(path).text == "Ann"
    assert reader.read(tmp_path / "x/twice.jpg").text == ""
    twice, absent = (problem.reason for problem in reader.problems)
    assert "line 3" in twice
    assert "'x/twice.jpg' and 'y/twice.jpg'" in twice
    assert "1 of its 3 photos is not there (first 'no.jpg', line 4)" in absent


def test_rows_for_one_photo_and_other_capitals_are_used_and_told(tmp_path):
    first, second = photo(tmp_path / "a.jpg"), photo(tmp_path / "x" / "IMG_2.JPG")
    (tmp_path / "captions.csv").write_text(
        "file,caption\na.jpg,Ann\nb.jpg,None\nA.JPG,Bob\na.jpg,Ann\nimg_2.jpg,Cas\n"
    )
    reader = CaptionReader(tmp_path)
    assert reader.read(first).text == "Ann\nBob"
    assert reader.read(second).text == "Cas"
    twice, cased, absent = (problem.reason for problem in reader.problems)
    assert "2 rows are about photos that an earlier row has" in twice
    assert "'A.JPG', line 4 after line 2" in twice
    assert "2 files are written with other capitals" in cased
    assert "'A.JPG', line 4, is taken for 'a.jpg'" in cased
    assert "1 of its 5 photos is not there" in absent


def test_capitals_that_fit_two_photos_are_not_guessed(tmp_path):
    for name in ("a.jpg", "A.jpg"):
        photo(tmp_path / name)
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("a file system that does not tell capitals apart")
    (tmp_path / "captions.csv").write_text("file,caption\na.JPG,Ann\nA.jpg,Bob\n")
    reader = CaptionReader(tmp_path)
    assert [reader.read(tmp_path / name).text for name in ("a.jpg", "A.jpg")] == ["", "Bob"]
    (problem,) = reader.problems
    assert "there are 'A.jpg' and 'a.jpg': write which one 'a.JPG' is" in problem.reason


def test_paths_from_a_relative_root_and_whole_ones_are_the_same(tmp_path, monkeypatch):
    path = photo(tmp_path / "b" / "a.jpg")
    (tmp_path / "captions.csv").write_text(f"file,caption\n{path},Ann\n")
    monkeypatch.chdir(tmp_path)
    assert CaptionReader(".").read(path).text == "Ann"
    assert CaptionReader(tmp_path).read("b/a.jpg").text == "Ann"


@pytest.mark.parametrize("file", ["../outside.jpg", "b/../../outside.jpg", "/etc/passwd", ".."])
def test_paths_that_lead_out_of_the_folder_are_problems(tmp_path, file):
    photo(tmp_path / "outside.jpg")
    root = tmp_path / "root"
    photo(root / "a.jpg")
    (root / "captions.csv").write_text(f"file,caption\n{file},Evil\na.jpg,Ann\n")
    reader = CaptionReader(root)
    assert reader.read(root / "a.jpg").text == "Ann"
    assert "line 2" in reader.problems[0].reason
    assert "leads out of the folder" in reader.problems[0].reason


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('b.jpg,"never closed', "line 3: a quote"),
        ('b.jpg,"closed "early" here"', "line 3: a quote"),
        ("only-one-cell", "line 3: 'only-one-cell'"),
        (",no file", "line 3"),
    ],
)
def test_a_broken_row_is_a_problem_and_the_others_are_read(tmp_path, broken, said):
    for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg"):
        photo(tmp_path / name)
    text = f'file,caption\na.jpg,Ann\n{broken}\nc.jpg,"Cy, here"\nd.jpg,Dan\n'
    (tmp_path / "captions.csv").write_text(text)
    reader = CaptionReader(tmp_path)
    assert [reader.read(tmp_path / f"{n}.jpg").text for n in "acd"] == ["Ann", "Cy, here", "Dan"]
    (problem,) = reader.problems
    assert said in problem.reason


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "captions.csv",
            "a.jpg,Ann\n",
            "first line is 'a.jpg,Ann', but should be file",
        ),
        ("captions.csv", "\n\n", "empty"),
        ("captions.csv", 'file,caption\n"' * 99, "the rest is not read"),
        ("captions.json", '{"a.jpg": ', "broken JSON"),
        ("captions.json", "[" * 100_000, "broken JSON"),
        ("captions.json", '"text"', "should be"),
        ("captions.json", '[{"file": "a.jpg", "caption": 5}]', "entry 1"),
        ("captions.json", '[{"caption": "Ann"}]', "entry 1"),
        ("captions.json", '{"a.jpg": {"names": [1]}}', "entry 1"),
    ],
)
def test_a_broken_list_is_a_problem_and_the_run_goes_on(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    path = photo(tmp_path / "a.jpg", block=iptc(b"Ann"))
    reader = CaptionReader(tmp_path)
    assert reader.read(path).text == "Ann"
    assert any(said in problem.reason for problem in reader.problems)
    assert {problem.path for problem in reader.problems} == {tmp_path / name}


@pytest.mark.parametrize(
    "content",
    [
        {"a.jpg": {"caption": "Zoë", "names": ["Zoë Groß", "Bob"]}},
        [{"file": "a.jpg", "caption": "Zoë", "names": "Zoë Groß|Bob"}],
    ],
)
def test_captions_json_is_read(tmp_path, content):
    (tmp_path / "captions.json").write_text(json.dumps(content))
    caption = read(photo(tmp_path / "a.jpg"))
    assert (caption.text, caption.origin) == ("Zoë", "json")
    assert caption.given == ("Zoë Groß", "Bob")


def test_a_megabyte_is_a_caption_in_every_place_and_names_are_read_in_its_beginning(tmp_path):
    text = ("Ann Lee and Bob. " * 65_000).strip()
    assert len(text) > 10**6
    path = photo(tmp_path / "a.jpg")
    for name, content in (
        ("captions.csv", f'file,caption\na.jpg,"{text}"\n'),
        ("captions.json", json.dumps({"a.jpg": text})),
        ("a.txt", text),
        ("a.xmp", xmp(description(x_default=text)).decode()),
    ):
        (tmp_path / name).write_text(content)
        reader = CaptionReader(tmp_path)
        assert reader.read(path).text == text
        (problem,) = reader.problems
        assert "1,104,999 characters: names are read in the first 20,000" in problem.reason
        (tmp_path / name).unlink()


def test_composed_and_decomposed_names_are_the_same_file(tmp_path):
    (tmp_path / "captions.csv").write_text("file,caption\nZoe\u0308.jpg,Zoe\u0308\n")
    assert read(photo(tmp_path / "Zo\u00eb.jpg")).text == "Zo\u00eb"


def test_half_characters_and_controls_are_taken_out(tmp_path):
    (tmp_path / "captions.json").write_text('{"a.jpg": "Ann\\ud800 and\\u0000 \\u0007Bob"}')
    caption = read(photo(tmp_path / "a.jpg"))
    assert caption.text == "Ann? and Bob"
    caption.text.encode()


# ---- precedence


def test_the_first_place_that_says_something_is_taken(tmp_path):
    path = photo(tmp_path / "a.jpg", xmp=xmp(description(x_default="xmp")), block=iptc(b"iptc"))
    files = {
        "csv": ("captions.csv", b"file,caption\na.jpg,csv\n"),
        "json": ("captions.json", b'{"a.jpg": "json"}'),
        "txt": ("a.txt", b"txt"),
        "sidecar": ("a.xmp", xmp(description(x_default="sidecar"))),
    }
    for name, content in files.values():
        (tmp_path / name).write_bytes(content)
    for origin, (name, _) in files.items():
        assert (read(path).text, read(path).origin) == (origin, origin)
        (tmp_path / name).unlink()
    assert read(path).text == "xmp"
    assert read(photo(path, block=iptc(b"iptc"))).text == "iptc"
    assert read(photo(path)).text == ""


def test_an_empty_caption_leaves_the_word_to_the_next(tmp_path):
    (tmp_path / "captions.csv").write_text("file,caption\na.jpg,  \n")
    (tmp_path / "a.txt").write_text("\n")
    assert read(photo(tmp_path / "a.jpg", block=iptc(b"Ann"))).text == "Ann"


def test_iptc_changed_after_xmp_was_written_stands_first(tmp_path):
    packet, block = xmp(description(x_default="old")), iptc(b"new")
    stale = hashlib.md5(iptc(b"old"), usedforsecurity=False).digest()
    fresh = hashlib.md5(block, usedforsecurity=False).digest()
    assert read(photo(tmp_path / "a.jpg", xmp=packet, block=block, digest=stale)).text == "new"
    assert read(photo(tmp_path / "b.jpg", xmp=packet, block=block, digest=fresh)).text == "old"


def test_text_names_and_regions_come_each_from_the_first_that_has_them(tmp_path):
    packet = xmp(description(x_default="old") + people("Ann") + mwg(("Ann", 0.5, 0.5, 0.1, 0.1)))
    path = photo(tmp_path / "a.jpg", xmp=packet)
    (tmp_path / "captions.csv").write_text("file,caption\na.jpg,corrected\n")
    caption = read(path)
    assert (caption.text, caption.origin) == ("corrected", "csv")
    assert caption.given == ("Ann",)
    assert caption.regions[0].name == "Ann"
    (tmp_path / "captions.csv").write_text("file,caption,names\na.jpg,corrected,Bob\n")
    assert read(path).given == ("Bob",)


# ---- any file


def test_random_damage_never_stops_the_reading(tmp_path):
    rng = np.random.default_rng(5)
    packet = xmp(description(x_default="Ann") + people("Ann") + mwg(("Ann", 0.5, 0.5, 0.1, 0.1)))
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", packet.decode(), zip=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.new("RGB", (8, 8))
    image.save(tmp_path / "a.png", pnginfo=text, exif=exif)
    image.save(tmp_path / "a.webp", xmp=packet, exif=exif)
    image.save(tmp_path / "a.tif", tiffinfo={700: packet, 274: 6})
    photo(tmp_path / "a.jpg", xmp=packet, exif=exif, block=iptc(b"Ann"))
    read_well = 0
    for suffix in ("jpg", "png", "webp", "tif"):
        whole = (tmp_path / f"a.{suffix}").read_bytes()
        for _ in range(150):
            data = bytearray(whole[: rng.integers(1, len(whole) + 1)])
            for at in rng.integers(0, len(data), size=3):
                data[at] = rng.integers(0, 256)
            path = tmp_path / f"b.{suffix}"
            path.write_bytes(data)
            read_well += "Ann" in CaptionReader(tmp_path).read(path).text
    assert 50 < read_well < 600


def test_a_photo_that_is_not_there_has_no_caption(tmp_path):
    assert read(tmp_path / "none.jpg").text == ""
    assert read(tmp_path / "no" / "folder" / "none.jpg").text == ""
