"""The whole path in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import signal

import pandas as pd
import pytest

from problog4fairness import LabelBias, datasets
from problog4fairness.app.studio.project import AUDIT, BELIEF, MODEL, REPORT, REVIEWS, Project
from problog4fairness.checks import CHECKS
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "loans.csv"
    datasets.loans(rows=600, audited=10, new=10).loans.to_csv(file, index=False)
    return file


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with Page(tmp_path_factory.mktemp("tab")) as page:
        yield page


def foreign(page):
    """What the page asked of others."""
    return [
        url for url in page.browser.requests() if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:"))
    ]


def test_from_a_dropped_table_to_the_report(tmp_path, page, loans):
    folder, wide = tmp_path / "project", tmp_path / "wide.csv"
    wide.write_text(f"{','.join(f'c{number}' for number in range(2001))}\n" + f"0{',1' * 2000}\n" * 2)
    with Server("-o", str(folder)) as server:
        page.open(server.address)
        page.browser.events.clear()  # of servers before this one
        page.give(wide)
        page.says("2,001 columns, and this page shows 2,000; use p4f in a terminal")
        page.give(loans)
        page.says("600 rows")
        page.choose("Which column is the recorded label?", "granted")
        page.choose("Which column is sensitive?", "poor_area")
        page.says("granted = 1 is favourable")
        page.click("State a belief")
        page.until("!!document.querySelector('[data-part=picture] svg')")
        page.click("Keep it and plan the audit")
        page.click("Draw these rows")
        page.review("ana")
        assert "granted" not in page.ask("document.querySelector('.row-card').innerText")
        drawn = pd.read_csv(folder / AUDIT)
        wanted = ["1", "0", "1", "1", "0", "0"] * 8
        for count, key in enumerate(wanted, start=1):
            page.press(key)
            page.says(f"{count} of {len(drawn)} rows")
        page.press("u")
        page.says(f"{len(wanted) - 1} of {len(drawn)} rows")
        answers = [json.loads(line) for line in (folder / REVIEWS).read_text().splitlines()]
        assert [one["label"] for one in answers[:-1]] == wanted
        page.says("p1:")
        page.click("Use these numbers")
        page.says("Do the data contradict the belief?")
        page.click("Train")
        page.begin("train")
        page.says("To the report")
        assert (folder / MODEL).exists()
        page.click("Check")
        page.begin("check")
        page.until(f"document.querySelectorAll('[data-test]').length === {len(CHECKS)}")
        page.click("Train")
        page.click("To the report")
        page.begin("report")
        page.until("!!document.querySelector('[data-part=page]')", 300)
        assert "<html" in (folder / REPORT).read_text()
        assert foreign(page) == []
        assert page.browser.complaints() == []
    assert (folder / BELIEF).read_text().count("::") >= 4


@pytest.fixture(scope="module")
def begun(tmp_path_factory, loans):
    """A project whose columns are chosen; each test copies it."""
    project = Project.open(tmp_path_factory.mktemp("begun"))
    shutil.copy(loans, project.path("loans.csv"))
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1")
    return project.folder


@pytest.fixture
def folder(tmp_path, begun):
    return shutil.copytree(begun, tmp_path / "project")


def test_a_killed_server_loses_no_answer(page, folder):
    with Server(str(folder)) as server:
        page.open(f"{server.address}&screen=belief")
        page.until("!!document.querySelector('[data-part=picture] svg')")
        page.click("Keep it and plan the audit")
        page.click("Draw these rows")
        page.review("ana")
        for count in range(1, 6):
            page.press("1")
            page.says(f"{count} of ")
        server.kill()
    with Server(str(folder)) as server:
        page.open(f"{server.address}&screen=audit")
        page.review("ana")
        page.says("5 of ")
        page.click("Somebody else")
        page.review("ben")
        page.says("0 of ")


def test_a_tab_whose_server_has_ended_says_what_to_do(page, folder):
    with Server(str(folder)) as server:
        page.open(server.address)
        page.says("600 rows")
        assert "lost its server" not in page.words()
        server.kill()
        page.says("This page has lost its server.")
        page.says(f"p4f studio {folder}, and open the address that it prints")
    with Server(str(folder)) as server:
        page.open(server.address)
        page.says("600 rows")
        assert "lost its server" not in page.words()


def test_hostile_cells_and_names_stay_text(tmp_path, page):
    bad = "<img src=x onerror=document.title='owned'>"
    file = tmp_path / "bad.csv"
    pd.DataFrame({bad: [bad, "b"] * 20, "label": [0, 1] * 20, "group": [bad, "x"] * 20}).to_csv(file, index=False)
    with Server(str(file), "-o", str(tmp_path / "project")) as server:
        page.open(server.address)
        page.choose("Which column is sensitive?", "group")
        page.choose("Which column is the recorded label?", "label")
        page.says("onerror")
        assert page.ask("document.querySelectorAll('main img').length") == 0
        assert page.ask("document.title") == "p4f studio"
        assert foreign(page) == []


def test_training_can_be_stopped(page, folder):
    project = Project.open(folder)
    project.keep_belief(LabelBias("poor_area", {1: 0.4}, False, affected=[1]).bind({}, favourable=1))
    project.choose(learner="network")
    with Server(str(folder)) as server:
        page.open(f"{server.address}&screen=train")
        page.begin("train")
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)  # it will not be done before somebody has stopped it
        page.click("Stop", "document.body.innerText.includes('It was stopped')")
        assert not (folder / MODEL).exists()
