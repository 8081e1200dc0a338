"""The server of the page, on this machine only: it answers who was given its address, from its own pages.

A server on this machine can be reached by every page that the browser shows. So each request must carry the cookie that
the address with its token gave, name this server as its host (a name that was bound to this machine afterwards does
not), and come from a page of this server. Its pages run the scripts that this server wrote and no other: markup that
got into one by mistake would stay without effect.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import secrets
import socket
import time
import webbrowser
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from problog4fairness.data import MEBIBYTE
from problog4fairness.errors import P4FError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# A table of this size is better named on the command line than sent through the browser.
LARGEST_UPLOAD = 512 * MEBIBYTE
HERE = "127.0.0.1"
# A cookie is sent to all ports of a host: each server's has its own name.
COOKIE, REVIEWER_COOKIE = "p4f_studio", "p4f_reviewer"
# Where reviewers' pages are.
REVIEW = "/review/"
# Wrong tokens or passwords in a minute, after which nobody new is let in for a while.
TRIES, A_WHILE = 20, 60.0
# The framework puts scripts into the page, which carry this session's mark, and makes functions of templates; styles
# stand at elements. So these remain: 'unsafe-eval' for scripts, 'unsafe-inline' for styles.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'nonce-{mark}' 'unsafe-eval'",
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
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# What the framework says of its own pages, in which texts are escaped; files that happen to be pages do not have it.
PAGE = (b"x-nicegui-content", b"page")
NO_TOKEN = "open the whole address that p4f studio printed; it ends with ?token=..."
LOGIN = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>p4f studio</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 20vh auto; width: min(20rem, 90%) }}
:root {{ color-scheme: light dark }}
input, button {{ font: inherit; width: 100%; padding: .5rem; margin-top: .5rem; box-sizing: border-box }}</style>
<form><label>The password of this page<input type="password" name="token" autofocus required></label>
<button>Open</button></form><p>{why}</p></html>"""
# What the framework's own pages are made of; they hold nothing of a project.
_MACHINERY = ("/_nicegui/", "/_nicegui_ws/")
_SCRIPT = re.compile(rb"<script\b")


