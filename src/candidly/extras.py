"""Optional packages: what each extra is for, and how to install one that is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

EXTRAS = {
    # extra: (module, what it is for)
    "fast": ("numba", "loops compiled for speed"),
    "heic": ("pi_heif", "HEIC pictures"),
    "photos": ("cv2", "photos and the faces in them"),
    "plot": ("matplotlib", "pictures: candidly demo, and every --plot"),
    "names": ("spacy", "names by a spaCy pipeline"),
    "ray": ("ray", "solves on a cluster"),
    "review": ("fastapi", "pages of candidly review"),
    "torch": ("torch", "solves on a GPU, and networks such as PRODEN"),
}


def installed(extra: str) -> bool:
    """Return whether an extra is installed, without importing it."""
    return find_spec(EXTRAS[extra][0]) is not None


def require(module: str, extra: str) -> ModuleType:
    """Import a module of an extra, or raise ImportError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{EXTRAS[extra][1]} need {module}: pip install 'candidly[{extra}]'"
        ) from error
