"""The paper's section on results: declared, run, judged and reported.

``python -m benchmarks.paper`` runs it.

1. ``declaration``: what an experiment is; ``method_entries`` has the methods, ``experiments``
   declares all
2. ``measurements``: how one run is measured; ``news`` prepares captioned photos for it, and
   ``decomposition_pictures`` stores pictures
3. ``execution``: carries runs out over the cores and stores each; ``stored_runs`` reads them
4. ``claims``: what the paper says of its results, judged from stored runs
5. ``paper_report``: writes the verdicts, the means (``means``) and the page (``page``), whose
   ``tables`` have our errors beside those in ``published``

Commands of their own, on what the paper leaves open: ``ice_ties`` (which of equal soft labels goes
first) and ``dictionary_changes`` (why the dictionary methods are behind, one change at a time).
"""

from benchmarks.paper.declaration import Cell, Experiment, MethodEntry, PaperRun, planned
from benchmarks.paper.experiments import EXPERIMENTS, experiment

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "MethodEntry", "PaperRun", "experiment", "planned"]
