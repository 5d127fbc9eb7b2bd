"""People learnt from named faces, and recognised in photos without captions.

1. ``training``: reads who was named in captioned photos, and fits a recogniser
   (``candidly.solvers.recogniser``) to it
2. ``store``: stores the recogniser in the project
3. ``recognising``: names photos with it
4. ``population_learning``: learns how faces of an embedder vary, whoever they show
"""

from candidly.photos.recognition.population_learning import (
    LearntPopulation,
    learn_from_folder,
    learn_from_project,
)
from candidly.photos.recognition.recognising import RecognitionSummary, at_most_once, recognise
from candidly.photos.recognition.training import (
    TrainingFaces,
    TrainingSummary,
    read_training_faces,
    train,
)

__all__ = [
    "LearntPopulation",
    "RecognitionSummary",
    "TrainingFaces",
    "TrainingSummary",
    "at_most_once",
    "learn_from_folder",
    "learn_from_project",
    "read_training_faces",
    "recognise",
    "train",
]
