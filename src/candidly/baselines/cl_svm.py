"""CL-SVM: every candidate taken for right, one support vector machine per class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from candidly.baselines.compared import (
    SETS_IN_GROUPS,
    CandidateProblem,
    ComparedMethod,
    Labelling,
    softmax_over,
)
from candidly.baselines.linear_machines import one_vs_all
from candidly.parameters import POSITIVE, Constraints
from candidly.registry import register


class CLSVM(ComparedMethod):
    """One-vs-all linear support vector machines with every candidate as a positive.

    Instances that lack a label are its negatives. Features are standardised. Of groups
    only "a name at most once" is used, when labels are chosen. Assumed: scikit-learn's
    ``LinearSVC`` (squared hinge, C = 1); a class that is everybody's candidate, as null
    mostly is, has no negatives and so no machine: it scores 0, where the others reject.

    Parameters
    ----------
    C : float
        Parameter C of the support vector machines.
    classifier, sparse_output, random_state
        As in every compared method; by default its own machines predict.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("CL-SVM").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    takes = replace(SETS_IN_GROUPS, priors=False)

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "C": POSITIVE,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.C = C

    def label(self, problem: CandidateProblem) -> Labelling:
        """Train on all candidates; the label is the candidate with the largest score."""
        machines = one_vs_all(problem.X, problem.mask, self.C, int(problem.rng.integers(2**31)))
        scores = machines.scores(problem.X)
        return Labelling(softmax_over(problem.mask, scores), machines)


register(
    "CL-SVM",
    CLSVM,
    "Luo & Orabona (2010), a baseline there",
    "one linear support vector machine per class",
    "a baseline: what ignoring the ambiguity gives",
)
