"""A table made by an enemy, and requests of one: nothing of it becomes markup, runs, or gets out."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from urllib.parse import urlsplit

import pandas as pd
import pytest

from problog4fairness.app.studio.project import Project
from problog4fairness.app.studio.shell import SCREENS
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server
from tests.app.studio.screenshots import visit

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")

MARKUP = "<img src=//evil.example onerror=window.owned=1>"
CELLS = {
    MARKUP: [MARKUP, "</script><script>window.owned=2</script>"],
    ":title": ["window.owned=3", "`${window.owned=4}`"],
    "{{ owned }}": ["{{ $root.constructor('window.owned=5')() }}", '=HYPERLINK("http://evil.example")'],
    "\u202eesrever": ["\u202egnp.exe", "x" * 200_000],
    "__proto__": ["constructor", "%00../../etc/passwd"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The page of a project whose table and report an enemy wrote; every column has its role."""
    folder = tmp_path_factory.mktemp("hostile")
    project = Project.open(folder / "project")
    table = {name: values * 30 for name, values in CELLS.items()}
    names = list(table)
    pd.DataFrame({**table, "number": range(60)}).to_csv(project.path("table.csv"), index=False)
    project.begin(project.path("table.csv"))
    project.choose(recorded=names[1], favourable=CELLS[names[1]][0], sensitive=names[0], group=MARKUP)
    project.path("report.html").write_text("<script>parent.owned=6;window.owned=7</script><h1>A page</h1>")
    project.path("model.p4f").write_bytes(b"no model")
    (folder / "secret.txt").write_text("the secret")
    with Server(str(project.folder)) as server:
        yield server


@pytest.fixture(scope="module")
def page(server, tmp_path_factory):
    with Page(tmp_path_factory.mktemp("tab")) as page:
        page.open(server.address)
        yield page


def test_nothing_of_a_table_becomes_markup_or_runs_on_any_screen(page):
    for screen in SCREENS:
        visit(page, screen.name)
        page.ask("new Promise(done => setTimeout(done, 400))")
        assert page.ask("typeof window.owned") == "undefined", screen.key
        assert page.ask("document.querySelectorAll('main img, main script').length") == 0, screen.key
    visit(page, "Data")
    page.says("onerror")
    page.ask("""new Promise(done => {
        document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=x onerror=window.owned=8>');
        document.querySelector('main img').addEventListener('error', () => setTimeout(done)); })""")
    assert page.ask("typeof window.owned") == "undefined", "even markup that got in would not run"
    here = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")
    assert [url for url in page.browser.requests() if not url.startswith(here)] == []


def test_the_report_of_a_project_is_shown_and_does_nothing(page):
    page.browser.call("Page.navigate", url=f"{page.ask('location.origin')}/page")
    page.says("A page")
    assert page.ask("typeof window.owned") == "undefined"


def status(server, path, method="GET", **headers):
    """What the server answers, as bytes on the wire rather than as a browser would ask."""
    place = urlsplit(server.address)
    with closing(http.client.HTTPConnection(place.hostname, place.port, timeout=60)) as connection:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.getheader("set-cookie", "").partition(";")[0], answer.read()


@pytest.fixture(scope="module")
def cookie(server):
    place = urlsplit(server.address)
    return status(server, f"{place.path}?{place.query}")[1]


@pytest.mark.parametrize(
    "path", ["/", "/page", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/favicon.ico", "/docs"]
)
def test_without_the_cookie_there_is_nothing(server, path):
    assert status(server, path)[0] == 401
    assert status(server, path, Host="evil.example")[0] == 403
    assert status(server, path, Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/page/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/_nicegui/auto/static/../../secret.txt",
        "/?screen=../../secret.txt",
        "/review/..%2f..%2fsecret.txt",
        "/project.json",
        "/table.csv",
        "/openapi.json",
    ],
)
def test_files_beside_the_page_are_out_of_reach(server, cookie, path):
    code, _, body = status(server, path, Cookie=cookie)
    assert b"the secret" not in body
    assert code == 200 if path.startswith(("/?", "/review/")) else code in (401, 404)


@pytest.mark.parametrize(("origin", "known"), [("http://evil.example", True), ("null", True), (None, False)])
def test_a_web_socket_of_somebody_else_is_refused(server, cookie, origin, known):
    place = urlsplit(server.address)
    lines = [
        "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1",
        f"Host: {place.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        *([f"Origin: {origin}"] if origin else []),
        *([f"Cookie: {cookie}"] if known else []),
    ]
    with socket.create_connection((place.hostname, place.port), timeout=60) as wire:
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b" 403 " in wire.recv(4096).split(b"\r\n")[0]


def test_a_body_that_is_too_large_is_not_read(server, cookie):
    assert status(server, "/", "POST", Cookie=cookie, Content_Length=str(2**40))[0] == 413
