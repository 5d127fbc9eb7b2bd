"""Who an instance is among people known, or nobody known.

``recogniser`` tells people apart, ``fitting`` fits it to instances that have a name and tests it
on groups that it has not seen. Rows are instances here.
"""

from candidly.solvers.recognition.fitting import Tested, TooFew, fit, untested
from candidly.solvers.recognition.recogniser import Array, Recogniser

__all__ = ["Array", "Recogniser", "Tested", "TooFew", "fit", "untested"]
