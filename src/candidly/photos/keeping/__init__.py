"""Keeps a project safe: forgets people, and (below) backs it up, checks it, and saves what is left.

1. ``forgetting``: a person, or what all faces look like, deleted to the last byte
"""

from candidly.photos.keeping.forgetting import Forgotten, forget_faces, forget_person

__all__ = ["Forgotten", "forget_faces", "forget_person"]
