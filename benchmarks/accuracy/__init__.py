"""Accuracy on the library's data sets.

1. ``labelling_error``, ``confidence`` and ``ten_fold`` (``make accuracy``): error of the labels
   found, calibration and error bounds, accuracy on unseen instances
2. ``all_methods`` (``make methods``): every method on one data set
3. ``alternatives`` (``make alternatives``): what ``CandidateClassifier`` could do instead
4. ``any_classifier``: a classifier in the loop of ``SelfLabelling``, against one round of it
5. ``broken_data``: digits with broken rows, codes for missing values, noise; nothing is stored
6. ``broken_sets``: candidate sets that miss the true label
"""
