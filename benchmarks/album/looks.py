"""Looks of a person: numbers in units of half a head's height, and styles."""

from __future__ import annotations

from dataclasses import dataclass

Colour = tuple[float, float, float]

WOMEN_HAIR = ("long", "bob", "bun", "wavy", "fringe", "pixie", "curly", "ponytail", "afro", "scarf")
MEN_HAIR = ("short", "part", "quiff", "receding", "buzz", "curly", "bald", "mop", "afro")
BEARDS = ("", "", "full", "stubble", "", "moustache", "goatee", "")
GLASSES = ("", "", "round", "", "square", "", "", "heavy")

# Numbers of a face: from, to. Eyes are at height 0, the chin at 1, the top of the skull at -1.
RANGES = {
    "width": (0.66, 0.82),
    "jaw": (0.60, 0.92),
    "chin": (0.26, 0.56),
    "eye_apart": (0.26, 0.345),
    "eye_size": (0.82, 1.25),
    "eye_open": (0.75, 1.35),
    "eye_slant": (-0.16, 0.22),
    "brow_thick": (0.5, 1.7),
    "brow_height": (0.17, 0.27),
    "brow_arch": (-0.3, 1.0),
    "brow_slant": (-0.2, 0.2),
    "nose_length": (0.34, 0.49),
    "nose_width": (0.095, 0.185),
    "nose_bridge": (0.3, 1.0),
    "mouth_height": (0.62, 0.71),
    "mouth_width": (0.20, 0.32),
    "lips": (0.55, 1.55),
    "cheeks": (0.0, 1.0),
    "hairline": (-0.68, -0.54),
    "age": (0.0, 1.0),
}


@dataclass(frozen=True)
class Looks:
    """Looks of one person, the same in every photo."""

    skin: Colour
    hair: Colour
    iris: Colour
    lip: Colour
    clothes: Colour
    hair_style: str
    beard: str
    glasses: str
    collar: str
    freckles: int
    mole: tuple[float, float] | None
    earrings: bool
    numbers: dict[str, float]

    def __getattr__(self, name: str) -> float:
        """Read a number as if it were a field: ``looks.jaw``."""
        try:
            return self.__dict__["numbers"][name]
        except KeyError:
            raise AttributeError(f"no look is called {name!r}") from None
