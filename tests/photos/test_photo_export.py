"""Names in copies, sidecars and tables: read by ExifTool and exiv2, merged, whole, taken back."""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image

from candidly.photos.captions import CaptionReader
from candidly.photos.captions.metadata import XmlProblem, read_xmp
from candidly.photos.exporting import ExportTargets, export, undo_export
from candidly.photos.exporting.photo_names import NamedRegion, PhotoNames, merge_names
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, store_choices
from candidly.photos.keeping import forget_person
from candidly.photos.names import Text
from candidly.photos.pictures import identify, orientation
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.schema import person_id
from candidly.photos.project.store import (
    keep_caption,
    keep_faces,
    keep_file,
    keep_photo,
    set_orientation,
)
from candidly.photos.records import Caption, Face

needs_exiftool = pytest.mark.skipif(
    shutil.which("exiftool") is None,
    reason="needs ExifTool: Debian's package libimage-exiftool-perl",
)
needs_exiv2 = pytest.mark.skipif(
    shutil.which("exiv2") is None, reason="needs exiv2: Debian's package exiv2"
)
ODD = [
    'Ann "Annie" O\'Lee',
    "<Bob> & Söhne",
    "שרה כהן",
    "محمد علي",
    "\u202eAnn\u202c 🙂👩‍👩‍👧",
    "Ann " + "x" * 496,
    "=1+1|a,b}]",
    "Zoë Müller/Ray",
]
RED, SIZE = (220, 20, 20), (120, 90)  # of the upright picture
runner = CliRunner()


class Library:
    """Photos with a red face each, in a project, without a detector."""

    def __init__(self, folder):
        self.photos, self.out = folder / "photos", folder / "out"
        self.photos.mkdir()
        self.project = Project.open(folder / "a.candidly", write=True)
        self.root = self.project.root_for(self.photos)
        self.count = 0

    def add(self, path, names, turned=1, sure=0.99, size=SIZE):
        """A photo with a face for each name, from left to right, stored as its orientation says."""
        file = self.photos / path
        file.parent.mkdir(parents=True, exist_ok=True)
        self.count += 1
        # Every picture differs, so that none is a copy of another.
        rng = np.random.default_rng(self.count)
        pixels = rng.integers(60, 140, (size[1], size[0], 3)).astype(np.uint8)
        boxes = [Box(10.0 + 30 * at, 12.0, 20.0, 30.0) for at in range(len(names))]
        for x, y, w, h in boxes:
            pixels[int(y) : int(y + h), int(x) : int(x + w)] = RED
        how = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # of Transpose, which undoes the turn
        image = Image.fromarray(pixels)
        image = image if turned == 1 else image.transpose(Image.Transpose(how[turned]))
        image.save(file, quality=95) if file.suffix == ".jpg" else image.save(file)
        if turned != 1:
            exiftool(f"-Orientation#={turned}", "-overwrite_original", file)
        assert orientation(file) == turned
        stat = file.stat()
        faces = [Face(box, 0.9, np.zeros((5, 2), np.float32), 0.8) for box in boxes]
        with self.project.transaction() as sql:
            photo = keep_photo(sql, identify(file), *size)
            set_orientation(sql, photo, size, turned)
            numbers = keep_faces(sql, photo, faces, "by hand")
            stored = (stat.st_size, stat.st_mtime_ns)
            row = keep_file(sql, self.root, str(path), stored, photo, beside="")
            keep_caption(sql, row, Caption("A caption", "txt"), [], "by hand")
            for number, name in zip(numbers, names, strict=True):
                self.label(sql, number, name, sure)
        return numbers

    def label(self, sql, face, name, sure=0.99):
        person = None if name is None else person_id(sql, name)
        sql.execute(
            "INSERT OR REPLACE INTO labels (face, person, confidence) VALUES (?, ?, ?)",
            (face, person, sure),
        )

    def export(self, **settings):
        options = {key: settings.pop(key) for key in list(settings) if key in OPTIONS}
        if not settings.get("beside"):
            settings.setdefault("folder", self.out)
        return export(self.project, ExportTargets(**settings), **options)

    def rows(self, query):
        return self.project.connection.execute(query).fetchall()


OPTIONS = ("faces", "only", "since", "dry_run")


@pytest.fixture
def library(tmp_path):
    made = Library(tmp_path)
    yield made
    made.project.close()


