"""Where data sets lie, what they are, and whether the file is the right one."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A file of a data set: where it goes, where it comes from, and its checksum."""

    file: str
    sha256: str
    origin: str
    citation: str
    terms: str


_PLL_TERMS = "no licence stated; academic use, at your own risk"
_PLL_ORIGIN = "the partial-label data sets of M.-L. Zhang's group, palm.seu.edu.cn/zhangml"
_LFW = "Huang et al. (2007), Labeled Faces in the Wild, UMass TR 07-49"

SOURCES = {
    "lost": Source(
        "pll/lost.mat",
        "42a8cc43e05578087e7b8ca194647829ec535dc4d0a86cf47f357c5eb3146e4f",
        _PLL_ORIGIN,
        "Cour, Sapp & Taskar (2011), Learning from partial labels, JMLR 12",
        _PLL_TERMS,
    ),
    "msrcv2": Source(
        "pll/MSRCv2.mat",
        "948e4d443a5450308f05aa689bc82d9bcc7af699a113a6a81c40ef337a20c393",
        _PLL_ORIGIN,
        "Liu & Dietterich (2012), A conditional multinomial mixture model for superset "
        "label learning, NIPS",
        _PLL_TERMS,
    ),
    "birdsong": Source(
        "pll/BirdSong.mat",
        "2170d46765a151ac80623d9a1242e0299802236e5574442bdb596bef90f50743",
        _PLL_ORIGIN,
        "Briggs, Fern & Raich (2012), Rank-loss support instance machines for MIML instance "
        "annotation, KDD",
        _PLL_TERMS,
    ),
    "pie": Source(
        "faces/pie_frontal.npz",
        "9c05d0eae0eef13d6baff37772184f9e071518b76f7696a3ae0eda58199e6947",
        "CMU PIE, frontal pose, 32 x 32 crops: arrays images (2856 x 32 x 32) and labels",
        "Sim, Baker & Bsat (2003), The CMU pose, illumination and expression database, PAMI 25",
        "research use",
    ),
    "fiw10b": Source(
        "faces/fiw10b_like.npz",
        "0e038d2458e42213c7c72280bcf871f56061deee3878b3c533d2bcbdf0a0816b",
        "the ten most frequent people of deep-funneled LFW, first 50 pictures each, 55 x 45 "
        "crops: arrays images, labels and names",
        _LFW,
        "research use",
    ),
    "orl": Source(
        "faces/orl.npz",
        "6e5372ccd14e96c552e8a038dc15b7c84d731a9a3aa1e63e21c923bc863d150b",
        "the AT&T (ORL) database of faces, 32 x 32: arrays images (400 x 32 x 32) and labels",
        "Samaria & Harter (1994), Parameterisation of a stochastic model for human face "
        "identification, WACV",
        "research use, with credit to AT&T Laboratories Cambridge",
    ),
}


def data_folder() -> Path:
    """The folder that ``CANDIDLY_DATA`` names, or the user's cache."""
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


def locate(source: Source) -> Path:
    """Path of a data set's file, once it is there and is the right one."""
    path = data_folder() / source.file
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there. It is {source.origin} ({source.citation}; {source.terms}). "
            f"Put the file there, or set CANDIDLY_DATA to the folder that holds {source.file}"
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != source.sha256:
        raise ValueError(
            f"{path} is not the file it should be: SHA-256 {found}, expected {source.sha256}. "
            f"Get it again from its source: {source.origin}"
        )
    return path
