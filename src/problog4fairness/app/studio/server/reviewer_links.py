"""Links for reviewers: each opens the page on which one person reviews rows, and nothing else.

A link carries the reviewer's name and a key that only this server can make of it. The key becomes a cookie, as the
token of the whole page does. Keys are of this server's run: after the next start, reviewers get new links.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote

COOKIE, REVIEW = "p4f_reviewer", "/review/"
# What the framework's own pages are made of; they hold nothing of a project.
_MACHINERY = ("/_nicegui/", "/_nicegui_ws/")


class ReviewerLinks:
    """Makes links, and knows who came with one.

    Parameters
    ----------
    address
        Of the server, such as ``http://127.0.0.1:4000``.
    """

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
        return f"{COOKIE}_{given[:12]}={plain}.{given}"

    def admits(self, cookies: str, path: str) -> bool:
        """Whether a path belongs to a page on which the owner of one of these cookies reviews."""
        try:
            found = SimpleCookie(cookies)
        except CookieError:
            return False
        known = {self._owner(own.value) for name, own in found.items() if name.startswith(COOKIE)} - {None}
        name = _name_in(path)
        return bool(known) and path.startswith(_MACHINERY) if name is None else name in known

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
