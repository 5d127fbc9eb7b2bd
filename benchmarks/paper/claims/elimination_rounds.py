"""Claims about the rounds of ICE: Figure 11."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.paper.claims.base import CLOSE, Claim, Finding
from benchmarks.paper.experiments import ELIMINATED, ROUNDS
from benchmarks.paper.stored_runs import NotRunError, PaperResults

S = "sensitivity"
TEXT = "Section 7.4"
STEPS = "rounds"


def _stages(results: PaperResults, ending: str) -> dict[float, list[float]]:
    """Return the errors after each round, for each fraction eliminated."""
    rounds = results.points(S, ROUNDS, STEPS)
    return {
        f: [
            results.mean(S, f"WMCar-ICE{ending}", STEPS, **{ELIMINATED: f, ROUNDS: r})
            for r in rounds
        ]
        for f in results.points(S, ELIMINATED, STEPS)
    }


def _last(results: PaperResults, ending: str) -> tuple[dict[float, float], str]:
    last = {f: errors[-1] for f, errors in _stages(results, ending).items()}
    text = "; ".join(f"f_e {f:g}: {value:.1f}" for f, value in last.items())
    return last, f"after the last round: {text}"


def wavering(errors: list[float]) -> float:
    """Return how far a curve goes up and down, beyond the way from its start to its end.

    Examples
    --------
    >>> wavering([9, 8, 7]), wavering([9, 7, 8])
    (0, 2)
    """
    return sum(abs(b - a) for a, b in pairwise(errors)) - abs(errors[-1] - errors[0])


def _fluctuates(results: PaperResults, ending: str) -> Finding:
    wave = {f: wavering(errors) for f, errors in _stages(results, ending).items()}
    text = "; ".join(f"f_e {f:g}: {value:.1f}" for f, value in wave.items())
    others = [value for f, value in wave.items() if f > 0]
    return Finding(
        wave[0.0] > max(others) + CLOSE / 2, f"points up and down beyond the way made: {text}"
    )


def _small_better(results: PaperResults, ending: str) -> Finding:
    last, text = _last(results, ending)
    large = [error for f, error in last.items() if f > 0.5]
    return Finding(last[0.25] < min(large) - CLOSE / 2 and last[0.25] <= last[0.5], text)


def _small_slower(results: PaperResults, ending: str) -> Finding:
    rounds = results.points(S, ROUNDS, STEPS)
    needed = {}
    for f in results.points(S, ELIMINATED, STEPS):
        if f > 0:
            left = [
                results.figures(
                    "unresolved", S, f"WMCar-ICE{ending}", STEPS, **{ELIMINATED: f, ROUNDS: r}
                )[0]
                for r in rounds
            ]
            done = [r for r, count in zip(rounds, left, strict=True) if count == 0]
            needed[f] = done[0] if done else np.inf
    text = "; ".join(
        f"f_e {f:g}: {n:g}" if np.isfinite(n) else f"f_e {f:g}: over {rounds[-1]}"
        for f, n in needed.items()
    )
    return Finding(
        needed[0.25] > needed[1.0], f"rounds until every face is down to one label: {text}"
    )


def _half_and_five(results: PaperResults, ending: str) -> Finding:
    stages = _stages(results, ending)
    rounds = results.points(S, ROUNDS, STEPS)
    if 5 not in rounds:
        raise NotRunError(f"{S}: 5 rounds")
    here = stages[0.5][rounds.index(5)]
    best = min(min(errors) for errors in stages.values())
    return Finding(
        here <= best + CLOSE, f"{here:.1f} with f_e 0.5 and 5 rounds, best anywhere {best:.1f}"
    )


def _not_monotone(results: PaperResults, ending: str) -> Finding:
    rises = {
        f: max((b - a for a, b in pairwise(errors)), default=0.0)
        for f, errors in _stages(results, ending).items()
        if f > 0
    }
    text = "; ".join(f"f_e {f:g}: {value:+.1f}" for f, value in rises.items())
    return Finding(max(rises.values()) > 0, f"largest change for the worse in a round: {text}")


def _iterative(results: PaperResults, ending: str) -> Finding:
    last, text = _last(results, ending)
    return Finding(last[0.5] < last[0.0] - CLOSE / 2, text)


_ONE_FACE = "The curves end within a few faces of 1122 of each other: too close to tell."

CLAIMS = (
    Claim(
        "ice-fluctuates",
        S,
        f"{TEXT}, Figure 11; Sections 1 and 5",
        "With f_e = 0, iterative WMCar, the error fluctuates.",
        "its curve goes up and down by half a point more than that of any f_e above 0",
        _fluctuates,
        "From centred and scaled features rounds without elimination change next to nothing.",
    ),
    Claim(
        "ice-small",
        S,
        f"{TEXT}, Figure 11",
        "A small f_e (0.25) is better than large ones,",
        "after the last round its error is half a point below those of 0.75 and 1, and not above "
        "that of 0.5",
        _small_better,
        _ONE_FACE,
    ),
    Claim(
        "ice-small-why",
        S,
        TEXT,
        "since it decides less abruptly: a true label that is removed does not come back.",
        "",
        None,
        "An explanation: which labels were removed is not kept.",
    ),
    Claim(
        "ice-slow",
        S,
        f"{TEXT}, Figure 11",
        "but takes more rounds.",
        "more rounds with f_e = 0.25 than with 1 until every face is down to one label",
        _small_slower,
    ),
    Claim(
        "ice-choice",
        S,
        f"{TEXT}, Figure 11",
        "f_e = 0.5 and 5 rounds are a good choice.",
        "within 1 point of the best over f_e and rounds",
        _half_and_five,
        "A smaller fraction, 0.25, does better here, as the paper itself says of small fractions.",
    ),
    Claim(
        "ice-monotone",
        S,
        TEXT,
        "The error need not fall from round to round: a label wrongly removed does not come back.",
        "for some f_e above 0 some round makes it worse",
        _not_monotone,
    ),
    Claim(
        "ice-propagates",
        S,
        TEXT,
        "Such an error spreads to faces that look alike.",
        "",
        None,
        "No experiment removes a label to see what becomes of other faces.",
    ),
    Claim(
        "ice-iterative",
        S,
        "Sections 1 and 8",
        "ICE makes iterating WMCar worth while.",
        "after the last round the error with f_e = 0.5 is half a point below that with f_e = 0",
        _iterative,
        _ONE_FACE,
    ),
    Claim(
        "convergence-ice",
        S,
        "Section 7.5",
        "ICE ends, since there are finitely many candidates.",
        "",
        None,
        "True by counting for f_e above 0: every round takes candidates away. Nothing to measure.",
    ),
)
