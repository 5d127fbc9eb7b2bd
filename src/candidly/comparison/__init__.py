"""Comparison of methods on the same folds of your own data.

``runner`` has :func:`compare`, which runs methods within a time budget; ``workers`` runs one method
in its own process; ``store`` keeps finished folds in a file; ``comparison`` has the results, their
means and their table; ``significance`` has the tests.
"""

from candidly.comparison.comparison import Comparison, FoldResult, MethodSummary
from candidly.comparison.runner import QUICK, ComparisonProgress, chosen_methods, compare
from candidly.comparison.significance import Contrast, corrected_t_test, holm

__all__ = [
    "QUICK",
    "Comparison",
    "ComparisonProgress",
    "Contrast",
    "FoldResult",
    "MethodSummary",
    "chosen_methods",
    "compare",
    "corrected_t_test",
    "holm",
]
