"""Who an instance is among people known, or nobody known.

``recogniser`` tells people apart, ``fitting`` fits it to instances that have a name and tests it
on photos that it has not seen. Features have a row an instance here, answers a column.
"""

from candidly.solvers.recognition.fitting import Tested, TooFew, fit, learn
from candidly.solvers.recognition.recogniser import Array, Recogniser

__all__ = ["Array", "Recogniser", "Tested", "TooFew", "fit", "learn"]
