"""The paper's own numbers: its tables, and what its text says of the figures, with the words.

The figures of the paper are images; numbers of theirs are known only where the text says them.
"""

from __future__ import annotations

from dataclasses import dataclass

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

GAMMA = 2.0
"""Section 7.1: γ in multiples of λ0, for all MCar-based methods; λ is λ0 itself."""
ELIMINATED = 0.5
"""Section 7.1: the elimination factor f_e."""
ROUNDS = 5
"""Section 7.1: the largest number of rounds of elimination."""


@dataclass(frozen=True)
class PaperPassage:
    """What the text says about a figure.

    Parameters
    ----------
    numbers : tuple of float
        The numbers in it.
    quote : str
        The words that have them, as they are printed.
    """

    numbers: tuple[float, ...]
    quote: str


@dataclass(frozen=True)
class PublishedRange:
    """A part of a figure's axis about which the text says something.

    Parameters
    ----------
    low, high : float
        Its ends; infinite where it has none.
    label : str
        What holds there, in few words, to be drawn into the figure.
    passage : PaperPassage
        Where its ends are from.
    """

    low: float
    high: float
    label: str
    passage: PaperPassage


_ENDLESS = float("inf")
RANGES: dict[str, tuple[PublishedRange, ...]] = {
    "fiw-fraction": (
        PublishedRange(
            0.2,
            _ENDLESS,
            "MCar methods ahead",
            PaperPassage((0.2,), "when the portion of ambiguously labeled data is larger than 0.2"),
        ),
        PublishedRange(
            0.7,
            _ENDLESS,
            "ICE ahead",
            PaperPassage(
                (0.7,), "when more than 0.7 portions of the instances are ambiguously labeled"
            ),
        ),
    ),
    "fiw-cooccurrence": (
        PublishedRange(
            -_ENDLESS,
            0.7,
            "MCar ahead",
            PaperPassage(
                (0.7,),
                "MCar outperforms prior methods over various degrees of ambiguity except when "
                "$\\epsilon > 0.7$",
            ),
        ),
    ),
    "fiw-extra": (
        PublishedRange(
            -_ENDLESS,
            4,
            "MCar methods ahead",
            PaperPassage(
                (5,),
                "outperform other approaches only when the number of extra labels is less than $5$",
            ),
        ),
    ),
    "pie-extra": (
        PublishedRange(
            6,
            _ENDLESS,
            "IPAL ahead",
            PaperPassage((6,), "the IPAL method outperforms our methods when $\\beta > 6$"),
        ),
    ),
    "gamma": (
        PublishedRange(
            1,
            4,
            "helpful",
            PaperPassage(
                (1, 4),
                "For $\\gamma \\in [1, 4]\\lambda_o$, a moderate sparsity of $\\mathbf{Y}$ is "
                "helpful",
            ),
        ),
    ),
}
"""By experiment: what is drawn along the axis of its figure."""

NO_ERROR = {"pie-fraction": ("MCar", "WMCar", "WMCar-ICE", "IPAL")}
"""By experiment: methods that have no error at any point of the paper's figure."""

PASSAGES: dict[str, tuple[PaperPassage, ...]] = {
    "fiw-cooccurrence": (
        PaperPassage(
            IMBALANCE,
            "The average imbalance factor varies from 1.33 to 3.58 as the degree of ambiguity "
            "increases",
        ),
    ),
    "pie-fraction": (
        PaperPassage(
            (),
            "MCar-based methods and IPAL recover all the label ambiguity for various portions of "
            "ambiguously labeled samples",
        ),
    ),
    "distribution": (
        PaperPassage((1122, 8), "consists of 1,122 registered face images from $8$ episodes"),
        PaperPassage((16, 14), "The labels cover $16$ subjects, but only $14$ of them appear"),
    ),
    "yahoo": (
        PaperPassage((31147, 20071), "It consists of 31,147 detected faces from 20,071 images"),
        PaperPassage(
            (214,), "we retain 214 subjects with at least twenty occurrences in the captions"
        ),
        PaperPassage(
            (20, 1917), "the number of labels present in the captions ranges from 20 to 1,917"
        ),
        PaperPassage((64.6, 147.3), "mean and standard deviations equal to 64.6 and 147.3"),
        PaperPassage((0.2,), "exhibits a slightly $0.2\\%$ higher error rate as compared to MMS"),
        PaperPassage((4.7,), "the MCar-SVM algorithm demonstrates $4.7\\%$ improvement"),
        PaperPassage((1.6,), "our proposed WMCar-ICE-SVM outperforms MCar-SVM by $1.6\\%$"),
    ),
    "sensitivity": (
        PaperPassage((GAMMA,), "For MCar-based methods, we use $\\gamma = 2 \\lambda_0$"),
        PaperPassage(
            (ELIMINATED, ROUNDS),
            "For ICE, we set the elimination factor $f_e$ as 0.5, and set the maximum number of "
            "iterations as 5",
        ),
        PaperPassage(
            (0.25,), "A small elimination factor ($f_e = 0.25$) yields better performance than"
        ),
    ),
}
"""By experiment: other passages with numbers; what the pages quote."""

NO_NUMBERS = "The paper shows this as an image; its text has no numbers to set beside ours."


def passages(experiment: str) -> list[PaperPassage]:
    """Return what the text says in numbers about an experiment.

    Examples
    --------
    >>> [passage.numbers for passage in passages("fiw-cooccurrence")]
    [(0.7,), (1.33, 3.58)]
    """
    ranges = [one.passage for one in RANGES.get(experiment, ())]
    if experiment == "parameters":
        ranges += passages("gamma")
    return ranges + list(PASSAGES.get(experiment, ()))


def in_plain_words(passage: PaperPassage) -> str:
    r"""Return a quotation without the marks of its typesetting.

    Examples
    --------
    >>> in_plain_words(PaperPassage((6,), "when $\\beta > 6$"))
    'when β > 6'
    """
    text = passage.quote.replace("$", "").replace("\\%", "%")
    for mark, sign in _SIGNS.items():
        text = text.replace(mark, sign)
    return text


_SIGNS = {
    "\\epsilon": "ε",
    "\\beta": "β",
    "\\gamma": "γ",
    "\\in": "∈",
    "\\lambda_0": "λ₀",
    "\\lambda_o": "λ₀",
    "\\mathbf{Y}": "Y",
    "f_e": "fₑ",
}
