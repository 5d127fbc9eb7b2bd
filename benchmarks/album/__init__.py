"""A drawn album of invented people: photos with captions, and the truth about them.

1. ``invented_people``: names and looks, drawn from a seed; ``looks`` says what a look is
2. ``strokes``: curves and the brush; ``heads``: where a turned head has its eyes
3. ``face_drawing``: somebody's head and shoulders, with ``hair`` and ``features``
4. ``scenes``: what is behind them; ``photo_drawing``: one photo
5. ``caption_writing``: what is written about a photo; ``sentences`` has the words
6. ``plans``: who is where in which photo
7. ``album_drawing`` draws it all, ``jpeg_files`` writes it, ``truth`` says who is where

``python -m benchmarks.album`` draws the album that ships with the package. Needs the extra
``photos``, on first use.
"""

from benchmarks.album.album_drawing import draw
from benchmarks.album.truth import AlbumTruth

__all__ = ["AlbumTruth", "draw"]
