"""The paper's section on results: declared, run, judged and reported.

``python -m benchmarks.paper`` runs it.

1. ``declaration``: what an experiment is; ``method_entries`` has the methods, ``settings`` the four
   settings of the paper's, ``experiments`` declares all
2. ``measurements``: how one run is measured; ``second_stages`` has the machine that is trained on
   the labels of all methods, ``news`` prepares captioned photos, ``gradient_histograms`` their
   features, ``made_up_candidates`` draws others than the paper's, ``eliminations`` and
   ``propositions`` test what it only states, and ``decomposition_pictures`` stores pictures
3. ``execution``: carries runs out over the cores and stores each, with a fingerprint of the code
   (``fingerprints``); ``stored_runs`` reads them, ``checking`` makes some again
4. ``claims``: what the paper says of its results, judged from stored runs by ``rules.md``
5. ``paper_report``: writes the verdicts, the means (``means``) and the page (``page``), whose
   ``tables`` have our errors beside those in ``published``; ``results_section`` puts the counts
   into the documents

Commands of their own, on what the paper leaves open: ``ice_ties`` (which of equal soft labels goes
first) and ``dictionary_changes`` (why the dictionary methods are behind, one change at a time).
"""

from benchmarks.paper.declaration import Cell, Experiment, MethodEntry, PaperRun, planned
from benchmarks.paper.experiments import EXPERIMENTS, experiment

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "MethodEntry", "PaperRun", "experiment", "planned"]