def serve(
    folder: Path,
    *,
    port: int = 0,
    host: str = HERE,
    password: str | None = None,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page of a project until it is interrupted.

    Parameters
    ----------
    folder
        The project's folder.
    port
        Where to listen; 0 takes a free one.
    host
        Of another address than this machine's, others can reach the page: it needs a password.
    password
        Takes the place of the random token.
    browser
        Whether to open a browser.
    say
        Shows the address.
    """
    if host in ("0.0.0.0", "::"):
        raise P4FError(f"--host {host} is every address; name the one that others will type, such as 192.0.2.7")
    if host not in (HERE, "localhost") and not password:
        raise P4FError(f"--host {host} lets others reach this page; choose a password for them: --password WORD")
    if password is not None and len(password) < 8:
        raise P4FError("a password has at least 8 letters")
    try:
        import uvicorn
    except ImportError:
        raise P4FError("the page needs the extra studio: pip install 'problog4fairness[studio]'") from None
    from problog4fairness.app.studio.project import Project
    from problog4fairness.app.studio.shell import application

    listening = _listen(host, port)
    port = listening.getsockname()[1]
    token = password or secrets.token_urlsafe(24)
    hosts = {f"{name}:{port}" for name in (host.lower(), HERE, "localhost")}
    reviewers = ReviewerLinks(f"http://{host}:{port}")
    page = application(Project.open(folder), reviewers.link)
    guarded = Guard(page, token, hosts, LARGEST_UPLOAD, reviewers, asks=password is not None)
    address = f"http://{host}:{port}/" + ("" if password else f"?token={token}")
    config = uvicorn.Config(guarded, log_level="warning", ws_max_size=16 * MEBIBYTE, server_header=False)
    server = uvicorn.Server(config)
    say(f"{folder}: {address}")
    if host not in (HERE, "localhost"):
        say("Who can reach this address and knows the password sees the table and changes the project, and so does who")
        say("listens in on the network: the connection is not encrypted. Use it in a network that you trust.")
    if browser and host == HERE:
        webbrowser.open(address)
    with listening:
        asyncio.run(server.serve([listening]))


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise P4FError(f"--port {port}: {error.strerror}; leave --port out to take a free one") from None


class Guard:
    """An ASGI application in front of another one.

    ``token`` is the secret of the address or, where it ``asks`` people for it, the password; ``hosts`` are what the
    ``Host`` of a request may be, with the port; a body may have ``largest`` bytes; ``reviewers`` may see the page on
    which they review, and nothing else.
    """

    def __init__(
        self, app: App, token: str, hosts: Iterable[str], largest: int, reviewers: ReviewerLinks, *, asks: bool = False
    ) -> None:
        self._reviewers = reviewers
        self.app, self._token, self._hosts, self._largest = app, token, frozenset(hosts), largest
        self._asks = asks
        self.cookie = f"{COOKIE}_{min(self._hosts).rpartition(':')[2]}"
        # What the browser keeps is not the password itself.
        self._secret, self._mark = secrets.token_urlsafe(24), secrets.token_urlsafe(16)
        self._wrong: deque[float] = deque(maxlen=TRIES)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "").lower() not in self._hosts:
            await self._refuse(
                scope, send, 403, "this page answers to the address that p4f studio printed, and to no other"
            )
            return
        if not self._from_here(headers):
            await self._refuse(scope, send, 403, "this page takes requests of its own pages only")
            return
        reviewer = self._reviewers.cookie_for(scope)
        if reviewer is not None:
            await self._welcome(scope, send, reviewer)
            return
        if scope["type"] == "http" and (token := _token_of(scope)) is not None:
            await self._answer(token, scope, send)
            return
        if not self._is_known(headers) and not self._reviewers.admits(headers.get("cookie", ""), scope["path"]):
            await self._refuse(scope, send, 401, NO_TOKEN)
            return
        if int_or_zero(headers.get("content-length")) > self._largest:
            await self._refuse(
                scope, send, 413, f"files have at most {self._largest // 2**20} MiB here; p4f studio FILE"
            )
            return
        await self.app(scope, self._bounded(receive), self._marked(send))

    def _from_here(self, headers: dict[str, str]) -> bool:
        """Whether a page of this server sent the request, or the person who typed the address."""
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() not in self._hosts:
            return False
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _is_known(self, headers: dict[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self.cookie in cookies and _equal(cookies[self.cookie].value, self._secret)

    async def _answer(self, token: str, scope: Message, send: Send) -> None:
        """Let somebody in who knows the token; those who guess have to wait."""
        if len(self._wrong) == TRIES and time.monotonic() - self._wrong[0] < A_WHILE:
            await self._refuse(scope, send, 429, "too many wrong tries; wait a minute")
        elif _equal(token, self._token):
            await self._welcome(scope, send, f"{self.cookie}={self._secret}")
        else:
            self._wrong.append(time.monotonic())
            await self._refuse(scope, send, 401, "this is not the password" if self._asks else NO_TOKEN)

    async def _welcome(self, scope: Message, send: Send, cookie: str) -> None:
        """Turn the token into a cookie, and take it out of the address, which stays in the browser's history."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query.pop("token")
        path = quote(scope["path"])
        place = path if path.startswith("/") and not path.startswith("//") else "/"
        place += f"?{urlencode(query, doseq=True)}" if query else ""
        kept = f"{cookie}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", place.encode()), (b"set-cookie", kept.encode()), *self._headers]
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

    @property
    def _headers(self) -> list[tuple[bytes, bytes]]:
        return [(b"content-security-policy", POLICY.format(mark=self._mark).encode()), *HEADERS]

    def _marked(self, send: Send) -> Send:
        """The answer with the policy; in a page that the framework wrote, scripts are marked as the server's own."""
        held: list[Message] = []

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and PAGE not in message["headers"]:
                message = {**message, "headers": [*message["headers"], *self._headers]}
            elif message["type"] == "http.response.start" or held:
                held.append(message)
            if not held:
                await send(message)
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                await send_page()

        async def send_page() -> None:
            body = b"".join(part.get("body", b"") for part in held[1:])
            body = _SCRIPT.sub(b'<script nonce="' + self._mark.encode() + b'"', body)
            kept = [pair for pair in held[0]["headers"] if pair[0].lower() != b"content-length"]
            headers = [*kept, (b"content-length", str(len(body)).encode()), *self._headers]
            await send({**held[0], "headers": headers})
            await send({"type": "http.response.body", "body": body})

        return sending

    async def _refuse(self, scope: Message, send: Send, status: int, why: str) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
            return
        asked = self._asks and status in (401, 429)
        kind, words = ("html", LOGIN.format(why="" if why == NO_TOKEN else why)) if asked else ("plain", f"{why}\n")
        headers = [(b"content-type", f"text/{kind}; charset=utf-8".encode()), *self._headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": words.encode()})


def int_or_zero(text: str | None) -> int:
    """A number that somebody sent, 0 if it is none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else 0


def _token_of(scope: Message) -> str | None:
    """The token in the address of a request, if there is one."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return given[0] if given and scope["method"] == "GET" else None


def _equal(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


class ReviewerLinks:
    """Makes links to a server, such as ``http://127.0.0.1:4000``, and knows who came with one."""

    def __init__(self, address: str) -> None:
        self._address, self._secret = address, secrets.token_bytes(32)

    def link(self, name: str) -> str:
        """The address that lets somebody review rows under a name."""
        return f"{self._address}{REVIEW}{quote(name, safe='')}?token={self._key(name)}"

    def cookie_for(self, scope: Mapping[str, Any]) -> str | None:
        """The cookie of somebody who opens a link; None for every other request."""
        name = _name_in(scope["path"])
        if scope["type"] != "http" or scope["method"] != "GET" or name is None:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._key(name).encode()):
            return None
        plain = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")
        return f"{REVIEWER_COOKIE}_{given[:12]}={plain}.{given}"

    def admits(self, cookies: str, path: str) -> bool:
        """Whether a path belongs to a page on which the owner of one of these cookies reviews."""
        try:
            cookies_sent = SimpleCookie(cookies)
        except CookieError:
            return False
        of_reviewers = (cookie for name, cookie in cookies_sent.items() if name.startswith(REVIEWER_COOKIE))
        reviewers = {self._owner(cookie.value) for cookie in of_reviewers} - {None}
        name = _name_in(path)
        return bool(reviewers) and path.startswith(_MACHINERY) if name is None else name in reviewers

    def _owner(self, cookie: str) -> str | None:
        """The name in a cookie, if this server gave it."""
        plain, _, key = cookie.partition(".")
        try:
            name = base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4)).decode()
        except ValueError:
            return None
        return name if hmac.compare_digest(key.encode(), self._key(name).encode()) else None

    def _key(self, name: str) -> str:
        return hmac.new(self._secret, name.encode(), "sha256").hexdigest()


def _name_in(path: str) -> str | None:
    """The reviewer of a page."""
    return path.removeprefix(REVIEW) if path.startswith(REVIEW) else None
