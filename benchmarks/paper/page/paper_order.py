"""The paper's sections, figures and tables, in its order and by its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.paper.declaration import Experiment


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of the paper.

    Parameters
    ----------
    number : str
        As the paper has it: "Figure 4" or "Table 1".
    shows : str
        What the paper says that it shows, in few words.
    experiments : tuple of str
        The experiments that it is drawn from; none for drawings.
    panels : bool
        Whether these are its panels (a), (b) and (c).
    """

    number: str
    shows: str
    experiments: tuple[str, ...] = ()
    panels: bool = False

    @property
    def anchor(self) -> str:
        """Its identifier on the page.

        Examples
        --------
        >>> PaperFigure("Table 1", "errors").anchor
        'table-1'
        """
        return self.number.lower().replace(" ", "-")


@dataclass(frozen=True)
class PaperSection:
    """A section of the paper with its figures, and what has none in the paper.

    Parameters
    ----------
    number, title : str
    figures : tuple of PaperFigure
    further : tuple of str
        Experiments without a figure.
    beside : tuple of str
        Measurements beside the experiments, by their names in ``side_measurements``.
    """

    number: str
    title: str
    figures: tuple[PaperFigure, ...] = ()
    further: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Its identifier on the page."""
        return f"section-{self.number.replace('.', '-')}"

    @property
    def experiments(self) -> tuple[str, ...]:
        """All its experiments, in order, each once."""
        drawn = (name for figure in self.figures for name in figure.experiments)
        return tuple(dict.fromkeys((*drawn, *self.further)))


SECTIONS = (
    PaperSection(
        "1",
        "Introduction",
        (
            PaperFigure(
                "Figure 1", "names in captions are not associated with the faces of the photo"
            ),
        ),
    ),
    PaperSection(
        "3",
        "The proposed framework",
        (
            PaperFigure("Figure 2", "MCar reassigns labels, so that the hulls of classes part"),
            PaperFigure("Figure 3", "the decomposition of the heterogeneous feature matrix"),
        ),
        ("propositions",),
    ),
    PaperSection(
        "5",
        "Iterative candidate elimination",
        further=("removal", "ice-over-others"),
        beside=("ties",),
    ),
    PaperSection("6", "Labelling constraints between instances", further=("named",)),
    PaperSection(
        "7.2.1",
        "Results on FIW(10b), ten people of LFW",
        (
            PaperFigure(
                "Figure 4",
                "performance comparisons on the FIW(10b) data set",
                ("fiw-fraction", "fiw-cooccurrence", "fiw-extra"),
                panels=True,
            ),
        ),
        ("fiw-extra-test", "partners", "shifted", "shifted-test"),
        ("dictionaries",),
    ),
    PaperSection(
        "7.2.2",
        "Results on CMU PIE",
        (
            PaperFigure(
                "Figure 5",
                "performance comparisons on the CMU PIE data set",
                ("pie-fraction", "pie-extra"),
                panels=True,
            ),
            PaperFigure(
                "Figure 6", "low-rank decomposition of faces of both data sets", ("decomposition",)
            ),
        ),
        ("pie-fraction-test", "pie-extra-test"),
    ),
    PaperSection(
        "7.3.1",
        "Results on Lost",
        (
            PaperFigure("Figure 7", "confusion matrix of the ambiguous labels", ("distribution",)),
            PaperFigure("Figure 8", "class sizes, true and estimated", ("distribution",)),
            PaperFigure("Table 1", "labelling errors on Lost", ("lost",)),
        ),
        ("lost-test",),
    ),
    PaperSection(
        "7.3.2",
        "Results on news photos",
        (PaperFigure("Table 2", "test errors on Labeled Yahoo! News", ("yahoo", "yahoo-news")),),
    ),
    PaperSection(
        "7.4",
        "Sensitivity of parameters",
        (
            PaperFigure(
                "Figure 9", "labelling errors of WMCar over λ and γ", ("parameters", "sensitivity")
            ),
            PaperFigure("Figure 10", "labelling errors over γ", ("parameters", "sensitivity")),
            PaperFigure(
                "Figure 11", "labelling errors over the rounds", ("elimination", "sensitivity")
            ),
        ),
        ("parameters-test", "elimination-test"),
    ),
    PaperSection("7.5", "Convergence", further=("projection", "projection-test")),
)
"""In the order of the paper; sections without figures only where something was run for them."""


def without_a_place(experiments: Iterable[Experiment]) -> tuple[str, ...]:
    """Return experiments that no section has: those of our own.

    Examples
    --------
    >>> from benchmarks.paper import EXPERIMENTS
    >>> "lost" in without_a_place(EXPERIMENTS)
    False
    """
    placed = {name for section in SECTIONS for name in section.experiments}
    return tuple(one.name for one in experiments if one.name not in placed)
