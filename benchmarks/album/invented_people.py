"""Invented people: names of several cultures, and looks that differ from each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.album.looks import (
    BEARDS,
    GLASSES,
    MEN_HAIR,
    RANGES,
    WOMEN_HAIR,
    Colour,
    Looks,
)


class Culture(NamedTuple):
    """Names of one culture, and the skin and hair tones that go with them."""

    women: str
    men: str
    surnames: str
    skins: tuple[int, int]
    hairs: tuple[int, ...]
    instead: dict[str, str] = {"afro": "curly", "scarf": "pixie"}  # noqa: RUF012  never changed


SKINS: tuple[Colour, ...] = (
    (244, 208, 184),
    (236, 194, 166),
    (226, 180, 146),
    (212, 162, 124),
    (190, 138, 100),
    (162, 112, 78),
    (132, 88, 62),
    (104, 70, 52),
)
HAIRS: tuple[Colour, ...] = (
    (30, 26, 26),
    (54, 38, 30),
    (92, 62, 42),
    (140, 100, 62),
    (206, 170, 108),
    (150, 74, 40),
)
IRISES: tuple[Colour, ...] = ((70, 44, 28), (98, 66, 36), (70, 104, 132), (82, 112, 78))
CLOTHES: tuple[Colour, ...] = (
    (46, 62, 92),
    (140, 50, 52),
    (66, 98, 82),
    (196, 158, 88),
    (86, 70, 108),
    (58, 58, 64),
    (176, 190, 200),
    (188, 106, 72),
    (60, 120, 140),
    (214, 204, 188),
)
COLLARS = ("round", "suit", "shirt", "v")
GREY_HAIR: Colour = (178, 176, 174)

# Given names are common, surnames rare or made up, so that nobody well known is among them.
CULTURES = (
    Culture("Ingrid Marta Solveig", "Tomas Henrik Oskar", "Lindhagen Sandvoll Nyholt Brekkander",
            (0, 1), (3, 4, 4, 2)),
    Culture("Greta Annika Heike", "Jonas Walter Dieter", "Ahlbrecht Hegenbarth Dornseif Kestenholz",
            (0, 2), (2, 3, 4)),
    Culture("Lucía Ximena Carmen", "Rafael Mateo Ignacio", "Berrocal Quintanar Orduña Villascusa",
            (2, 4), (0, 1, 2)),
    Culture("Élodie Margaux Claire", "Lucien Bastien Hugo", "Desrivages Marchandeau Pontallier",
            (1, 2), (1, 2, 5)),
    Culture("Folake Ngozi Abena", "Emeka Kofi Samuel", "Adeyinde Nwadibe Asamani Oderinle",
            (6, 7), (0, 0, 0), {"scarf": "bun"}),
    Culture("Priya Meera Lakshmi", "Arjun Sanjay Vikram", "Raghunand Chatturi Vaidyar Melkote",
            (4, 6), (0, 0, 1)),
    Culture("Haruka Yumi Naoko", "Kazuo Daisuke Kenji", "Teshima Minobe Kurosato Hayamizu",
            (1, 2), (0, 0, 1)),
    Culture("Leila Nadia Elif", "Omar Farid Cem", "Rostampour Haddadin Karatepe Benkhaled",
            (2, 4), (0, 1, 1), {"afro": "curly"}),
    Culture("Fiona Hannah Ruth", "Declan Gareth Edwin", "Carrowmore Pellworth Moyhill Thackwray",
            (0, 1), (5, 2, 3)),
    Culture("Zofia Milena Daria", "Piotr Marek Andrei", "Wierzbanek Zaremski Dobrotin Halicki",
            (0, 2), (2, 4, 1)),
)  # fmt: skip
LARGEST_CAST = 40
PAIRS = 3  # couples with one surname


@dataclass(frozen=True)
class InventedPerson:
    """Name and looks of an invented person."""

    given: str
    surname: str
    woman: bool
    looks: Looks

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.given} {self.surname}"


def cast(count: int = 25, seed: int = 0) -> list[InventedPerson]:
    """Return people who look different; the first ones are pairs with the same surname.

    Parameters
    ----------
    count : int
        Number of people, up to 40.
    seed : int
        Other seeds give other people.

    Examples
    --------
    >>> people = cast(6, seed=0)
    >>> len({person.name for person in people}), len({person.surname for person in people})
    (6, 3)
    """
    rng = np.random.default_rng([seed, 1])
    names = _names(rng)
    if not 1 <= count <= LARGEST_CAST:
        raise ValueError(f"people is from 1 to {LARGEST_CAST}, not {count}")
    levels = {
        key: low + (high - low) * (rng.permutation(count) + 0.5) / count
        for key, (low, high) in RANGES.items()
    }
    turns = {woman: int(rng.integers(100)) for woman in (False, True)}
    people = []
    for k, (given, surname, woman, culture) in enumerate(names[:count]):
        turns[woman] += 1
        numbers = {key: float(values[k]) for key, values in levels.items()}
        looks = _looks(rng, culture, woman, turns[woman], numbers)
        people.append(InventedPerson(given, surname, woman, looks))
    return people


def stranger(rng: np.random.Generator) -> InventedPerson:
    """Return a bystander; the name is a number, since nobody knows it."""
    woman = bool(rng.random() < 0.5)
    culture = CULTURES[int(rng.integers(len(CULTURES)))]
    numbers = {key: float(rng.uniform(*ends)) for key, ends in RANGES.items()}
    looks = _looks(rng, culture, woman, int(rng.integers(100)), numbers)
    return InventedPerson("bystander", f"{rng.integers(2**32):08x}", woman, looks)


def dressed(looks: Looks, rng: np.random.Generator) -> Looks:
    """Return looks with other clothes."""
    clothes = _varied(rng, CLOTHES[int(rng.integers(len(CLOTHES)))], 0.1)
    return replace(looks, clothes=clothes, collar=str(rng.choice(COLLARS)))


def _names(rng: np.random.Generator) -> list[tuple[str, str, bool, Culture]]:
    """Return names: each surname once, except pairs of a woman and a man at first."""
    families: list[tuple[str, str, bool, Culture]] = []
    pairs: list[tuple[str, str, bool, Culture]] = []
    used: set[str] = set()
    surnames = [(surname, c) for c in CULTURES for surname in c.surnames.split()]
    for k in rng.permutation(len(surnames)):
        surname, culture = surnames[k]
        woman = bool(len(families) % 2)
        options = {True: culture.women.split(), False: culture.men.split()}
        free = {w: [name for name in names if name not in used] for w, names in options.items()}
        if len(pairs) < 2 * PAIRS and free[True] and free[False]:
            chosen = {w: str(rng.choice(free[w])) for w in (True, False)}
            used.update(chosen.values())
            pairs += [(chosen[w], surname, w, culture) for w in (True, False)]
            continue
        woman = woman if free[woman] else not woman
        if free[woman]:
            given = str(rng.choice(free[woman]))
            used.add(given)
            families.append((given, surname, woman, culture))
    return pairs + families


def _looks(
    rng: np.random.Generator, culture: Culture, woman: bool, turn: int, numbers: dict[str, float]
) -> Looks:
    """Return looks: styles in turn, so that few share them, and varied tones of the culture."""
    numbers = dict(numbers)
    if woman:
        numbers["jaw"] -= 0.06
        numbers["brow_thick"] *= 0.8
    style = (WOMEN_HAIR if woman else MEN_HAIR)[turn % (10 if woman else 9)]
    style = culture.instead.get(style, style)
    low, high = culture.skins
    skin = _varied(rng, SKINS[int(rng.integers(low, high + 1))], 0.05)
    dark = low >= 2 or culture.hairs[0] == 0
    iris = IRISES[int(rng.integers(2 if dark else 4))]
    hair = _varied(rng, HAIRS[int(rng.choice(culture.hairs))], 0.12)
    if numbers["age"] > 0.78:
        hair = _mixed(hair, GREY_HAIR, min(1.0, 4 * (numbers["age"] - 0.7)))
    lip = _mixed(_mixed(skin, (168, 62, 66), 0.38), (172, 40, 60), 0.5 * woman * rng.random())
    place = (float(rng.choice([-1, 1]) * rng.uniform(0.2, 0.42)), float(rng.uniform(0.3, 0.72)))
    return Looks(
        skin=skin,
        hair=hair,
        iris=iris,
        lip=lip,
        clothes=_varied(rng, CLOTHES[int(rng.integers(len(CLOTHES)))], 0.1),
        hair_style=style,
        beard="" if woman else BEARDS[turn * 3 % len(BEARDS)],
        glasses=GLASSES[(turn * 3 + 5 * woman) % len(GLASSES)],
        collar=COLLARS[int(rng.integers(len(COLLARS)))],
        freckles=int(rng.integers(2**31)) if low < 2 and rng.random() < 0.3 else 0,
        mole=place if rng.random() < 0.3 else None,
        earrings=woman and rng.random() < 0.5,
        numbers=numbers,
    )


def _varied(rng: np.random.Generator, colour: Colour, spread: float) -> Colour:
    factor: Any = rng.uniform(1 - spread, 1 + spread) * rng.uniform(0.98, 1.02, 3)
    r, g, b = (float(v) for v in np.clip(np.multiply(colour, factor), 0, 250))
    return r, g, b


def _mixed(one: Colour, other: Colour, part: float) -> Colour:
    r, g, b = (a + (b - a) * part for a, b in zip(one, other, strict=True))
    return r, g, b
