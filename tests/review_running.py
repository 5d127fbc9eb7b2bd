"""A review server that runs while a test needs it, and the named album of the demo."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from candidly.photos.review.server import ReviewServer


@contextmanager
def running(project: Path):
    """Yield a server of a project that answers."""
    server = ReviewServer(project)
    own = uvicorn.Server(uvicorn.Config(server.app(), log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=lambda: own.run(sockets=[server.socket]))
    thread.start()
    try:
        yield server
    finally:
        own.should_exit = True
        thread.join()
        server.close()


@contextmanager
def client_of(project: Path):
    """Yield a client of a server of a project, and the server."""
    with running(project) as server, httpx.Client(base_url=server.address, timeout=30) as client:
        yield client, server


def named_album(folder: Path) -> Path:
    """Name the album of the demo in a folder, and return its project."""
    from candidly import photos
    from candidly.demo.album import copy_album

    copy_album(folder)
    photos.name(folder / "photos", folder / "album.candidly")
    return folder / "album.candidly"
