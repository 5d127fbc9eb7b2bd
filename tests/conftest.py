from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

from candidly.extras import installed

settings.register_profile("candidly", deadline=None, print_blob=True)
settings.load_profile("candidly")

collect_ignore = [] if find_spec("PIL") else ["stand_ins.py"]


def pytest_collection_modifyitems(items):
    reason = "needs the real data sets: set CANDIDLY_DATA to their folder"
    for item in items:
        if "real_data" in item.keywords and not os.environ.get("CANDIDLY_DATA"):
            item.add_marker(pytest.mark.skip(reason=reason))
        if "methods/proden.py" in item.nodeid and not installed("torch"):
            item.add_marker(pytest.mark.skip(reason="needs torch: pip install 'candidly[torch]'"))
