"""Numbers with their nouns, as they are told to people."""

from __future__ import annotations

_PLURALS = {"person": "people", "entry": "entries", "copy": "copies"}


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun, in the plural unless it is one.

    Examples
    --------
    >>> count(1, "face"), count(2, "face"), count(1200, "person"), count(0, "face found", "found")
    ('1 face', '2 faces', '1200 people', '0 found')
    """
    return f"{number} {one_or_more(number, noun, plural)}"


def one_or_more(number: int, noun: str, plural: str | None = None) -> str:
    """Return a noun, in the plural unless there is one.

    Examples
    --------
    >>> one_or_more(1, "has", "have"), one_or_more(3, "has", "have")
    ('has', 'have')
    """
    return noun if number == 1 else plural or _PLURALS.get(noun, f"{noun}s")
