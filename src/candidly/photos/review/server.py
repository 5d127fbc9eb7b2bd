"""The server of the page: on a port of 127.0.0.1, with a random token in its address."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from candidly.photos.project import ProjectProblem
from candidly.photos.review.api import Review, make_app
from candidly.photos.review.guard import App, Guard

HOST = "127.0.0.1"


class ReviewServer:
    """A server that is bound to its port and not yet running; its address is known.

    Parameters
    ----------
    project : Path or None
        The project file, which has to exist; None for the one in the user's data folder.
    port : int
        0 for any that is free.
    token : str, optional
        The secret part of the address; a new one by default.

    Raises
    ------
    ProjectProblem
        Where the project cannot be written to, or the port is taken.
    """

    def __init__(self, project: Path | None, port: int = 0, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.socket = _bound(port)
        self.port: int = self.socket.getsockname()[1]
        try:
            self.review = Review(project)
        except BaseException:
            self.socket.close()
            raise

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def app(self) -> App:
        """Return the whole application, with its guard."""
        hosts = (f"{HOST}:{self.port}", f"localhost:{self.port}")
        return Guard(make_app(self.review), self.token, hosts)

    def run(self, on_start: Callable[[], None] | None = None) -> None:
        """Serve until the process is asked to end."""
        config = uvicorn.Config(
            self.app(),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=3,
        )
        server = uvicorn.Server(config)
        if on_start is not None:
            on_start()
        try:
            server.run(sockets=[self.socket])
        finally:
            self.close()

    def close(self) -> None:
        """Release the port and the project."""
        self.socket.close()
        self.review.close()


def _bound(port: int) -> socket.socket:
    """Return a socket that listens: whoever connects before the server runs waits."""
    # asyncio sends small answers at once only where the protocol is named.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise ProjectProblem(
            f"port {port} cannot be used ({error.strerror}); choose another with --port"
        ) from error
    return made
