"""Names for the faces in captioned photos. Needs the extra ``photos``.

``name`` does everything: it ingests a folder of photos into a project file and names the faces::

    from candidly import photos

    named = photos.name("Pictures", "pictures.candidly", report="pictures.html")
    with photos.Project.open("pictures.candidly") as project:
        for face in photos.list_faces(project):
            print(face.file, face.name, face.confidence)

The packages, in the order of the data flow:

1. ``pictures``: finds picture files, opens them upright, identifies them by their image data
2. ``captions``: reads the captions of a photo, in it or beside it
3. ``names``: finds people named in a text, with what it says about their place
4. ``faces``: finds and embeds faces
5. ``project``: the SQLite file that stores everything
6. ``ingesting``: ingests photos into a project, by the parts above
7. ``solving``: finds the names of faces
8. ``recognition``: learns people, and recognises them in photos without captions
9. ``explaining``: explains why a face has its name
10. ``reviewing``: which faces to ask about first
11. ``auditing``: how wrong names are, and which can be promised, by a few questions
12. ``exporting``: writes names into copies of photos, sidecars and tables
13. ``reporting``: writes one HTML page about all people
14. ``keeping``: backups, what is wrong with a project, and what is to be forgotten
15. ``review``: the page in the browser on which a person decides

``application`` has the functions below, ``records`` and ``geometry`` what the parts pass to each
other, ``certainty`` which names are sure or likely, ``parts`` the protocols that your own parts
have to follow, ``private`` files that only their owner may read. Importing this package loads
neither OpenCV nor Pillow nor any model.
"""

from candidly.photos.application import Named, ingest, learn_population, name
from candidly.photos.auditing import Audit, AuditResult, PromisedNames, Question
from candidly.photos.exporting import (
    ExportSummary,
    ExportTargets,
    UndoSummary,
    export,
    undo_export,
)
from candidly.photos.faces.population_file import PopulationProblem
from candidly.photos.ingesting import Choices, IngestSummary
from candidly.photos.names import Text
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.decision_log import Decision
from candidly.photos.project.queries import FaceRow
from candidly.photos.project.queries import faces as list_faces
from candidly.photos.recognition import (
    LearntPopulation,
    RecognitionSummary,
    TrainingSummary,
    train,
)
from candidly.photos.records import StageProgress
from candidly.photos.reporting import ReportFile, report
from candidly.photos.solving import NameChange, SolveSummary, solve

__all__ = [
    "Audit",
    "AuditResult",
    "Choices",
    "Decision",
    "ExportSummary",
    "ExportTargets",
    "FaceRow",
    "IngestSummary",
    "LearntPopulation",
    "NameChange",
    "Named",
    "PopulationProblem",
    "Project",
    "ProjectProblem",
    "PromisedNames",
    "Question",
    "RecognitionSummary",
    "ReportFile",
    "SolveSummary",
    "StageProgress",
    "Text",
    "TrainingSummary",
    "UndoSummary",
    "export",
    "ingest",
    "learn_population",
    "list_faces",
    "name",
    "report",
    "solve",
    "train",
    "undo_export",
]
