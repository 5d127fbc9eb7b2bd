"""Simulated captions: the names that are candidates of the faces in each photo."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from candidly.candidates import Candidates

NOBODY = "nobody"


def simulate_captions(
    people: ArrayLike,
    photos: ArrayLike,
    *,
    named: float = 0.8,
    absent: float = 0.5,
    random_state: np.random.Generator | int | None = None,
) -> Bunch:
    """Simulate which names the caption of each photo mentions.

    Parameters
    ----------
    people : (N,) array
        Who each face is.
    photos : (N,) array
        Which photo each face is in.
    named : float
        Probability that the caption mentions a person in the photo; the label of a person
        who is not mentioned is "nobody".
    absent : float
        Mean number of people mentioned in a caption who are not in the photo (Poisson), drawn
        in proportion to how many faces each has.
    random_state : numpy Generator or int, optional
        Source of randomness; a number is a seed.

    Returns
    -------
    Bunch
        ``candidates``: for every face the names mentioned and "nobody", the null class, with
        the photos as groups; ``y``: the name, or "nobody" if it is not mentioned.

    Examples
    --------
    >>> from candidly.datasets import simulate_captions
    >>> people, photos = ["ann", "bob", "ann"], ["p", "p", "q"]
    >>> news = simulate_captions(people, photos, named=1, absent=0, random_state=0)
    >>> news.candidates.sets() == [{"ann", "bob", "nobody"}] * 2 + [{"ann", "nobody"}]
    True
    """
    people, photos = np.asarray(people).astype(str), np.asarray(photos)
    for what, value in (("named", named), ("absent", absent)):
        if not value >= 0 or (what == "named" and value > 1):
            raise ValueError(
                f"{what} is {'a probability' if what == 'named' else 'not negative'}, got {value!r}"
            )
    generator = np.random.default_rng(random_state)
    names, inverse = np.unique(people, return_inverse=True)
    if NOBODY in names.tolist():
        raise ValueError(f"somebody is called {NOBODY!r}, which means no name here")
    _, photo = np.unique(photos, return_inverse=True)
    mentioned_here = generator.random(len(people)) < named
    mentioned: list[set[int]] = [set() for _ in range(photo.max(initial=-1) + 1)]
    for face in np.flatnonzero(mentioned_here):
        mentioned[photo[face]].add(int(inverse[face]))
    shown = _people_by_photo(photo, inverse, len(mentioned))
    often = np.bincount(inverse) / max(len(people), 1)
    for listed, present in zip(mentioned, shown, strict=True):
        drawn = generator.choice(len(names), size=generator.poisson(absent), p=often)
        listed.update(set(drawn.tolist()) - present)
    candidates = Candidates.from_sets(
        [[*names[sorted(mentioned[k])].tolist(), NOBODY] for k in photo], null=NOBODY, groups=photos
    )
    y = np.where(mentioned_here, people, NOBODY)
    return Bunch(candidates=candidates, y=y)


def _people_by_photo(photo: NDArray[Any], person: NDArray[Any], count: int) -> list[set[int]]:
    """Return the set of people in each photo."""
    shown: list[set[int]] = [set() for _ in range(count)]
    for k, who in zip(photo.tolist(), person.tolist(), strict=True):
        shown[k].add(who)
    return shown
