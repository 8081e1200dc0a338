"""Who may talk to the page."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from problog4fairness.app.studio.server import A_WHILE, PAGE, TRIES, Guard, ReviewerLinks

TOKEN, HOST = "a-token-of-this-session", "127.0.0.1:4000"
LINKS = ReviewerLinks(f"http://{HOST}")


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its whole request and says so."""
    length = 0
    if scope["type"] == "http":
        while True:
            message = await receive()
            length += len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                break
    body = SCRIPTS if b"scripts" in scope["query_string"] else str(length).encode()
    headers = [(b"content-length", b"0"), *([PAGE] if scope["path"] == "/" else [])]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body[:9], "more_body": True})
    await send({"type": "http.response.body", "body": body[9:]})


SCRIPTS = b"<script>one()</script><script type=module>two()</script>"
GUARD = Guard(inner, TOKEN, [HOST], 1000, LINKS)


def ask(
    kind: str = "http",
    *,
    path: str = "/",
    query: str = "",
    body: list[bytes] | None = None,
    guard: Guard = GUARD,
    **headers: str,
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

    asyncio.run(guard(scope, receive, send))
    if kind == "websocket":
        return sent[0]
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(part["body"] for part in sent[1:])


def login(guard: Guard = GUARD) -> str:
    """The cookie of somebody who was let in."""
    return ask(query=f"token={TOKEN}", guard=guard)[1][b"set-cookie"].decode().partition(";")[0]


KNOWN = login()
NAME = KNOWN.partition("=")[0]


def test_the_address_becomes_a_cookie_and_leaves_the_history():
    status, headers, _ = ask(path="/", query=f"screen=audit&token={TOKEN}")
    assert (status, headers[b"location"]) == (303, b"/?screen=audit")
    cookie = headers[b"set-cookie"].decode()
    assert cookie.startswith(KNOWN)
    assert TOKEN not in cookie, "a password is not kept by the browser"
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
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "'unsafe-inline'" not in scripts


def test_only_the_scripts_of_the_page_itself_are_marked_as_ours():
    _, headers, body = ask(cookie=KNOWN, query="scripts")
    mark = re.search(rb"'nonce-([^']{20,})'", headers[b"content-security-policy"])[1]
    assert body == SCRIPTS.replace(b"<script", b'<script nonce="' + mark + b'"')
    assert headers[b"content-length"] == str(len(body)).encode()
    assert ask(cookie=KNOWN, query="scripts", path="/file")[2] == SCRIPTS, "a file with markup in it gets no mark"


def test_two_servers_on_one_machine_do_not_take_each_others_cookie():
    other = Guard(inner, TOKEN, ["127.0.0.1:4001"], 1000, LINKS)
    assert other.cookie != GUARD.cookie


def test_who_guesses_passwords_has_to_wait_and_who_is_in_goes_on(monkeypatch):
    guard = Guard(inner, TOKEN, [HOST], 1000, LINKS, asks=True)
    cookie = login(guard)
    wrong = [ask(query=f"token=guess{number}", guard=guard) for number in range(TRIES)]
    assert {status for status, _, _ in wrong} == {401}
    assert b'type="password"' in wrong[0][2]
    assert ask(query=f"token={TOKEN}", guard=guard)[0] == 429
    assert ask(cookie=cookie, guard=guard)[0] == 200
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + A_WHILE + 1)
    assert ask(query=f"token={TOKEN}", guard=guard)[0] == 303


@pytest.mark.parametrize(
    "cookie",
    ["", f"{NAME}=wrong", f"{NAME}=", "other=1", f"{KNOWN}x", f"{NAME}={TOKEN}", "\x00=;;="],
    ids=["none", "wrong", "empty", "another", "longer", "token", "damaged"],
)
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


def opened(name: str) -> tuple[str, str]:
    """The place that a reviewer's link leads to, and the cookie that it gives."""
    link = urlsplit(LINKS.link(name))
    status, headers, _ = ask(path=unquote(link.path), query=link.query)
    assert status == 303
    return headers[b"location"].decode(), headers[b"set-cookie"].decode().partition(";")[0]


@pytest.mark.parametrize("name", ["ana", "Ana Ní Bhriain", "a/b?c=d", "../x", "%2e"])
def test_a_reviewer_sees_their_own_page_and_nothing_else(name):
    place, cookie = opened(name)
    path = unquote(place)
    assert path == f"/review/{name}"
    assert ask(path=path, cookie=cookie)[0] == 200
    assert ask(path="/_nicegui/3/static/nicegui.js", cookie=cookie)[0] == 200
    assert ask("websocket", path="/_nicegui_ws/socket.io/", cookie=cookie)["type"] == "http.response.start"
    for other in ("/", "/page", "/review/ben", "/review/", f"{path}x", "/_nicegui", "/program.js"):
        assert ask(path=other, cookie=cookie)[0] == 401, other


def test_a_key_is_for_one_name_and_one_server():
    key = urlsplit(LINKS.link("ana")).query
    assert ask(path="/review/ben", query=key)[0] == 401
    assert ask(path="/", query=key)[0] == 401
    assert ask(path="/review/ana", query=urlsplit(ReviewerLinks("").link("ana")).query)[0] == 401
    _, cookie = opened("ana")
    name, _, value = cookie.partition("=")
    for forged in (f"{name}=YmVu.{value.partition('.')[2]}", f"{name}={value[:-1]}", f"{name}=", f"{name}=\x00."):
        assert ask(path="/review/ben", cookie=forged)[0] == 401, forged
    assert ask(path="/review/ana", cookie=KNOWN)[0] == 200, "who has the whole page has this one, too"


def test_a_reviewer_needs_the_right_host_and_origin_too():
    path, cookie = opened("ana")
    assert ask(path=path, cookie=cookie, host="evil.example:4000")[0] == 403
    assert ask(path=path, cookie=cookie, origin="http://evil.example")[0] == 403
