"""Methods side by side on one's own data: same folds, a time budget, a table with tests."""

from candidly.comparison.results import Comparison, Row, Summary
from candidly.comparison.running import QUICK, Progress, chosen, compare
from candidly.comparison.significance import Contrast, corrected_t_test, holm

__all__ = [
    "QUICK",
    "Comparison",
    "Contrast",
    "Progress",
    "Row",
    "Summary",
    "chosen",
    "compare",
    "corrected_t_test",
    "holm",
]
