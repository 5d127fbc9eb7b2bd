"""What each label could be: candidate sets, how ambiguous they are, synthetic ones."""

from candidly.candidates.candidates import Candidates, UnlistedClassWarning
from candidly.candidates.synthetic import make_ambiguous

__all__ = ["Candidates", "UnlistedClassWarning", "make_ambiguous"]
