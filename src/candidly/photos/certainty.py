"""How sure the name of a face is, in one word: sure, likely or unknown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from candidly.wording import count

SURE = 0.95
"""Confidence from which a name is sure."""
LIKELY = 0.5
"""Confidence from which a name is likely; below it is a guess, and who it is unknown."""

Certainty = Literal["sure", "likely", "unknown"]


def certainty(name: str | None, confidence: float | None, *, decided: bool = False) -> Certainty:
    """Return how sure it is who a face shows.

    Parameters
    ----------
    name : str or None
        None for nobody.
    confidence : float or None
        None where nothing was said about the face yet.
    decided : bool
        Whether somebody decided it; only then nobody is sure.

    Examples
    --------
    >>> certainty("Ann", 0.97), certainty("Ann", 0.6), certainty("Ann", 0.4), certainty(None, 0.99)
    ('sure', 'likely', 'unknown', 'unknown')
    """
    if decided:
        return "sure"
    if name is None or confidence is None or confidence < LIKELY:
        return "unknown"
    return "sure" if confidence >= SURE else "likely"


def in_words(name: str | None, confidence: float | None) -> str:
    """Return how sure it is who a face shows, as users read it: an unknown name is a guess.

    Examples
    --------
    >>> in_words("Ann", 0.97), in_words("Ann", 0.4), in_words(None, 0.99)
    ('sure', 'a guess', 'unknown')
    """
    word = certainty(name, confidence)
    return "a guess" if word == "unknown" and name is not None else word


def percent(value: float) -> str:
    """Return a confidence in percent, never more than it is; only certainty is 100%.

    Examples
    --------
    >>> percent(0.9996), percent(1.0), percent(0.949), percent(0.29)
    ('99.9%', '100%', '94%', '29%')
    """
    if 0.99 <= value < 1:
        return f"{math.floor(1000 * value + 1e-9) / 10:.1f}%"
    return f"{math.floor(100 * value + 1e-9)}%"


@dataclass(frozen=True)
class NamedFaces:
    """Numbers of faces: all, those with a name, and how many of the names are sure or likely.

    Examples
    --------
    >>> NamedFaces.of([("Ann", 0.99), ("Bob", 0.6), ("Cas", 0.3), (None, 0.9)]).in_words()
    '3 of 4 faces named: 1 sure, 1 likely, 1 a guess; 1 nobody'
    """

    faces: int = 0
    named: int = 0
    sure: int = 0
    likely: int = 0

    @classmethod
    def of(cls, labels: Iterable[tuple[str | None, float]]) -> Self:
        """Return the numbers of names with their confidences."""
        pairs = list(labels)
        words = Counter(certainty(*pair) for pair in pairs if pair[0] is not None)
        return cls(len(pairs), words.total(), words["sure"], words["likely"])

    def in_words(self) -> str:
        """Return the numbers in one line."""
        guess = self.named - self.sure - self.likely
        return (
            f"{self.named} of {count(self.faces, 'face')} named: {self.sure} sure, "
            f"{self.likely} likely, {guess} a guess; {self.faces - self.named} nobody"
        )

    def warning(self) -> str | None:
        """Return a sentence where there are names and none is sure, else None."""
        if not self.named or self.sure:
            return None
        most = f"{self.likely} of {self.named} are likely" if self.likely else "all are guesses"
        return f"no name is sure: {most}; look at the faces before you use a name"
