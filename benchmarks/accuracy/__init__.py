"""Accuracy on the library's data sets.

1. ``labelling_error``, ``confidence`` and ``ten_fold`` (``make accuracy``): error of the labels
   found, calibration and error bounds, accuracy on unseen instances
2. ``chosen_families`` and ``probabilities`` (``make choice``), on ``problems`` of many kinds: the
   choice without truth beside single methods, its own estimate of its error, and calibration of
   ``predict_proba``
3. ``all_methods`` (``make methods``): every method on one data set
4. ``alternatives`` (``make alternatives``): what ``CandidateClassifier`` could do instead
5. ``any_classifier``: a classifier in the loop of ``SelfLabelling``, against one round of it
6. ``broken_data``: digits with broken rows, codes for missing values, noise
7. ``broken_sets``: candidate sets that miss the true label
8. ``six_seeds``: ``CandidateClassifier`` with other random states
"""
