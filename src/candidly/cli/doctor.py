"""The verb ``candidly doctor``: what is installed and works."""

from __future__ import annotations

import platform
from importlib.metadata import packages_distributions, version

from rich.console import Console
from rich.table import Column, Table

from candidly import __version__, datasets, methods
from candidly.cli.refusal import tell
from candidly.datasets.store import SOURCES, available, data_folder
from candidly.extras import EXTRAS, installed
from candidly.metrics import labelling_error

CORE = ("numpy", "scipy", "scikit-learn", "typer", "rich")


def doctor() -> None:
    """Check what is installed and works; missing extras are not an error.

    Every method is tried on a few digits, which takes a while.
    """
    console = Console()
    console.print(
        f"candidly {__version__} on Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )
    parts = Table("part", Column("state", no_wrap=True), "what for")
    for name in CORE:
        parts.add_row(name, version(name), "core")
    # Packages are not always called as their modules: cv2, pi_heif.
    packages = packages_distributions()
    for extra, (module, purpose) in EXTRAS.items():
        package = packages.get(module, [module])[0]
        state = version(package) if installed(extra) else f"pip install 'candidly\\[{extra}]'"
        parts.add_row(f"{extra} ({module})", state, purpose)
    console.print(parts)

    data = Table("data set", "state", title=f"Data in {data_folder()}")
    for name in SOURCES:
        data.add_row(name, "found" if available(name) else "not there")
    console.print(data)

    _try_methods(console)


def _try_methods(console: Console) -> None:
    """Fit every method on digits, and print which works; what it does is said while it lasts."""
    names = list(methods.names())
    tell(console, f"{len(names)} methods are tried on 300 digits with 3 candidates each:")
    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    for number, name in enumerate(names, 1):
        try:
            with console.status(f"trying {name} ({number} of {len(names)})"):
                model = methods.get(name).fit(digits.X, digits.candidates)
        except Exception as error:  # any failure is reported
            tell(console, f"{name}: does not work: {error}")
            continue
        wrong = labelling_error(digits.y, model.transduction_)
        tell(console, f"{name}: works, {wrong:.1%} labelling error")