def exiftool(*arguments):
    done = subprocess.run(["exiftool", *map(str, arguments)], check=True, capture_output=True)
    return done.stdout.decode()


def tags(path, *more):
    """What ExifTool reads, with structures, by group and name."""
    found = exiftool("-j", "-struct", "-G1", "-a", *more, path)
    return json.loads(found)[0]


def valid(path):
    found = exiftool("-validate", "-warning", "-error", "-a", "-s", path)
    return [line.split(":", 1)[1].strip() for line in found.splitlines()] == ["OK"]


def regions(path):
    """Names and boxes in pixels as ExifTool reads them."""
    return regions_of(tags(path, "-XMP:RegionInfo"))


def regions_of(found):
    found = found["XMP-mwg-rs:RegionInfo"]
    width, height = found["AppliedToDimensions"]["W"], found["AppliedToDimensions"]["H"]
    boxes = []
    for one in found["RegionList"]:
        area = one["Area"]
        assert (one["Type"], area["Unit"]) == ("Face", "normalized")
        x, y = (area["X"] - area["W"] / 2) * width, (area["Y"] - area["H"] / 2) * height
        boxes.append((one["Name"], Box(x, y, area["W"] * width, area["H"] * height)))
    return boxes


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# Judges


@needs_exiftool
@pytest.mark.slow
def test_regions_lie_on_the_face_in_the_picture_as_stored(library):
    for turned in range(1, 9):
        library.add(f"{turned}.jpg", ["Ann Lee"], turned)
    library.export()
    library.export(sidecar="digikam")
    read = json.loads(exiftool("-j", "-struct", "-G1", "-validate", "-a", "-XMP:all", library.out))
    assert len(read) == 16
    for found in read:
        assert found["ExifTool:Validate"] == "OK"
        name = Path(found["SourceFile"]).name.removesuffix(".xmp")
        stored = np.asarray(Image.open(library.photos / name))
        red = np.abs(stored.astype(int) - RED).sum(axis=2) < 120
        rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
        ((name, box),) = regions_of(found)
        assert name == "Ann Lee"
        corners = (box.x, box.y, box.x + box.w, box.y + box.h)
        seen = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
        assert np.abs(np.subtract(corners, seen)).max() <= 1
        size = found["XMP-mwg-rs:RegionInfo"]["AppliedToDimensions"]
        assert (size["W"], size["H"], size["Unit"]) == (*stored.shape[1::-1], "pixel")


@needs_exiftool
@needs_exiv2
@pytest.mark.parametrize("sidecar", [None, "adobe", "digikam"])
def test_both_readers_see_odd_names_as_they_are(library, sidecar):
    library.add("a.jpg", ODD, size=(300, 90))
    library.export(sidecar=sidecar)
    name = {None: "a.jpg", "adobe": "a.xmp", "digikam": "a.jpg.xmp"}[sidecar]
    path = library.out / name
    assert valid(path)
    found = tags(path, "-XMP:all")
    assert found["XMP-iptcExt:PersonInImage"] == ODD
    assert found["XMP-dc:Subject"] == ODD
    assert [name for name, _ in regions(path)] == ODD
    assert "People|שרה כהן" in found["XMP-lr:HierarchicalSubject"]
    assert "People/שרה כהן" in found["XMP-digiKam:TagsList"]
    for at, name in enumerate(ODD, 1):
        key = f"Xmp.mwg-rs.Regions/mwg-rs:RegionList[{at}]/mwg-rs:Name"
        read = subprocess.run(["exiv2", "-K", key, "-Pv", path], capture_output=True, check=True)
        assert read.stdout.decode().rstrip("\n") == name
    read = subprocess.run(["exiv2", "-K", "Xmp.iptcExt.PersonInImage", "-Pc", path], check=True,
                          capture_output=True)  # fmt: skip
    assert int(read.stdout) == len(ODD)


@needs_exiftool
def test_the_picture_and_the_rest_of_its_metadata_stay(library):
    library.add("day/a.jpg", ["Ann Lee"])
    original = library.photos / "day" / "a.jpg"
    exiftool("-overwrite_original", "-XMP-dc:Description=Ann at home", "-XMP-dc:Subject=home",
             "-EXIF:Artist=Zoë", "-IPTC:Keywords=old", "-XMP-xmp:Rating=4", original)  # fmt: skip
    before, data = tags(original), original.read_bytes()
    done = library.export()
    copy = library.out / "day" / "a.jpg"
    assert done.files == {copy: ("Ann Lee",)}
    assert original.read_bytes() == data
    assert identify(copy) == identify(original)
    after = tags(copy)
    assert after["XMP-dc:Subject"] == ["home", "Ann Lee"]
    own = ("File", "ExifTool", "System", "SourceFile")
    for key, value in before.items():
        if not key.startswith(own) and key != "XMP-dc:Subject":
            assert after[key] == value, key


