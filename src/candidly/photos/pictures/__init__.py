"""Picture files: found in folders, opened upright, identified by their image data.

1. ``search``: the picture files in a folder, by the ends of their names
2. ``formats``: JPEG, PNG, WebP and TIFF, and HEIC with the extra ``heic``; the content of a file
   decides which it is
3. ``picture``: upright pixels, and an identity that metadata does not change

Files are only ever read.
"""

from candidly.photos.pictures.picture import (
    PIXEL_LIMIT,
    Picture,
    PictureProblem,
    identify,
    open_picture,
    orientation,
)
from candidly.photos.pictures.search import PictureFile, SkippedFile, find

__all__ = [
    "PIXEL_LIMIT",
    "Picture",
    "PictureFile",
    "PictureProblem",
    "SkippedFile",
    "find",
    "identify",
    "open_picture",
    "orientation",
]
