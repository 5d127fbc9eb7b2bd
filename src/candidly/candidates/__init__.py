"""Candidate sets: what each label could be.

``candidates`` has the class :class:`Candidates`, ``forms`` reads the forms it is given in,
``ambiguity`` measures how ambiguous it is, ``synthetic`` adds wrong candidates to true labels,
``misuse`` says what to use where scikit-learn needs labels.
"""

from candidly.candidates.candidates import Candidates, UnlistedClassWarning
from candidly.candidates.forms import JoinedLabelsWarning
from candidly.candidates.synthetic import make_ambiguous

__all__ = ["Candidates", "JoinedLabelsWarning", "UnlistedClassWarning", "make_ambiguous"]
