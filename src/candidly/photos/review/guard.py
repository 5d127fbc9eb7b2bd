"""What a request has to be before it reaches the application: from this page, and with its token.

Any page in the browser, and any program of another user of the machine, can send requests to a
port. The token is in the path of every address, so that there is no cookie that a browser would
send for another page. Host is checked against names that somebody else lets point to 127.0.0.1,
Origin against other pages.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1_000_000
"""Bytes of a request: a thousand faces of a group take a tenth of it."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class TooLarge(Exception):  # noqa: N818  reads as what it is
    """Raised inside the application where a request is larger than it said."""


class Guard:
    """An ASGI application that passes on only requests of its own page.

    Parameters
    ----------
    app : ASGI application
        Its paths begin after the token.
    token : str
        The first part of every path.
    hosts : tuple of str
        What the header Host may be, with the port.
    """

    def __init__(self, app: App, token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here
        refused = self._refusal(scope)
        if refused is not None:
            await _answer(send, *refused)
            return
        inner = {**scope, "root_path": f"/{self.token}"}
        counted, answered = _counted(receive), _with_headers(send)
        try:
            await self.app(inner, counted, answered)
        except TooLarge:
            await _answer(send, 413, "the request is too large")

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return why a request is refused, with its status, or None."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        hosts = [value.decode("latin-1").lower() for value in given.get(b"host", [])]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 403, "this address is not the one that candidly review printed"
        for origin in given.get(b"origin", []):
            if origin.decode("latin-1").lower() not in [f"http://{host}" for host in self.hosts]:
                return 403, "the request comes from another page"
        first = scope["path"].lstrip("/").partition("/")[0]
        if not compare_digest(first.encode("utf-8", "replace"), self.token.encode()):
            return 403, "open the address that candidly review printed, with its token"
        if scope["method"] == "POST":
            kind = given.get(b"content-type", [b""])[0].partition(b";")[0].strip().lower()
            if kind != b"application/json":
                return 415, "a request has to be JSON, with Content-Type: application/json"
        size = given.get(b"content-length", [b"0"])[0]
        if not size.isdigit() or int(size) > LARGEST_BODY:
            return 413, "the request is too large"
        return None


def _counted(receive: Receive) -> Receive:
    """Return a reader of the body that ends where it becomes too large."""
    read = 0

    async def reading() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LARGEST_BODY:
            raise TooLarge
        return message

    return reading


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            headers += _encoded(HEADERS)
            if b"cache-control" not in names:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await send(message)

    return sending


async def _answer(send: Send, status: int, problem: str) -> None:
    body = json.dumps({"problem": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    headers.append((b"content-length", str(len(body)).encode()))
    headers += _encoded(HEADERS)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
