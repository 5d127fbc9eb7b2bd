"""The paper's section on results, declared, run, judged and reported.

``declaration`` says what an experiment is, ``experiments`` declares them, ``protocols`` measures
one run, ``running`` carries runs out over the cores and keeps each, ``results`` reads them,
``claims`` judges what the paper says of them, ``report`` writes the page.
"""

from benchmarks.paper.declaration import Cell, Entry, Experiment, Run, planned
from benchmarks.paper.experiments import EXPERIMENTS, experiment

__all__ = ["EXPERIMENTS", "Cell", "Entry", "Experiment", "Run", "experiment", "planned"]
