"""Moved to ``candidly.photos.geometry``."""

from candidly.photos.geometry import upright as upright
