"""Which photos a day's work solves again besides those that are new."""

from __future__ import annotations

from collections.abc import Mapping

from candidly.photos.solving.labelling import Verdict
from candidly.photos.solving.problem import Told

ENOUGH_NEW = 0.25
"""Part of the photos solved so far from which, if new, everything is solved together."""
SURE = 0.9
"""Confidence from which a face is not looked at again because of others' photos."""


def unsure_beside(
    due: set[int], told: Mapping[int, Told], verdicts: Mapping[int, Verdict]
) -> set[int]:
    """Photos that name somebody of the photos in hand and have a face that is not sure.

    More faces of a person may settle an old one. A sure one would hardly change.
    """
    people = {name for photo in due for name in told[photo].names}
    return {
        photo
        for photo, one in told.items()
        if photo not in due
        and not people.isdisjoint(one.names)
        and any(face not in verdicts or verdicts[face].confidence < SURE for face in one.faces)
    }
