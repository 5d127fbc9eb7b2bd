"""Names for the faces in captioned photos. Needs the extra ``photos``.

``name`` does it all: it ingests a folder of photos into a project file and says who is who::

    from candidly import photos

    named = photos.name("Pictures", "pictures.candidly", report="pictures.html")

The folders are the data flow:

1. ``pictures``: files found, opened upright, recognised by their image data
2. ``captions``: what is written about a photo, in it or beside it
3. ``names``: people named in a text, with what it says about their place
4. ``faces``: faces found and embedded
5. ``project``: the SQLite file that keeps it all
6. ``ingesting``: photos into a project, by the parts above
7. ``solving``: names on faces
8. ``recognition``: people learnt, and recognised in photos without captions
9. ``explaining``: why a face has its name
10. ``reporting``: one HTML page about all people

``application`` has the functions below, ``records`` and ``geometry`` what the parts hand to each
other, ``parts`` the protocols that your own parts have to follow. Importing this package loads
neither OpenCV nor Pillow nor any model.
"""

from candidly.photos.application import Named, ingest, name
from candidly.photos.ingesting import Choices, IngestSummary
from candidly.photos.names import Text
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.recognition import RecognitionSummary, TrainingSummary, train
from candidly.photos.records import StageProgress
from candidly.photos.reporting import ReportFile, report
from candidly.photos.solving import NameChange, SolveSummary, solve

__all__ = [
    "Choices",
    "IngestSummary",
    "NameChange",
    "Named",
    "Project",
    "ProjectProblem",
    "RecognitionSummary",
    "ReportFile",
    "SolveSummary",
    "StageProgress",
    "Text",
    "TrainingSummary",
    "ingest",
    "name",
    "report",
    "solve",
    "train",
]
