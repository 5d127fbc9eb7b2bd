"""The caption of a photo, from all the places where one may be written."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from candidly.photos.captions.metadata import (
    XmlProblem,
    XmpPacket,
    iptc_caption,
    read_xmp,
    upright_region,
)
from candidly.photos.captions.text_files import (
    SIZE_LIMIT,
    CaptionRow,
    decoded,
    read_csv,
    read_json,
    tidy,
)
from candidly.photos.pictures import find
from candidly.photos.pictures.formats import FormatError, Metadata, metadata_of
from candidly.photos.records import MOST_READ, Caption
from candidly.wording import count, one_or_more

_LISTS = ("captions.csv", "captions.json")
_READERS = {"csv": read_csv, "json": read_json}
# Each region is compared with every face; no real photo has more.
_MOST_REGIONS = 1000


class CaptionProblem(NamedTuple):
    """A file whose caption could not be read, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class _CaptionList:
    """A file of captions: its kind, the folder it counts from, its rows by path."""

    origin: str
    folder: Path
    rows: dict[str, CaptionRow]


class CaptionReader:
    """Reader of the captions of the photos below a folder.

    Lists and folders are read once: make a new reader for a new run.

    Parameters
    ----------
    root : path
        The folder of the photos; captions are looked for up to here.
    lists : paths
        More files like ``captions.csv`` or ``captions.json``, which take precedence; the files
        that they name are looked up from the root.

    Attributes
    ----------
    problems : list of CaptionProblem
        Files that could not be read, and why.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos.captions import CaptionReader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.jpg").write_bytes(b"...")
    ...     _ = (Path(folder) / "a.txt").write_text("Ann at home")
    ...     caption = CaptionReader(folder).read(Path(folder) / "a.jpg")
    >>> caption.text, caption.origin
    ('Ann at home', 'txt')
    """

    def __init__(self, root: str | Path, *, lists: Iterable[str | Path] = ()) -> None:
        self.root = Path(root)
        self.problems: list[CaptionProblem] = []
        self._reported: set[CaptionProblem] = set()
        self._folders: dict[Path, dict[str, str]] = {}
        self._lists: dict[Path, list[_CaptionList]] = {}
        self._more = [self._list(Path(path), self.root) for path in lists]

    def read(self, path: str | Path) -> Caption:
        """Return the caption of a photo; an empty text, of origin "none", where it has none."""
        path = Path(path)
        known = self._metadata(path)
        found = [*self._listed(path), *self._text(path)]
        found += self._sidecar(path, known)
        found += self._embedded(path, known)
        texts = [caption for caption in found if caption.text]
        given = next((caption.given for caption in found if caption.given), ())
        regions = next((caption.regions for caption in found if caption.regions), ())
        first = next(iter(texts or found), Caption("", "none"))
        if len(first.text) > MOST_READ:
            many = f"its caption has {len(first.text):,} characters"
            self._report(path, f"{many}: names are read in the first {MOST_READ:,}")
        return replace(first, given=given, regions=regions)

    def _report(self, path: Path, reason: str) -> None:
        problem = CaptionProblem(path, reason)
        if problem not in self._reported:
            self._reported.add(problem)
            self.problems.append(problem)

    # -- lists

    def columns(self, path: str | Path) -> dict[str, str]:
        """Return what lists of captions have of a photo in further columns, the nearest first."""
        found: dict[str, str] = {}
        for _, row in self._rows_of(Path(path)):
            found = {**dict(row.others), **found}
        return found

    def _listed(self, path: Path) -> list[Caption]:
        return [
            Caption(row.text, origin, given=row.names)
            for origin, row in self._rows_of(path)
            if row.text or row.names
        ]

    def _rows_of(self, path: Path) -> list[tuple[str, CaptionRow]]:
        """Return the rows about a photo, with the kind of their list."""
        folders = [path.parent]
        if path.absolute().is_relative_to(self.root.absolute()):
            inside = path.absolute().relative_to(self.root.absolute())
            folders = [self.root / folder for folder in inside.parents]
        lists = self._more + [found for folder in folders for found in self._lists_of(folder)]
        rows = [(found.origin, found.rows.get(_key(path, found.folder))) for found in lists]
        return [(origin, row) for origin, row in rows if row is not None]

    def _lists_of(self, folder: Path) -> list[_CaptionList]:
        if folder not in self._lists:
            listing = self._listing(folder)
            names = [listing[name] for name in _LISTS if name in listing]
            self._lists[folder] = [self._list(folder / name, folder) for name in names]
        return self._lists[folder]

    def _list(self, path: Path, folder: Path) -> _CaptionList:
        origin = "json" if path.suffix.lower() == ".json" else "csv"
        data = self._bytes(path)
        rows = _READERS[origin](data, lambda reason: self._report(path, reason)) if data else []
        return _CaptionList(origin, folder, self._placed(rows, path, folder) if rows else {})

    def _placed(self, rows: list[CaptionRow], path: Path, folder: Path) -> dict[str, CaptionRow]:
        """Return rows by the path of their photo; a bare name may be in any folder below."""
        there = {_key(found.path, folder) for found in find(folder)}
        by_name: dict[str, list[str]] = {}
        by_case: dict[str, list[str]] = {}
        for place in sorted(there):
            by_name.setdefault(PurePosixPath(place).name, []).append(place)
            by_case.setdefault(place.casefold(), []).append(place)
            if "/" in place:
                by_case.setdefault(PurePosixPath(place).name.casefold(), []).append(place)
        placed: dict[str, CaptionRow] = {}
        absent: list[CaptionRow] = []
        twice: list[tuple[CaptionRow, CaptionRow]] = []
        cased: list[tuple[CaptionRow, str]] = []
        for row in rows:
            key = _written(row.file, folder)
            if not key:
                reason = f"{row.where}: {row.file[:80]!r} leads out of the folder of the list"
                self._report(path, reason)
                continue
            options = [key] if key in there else by_name.get(key, [])
            if not options and len(options := by_case.get(key.casefold(), [])) == 1:
                cased.append((row, options[0]))
            if len(options) > 1:
                places = " and ".join(repr(option) for option in options[:2])
                wanted = f"write which one {row.file[:80]!r} is"
                self._report(path, f"{row.where}: there are {places}: {wanted}")
            elif not options:
                absent.append(row)
            else:
                if options[0] in placed:
                    twice.append((row, placed[options[0]]))
                placed[options[0]] = _both(placed.get(options[0]), row)
        if twice:
            row, first_row = twice[0]
            many = count(len(twice), "row is about a photo", "rows are about photos")
            self._report(
                path,
                f"{many} that an earlier row has, and all texts are used (first "
                f"{row.file[:80]!r}, {row.where} after {first_row.where}): delete what is wrong",
            )
        if cased:
            row, place = cased[0]
            many = count(len(cased), "file is written", "files are written")
            self._report(
                path,
                f"{many} with other capitals than it has (first {row.file[:80]!r}, {row.where}, "
                f"is taken for {place[:80]!r})",
            )
        if absent:
            first = f"first {absent[0].file[:80]!r}, {absent[0].where}"
            self._report(
                path,
                f"{len(absent)} of its {count(len(rows), 'photo')} "
                f"{one_or_more(len(absent), 'is', 'are')} not there ({first})",
            )
        return placed

    # -- files beside the photo

    def _listing(self, folder: Path) -> dict[str, str]:
        """Return the names in a folder, by themselves and in lower case."""
        if folder not in self._folders:
            try:
                names = sorted(os.listdir(folder))  # noqa: PTH208, names are enough
            except OSError:
                names = []  # the search for pictures reports it
            exact = {name: name for name in names}
            self._folders[folder] = {name.lower(): name for name in names} | exact
        return self._folders[folder]

    def _beside(self, path: Path, suffix: str) -> list[Path]:
        listing = self._listing(path.parent)
        names = (path.name + suffix, path.stem + suffix)
        found = (listing.get(name) or listing.get(name.lower()) for name in names)
        return [path.parent / name for name in found if name]

    def _bytes(self, path: Path) -> bytes:
        try:
            if not path.is_file():
                raise FileNotFoundError(0, "it is no file")
            if path.stat().st_size > SIZE_LIMIT:
                self._report(path, f"it is larger than {SIZE_LIMIT // 2**20} MB: is it a caption?")
                return b""
            return path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            self._report(path, f"it cannot be read ({reason}): check that it is there and yours")
            return b""

    def _text(self, path: Path) -> list[Caption]:
        texts = [tidy(decoded(self._bytes(file))) for file in self._beside(path, ".txt")]
        return [Caption(text, "txt") for text in texts if text]

    def _sidecar(self, path: Path, known: Metadata) -> list[Caption]:
        captions = []
        for file in self._beside(path, ".xmp"):
            data = self._bytes(file)
            caption = self._packets(file, (data,), "sidecar", known) if data else None
            if caption:
                captions.append(caption)
        return captions

    # -- metadata in the photo

    def _metadata(self, path: Path) -> Metadata:
        try:
            if path.is_file():
                with path.open("rb") as file:
                    return metadata_of(file) or Metadata()
        except (OSError, FormatError, ImportError):
            pass  # opening the picture reports it
        return Metadata()

    def _embedded(self, path: Path, known: Metadata) -> list[Caption]:
        in_xmp = self._packets(path, known.xmp, "xmp", known)
        text = iptc_caption(known.iptc)
        in_iptc = Caption(text, "iptc") if text else None
        order = (in_iptc, in_xmp) if known.iptc_is_newer else (in_xmp, in_iptc)
        return [caption for caption in order if caption]

    def _packets(
        self, path: Path, packets: tuple[bytes, ...], origin: str, known: Metadata
    ) -> Caption | None:
        read = []
        for packet in packets:
            try:
                read.append(read_xmp(packet))
            except XmlProblem as problem:
                self._report(path, f"its XMP is not used: {problem}")
        whole = XmpPacket(
            tuple(text for packet in read for text in packet.texts),
            tuple(dict.fromkeys(name for packet in read for name in packet.people)),
            tuple(face for packet in read for face in packet.faces),
        )
        if len(whole.faces) > _MOST_REGIONS:
            many = f"it has {len(whole.faces)} face regions"
            self._report(path, f"{many}: only the first {_MOST_REGIONS} are used")
        regions = [upright_region(face, known) for face in whole.faces[:_MOST_REGIONS]]
        if None in regions:
            lost = f"{regions.count(None)} of its {count(len(regions), 'face region')} not used"
            self._report(path, f"{lost}: they lie outside, or the picture was cropped since")
        kept = tuple(region for region in regions if region)
        if not (whole.text or whole.people or kept):
            return None
        return Caption(whole.text, origin, whole.language, whole.people, kept)


