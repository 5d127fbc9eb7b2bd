"""Explains why a face has its name, or none.

1. ``face_choice``: finds the face that a user means
2. ``similarity``: finds the sure faces that it is most similar to
3. ``attribution``: says where its name comes from, and who decided
4. ``evidence``: what speaks for its name, and against the others
5. ``explanation``: all of it
"""

from candidly.photos.explaining.explanation import Explanation, explain
from candidly.photos.explaining.face_choice import find_face

__all__ = ["Explanation", "explain", "find_face"]
