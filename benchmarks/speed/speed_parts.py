"""Which files declare measurements: one per part of the library."""

from __future__ import annotations

from importlib import import_module

from benchmarks.speed.measuring import MEASUREMENTS, Measurement

PARTS = (
    "floors",
    "alm_solves",
    "rpca_solves",
    "labelling_solves",
    "open_set_solves",
    "device_solves",
    "growing_problems",
)


def measurements() -> dict[str, Measurement]:
    """Return the measurements of all parts, by name, in the order of the parts."""
    parts = [import_module(f"benchmarks.speed.{part}").__name__ for part in PARTS]

    def place(name: str) -> int:
        run = MEASUREMENTS[name].run
        return parts.index(getattr(run, "func", run).__module__)

    return {name: MEASUREMENTS[name] for name in sorted(MEASUREMENTS, key=place)}