DIGIKAM = """<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>
<!-- kept by somebody -->
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:digiKam="http://www.digikam.org/ns/1.0/"
    xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
    xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"
    xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
    xmlns:MP="http://ns.microsoft.com/photo/1.2/"
    xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
    xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#"
   digiKam:PickLabel="2" xmp:Rating="3">
   <digiKam:TagsList><rdf:Seq><rdf:li>Places/Rome</rdf:li><rdf:li>People/Cy</rdf:li></rdf:Seq>
   </digiKam:TagsList>
   <dc:subject><rdf:Bag><rdf:li>Rome</rdf:li><rdf:li>Cy</rdf:li></rdf:Bag></dc:subject>
   <mwg-rs:Regions rdf:parseType="Resource">
    <mwg-rs:AppliedToDimensions stDim:w="120" stDim:h="90" stDim:unit="pixel"/>
    <mwg-rs:RegionList><rdf:Bag><rdf:li>
     <rdf:Description mwg-rs:Name="Cy" mwg-rs:Type="Face">
      <mwg-rs:Area stArea:x="0.9" stArea:y="0.5" stArea:w="0.1" stArea:h="0.1"
       stArea:unit="normalized"/>
     </rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList>
   </mwg-rs:Regions>
   <MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions><rdf:Bag><rdf:li
     MPReg:PersonDisplayName="Cy" MPReg:Rectangle="0.85, 0.45, 0.1, 0.1"/></rdf:Bag></MPRI:Regions>
   </MP:RegionInfo>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end='w'?>"""

