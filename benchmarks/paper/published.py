"""The paper's own numbers: two tables and a few in the text; its figures are images only."""

from __future__ import annotations

LOST = {
    "naive": 18.6,
    "CLPL": 12.6,
    "MMS": 11.4,
    "IPAL": 22.9,
    "RPCA": 29.9,
    "MC-Pos": 23.6,
    "MCar": 8.5,
    "WMCar": 8.2,
    "MCar-ICE": 8.0,
    "WMCar-ICE": 5.2,
}
"""Table 1: labelling error in percent, on pixels."""

YAHOO = {
    "CL-SVM": (23.1, 0.6),
    "MIMLSVM": (25.3, 0.3),
    "MM-SVM": (21.9, 1.0),
    "MMS": (14.3, 0.5),
    "LR-SVM": (19.2, 0.4),
    "MCar": (14.5, 0.4),
    "WMCar": (13.6, 0.8),
    "MCar-ICE": (15.0, 1.0),
    "WMCar-ICE": (12.9, 0.8),
}
"""Table 2: test error in percent and its deviation, on Labeled Yahoo! News."""

IMBALANCE = (1.33, 3.58)
"""Section 7.2.1: mean imbalance factor at the least and the greatest co-occurrence."""

NO_NUMBERS = "The paper shows this as an image only, without numbers to set beside ours."
NUMBERS = {
    "distribution": "The paper: 1122 faces; 16 labels, 14 of which are somebody's.",
    "fiw-cooccurrence": "The paper shows errors as an image only; its text has the imbalance "
    "factor, 1.33 to 3.58, beside ours in the figure.",
    "projection": "The paper gives no numbers.",
    "yahoo": "The paper, on Labeled Yahoo! News: 31147 faces in 20071 photos, 214 names in 20 to "
    "1917 captions and null.",
}
"""What its text says about an experiment, beyond the image."""
