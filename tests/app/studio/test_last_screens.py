"""Compare, stress, review and report in a real browser: one server and one tab for all."""

from __future__ import annotations

import io
import zipfile

import pandas as pd
import pytest

from problog4fairness.app.report import read_comparison
from problog4fairness.app.studio import tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import COMPARISON, EVIDENCE, MODEL, REPORT, SCORED, SUSPECTS, Project
from problog4fairness.app.studio.state import RESULTS
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server
from tests.app.studio.folders import audited_project

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = [
    pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = audited_project(tmp_path_factory.mktemp("project"))
    done = tasks.train(lambda _: None, str(project.folder))
    Work("train", result=done, file=project.folder / RESULTS / "train.json").keep()
    return project


@pytest.fixture(scope="module")
def page(tmp_path_factory, project):
    with Server(str(project.folder)) as server, Page(tmp_path_factory.mktemp("tab")) as page:
        page.address = server.address
        page.open(server.address)
        yield page
        assert [said for said in page.browser.complaints() if "404" not in said] == [], "but for the file that is none"


def screen(page, name, tab=None):
    page.open(f"{page.address}&screen={name}")
    if tab is not None:
        place = f"[data-tab={tab}]"
        page.pick(place, f"document.querySelector('{place}').getAttribute('aria-selected') === 'true'")


def number(page, key):
    return page.ask(f"document.querySelector('[data-number={key}]').innerText")


def test_the_comparison_is_what_the_command_writes(page, project):
    screen(page, "stress")
    page.says("Is the belief worth it?")
    page.begin("compare")
    page.until("!!document.querySelector('[data-part=methods]')")
    found = read_comparison(project.path(COMPARISON), project.belief())
    for method in found.methods:
        page.says(method)
    page.says(found.verdict[:40])
    assert page.ask("document.querySelectorAll('[data-part=methods] tbody tr').length") == len(found.methods)
    page.until("!!document.querySelector('.nicegui-echart svg path')")
    page.until("document.querySelector('main').textContent.includes('--seeds 2')")


def test_a_slider_moves_the_numbers_while_it_is_dragged(page):
    screen(page, "stress", "whatif")
    page.says("a slider for each parameter")
    page.begin("stress")
    page.until("!!document.querySelector('[data-slider]')")
    before, changed = number(page, "disparity"), number(page, "changed")
    assert changed == "0"
    page.ask(
        "(s => { s.value = s.max; s.dispatchEvent(new Event('input')); })(document.querySelector('[data-slider]'))"
    )
    page.until("document.querySelector('[data-number=changed]').innerText !== '0'")
    assert number(page, "disparity") != before
    put = page.ask("(s => (s.value - s.min) / (s.max - s.min))(document.querySelector('[data-slider]'))")
    assert put > 0.95, "it stays where it was put"
    gained = page.ask("[...document.querySelectorAll('[data-part=groups] tbody td')].map(d => Number(d.innerText))")
    assert gained[6] > 0, "people of the sensitive group gain"
    assert gained[5] == gained[4] + gained[6] - gained[7]
    page.says("Interpolated between")
    page.pick("[data-do=reset]")
    page.until(f"document.querySelector('[data-number=disparity]').innerText === '{before}'")
    assert int(number(page, "stable").replace(",", "")) + int(number(page, "uncertain").replace(",", "")) > 0
    page.says("What would close the gap?")


def test_a_chart_may_be_taken_away_before_it_stands(page):
    screen(page, "data")
    page.says("300 rows")
    before = len(page.browser.complaints())
    held = "window.setTimeout = (act, wait, ...more) => wait ? at(act, wait, ...more) : later.push(act)"
    page.ask(f"window.later = [], window.at = setTimeout, {held}, 0")
    page.click("Train")
    page.until("!!document.querySelector('.nicegui-echart')")
    page.click("Data")
    page.until("!document.querySelector('.nicegui-echart')")
    page.ask("window.setTimeout = at, later.forEach(act => act()), 0")
    page.says("300 rows")
    assert page.browser.complaints()[before:] == []


def test_the_queue_is_filtered_and_paged_on_the_server(page, project):
    screen(page, "stress", "queue")
    page.says("Which records should somebody look at again?")
    page.begin("queue")
    page.until("!!document.querySelector('[data-part=count]')")
    queue = pd.read_csv(project.path(SUSPECTS))
    page.says(f"{len(queue)} rows of {len(queue)}")
    assert page.ask("document.querySelectorAll('main table tbody tr').length") == 25
    first = page.ask("document.querySelector('main table tbody td').innerText")
    page.click("Next", f"document.querySelector('main table tbody td').innerText !== '{first}'")
    page.says("page 2 of")
    page.ask(
        "(s => { s.value = 60; s.dispatchEvent(new Event('input')); })(document.querySelector('[data-filter=least]'))"
    )
    likely = queue[queue["distorted"] * 100 >= 60]
    page.says(f"{len(likely)} rows of")
    page.choose("Recorded label", "0")
    page.says(f"{int((likely['granted'] == 0).sum())} rows of")
    assert fetched(page, SUSPECTS) == project.path(SUSPECTS).read_bytes()


def test_the_report_is_filed_and_everything_can_be_taken_away(page, project):
    screen(page, "report")
    page.says("One page that needs no other file")
    page.fill("Author", "Ana Vos")
    page.fill("Reviewed by", "Ben Mol, 2026-11-18")
    page.pick("details summary", "document.querySelector('details').open")
    page.fill("poor_area = 1", "applicants from poor areas")
    page.until("document.querySelector('main').textContent.includes('applicants from poor areas')")
    page.begin("report")
    for name in (f"{EVIDENCE}.zip", SCORED):
        page.until(f"!!document.querySelector('[data-file=\"{name}\"]')", 300)
    page.until("!!document.querySelector('[data-part=page]')")
    assert Project.open(project.folder).choices.author == "Ana Vos"
    html = fetched(page, REPORT).decode()
    for words in ("Ana Vos", "Ben Mol, 2026-11-18", "applicants from poor areas"):
        assert words in html
    names = zipfile.ZipFile(io.BytesIO(fetched(page, f"{EVIDENCE}.zip"))).namelist()
    assert {f"{EVIDENCE}/{name}" for name in ("bundle.json", REPORT, MODEL, SUSPECTS)} <= set(names)
    assert fetched(page, MODEL) == project.path(MODEL).read_bytes()
    assert "fair_probability" in fetched(page, SCORED).decode().splitlines()[0]
    assert page.ask("fetch('/file/project.json').then(r => r.status)") == 404


def fetched(page, name):
    """A file as the page's link gives it."""
    script = f"""fetch(document.querySelector('[data-file="{name}"]').href).then(r => r.arrayBuffer())
        .then(b => Array.from(new Uint8Array(b)))"""
    return bytes(page.ask(script))
