"""People learnt from resolved faces, for photos about which nothing is written.

``resolved`` reads who was named in captioned photos, ``train`` fits a recogniser to it (which is in
``candidly.solvers.recogniser_fitting``), ``stored`` keeps it in the project, ``naming`` names
photos with it.
"""

from candidly.photos.learning.naming import Recognised, name_uncaptioned
from candidly.photos.learning.resolved import Resolved, read_resolved
from candidly.photos.learning.train import Trained, train

__all__ = [
    "Recognised",
    "Resolved",
    "Trained",
    "name_uncaptioned",
    "read_resolved",
    "train",
]
