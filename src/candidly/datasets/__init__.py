"""Data sets with candidate labels.

``loaders`` loads data sets by name, ``store`` knows their files and checksums, ``file_formats``
reads your own files, ``matlab_files`` the arrays of MATLAB's, ``images`` turns grey images into
features, ``caption_simulation`` writes captions for labelled faces, ``text_like`` makes up texts of
skewed classes.
"""

from candidly.datasets.caption_simulation import simulate_captions
from candidly.datasets.file_formats import DataFileError, read
from candidly.datasets.loaders import load, names
from candidly.datasets.text_like import make_text_like

__all__ = ["DataFileError", "load", "make_text_like", "names", "read", "simulate_captions"]