LIGHTROOM = """<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 7.0-c000 1.000000">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
    xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
    xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"
    xmlns:stEvt="http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"
   crs:Version="15.0" crs:Exposure2012="+0.35" photoshop:City="Rome"
   crs:Name="a&#xA;b">
   <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Wedding &amp; 1</rdf:li></rdf:Alt></dc:title>
   <dc:subject><rdf:Bag><rdf:li>wedding</rdf:li></rdf:Bag></dc:subject>
   <lr:hierarchicalSubject><rdf:Bag><rdf:li>Events|wedding</rdf:li></rdf:Bag>
   </lr:hierarchicalSubject>
   <xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:when="2024-05-01T10:00:00"/></rdf:Seq>
   </xmpMM:History>
   <crs:ToneCurvePV2012><rdf:Seq><rdf:li>0, 0</rdf:li><rdf:li>255, 255</rdf:li></rdf:Seq>
   </crs:ToneCurvePV2012>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""
OURS = {
    "XMP-dc:Subject",
    "XMP-lr:HierarchicalSubject",
    "XMP-digiKam:TagsList",
    "XMP-iptcExt:PersonInImage",
    "XMP-mwg-rs:RegionInfo",
    "XMP-candidly:Written",
}


@needs_exiftool
@needs_exiv2
@pytest.mark.parametrize(
    ("text", "kind", "file"),
    [(DIGIKAM, "digikam", "a.jpg.xmp"), (LIGHTROOM, "adobe", "a.xmp")],
    ids=["digiKam", "Lightroom"],
)
@pytest.mark.parametrize("beside", [False, True])
def test_sidecars_of_other_programs_keep_every_other_field(library, text, kind, file, beside):
    library.add("a.jpg", ["Ann Lee", "Bob Ray"])
    there = library.photos / file
    there.write_text(text, encoding="utf-8")
    before = tags(there, "-XMP:all")
    library.export(beside=beside, sidecar=kind)
    made = there if beside else library.out / file
    assert there.read_text(encoding="utf-8") == text or beside
    after = tags(made, "-XMP:all")
    assert valid(made)
    for key, value in before.items():
        if key in OURS and key != "XMP-mwg-rs:RegionInfo":
            assert after[key][: len(value)] == value
        elif key not in OURS and key != "SourceFile":
            assert after[key] == value, key
    old = before.get("XMP-mwg-rs:RegionInfo", {}).get("RegionList", [])
    assert after["XMP-mwg-rs:RegionInfo"]["RegionList"][: len(old)] == old
    assert [name for name, _ in regions(made)][len(old) :] == ["Ann Lee", "Bob Ray"]
    assert len(after["XMP-dc:Subject"]) == len(before["XMP-dc:Subject"]) + 2
    assert ("kept by somebody" in made.read_text(encoding="utf-8")) == (kind == "digikam")
    subprocess.run(["exiv2", "-px", made], check=True, capture_output=True)
    if beside:
        undo_export(library.project)
        assert there.read_text(encoding="utf-8") == text


@needs_exiftool
@pytest.mark.parametrize("form", ["csv", "json"])
def test_exiftool_imports_the_tables(library, tmp_path, form):
    names = ["Ann Lee", "<Bob>, {x} | [y]=z", "שרה 🙂"]
    library.add("a.jpg", names)
    table = tmp_path / f"names.{form}"
    done = library.export(folder=None, **{form: table})
    assert list(done.files) == [table]
    how = ["-sep", "||", f"-csv={table}"] if form == "csv" else [f"-json={table}"]
    exiftool("-overwrite_original", *how, library.photos / "a.jpg")
    found = tags(library.photos / "a.jpg", "-XMP:all")
    assert found["XMP-iptcExt:PersonInImage"] == found["XMP-dc:Subject"] == names
    assert [name for name, _ in regions(library.photos / "a.jpg")] == names


def test_tables_have_the_columns_of_lists_and_no_formulas(library, tmp_path):
    library.add("a.jpg", ["=HYPERLINK(1)"])
    library.add("b.jpg", ["-2+3", "Ann Lee"])
    library.add("c.jpg", ["@SUM(A1)"])
    (library.photos / "captions.csv").write_text(
        "file,caption,Archive No,note\na.jpg,x,A-17,=1+1\nb.jpg,y,B-3,+2\n"
    )
    library.export(folder=None, csv=tmp_path / "n.csv", json=tmp_path / "n.json")
    with (tmp_path / "n.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["archive_no"] for row in rows] == ["A-17", "B-3", ""]
    assert [row["note"] for row in rows] == ["'=1+1", "'+2", ""]
    people = [row["XMP-iptcExt:PersonInImage"] for row in rows]
    assert people == ["'=HYPERLINK(1)", "'-2+3||Ann Lee", "'@SUM(A1)"]
    assert [Path(row["SourceFile"]).name for row in rows] == ["a.jpg", "b.jpg", "c.jpg"]
    exact = json.loads((tmp_path / "n.json").read_text(encoding="utf-8"))
    assert exact[1]["XMP-dc:Subject"] == ["-2+3", "Ann Lee"]
    assert exact[0]["note"] == "=1+1"


# Merging


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
                str.strip
            ),
            st.floats(0, 0.8),
            st.floats(0.01, 0.2),
        ),
        max_size=5,
    ),
    st.sampled_from([None, DIGIKAM, LIGHTROOM]),
)
def test_names_are_written_once_and_taken_away_whole(faces, text):
    found = tuple(NamedRegion(name, Box(at, at / 2, size, size)) for name, at, size in faces)
    base = None if text is None else text.encode()
    made, _ = merge_names(base, PhotoNames(120, 90, found))
    again, _ = merge_names(made, PhotoNames(120, 90, found))
    assert again == made
    root = ElementTree.fromstring(made)
    names = [node.text for node in root.iter("{http://purl.org/dc/elements/1.1/}subject") for node
             in node.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li")]  # fmt: skip
    kept = "".join(c for name in names for c in name)
    assert {region.name.replace("\ufffe", "").replace("\uffff", "") for region in found} <= {
        *names, *([] if kept else [""])
    }  # fmt: skip
    without, _ = merge_names(made, PhotoNames(120, 90))
    assert merge_names(without, PhotoNames(120, 90, found))[0] == made
    assert [face.name for face in read_xmp(made).faces] == (["Cy"] if text == DIGIKAM else [])


def test_a_region_of_another_program_with_the_name_is_not_doubled(library):
    there = PhotoNames(120, 90, (NamedRegion("Cy", Box(0.84, 0.44, 0.12, 0.12)),))
    made, _ = merge_names(DIGIKAM.encode(), there)
    assert made.count(b"stArea:x") == DIGIKAM.count("stArea:x")
    assert made.count(b"<rdf:li>Cy</rdf:li>") == 2  # as a keyword, and now as somebody shown


def test_regions_for_a_picture_of_another_shape_are_left_alone():
    made, remark = merge_names(
        DIGIKAM.encode(), PhotoNames(90, 120, (NamedRegion("Ann", Box(0, 0, 0.1, 0.1)),))
    )
    assert "another shape" in remark
    assert b"<rdf:li>Ann</rdf:li>" in made
    assert b"<mwg-rs:Name>Ann" not in made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"no xml", "broken XML"),
        (b"<a/>", "no rdf:RDF"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "document type"),
        (DIGIKAM.replace('stDim:w="120"', 'stDim:w="wide"').encode(), "no size"),
    ],
)
def test_what_is_no_xmp_is_left_alone_and_told(library, text, why):
    names = PhotoNames(120, 90, (NamedRegion("Ann", Box(0, 0, 0.1, 0.1)),))
    with pytest.raises(XmlProblem, match=why):
        merge_names(text, names)
    library.add("a.jpg", ["Ann Lee"])
    library.add("b.jpg", ["Bob Ray"])
    there = library.photos / "a.jpg.xmp"
    there.write_bytes(text)
    done = library.export(beside=True, sidecar="digikam")
    assert there.read_bytes() == text
    assert [file for file, _ in done.skipped] == ["a.jpg"]
    assert list(done.files) == [library.photos / "b.jpg.xmp"]


def test_exported_names_are_not_read_as_given(library):
    library.add("a.jpg", ["Ann Lee"])
    library.export(beside=True, sidecar="digikam")
    caption = CaptionReader(library.photos).read(library.photos / "a.jpg")
    assert (caption.given, caption.regions) == ((), ())
    there = library.photos / "a.jpg.xmp"
    there.write_text(there.read_text().replace("Ann Lee</mwg-rs:Name>", "Zoë Ray</mwg-rs:Name>"))
    regions = CaptionReader(library.photos).read(library.photos / "a.jpg").regions
    assert [region.name for region in regions] == ["Zoë Ray"]  # somebody corrected it


# Which names


def test_sure_and_confirmed_names_are_written_and_no_others(library):
    library.add("sure.jpg", ["Ann Lee"])
    library.add("likely.jpg", ["Bob Ray"], sure=0.8)
    (face,) = library.add("confirmed.jpg", ["Cy Fox"], sure=0.3)
    (wrong,) = library.add("refused.jpg", ["Ann Lee"])
    library.project.confirm(face, "Cy Fox")
    library.project.reject(wrong, "Ann Lee")
    done = library.export(sidecar="digikam")
    assert sorted(path.name for path in done.files) == ["confirmed.jpg.xmp", "sure.jpg.xmp"]
    assert (done.names, done.confirmed) == (2, 1)


def test_a_name_that_is_decided_otherwise_leaves_the_files(library):
    (face,) = library.add("a.jpg", ["Ann Lee"])
    library.add("b.jpg", ["Bob Ray"])
    library.export(sidecar="digikam")
    library.project.nobody(face)
    done = library.export(sidecar="digikam")
    assert done.files == {library.out / "a.jpg.xmp": ()}
    assert done.unchanged == 1
    assert "Ann Lee" not in (library.out / "a.jpg.xmp").read_text()


def test_only_takes_people_and_files_and_leaves_other_names_where_they_are(library):
    library.add("day/a.jpg", ["Ann Lee", "Bob Ray"])
    library.add("b.jpg", ["Bob Ray"])
    assert library.export(sidecar="digikam", only=["bob*"], dry_run=True).names == 2
    done = library.export(sidecar="digikam", only=["Ann Lee"])
    assert done.files == {library.out / "day" / "a.jpg.xmp": ("Ann Lee",)}
    done = library.export(sidecar="digikam", only=["Bob Ray"])
    assert done.files[library.out / "day" / "a.jpg.xmp"] == ("Ann Lee", "Bob Ray")
    assert library.export(sidecar="adobe", only=["day/*"], dry_run=True).names == 2
    with pytest.raises(ProjectProblem, match="fits --only 'Zoe'"):
        library.export(only=["Ann Lee", "Zoe"])


def test_since_takes_photos_changed_then_or_later(library):
    library.add("old.jpg", ["Ann Lee"])
    library.add("new.jpg", ["Bob Ray"])
    with library.project.transaction() as sql:
        old = int(datetime(2020, 1, 1).timestamp() * 1e9)
        sql.execute("UPDATE files SET mtime_ns = ? WHERE path = 'old.jpg'", (old,))
    done = library.export(sidecar="digikam", since=datetime(2021, 1, 1), dry_run=True)
    assert [path.name for path in done.files] == ["new.jpg.xmp"]


def test_people_and_folders_never_to_be_named_are_not_exported(library):
    library.add("school/a.jpg", ["Ann Lee"])
    (face,) = library.add("b.jpg", ["Kid One"])
    library.add("c.jpg", ["Bob Ray"])
    library.project.confirm(face, "Kid One")
    store_choices(library.project, Choices(never=Text("Kid One\nschool/\n", "list")))
    done = library.export(sidecar="digikam")
    assert [path.name for path in done.files] == ["c.jpg.xmp"]


# Files


def test_twice_gives_the_same_bytes_and_a_dry_run_writes_nothing(library):
    for number in range(5):
        library.add(f"{number}.jpg", [f"Ann {number}"])
    plan = library.export(dry_run=True, csv=library.out.parent / "n.csv")
    assert not library.out.exists()
    assert library.rows("SELECT count(*) FROM exports") == [(0,)]
    done = library.export(csv=library.out.parent / "n.csv")
    assert plan.files == done.files
    before = contents(library.out)
    times = {path: path.stat().st_mtime_ns for path in before}
    again = library.export(csv=library.out.parent / "n.csv")
    assert (again.files, again.unchanged, again.number) == ({}, 6, None)
    assert contents(library.out) == before
    assert {path: path.stat().st_mtime_ns for path in before} == times
    shutil.rmtree(library.out)
    library.export()
    assert contents(library.out) == before


@pytest.mark.parametrize("sidecar", [None, "digikam"])
def test_undo_removes_and_restores(library, sidecar):
    if sidecar is None and shutil.which("exiftool") is None:
        pytest.skip("needs ExifTool: Debian's package libimage-exiftool-perl")
    (face,) = library.add("day/a.jpg", ["Ann Lee"])
    library.export(sidecar=sidecar)
    first = contents(library.out)
    library.project.confirm(face, "Zoë Ray")
    library.export(sidecar=sidecar)
    assert contents(library.out) != first
    assert library.rows("SELECT name FROM exported JOIN people ON people.id = person") == [
        ("Zoë Ray",)
    ]
    done = undo_export(library.project)
    assert contents(library.out) == first
    assert len(done.restored) == 1
    assert library.rows("SELECT name FROM exported JOIN people ON people.id = person") == [
        ("Ann Lee",)
    ]
    done = undo_export(library.project)
    assert len(done.removed) == 1
    assert not library.out.exists()
    assert library.rows("SELECT * FROM exported") == []
    with pytest.raises(ProjectProblem, match="no export"):
        undo_export(library.project)


def test_undo_leaves_what_somebody_changed_and_says_so(library):
    library.add("a.jpg", ["Ann Lee"])
    library.add("b.jpg", ["Bob Ray"])
    library.export(sidecar="digikam")
    changed = library.out / "a.jpg.xmp"
    changed.write_text(changed.read_text() + "<!-- mine -->")
    done = undo_export(library.project)
    assert done.left == [(changed, "it was changed since")]
    assert changed.exists()
    assert not (library.out / "b.jpg.xmp").exists()
    held = library.rows(
        "SELECT path, name FROM export_names JOIN export_files ON export_files.id = file"
        " JOIN people ON people.id = person"
    )
    assert held == [(str(changed), "Ann Lee")]  # it still has the name


def test_an_exported_name_stays_until_somebody_decides(library):
    (face,) = library.add("a.jpg", ["Ann Lee"])
    library.export(sidecar="digikam")
    with library.project.transaction() as sql:
        library.label(sql, face, "Bob Ray")
    assert name_and_confidence(library.project.connection, face)[0] == "Ann Lee"
    assert library.export(sidecar="digikam").unchanged == 1
    undo_export(library.project)
    assert name_and_confidence(library.project.connection, face)[0] == "Bob Ray"


def test_an_exported_name_goes_with_the_decision_that_it_came_from(library):
    named, renamed, known = (library.add(f"{at}.jpg", ["Ann Lee"])[0] for at in range(3))
    with library.project.transaction() as sql:
        library.label(sql, renamed, "Bob Ray")
        library.label(sql, known, "Cat Coe")
    library.export(sidecar="digikam", only=["2.jpg"])
    taken_back = (
        library.project.confirm(named, "Zoe New"),
        library.project.rename("Bob Ray", "Bob Roy"),
        library.project.confirm(known, "Cat Coe"),
    )
    library.export(sidecar="digikam")
    library.project.undo(*taken_back)
    with library.project.transaction() as sql:
        library.label(sql, known, "Somebody Else")  # it was exported before it was confirmed
    names = [name_and_confidence(library.project.connection, f)[0] for f in (named, renamed, known)]
    assert names == ["Ann Lee", "Bob Ray", "Cat Coe"]
    written = library.export(sidecar="digikam").files.values()
    assert sorted(written) == [("Ann Lee",), ("Bob Ray",)]


def test_an_export_takes_somebody_forgotten_out_of_files_and_keeps_no_trace(library):
    library.add("both.jpg", ["Ann & Lee", "Bob Ray"])
    library.add("one.jpg", ["Ann & Lee"])
    places = {"sidecar": "digikam", "csv": library.out.parent / "names.csv"}
    library.export(**places)
    forget_person(library.project, "Ann & Lee")
    done = library.export(**places)
    assert [path.name for path in done.files] == ["both.jpg.xmp", "one.jpg.xmp", "names.csv"]
    assert not any(b"Ann" in path.read_bytes() for path in done.files)
    kept = library.rows("SELECT before FROM export_files WHERE before IS NOT NULL")
    assert not any(b"Ann" in before for (before,) in kept)
    left = undo_export(library.project).left
    assert {why for _, why in left} == {"what was there before is not known any more"}


@needs_exiftool
def test_a_file_that_no_export_wrote_is_never_replaced(library, tmp_path):
    library.add("a.jpg", ["Ann Lee"])
    library.out.mkdir()
    (library.out / "a.jpg").write_bytes(b"mine")
    done = library.export()
    assert (library.out / "a.jpg").read_bytes() == b"mine"
    assert "no export wrote it" in done.skipped[0][1]
    (tmp_path / "n.csv").write_text("mine")
    with pytest.raises(ProjectProblem, match="no export wrote it"):
        library.export(csv=tmp_path / "n.csv")


def test_photo_folders_are_only_written_to_when_asked(library):
    library.add("a.jpg", ["Ann Lee"])
    before = contents(library.photos)
    for folder in (library.photos, library.photos / "out", library.photos.parent):
        with pytest.raises(ProjectProblem, match="choose"):
            library.export(folder=folder)
    library.export()
    assert contents(library.photos) == before


def test_a_photo_that_is_gone_or_changed_is_skipped_with_the_reason(library):
    library.add("gone.jpg", ["Ann Lee"])
    library.add("changed.jpg", ["Bob Ray"])
    library.add("fine.jpg", ["Cy Fox"])
    (library.photos / "gone.jpg").unlink()
    Image.new("RGB", (120, 90), "blue").save(library.photos / "changed.jpg")
    done = library.export(sidecar="digikam")
    assert [file for file, _ in done.skipped] == ["changed.jpg", "gone.jpg"]
    assert [path.name for path in done.files] == ["fine.jpg.xmp"]


def test_two_photos_never_share_a_sidecar(library):
    library.add("a.jpg", ["Ann Lee"])
    library.add("a.png", ["Bob Ray"])
    done = library.export(sidecar="adobe")
    assert "--sidecar digikam" in done.skipped[0][1]
    assert len(library.export(sidecar="digikam").files) == 2


@needs_exiftool
def test_other_formats_and_long_packets_get_sidecars(library):
    library.add("a.png", ["Ann Lee"])
    library.add("long.jpg", ["Bob Ray"])
    words = [f"-XMP-dc:Subject=key {number:06}" for number in range(4000)]
    exiftool("-overwrite_original", *words, library.photos / "long.jpg")
    done = library.export()
    assert sorted(path.name for path in done.files) == ["a.png.xmp", "long.jpg.xmp"]
    assert [file for file, _ in done.remarks] == ["long.jpg"]


# Interrupted

FORKING = """
import os, sys, time
from pathlib import Path
from candidly.photos.exporting import ExportTargets, export
folder = Path(sys.argv[1])
targets = ExportTargets(folder / "out", sidecar=sys.argv[2] or None)
for _ in sys.stdin:
    made = os.fork()
    if not made:
        os.setsid()
        export(folder / "a.candidly", targets)
        os._exit(0)
    print(made, flush=True)
    started = time.monotonic()
    os.waitpid(made, 0)
    print(time.monotonic() - started, flush=True)
