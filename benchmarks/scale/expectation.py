"""What to expect at a hundred million faces, computed from what was measured."""

from __future__ import annotations

from typing import Any

from candidly.distributed.open_set_fit import bytes_of_all
from candidly.distributed.solving import BROADCASTS

FACES, NAMES, FEATURES = 100_000_000, 100_000, 128
CANDIDATES, ROUNDS, WORKERS = 3, 30, 64
NETWORK = 1.25e9
"""Bytes per second of a network of 10 Gbit/s, which is assumed and not measured."""


def expectation(out_of_core: dict[str, Any], on_ray: dict[str, Any]) -> dict[str, Any]:
    """Return seconds and bytes of row-space completion, computed; nothing here was run."""
    passes = out_of_core["iterations"] + 4
    measured = out_of_core["CPU seconds"] / (out_of_core["instances"] * passes)
    one_round = on_ray["seconds of a round on one core"] / on_ray["instances"]
    broadcast = 8 * NAMES * FEATURES
    of_all = BROADCASTS * broadcast + max(bytes_of_all(FACES, CANDIDATES * FACES))
    levels = max(WORKERS - 1, 1).bit_length()
    return {
        "computed, not measured": True,
        "faces": FACES,
        "names": NAMES,
        "features on disk GB": 4 * FACES * FEATURES / 1e9,
        "out of core: CPU hours of 30 rounds": measured * FACES * (ROUNDS + 4) / 3600,
        "out of core: state on disk GB": FACES * (28 * CANDIDATES + 8) / 1e9,
        "out of core: journal GB": (ROUNDS + 1) * broadcast / 1e9,
        "open-set labelling: memory of the process that called it, GB": of_all / 1e9,
        "Ray: workers": WORKERS,
        "Ray: seconds of work of a round": one_round * FACES / WORKERS,
        "Ray: broadcast and sums of a round, MB to and from each worker": 2 * broadcast / 1e6,
        "Ray: seconds of a round on a network of 10 Gbit/s": 2 * levels * broadcast / NETWORK,
        "FLOP of a round": 4 * CANDIDATES * FACES * FEATURES,
    }
