"""Reloaded, shared and killed: nothing that was entered is lost, and nothing is left behind."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from problog4fairness.app.studio.project import BELIEF, MODEL, REVIEWS, Project
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server
from tests.app.studio.screenshots import demo

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with Page(tmp_path_factory.mktemp("tab")) as page:
        yield page


def review(page, address, name):
    """Open the audit as this reviewer."""
    page.open(f"{address}screen=audit")
    page.review(name)


def answers(page, count):
    """Wait until the reviewer's card counts so many answers."""
    page.until(f"document.querySelector('.row-card')?.parentElement.innerText.includes('{count} of ')")


def answered(folder):
    return [(one["reviewer"], one["label"]) for one in map(json.loads, (folder / REVIEWS).read_text().splitlines())]


def test_what_was_entered_survives_a_reload_two_browsers_and_kill_9_in_training(tmp_path, page):
    # So many rows that training takes several times as long as a page needs to tell of it.
    folder = demo(tmp_path / "project", rows=400_000).folder
    (folder / REVIEWS).unlink()
    Project.open(folder).choose(learner="network")
    belief = (folder / BELIEF).read_text()
    with Server(str(folder)) as server, Page(tmp_path / "other") as other:
        review(page, f"{server.address}&", "ana")
        page.press("1")
        answers(page, 1)
        review(page, f"{server.address.partition('?')[0]}?", "ana")
        answers(page, 1)
        review(other, f"{server.address}&", "ben")
        for count, key in enumerate("0101", start=1):
            other.press(key)
            page.press(key)
            answers(other, count)
            answers(page, count + 1)
        page.click("Train")
        page.begin("train")
        page.says("loss ")
        workers = server.children()
        assert workers
        server.kill()
    assert sorted(answered(folder)) == sorted([("ana", key) for key in "10101"] + [("ben", key) for key in "0101"])
    end = time.monotonic() + 60
    while any(map(alive, workers)):
        assert time.monotonic() < end, "no worker outlives its server"
        time.sleep(0.05)
    assert not (folder / MODEL).exists()
    assert (folder / BELIEF).read_text() == belief
    with Server(str(folder)) as server:
        review(page, f"{server.address}&", "ana")
        answers(page, 5)
        page.click("Train")
        page.begin("train")
        page.says("loss ")


def alive(process: int) -> bool:
    """Whether a process is still doing something."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
