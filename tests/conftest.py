from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

from candidly.extras import installed

# Where a change is judged, the same code has to get the same verdict twice.
settings.register_profile(
    "candidly", deadline=None, print_blob=True, derandomize="CI" in os.environ
)
settings.load_profile("candidly")

NO_DATA = "needs the real data sets: set CANDIDLY_DATA to their folder"
PHOTOS = (
    "photos/faces/",
    "photos/pictures/",
    "photos/application.py",
    "photos/reporting/",
    "album/",
)
NO_PHOTOS = "needs the extra photos: pip install 'candidly[photos]'"
collect_ignore = [] if find_spec("PIL") else ["stand_ins.py"]


@pytest.fixture
def album(tmp_path):
    """A project without photos, to which photos are added."""
    from made_up import Album

    made = Album(tmp_path / "a.candidly")
    yield made
    made.project.close()


def pytest_collection_modifyitems(items):
    for item in items:
        if "real_data" in item.keywords and not os.environ.get("CANDIDLY_DATA"):
            item.add_marker(pytest.mark.skip(reason=NO_DATA))
        if "baselines/proden.py" in item.nodeid and not installed("torch"):
            item.add_marker(pytest.mark.skip(reason="needs torch: pip install 'candidly[torch]'"))
        if any(part in item.nodeid for part in PHOTOS) and not installed("photos"):
            item.add_marker(pytest.mark.skip(reason=NO_PHOTOS))
