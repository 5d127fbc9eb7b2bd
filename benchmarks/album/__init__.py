"""A drawn album of invented people: photos with captions, and the truth about them.

1. ``people``: names and looks, drawn from a seed; ``looks`` says what a look is
2. ``strokes``: curves and the brush; ``heads``: where a turned head has its eyes
3. ``faces``: somebody's head and shoulders, with ``hair`` and ``features``
4. ``scenes``: what is behind them
5. ``captions``: what is written about a photo; ``words`` has the sentences
6. ``plans``: who is where in which photo; ``album`` draws it all, ``files`` writes it

Needs the extra ``photos``, on first use.
"""

from benchmarks.album.album import draw
from benchmarks.album.truth import Truth

__all__ = ["Truth", "draw"]
