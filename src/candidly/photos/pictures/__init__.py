"""Pictures: found in folders, opened upright, recognised by their image data.

Which files: JPEG, PNG, WebP and TIFF, and HEIC with the extra ``heic``; see `finding`. The
content of a file decides what it is, its name only whether it is looked at. Files are only
ever read.
"""

from candidly.photos.pictures.finding import Found, Skipped, find
from candidly.photos.pictures.opening import (
    PIXEL_LIMIT,
    Picture,
    PictureProblem,
    identify,
    open_picture,
    orientation,
)

__all__ = [
    "PIXEL_LIMIT",
    "Found",
    "Picture",
    "PictureProblem",
    "Skipped",
    "find",
    "identify",
    "open_picture",
    "orientation",
]
