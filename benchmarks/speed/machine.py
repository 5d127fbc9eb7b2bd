"""On what was measured: processor, memory, threads and versions."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from candidly import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch", "pyrpca", "tensorly")


def machine() -> dict[str, Any]:
    """Return what the figures depend on, of the process that measures."""
    return {
        "processor": _listed("/proc/cpuinfo", "model name") or platform.processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory GB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "busy processes": round(os.getloadavg()[0], 1),
        "BLAS": sorted(
            f"{part['internal_api']} {part['version']}, {part['num_threads']} threads"
            for part in threadpool_info()
            if part["user_api"] == "blas"
        ),
        **_gpu(),
        "python": platform.python_version(),
        "candidly": __version__,
        **{name: found for name in PACKAGES if (found := _version(name))},
    }


def peak_memory() -> float:
    """Return the largest memory in MB that this process has had."""
    return round(int(_listed("/proc/self/status", "VmHWM").split()[0]) / 1024, 1)


def restarted_peak() -> float:
    """Count the largest memory of this process from now on, and return what it has in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def _gpu() -> dict[str, str]:
    """Return the GPU that this process has used, if any."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return {}
    return {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _listed(file: str, name: str) -> str:
    """Return a value from a file of lines ``name: value``."""
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return line.split(":", 1)[1].strip()
    return ""
