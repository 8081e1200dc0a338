"""Who may talk to the page: the person who was given its address, from a page of this server, and nobody else.

A server on this machine can be reached by every page that the browser shows. So each request must carry the cookie that
the address with its token gave, name this server as its host (a name that was bound to this machine afterwards does
not), and come from a page of this server.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

COOKIE = "p4f_studio"
# The framework puts small scripts into the page and makes functions of templates; everything comes from this server.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "worker-src 'self' blob:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    ]
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """An ASGI application in front of another one.

    Parameters
    ----------
    app
        What is guarded.
    token
        The secret of the address.
    hosts
        What the ``Host`` of a request may be, with the port.
    largest
        Bytes that the body of a request may have.
    """

    def __init__(self, app: App, token: str, hosts: Iterable[str], largest: int) -> None:
        self.app, self._token, self._hosts, self._largest = app, token, frozenset(hosts), largest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "").lower() not in self._hosts:
            await _refuse(scope, send, 403, "this page answers to the address that p4f studio printed, and to no other")
            return
        if not self._from_here(headers):
            await _refuse(scope, send, 403, "this page takes requests of its own pages only")
            return
        if scope["type"] == "http" and self._is_new(scope):
            await self._welcome(scope, send)
            return
        if not self._is_known(headers):
            await _refuse(scope, send, 401, "open the whole address that p4f studio printed; it ends with ?token=...")
            return
        if int_or_zero(headers.get("content-length")) > self._largest:
            await _refuse(scope, send, 413, f"files have at most {self._largest // 2**20} MiB here; p4f studio FILE")
            return
        await self.app(scope, self._bounded(receive), _with_headers(send))

    def _from_here(self, headers: dict[str, str]) -> bool:
        """Whether a page of this server sent the request, or the person who typed the address."""
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() not in self._hosts:
            return False
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _is_new(self, scope: Message) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return bool(scope["method"] == "GET" and self._matches(given))

    def _is_known(self, headers: dict[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in cookies and self._matches(cookies[COOKIE].value)

    def _matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def _welcome(self, scope: Message, send: Send) -> None:
        """Turn the token into a cookie, and take it out of the address, which stays in the browser's history."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query.pop("token")
        place = scope["path"] if scope["path"].startswith("/") and not scope["path"].startswith("//") else "/"
        place += f"?{urlencode(query, doseq=True)}" if query else ""
        cookie = f"{COOKIE}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", place.encode()), (b"set-cookie", cookie.encode()), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _bounded(self, receive: Receive) -> Receive:
        """The same messages, until a body without a stated length has become too long."""
        taken = 0

        async def bounded() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b"")) if message["type"] == "http.request" else 0
            return {"type": "http.disconnect"} if taken > self._largest else message

        return bounded


def int_or_zero(text: str | None) -> int:
    """A number that somebody sent, 0 if it is none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else 0


async def _refuse(scope: Message, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return sending
