"""The choice without truth, above estimators and baselines.

- ``candidate_classifier``: CandidateClassifier, the one call without an argument
- ``family_search``: which families and settings are tried, in what order, and which count
- ``choice``: what a search found: trials, and the choice between them
- ``family_cost``: what families cost, and the whole search
- ``families``: the labellers that are tried, behind one interface
- ``scalings``: the scalings of features that are tried
- ``hiding``: problems in which candidate sets are hidden
- ``calibration``: probabilities and an estimate of the error, without truth
- ``report``: FitReport, what a fit found, how sure it is and what to try
- ``predictor``: the classifier for new instances
- ``set_noise``: candidate sets that may miss the true label
- ``set_logistic``: logistic regression on candidate sets
"""

from candidly.selection.candidate_classifier import CandidateClassifier

__all__ = ["CandidateClassifier"]