def _key(path: Path, folder: Path) -> str:
    """Return a photo's path from a folder, as lists write it; composed, as macOS does not."""
    path, folder = path.absolute(), folder.absolute()
    inside = path.is_relative_to(folder)
    return unicodedata.normalize("NFC", (path.relative_to(folder) if inside else path).as_posix())


def _written(file: str, folder: Path) -> str:
    """Return the key of a file named in a list; empty where it leads out of the folder."""
    text = unicodedata.normalize("NFC", file.replace("\\", "/"))
    if text.startswith("/") or text[1:3] == ":/":
        whole = PurePosixPath(os.path.normpath(text))
        base = PurePosixPath(os.path.normpath(folder.absolute().as_posix()))
        return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else ""
    key = os.path.normpath(text).replace("\\", "/")
    return "" if key.startswith("../") or key in ("..", ".") else key


def _both(one: CaptionRow | None, other: CaptionRow) -> CaptionRow:
    """Return two rows for a photo as one: every text and every name, each once."""
    if one is None:
        return other
    texts = [one.text] if other.text in one.text else [one.text, other.text]
    names = tuple(dict.fromkeys(one.names + other.names))
    others = tuple({**dict(other.others), **dict(one.others)}.items())
    return one._replace(text="\n".join(filter(None, texts)), names=names, others=others)
