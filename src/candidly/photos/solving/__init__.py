"""Names for faces: the problem of a project, its solution, and what changed.

1. ``problem``: what is known about each photo
2. ``placement``: places and sizes of faces as odds; ``rows``: which row of a group a face is in
3. ``labelling``: photos as arrays, labelled in blocks
4. ``confirmation``: doubtful names that faces confirm
5. ``store``: labels, candidates and changes in the project
6. ``likeness``: people whose faces do not look alike
7. ``namesakes``: people with one forename who look alike
8. ``statistics``: what is known beforehand of how the project's faces vary
9. ``run``: which photos are solved, what is written, and which names changed and why
"""

from candidly.photos.solving.labels import CandidateScore, FaceLabel
from candidly.photos.solving.problem import PhotoProblem
from candidly.photos.solving.run import SolveSummary, solve
from candidly.photos.solving.store import NameChange, candidate_scores, changes, last_solve

__all__ = [
    "CandidateScore",
    "FaceLabel",
    "NameChange",
    "PhotoProblem",
    "SolveSummary",
    "candidate_scores",
    "changes",
    "last_solve",
    "solve",
]
