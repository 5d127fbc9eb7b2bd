"""Captions of a photo, in it or beside it.

A photo may have several captions. In this order, the first that is not empty is used:

1. ``captions.csv``, then ``captions.json``, of the folders from the photo's up to the root
2. text beside the photo: ``a.jpg.txt``, then ``a.txt``
3. XMP beside the photo: ``a.jpg.xmp`` (as digiKam names it), then ``a.xmp`` (as Adobe does)
4. in the photo: XMP, then IPTC; IPTC first where it was changed after XMP was written

Text, names and face regions are each taken from the first that has them: a corrected text in
``captions.csv`` leaves the regions of the photo as they are, and names listed there are used
instead of those in the photo.

``reader`` looks in all these places, ``text_files`` reads the files beside photos, ``metadata``
the XMP and IPTC in them.
"""

from candidly.photos.captions.reader import CaptionProblem, CaptionReader

__all__ = ["CaptionProblem", "CaptionReader"]
