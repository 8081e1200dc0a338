"""The server of the page: on this machine only, on a free port, for who has its address."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

from problog4fairness.errors import P4FError

MEBIBYTE = 2**20
# A table of this size is better named on the command line than sent through the browser.
LARGEST_UPLOAD = 512 * MEBIBYTE
HERE = "127.0.0.1"


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
    from problog4fairness.app.studio.server.guard import Guard, ReviewerLinks
    from problog4fairness.app.studio.server.shell import application

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
