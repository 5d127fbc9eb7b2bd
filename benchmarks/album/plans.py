"""Plans of photos: the people in each, their order, and the kind of caption."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.album.caption_writing import PlannedPhoto, Rng, ShownPerson
from benchmarks.album.invented_people import PAIRS, InventedPerson, cast, stranger

ABSENT = 2  # people who are mentioned and never shown
FEWEST = 2 * PAIRS + 2
# Of a hundred photos; every kind comes at least once where there are photos enough.
SHARES = {
    "plain": 24, "sides": 10, "order": 11, "nth": 8, "rows": 5, "absent": 10, "title": 8,
    "surname": 5, "foreign": 12, "again": 4, "typo": 1, "nobody": 2,
}  # fmt: skip


@dataclass
class AlbumCast:
    """People to choose from: some are in many photos, some in one."""

    regular: list[InventedPerson]
    once: list[InventedPerson]
    unseen: list[InventedPerson]
    weights: list[float] = field(default_factory=list)

    def some(
        self, count: int, rng: Rng, without: list[InventedPerson] | None = None
    ) -> list[InventedPerson]:
        """Return some of the regulars, drawn by their frequency."""
        barred = {person.name for person in without or []}
        weights = np.array([0.0 if p.name in barred else w
                            for p, w in zip(self.regular, self.weights, strict=True)])  # fmt: skip
        chosen = rng.choice(len(weights), count, replace=False, p=weights / weights.sum())
        return [self.regular[k] for k in chosen]


def album_cast(people: int, seed: int) -> AlbumCast:
    """Return the people of an album, and who is in only one photo."""
    everybody = cast(people + ABSENT, seed)
    shown, unseen = everybody[:people], everybody[people:]
    few = max(1, people // 6)
    regular = shown[: people - few]
    weights = 1 / np.sqrt(4 + np.random.default_rng([seed, 4]).permutation(len(regular)))
    return AlbumCast(regular, shown[people - few :], unseen, weights.tolist())


def plan(people: int, photos: int, seed: int) -> list[PlannedPhoto]:
    """Return the people and the kind of caption of every photo of an album.

    Examples
    --------
    >>> shots = plan(25, 120, seed=0)
    >>> len(shots), max(len(shot.shown) for shot in shots)
    (120, 6)
    """
    rng = np.random.default_rng([seed, 5])
    who = album_cast(people, seed)
    kinds = schedule(photos, rng)
    roomy = [k for k, kind in enumerate(kinds) if kind in {"plain", "order", "title", "absent"}]
    once = dict(zip(rng.permutation(roomy).tolist(), who.once, strict=False))
    return [_shot(kind, who, once.get(k), rng) for k, kind in enumerate(kinds)]


def schedule(photos: int, rng: Rng) -> list[str]:
    """Return kinds of captions in random order: each as often as its share, and at least once."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(max(1, share * photos // 100))]
    kinds = [str(kind) for kind in rng.permutation(kinds)]
    first = list(dict.fromkeys(kinds))  # one of each stays where there are too many
    for kind in first:
        kinds.remove(kind)
    rest = (first + kinds + ["plain"] * photos)[:photos]
    return [str(kind) for kind in rng.permutation(rest)]


def _shot(kind: str, who: AlbumCast, once: InventedPerson | None, rng: Rng) -> PlannedPhoto:
    special = {"nobody": _strangers, "nth": _one_of_many, "rows": _two_rows, "surname": _relatives}
    shot = special[kind](who, rng) if kind in special else _group(kind, who, once, rng)
    absent = 0
    if kind == "absent" or (kind not in {"nobody", "rows", "surname"} and rng.random() < 0.12):
        absent = int(rng.integers(1, 3))
    options = [*who.unseen, *who.some(3, rng, [shown.person for shown in shot.shown])]
    chosen = rng.choice(len(options), absent, replace=False)
    away = tuple(options[k] for k in chosen)
    return replace(shot, absent=away, credit=bool(rng.random() < 0.14))


def _group(kind: str, who: AlbumCast, once: InventedPerson | None, rng: Rng) -> PlannedPhoto:
    low, high = {"sides": (2, 2), "order": (3, 5), "title": (1, 2), "again": (1, 2)}.get(
        kind, (1, 4)
    )
    size = int(rng.integers(low, high + 1))
    if (low, high) == (1, 4):
        size = int(rng.choice([1, 2, 3, 4], p=[0.3, 0.37, 0.22, 0.11]))
    named = who.some(size, rng)
    if once is not None:
        named[int(rng.integers(size))] = once
    row = [ShownPerson(person, True) for person in named]
    if kind in {"order", "sides"}:
        if rng.random() < 0.25:
            at = int(rng.integers(len(row)))
            if row[at].person is not once:
                row[at] = ShownPerson(stranger(rng), False)
    elif rng.random() < 0.3:
        for _ in range(int(rng.integers(1, 3))):
            row.insert(int(rng.integers(len(row) + 1)), _beside(who, named, rng))
    return PlannedPhoto(kind, (tuple(row),))


def _beside(who: AlbumCast, named: list[InventedPerson], rng: Rng) -> ShownPerson:
    """Return a person whom the caption does not name: mostly a stranger."""
    known = rng.random() < 0.25
    return ShownPerson(who.some(1, rng, named)[0] if known else stranger(rng), False)


def _strangers(who: AlbumCast, rng: Rng) -> PlannedPhoto:
    return PlannedPhoto(
        "nobody", (tuple(ShownPerson(stranger(rng), False) for _ in range(rng.integers(1, 4))),)
    )


def _one_of_many(who: AlbumCast, rng: Rng) -> PlannedPhoto:
    (named,) = who.some(1, rng)
    row = [ShownPerson(stranger(rng), False) for _ in range(int(rng.integers(2, 5)))]
    row.insert(int(rng.integers(len(row) + 1)), ShownPerson(named, True))
    return PlannedPhoto("nth", (tuple(row),))


def _two_rows(who: AlbumCast, rng: Rng) -> PlannedPhoto:
    people = [ShownPerson(person, True) for person in who.some(int(rng.integers(5, 7)), rng)]
    return PlannedPhoto("rows", (tuple(people[:3]), tuple(people[3:])))


def _relatives(who: AlbumCast, rng: Rng) -> PlannedPhoto:
    first = 2 * int(rng.integers(PAIRS))
    row = [ShownPerson(person, True) for person in who.regular[first : first + 2]]
    if rng.random() < 0.4:
        barred = [shown.person for shown in row]
        row += [ShownPerson(person, True) for person in who.some(1, rng, barred)]
    order = rng.permutation(len(row))
    return PlannedPhoto("surname", (tuple(row[k] for k in order),))
