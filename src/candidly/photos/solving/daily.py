"""Which photos a day's work solves again besides those that are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from candidly.photos.solving.problem import Told

ENOUGH_NEW = 0.25
"""Part of the photos solved so far from which, if new, everything is solved together."""
WELL_KNOWN = 10
"""Photos that name somebody from which one more hardly changes what is known of them."""


def beside(due: set[int], told: Mapping[int, Told]) -> set[int]:
    """Photos that name somebody of the photos in hand who is not well known.

    One more face of such a person may settle an old one. They begin with what was said of them.
    """
    often = Counter(name for one in told.values() for name in one.names)
    people = {name for photo in due for name in told[photo].names if often[name] < WELL_KNOWN}
    return {
        photo
        for photo, one in told.items()
        if photo not in due and not people.isdisjoint(one.names)
    }
