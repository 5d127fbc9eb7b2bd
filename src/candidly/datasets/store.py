"""Files of the data sets: where they are, what they hold, and their checksums."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataSource:
    """Files of a data set with their checksums, its shape, origin, citation and terms.

    A checksum is None where we know none: then the layout of the file is all that is checked.
    """

    files: dict[str, str | None]
    shape: str
    origin: str
    citation: str
    terms: str

    @property
    def main(self) -> str:
        """The file that the loader reads unless another is named."""
        return next(iter(self.files))


_PLL_TERMS = "no licence stated; academic use, at your own risk"
_PLL_ORIGIN = "one of the partial-label data sets of M.-L. Zhang's group, Southeast University"
_LFW = "Huang et al. (2007), Labeled Faces in the Wild, UMass TR 07-49"
_LFW_TERMS = "research use"

SOURCES = {
    "digits": DataSource(
        {},
        "1797 x 64, 10 classes",
        "scikit-learn, which brings it",
        "Alpaydin & Kaynak (1998), Optical recognition of handwritten digits, UCI",
        "CC BY 4.0",
    ),
    "text-like": DataSource(
        {},
        "2000 x 300, 10 classes, 3 candidates, or as asked for",
        "made up when it is loaded",
        "made up here",
        "as Candidly",
    ),
    "lost": DataSource(
        {"pll/lost.mat": "42a8cc43e05578087e7b8ca194647829ec535dc4d0a86cf47f357c5eb3146e4f"},
        "1122 x 108, 16 classes, 2.23 candidates",
        _PLL_ORIGIN,
        "Cour, Sapp & Taskar (2011), Learning from partial labels, JMLR 12",
        _PLL_TERMS,
    ),
    "msrcv2": DataSource(
        {"pll/MSRCv2.mat": "948e4d443a5450308f05aa689bc82d9bcc7af699a113a6a81c40ef337a20c393"},
        "1758 x 48, 23 classes, 3.16 candidates",
        _PLL_ORIGIN,
        "Liu & Dietterich (2012), A conditional multinomial mixture model for superset label "
        "learning, NIPS",
        _PLL_TERMS,
    ),
    "birdsong": DataSource(
        {"pll/BirdSong.mat": "2170d46765a151ac80623d9a1242e0299802236e5574442bdb596bef90f50743"},
        "4998 x 38, 13 classes, 2.18 candidates",
        _PLL_ORIGIN,
        "Briggs, Fern & Raich (2012), Rank-loss support instance machines for MIML instance "
        "annotation, KDD",
        _PLL_TERMS,
    ),
    "yahoo-news": DataSource(
        {"pll/Yahoo! News.mat": None},
        "22991 x 163, 219 classes, 1.91 candidates",
        _PLL_ORIGIN,
        "Guillaumin, Verbeek & Schmid (2010), Multiple instance metric learning from automatically "
        "labeled bags of faces, ECCV",
        _PLL_TERMS,
    ),
    "soccer": DataSource(
        {"pll/Soccer Player.mat": None},
        "17472 x 279, 171 classes, 2.09 candidates",
        _PLL_ORIGIN,
        "Zeng et al. (2013), Learning by associating ambiguously labeled images, CVPR",
        _PLL_TERMS,
    ),
    "pie": DataSource(
        {
            "faces/pie_frontal.npz": (
                "9c05d0eae0eef13d6baff37772184f9e071518b76f7696a3ae0eda58199e6947"
            )
        },
        "68 people x 42, 32 x 32 pixels",
        "CMU PIE, frontal pose: arrays images (2856 x 32 x 32) and labels",
        "Sim, Baker & Bsat (2003), The CMU pose, illumination and expression database, PAMI 25",
        "research use",
    ),
    "fiw10b": DataSource(
        {
            "faces/fiw10b_like.npz": (
                "0e038d2458e42213c7c72280bcf871f56061deee3878b3c533d2bcbdf0a0816b"
            )
        },
        "10 people x 50, 55 x 45 pixels",
        "the ten most frequent people of deep-funneled LFW, first 50 pictures each: arrays "
        "images, labels and names",
        _LFW,
        _LFW_TERMS,
    ),
    "orl": DataSource(
        {"faces/orl.npz": "6e5372ccd14e96c552e8a038dc15b7c84d731a9a3aa1e63e21c923bc863d150b"},
        "40 people x 10, 32 x 32 pixels",
        "the AT&T (ORL) database of faces: arrays images (400 x 32 x 32) and labels",
        "Samaria & Harter (1994), Parameterisation of a stochastic model for human face "
        "identification, WACV",
        "research use, with credit to AT&T Laboratories Cambridge",
    ),
    "lfw-news": DataSource(
        {
            "lfw_news/sface128.npz": (
                "95f222a660edffcc335667e77c313a132ebd1c46105c75edfc4294cbe678c833"
            ),
            "lfw_news/pixels64.npz": (
                "23f551a7e942859a7654902d7b3c8b67c473c3313379e29ba2288b29f72967ce"
            ),
        },
        "8257 x 128 embeddings, 3783 people, 7637 photos; or 2400 crops of 64 x 64",
        "LFW faces with the news photo each was cut from: arrays X (SFace embeddings) or "
        "images, name and photo",
        _LFW,
        _LFW_TERMS,
    ),
    "newsroom": DataSource(
        {
            "newsroom/truth.json": (
                "ca225d1e1d048f1b9f6fafa87ad6362547bbeca24564dde6bbe69350b08287e4"
            ),
            "newsroom/embeddings.npz": (
                "f3c76f6081d1bb8117c02969c2bc65d0ed3228c39f4485c6ff9332ceb87ee860"
            ),
        },
        "2995 x 128 embeddings, 2021 photos, 933 names and nobody",
        "a captioned photo collection made from LFW: truth.json and embeddings.npz",
        _LFW,
        _LFW_TERMS,
    ),
}


def data_folder() -> Path:
    """Return the folder that ``CANDIDLY_DATA`` names, or one in the user's cache."""
    named = os.environ.get("CANDIDLY_DATA")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return cache / "candidly"


def locate(name: str, file: str | None = None) -> Path:
    """Return the path of a data set's file after checking that it exists and is the right one."""
    source = SOURCES[name]
    file = source.main if file is None else file
    path = _found(file)
    if path is None:
        raise FileNotFoundError(
            f"{data_folder() / file} is not there. It is {source.origin} ({source.citation}; "
            f"{source.terms}). Put the file there, or set CANDIDLY_DATA to the folder that holds "
            f"{file}"
        )
    expected = source.files[file]
    if expected is None:
        return path
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} is not the file it should be: SHA-256 {found}, expected "
            f"{expected}. Get it again from its source: {source.origin}"
        )
    return path


def available(name: str) -> bool:
    """Return whether all files of a data set exist, without reading them."""
    return all(_found(file) is not None for file in SOURCES[name].files)


def _found(file: str) -> Path | None:
    """Return the path of a file, or of one beside it whose name has the same letters and digits.

    "Yahoo! News.mat" is often stored as YahooNews.mat or yahoo_news.mat.
    """
    path = data_folder() / file
    if path.is_file() or not path.parent.is_dir():
        return path if path.is_file() else None
    alike = sorted(p for p in path.parent.iterdir() if _letters(p) == _letters(path))
    return next((p for p in alike if p.is_file()), None)


def _letters(path: Path) -> str:
    return "".join(filter(str.isalnum, path.stem)).lower() + path.suffix.lower()
