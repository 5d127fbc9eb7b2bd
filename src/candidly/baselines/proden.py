"""PRODEN: a network whose own answers weight the candidates of the next epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.feature_scaling import FeatureScaling, standardise
from candidly.extras import require
from candidly.parameters import COUNT, COUNT_OR_NONE_AT_ALL, NOT_NEGATIVE, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats


class PRODEN(ComparedMethod):
    """Progressive identification of the true label (Lv, Xu, Feng, Niu, Geng & Sugiyama 2020).

    A network learns by cross-entropy against soft labels on the candidates. Its softmax,
    renormalised on the candidates, is what an instance is weighted by in the next epoch.
    Needs torch to fit: ``pip install 'candidly[torch]'``; predicting needs none.

    Features are standardised, as networks need. Assumed, since the publication leaves the
    network to the data: a linear model, since a hidden layer soon learns small sets by
    heart, wrong candidates included; stochastic gradient descent with momentum 0.9; the
    first epoch is weighted by the priors where there are any. It runs on one core of the
    processor in double precision, so that equal seeds give equal results.

    Parameters
    ----------
    hidden : int
        Rectified linear units of a hidden layer; 0 is a linear model.
    epochs : int
        Passes over the instances.
    batch_size : int
        Instances per step.
    learning_rate, weight_decay : float
        Step size and weight decay of the gradient descent.
    classifier, sparse_output, random_state
        As in every compared method; first weights and batches are drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.baselines.PRODEN(random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "hidden": COUNT_OR_NONE_AT_ALL,
        "epochs": COUNT,
        "batch_size": COUNT,
        "learning_rate": POSITIVE,
        "weight_decay": NOT_NEGATIVE,
    }

    def __init__(
        self,
        *,
        hidden: int = 0,
        epochs: int = 500,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        weight_decay: float = 1e-3,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay

    def label(self, problem: CandidateProblem) -> Labelling:
        """Train the network; its answers in the last epoch are the soft labels."""
        scaling = standardise(problem.X)
        with _one_thread(require("torch", "torch")) as torch:
            network, labels, objective = self._train(torch, scaling(problem.X), problem)
        return Labelling(labels, _Network(scaling, network), objective)

    def _train(
        self, torch: Any, rows: Floats, problem: CandidateProblem
    ) -> tuple[list[Floats], Floats, list[float]]:
        X, P = torch.from_numpy(rows), torch.from_numpy(problem.P.copy())
        sizes = [X.shape[1], *([self.hidden] if self.hidden else []), P.shape[1]]
        weights: list[Any] = []
        for given, asked in pairwise(sizes):
            # torch's own start of a layer, drawn here so that no global seed is touched.
            reach = 1 / np.sqrt(given)
            for shape in ((given, asked), asked):
                start = problem.rng.uniform(-reach, reach, shape)
                weights.append(torch.from_numpy(start).requires_grad_())
        descent = torch.optim.SGD(
            weights, lr=self.learning_rate, momentum=0.9, weight_decay=self.weight_decay
        )
        off = torch.from_numpy(~problem.mask)
        objective = []
        for _ in range(self.epochs):
            total = 0.0
            order = torch.from_numpy(problem.rng.permutation(len(X)))
            for batch in order.split(self.batch_size):
                scores = X[batch]
                for i in range(0, len(weights), 2):
                    scores = (scores if i == 0 else scores.relu()) @ weights[i] + weights[i + 1]
                loss = -(P[batch] * scores.log_softmax(dim=1)).sum(dim=1)
                descent.zero_grad()
                loss.mean().backward()
                descent.step()
                total += float(loss.detach().sum())
                # Softmax renormalised on the candidates is the softmax of their scores alone.
                inside = scores.detach().masked_fill(off[batch], -torch.inf)
                P[batch] = inside.softmax(dim=1)
            if not np.isfinite(total):
                raise ValueError(
                    f"the network's loss is not finite with learning_rate "
                    f"{self.learning_rate!r}; lower it"
                )
            objective.append(total / len(X))
        return [weight.detach().numpy() for weight in weights], P.numpy(), objective


@contextmanager
def _one_thread(torch: Any) -> Iterator[Any]:
    """Run torch on one thread: several are slower here, and sums depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield torch
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class _Network:
    """The trained layers, as plain arrays."""

    scaling: FeatureScaling
    weights: list[Floats]

    def scores(self, X: Floats) -> Floats:
        values = self.scaling(X)
        for i in range(0, len(self.weights), 2):
            values = values if i == 0 else np.maximum(values, 0)
            values = values @ self.weights[i] + self.weights[i + 1]
        return values


register(
    "PRODEN",
    PRODEN,
    "Lv, Xu, Feng, Niu, Geng & Sugiyama (2020)",
    "a network's training; linear in instances times epochs; needs torch",
    "many instances; a linear model, or one hidden layer",
    extra="torch",
)
