"""Doubtful names that faces confirm: the others are left out of the solution.

Photos are solved with all names that other faces can speak for. A doubtful name is confirmed where
a face has it and looks like other faces of it. Where a name is doubtful in all photos, it is a
person's in all or in none: then a face has to have it in a quarter of these photos, and in two.
With the names confirmed all is solved again, so that a name that no face confirms changes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from candidly.photos.solving.labelling import FaceLabels
from candidly.photos.solving.problem import PhotoProblem

CONFIRMED = 0.25
"""Part of the photos with a name that is doubtful everywhere in which a face has to have it."""
AT_LEAST = 2
"""Number of such photos."""


def with_confirmed_names(
    photos: list[PhotoProblem],
    problems: Mapping[int, PhotoProblem],
    known: FaceLabels,
    label: Callable[[list[PhotoProblem]], FaceLabels],
) -> list[PhotoProblem]:
    """Return photos without the doubtful names that no face confirms.

    Parameters
    ----------
    photos : list of PhotoProblem
        Photos to solve, some of ``problems``.
    problems : mapping of int to PhotoProblem
        All photos of the project.
    known : dict of int to FaceLabel
        Labels of the faces of other photos.
    label : callable
        Returns the labels of photos.
    """
    sure = Counter(name for one in problems.values() for name in one.names.keys() - one.doubtful)
    doubts = Counter(name for one in problems.values() if one.faces for name in one.doubtful)
    lone = {name for name, count in doubts.items() if count < AT_LEAST and not sure[name]}
    tried = [problem.without(lone & problem.doubtful) for problem in photos]
    if not any(problem.doubtful for problem in tried):
        return tried
    given = _given(problems.values(), {**known, **label(tried)})
    kept = {
        name
        for name, found in given.items()
        if sure[name] or len(found) >= max(AT_LEAST, CONFIRMED * doubts[name])
    }
    return [
        problem.without(
            {n for n in problem.doubtful if n not in kept or problem.photo not in given[n]}
        )
        for problem in tried
    ]


def _given(problems: Iterable[PhotoProblem], labels: FaceLabels) -> dict[str, set[int]]:
    """Return the photos in which a face has a doubtful name and looks like others of it."""
    found: dict[str, set[int]] = defaultdict(set)
    for problem in problems:
        tops = (labels[face].scores[0] for face in problem.faces if face in labels)
        for best in tops:
            like = best.probability > 0.5 and best.likeness > 0
            if like and best.name is not None and best.name in problem.doubtful:
                found[best.name].add(problem.photo)
    return found
