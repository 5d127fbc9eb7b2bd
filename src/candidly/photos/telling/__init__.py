"""What a project tells people: why a face has its name, who is in it, and a page of all.

``which`` finds the face that is meant, ``why`` says what speaks for its name, ``people`` counts.
``contents`` gathers what the report tells, ``crops`` cuts faces out, ``page`` and ``markup`` make
HTML of it, ``report`` writes it.
"""

from candidly.photos.telling.people import Person, people
from candidly.photos.telling.report import Written, write_report
from candidly.photos.telling.which import find_face
from candidly.photos.telling.why import Why, why

__all__ = ["Person", "Why", "Written", "find_face", "people", "why", "write_report"]