"""


def opened_again(path, seconds=20.0):
    """Open a project for writing; what a killed process started may hold its lock for a moment."""
    until = time.monotonic() + seconds
    while True:
        try:
            return Project.open(path, write=True)
        except ProjectProblem:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@needs_exiftool
@pytest.mark.slow
@pytest.mark.parametrize("sidecar", ["", "digikam"])
def test_killed_at_random_moments_no_file_is_half_written(library, sidecar):
    for number in range(40):
        library.add(f"{number:03}.jpg", [f"Ann {number}"], size=(200, 150))
    folder = library.out.parent
    whole = library.export(sidecar=sidecar or None)
    wanted = contents(library.out)
    undo_export(library.project)
    library.project.close()
    rng, seen = np.random.default_rng(0), []
    command = [sys.executable, "-c", FORKING, str(folder), sidecar]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as forking:

        def run(until=None, later=0.0):
            """Export, killed a while after there are some files, and return how long it ran."""
            forking.stdin.write(b"\n")
            forking.stdin.flush()
            made = int(forking.stdout.readline())
            if until is not None:
                with suppress(ProcessLookupError):  # it was done before
                    while sum(path.is_file() for path in library.out.rglob("*")) < until:
                        os.kill(made, 0)
                        time.sleep(0.001)
                    time.sleep(later)
                    os.killpg(made, signal.SIGKILL)
            return float(forking.stdout.readline())

        def take_back():
            library.project = opened_again(folder / "a.candidly")
            with suppress(ProjectProblem):
                undo_export(library.project)
            library.project.close()
            assert not contents(library.out)

        long = run()
        assert contents(library.out) == wanted
        take_back()
        for _ in range(10):
            run(int(rng.integers(40)), rng.uniform() * long / 40)
            there = contents(library.out)
            seen.append(len(there))
            assert all(wanted[path] == data for path, data in there.items())
            take_back()
        forking.stdin.close()
    assert max(seen) > 0
    library.project = Project.open(folder / "a.candidly", write=True)
    assert library.export(sidecar=sidecar or None).files == whole.files
    assert contents(library.out) == wanted


@needs_exiftool
def test_an_export_that_was_killed_between_record_and_file_continues(library, monkeypatch):
    (face,) = library.add("a.jpg", ["Ann Lee"])
    library.export()
    before = contents(library.out)
    library.project.confirm(face, "Zoë Ray")
    with monkeypatch.context() as stopped:

        def stop(path, data):
            raise KeyboardInterrupt

        stopped.setattr(sys.modules["candidly.photos.exporting.export"], "write_whole", stop)
        with pytest.raises(KeyboardInterrupt):
            library.export()
    assert contents(library.out) == before
    done = library.export()
    assert done.files == {library.out / "a.jpg": ("Zoë Ray",)}
    undo_export(library.project)
    assert contents(library.out) == before
    undo_export(library.project)  # of the one that was stopped: nothing to do
    assert contents(library.out) == before
    undo_export(library.project)
    assert not library.out.exists()


def test_a_full_disk_leaves_whole_files_and_a_clear_error(library):
    for number in range(40):
        library.add(f"{number:03}.jpg", [f"Ann {number}"] * (1 if number < 33 else 30),
                    size=(1000, 90))  # fmt: skip
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    library.project.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writing = sys.modules["candidly.photos.exporting.export"]
    real = writing.write_whole

    def limited(path, data):
        # The limit is for what the export writes, not for the project.
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, before[1]))
        try:
            real(path, data)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    writing.write_whole = limited
    try:
        with pytest.raises(ProjectProblem, match=r"033\.jpg\.xmp cannot be written.*continues"):
            library.export(sidecar="digikam")
    finally:
        writing.write_whole = real
    assert len(contents(library.out)) == 33
    assert all(valid_xml(data) for data in contents(library.out).values())
    done = library.export(sidecar="digikam")
    assert (len(done.files), done.unchanged) == (7, 33)


def valid_xml(data):
    return ElementTree.fromstring(data) is not None
