"""The choice of a setting without truth, above estimators and baselines.

- ``candidate_classifier``: CandidateClassifier, the one call without an argument
- ``hiding``: scores from candidate sets that were hidden
"""

from candidly.selection.candidate_classifier import CandidateClassifier

__all__ = ["CandidateClassifier"]
