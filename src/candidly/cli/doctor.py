"""The verb ``candidly doctor``: what is installed and works."""

from __future__ import annotations

import platform
from importlib.metadata import packages_distributions, version

from rich.console import Console
from rich.table import Column, Table

from candidly import __version__, datasets, methods
from candidly.datasets.store import SOURCES, available, data_folder
from candidly.extras import EXTRAS, installed
from candidly.metrics import labelling_error

CORE = ("numpy", "scipy", "scikit-learn", "typer", "rich")


def doctor() -> None:
    """Check what is installed and works; missing extras are not an error."""
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

    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    for name in methods.names():
        try:
            model = methods.get(name).fit(digits.X, digits.candidates)
        except Exception as error:  # any failure is reported
            console.print(f"{name}: does not work: {error}", markup=False)
            continue
        wrong = labelling_error(digits.y, model.transduction_)
        console.print(f"{name}: works, {wrong:.1%} labelling error on 300 digits with 3 candidates")
