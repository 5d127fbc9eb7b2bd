"""People learnt from resolved faces, for photos about which nothing is written.

``resolved`` reads who was named in captioned photos, ``recogniser`` says who a face is or nobody
known, ``fitting`` fits and tests it photo by photo, ``stored`` keeps it in the project, ``naming``
names photos with it.
"""

from candidly.photos.learning.fitting import Tested, fit
from candidly.photos.learning.naming import Recognised, name_uncaptioned
from candidly.photos.learning.recogniser import Recogniser
from candidly.photos.learning.resolved import Resolved, read_resolved
from candidly.photos.learning.train import Trained, train

__all__ = [
    "Recognised",
    "Recogniser",
    "Resolved",
    "Tested",
    "Trained",
    "fit",
    "name_uncaptioned",
    "read_resolved",
    "train",
]
