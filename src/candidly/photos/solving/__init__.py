"""Names for faces: the problem of a project, its solution, and what changed.

1. ``problem``: what is known about each photo, read some photos at a time
2. ``placement``: places and sizes of faces as odds; ``rows``: which row of a group a face is in
3. ``photo_entries``: photos as arrays; ``labels``: labels of faces as arrays
4. ``vectors``: embeddings, in a mapped file where they are many; ``face_features``: what the solver
   compares
5. ``known``: sums over everybody's faces, which new photos are compared with
6. ``labelling``: photos labelled together, on disk where they are many, or against these sums
7. ``confirmation``: doubtful names that faces confirm; ``spelling``: likely spellings, likewise
8. ``store``: labels, candidates and changes in the project
9. ``likeness``: people whose faces do not look alike
10. ``namesakes``: people with one forename who look alike
11. ``statistics``: what is known beforehand of how the project's faces vary
12. ``choosing``: which photos are solved; ``writing``: what is written, and which names changed
13. ``run``: a solve from its beginning to its end
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
