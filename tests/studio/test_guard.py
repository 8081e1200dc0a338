"""Who may talk to the page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from problog4fairness.studio.guard import COOKIE, Guard

TOKEN, HOST = "a-token-of-this-session", "127.0.0.1:4000"


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its whole request and says so."""
    length = 0
    if scope["type"] == "http":
        while True:
            message = await receive()
            length += len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def ask(
    kind: str = "http", *, path: str = "/", query: str = "", body: list[bytes] | None = None, **headers: str
) -> Any:
    """What the guard answers: status, headers and body, or the message that ends a web socket."""
    given = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": kind,
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items() if value],
    }
    parts = [{"type": "http.request", "body": part, "more_body": True} for part in body or []]
    parts.append({"type": "http.request", "body": b"", "more_body": False})
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(inner, TOKEN, [HOST], 1000)(scope, receive, send))
    if kind == "websocket":
        return sent[0]
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


KNOWN = f"{COOKIE}={TOKEN}"


def test_the_address_becomes_a_cookie_and_leaves_the_history():
    status, headers, _ = ask(path="/", query=f"screen=audit&token={TOKEN}")
    assert (status, headers[b"location"]) == (303, b"/?screen=audit")
    cookie = headers[b"set-cookie"].decode()
    assert cookie.startswith(KNOWN)
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_a_path_that_looks_like_another_host_is_not_followed():
    assert ask(path="//evil.example", query=f"token={TOKEN}")[1][b"location"] == b"/"


def test_with_the_cookie_the_page_is_there_and_says_what_it_may_load():
    status, headers, body = ask(cookie=KNOWN)
    assert (status, body) == (200, b"0")
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize("cookie", ["", f"{COOKIE}=wrong", f"{COOKIE}=", "other=1", f"{COOKIE}={TOKEN}x", "\x00=;;="])
def test_without_the_cookie_there_is_nothing(cookie):
    assert ask(cookie=cookie)[0] == 401


@pytest.mark.parametrize(
    "host", ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "", "127.0.0.1:4000.evil.example"]
)
def test_another_host_is_refused_even_with_the_cookie(host):
    assert ask(host=host, cookie=KNOWN)[0] == 403
    assert ask(host=host, query=f"token={TOKEN}")[0] == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:4001", "http://127.0.0.1:4000.evil.example"]
)
def test_another_origin_is_refused(origin):
    assert ask(origin=origin, cookie=KNOWN)[0] == 403
    assert ask("websocket", origin=origin, cookie=KNOWN)["type"] == "websocket.close"


def test_a_request_that_another_site_made_is_refused():
    assert ask(sec_fetch_site="cross-site", cookie=KNOWN)[0] == 403
    assert ask(sec_fetch_site="same-site", query=f"token={TOKEN}")[0] == 403
    assert ask(sec_fetch_site="same-origin", cookie=KNOWN, origin=f"http://{HOST}")[0] == 200


def test_a_web_socket_needs_the_cookie():
    assert ask("websocket")["type"] == "websocket.close"
    assert ask("websocket", cookie=KNOWN, origin=f"http://{HOST}")["type"] == "http.response.start"


def test_bodies_are_bounded_whether_their_length_is_said_or_not():
    assert ask(cookie=KNOWN, content_length="1001")[0] == 413
    assert ask(cookie=KNOWN, content_length="1000", body=[b"x" * 1000])[2] == b"1000"
    assert ask(cookie=KNOWN, body=[b"x" * 600, b"x" * 600])[2] == b"600"
    assert ask(cookie=KNOWN, content_length="9" * 40)[0] == 200
