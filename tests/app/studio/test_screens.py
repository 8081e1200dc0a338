"""The screens of belief and audit in a real browser: one server and one tab for all tests."""

from __future__ import annotations

import json
import time

import pandas as pd
import pytest

from problog4fairness import LabelBias, datasets
from problog4fairness.app.studio.auditing import draw, plan
from problog4fairness.app.studio.belief_form import Form, questions
from problog4fairness.app.studio.project import AUDIT, BELIEF, DRAFT, Project
from tests.app.report.browser import installed
from tests.app.studio.driver import PATIENCE, Page, Server

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")

WORDS = "document.querySelector('[data-part=words]').innerText"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    project = Project.open(tmp_path_factory.mktemp("screens") / "project")
    loans = datasets.loans(rows=600, audited=10, new=10).loans
    days = pd.date_range("2020-01-01", periods=600).strftime("%Y-%m-%d")
    loans.assign(officer=["ann", "bob"] * 300, day=days).to_csv(project.path("loans.csv"), index=False)
    project.begin(project.path("loans.csv"))
    project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1")
    return project.folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(str(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def tab(tmp_path_factory, server):
    with Page(tmp_path_factory.mktemp("tab")) as page:
        page.open(server.address)
        yield page


def here(server):
    return server.address.partition("/?")[0]


@pytest.fixture
def belief(server, tab, folder):
    """The screen of the belief, with label bias on it."""
    Project.open(folder).keep_belief(LabelBias("poor_area").bind({}, favourable=1))
    (folder / DRAFT).unlink(missing_ok=True)
    tab.open(f"{here(server)}/?screen=belief")
    tab.until("!!document.querySelector('[data-part=picture] svg')")
    tab.until("!!document.querySelector('.pl-comment')")
    return tab


def program(page):
    return page.ask("[...document.querySelectorAll('.cm-line')].map(l => l.innerText.replace(/\\n/g, '')).join('\\n')")


def test_the_program_and_the_form_change_each_other(belief, folder):
    before = program(belief)
    assert "p4f:" not in before, "what is for the machine is not shown"
    belief.type_program(before.replace("p1 ::", "0.4 ::"))
    belief.until(f"{WORDS}.includes('40%')")
    belief.until("document.querySelector('[data-parameter=p1]')?.value === '0.4'")
    assert "0.4 ::" in (folder / BELIEF).read_text()
    assert '"kind":"LabelBias"' in (folder / BELIEF).read_text(), "it is still the template"
    belief.ask("document.querySelector('[data-parameter=p2]').focus()")
    belief.browser.call("Input.insertText", text="0.25")
    belief.until(f"{WORDS}.includes('25%')")
    assert "0.25 ::" in program(belief)


def test_programs_are_coloured_and_errors_stand_under_their_lines(belief, folder):
    colours = belief.ask("[...new Set([...document.querySelectorAll('.cm-content [class^=pl-]')]"
                         ".map(e => e.className + ' ' + e.innerText))].join('\\n')").split("\n")  # fmt: skip
    assert {"pl-network nn", "pl-variable X", "pl-predicate y_h", "pl-atom p1", "pl-operator :-"} <= set(colours)
    right = program(belief)
    belief.type_program(right.replace("y_(X) :- y_h(X)", "y_(X) :- y_h(X", 1))
    belief.until("!!document.querySelector('.pl-problem')")
    assert "unmatched character" in belief.ask("document.querySelector('.pl-problem').innerText")
    assert belief.ask("document.querySelector('.pl-problem').previousElementSibling.innerText").startswith(
        "y_(X) :- y_h(X,"
    )
    line = next(number for number, text in enumerate(right.split("\n"), start=1) if text.startswith("y_(X) :- y_h"))
    belief.until(f"document.querySelector('[data-part=problem] [role=alert]').innerText.includes('Line {line}: ')")
    assert "p1 ::" in (folder / BELIEF).read_text(), "what was right is kept"
    belief.open(belief.ask("location.href"))
    belief.until("!!document.querySelector('.pl-problem')")
    assert "y_h(X," in program(belief), "what is not right yet is not lost either"
    belief.type_program(right)
    belief.until("!document.querySelector('.pl-problem')")
    assert not (folder / DRAFT).exists()


def test_choices_are_undone_instead_of_asked_about(belief, folder):
    pressed = "document.querySelector('[data-kind={}]')?.getAttribute('aria-pressed') === 'true'"
    belief.pick("[data-kind=SelectiveLabels]", f"{WORDS}.includes('accepted')")
    assert "label_accepted" in program(belief)
    belief.pick("[data-doubted=feature]", "!!document.querySelector('[data-kind=HistoricalBias]')")
    missing = "document.querySelector('[data-part=missing]').innerText.includes('Nothing is chosen yet')"
    belief.pick("[data-kind=HistoricalBias]", missing)
    belief.click("Undo the last choice")
    belief.until(pressed.format("SelectiveLabels"))
    belief.ask("document.activeElement.blur()")
    belief.press("z", control=True)
    belief.until(pressed.format("LabelBias"))
    belief.until(f"{WORDS}.includes('distorted copy')")
    belief.pick("[data-kind=PositiveUnlabelled]", f"{WORDS}.includes('unlabelled')")
    belief.ask("document.querySelector('.cm-content').focus()")
    belief.press("z", control=True)
    belief.until(f"{WORDS}.includes('distorted copy')")
    belief.until(pressed.format("LabelBias"))
    assert '"kind":"LabelBias"' in (folder / BELIEF).read_text()


def test_every_kind_of_belief_is_asked_about_and_has_its_form(belief):
    for kind, question in questions().items():
        belief.pick(f"[data-doubted={question.doubted}]", f"!!document.querySelector('[data-kind={kind}]')")
        pressed = f"document.querySelector('[data-kind={kind}]').getAttribute('aria-pressed') === 'true'"
        belief.pick(f"[data-kind={kind}]", pressed)
        belief.until(f"document.querySelector('[data-kind={kind}] svg.sketch').clientWidth > 0")
    assert belief.browser.complaints() == []


@pytest.mark.parametrize(
    ("kind", "chosen", "words", "parameter"),
    [
        ("RowBias", [("Who decided", "officer")], "where officer = ann", "neg(1,ann)"),
        ("ChangedBias", [("Column with the day", "day")], "changed on some day", "neg(1,0)"),
        (
            "NumericMeasurementBias",
            [("The numbers", "income")],
            "the recorded income is the fair one times",
            "factor(income,1)",
        ),
    ],
)
def test_beliefs_about_rows_days_and_numbers_are_filled_in(belief, folder, kind, chosen, words, parameter):
    belief.pick(f"[data-doubted={questions()[kind].doubted}]", f"!!document.querySelector('[data-kind={kind}]')")
    belief.pick(f"[data-kind={kind}]", "document.querySelector('[data-part=missing]').innerText.length > 0")
    for label, value in chosen:
        belief.choose(label, value)
    belief.until(f"{WORDS}.includes('{words}')")
    field = f"[data-parameter='{parameter}']"
    belief.until(f'!!document.querySelector("{field}")')
    belief.ask(f'document.querySelector("{field}").focus()')
    belief.browser.call("Input.insertText", text="0.75")
    belief.until(f"{WORDS}.includes('{'0.75' if kind == 'NumericMeasurementBias' else '75%'}')")
    form = Form.of(Project.open(folder).belief(), Project.open(folder), Project.open(folder).roles())
    assert form.kind == kind
    assert form.values[parameter] == 0.75


def test_two_reviewers_at_once_and_their_conflicts(tmp_path, server, tab, folder):
    project = Project.open(folder)
    project.keep_belief(LabelBias("poor_area").bind({}, favourable=1))
    draw(project, plan(project, 0.2))
    rows = len(pd.read_csv(folder / AUDIT))
    tab.open(f"{here(server)}/?screen=audit")
    tab.review("ana")
    tab.fill("Name of a reviewer", "Ben Ó")
    tab.click("Make a link", "!!document.querySelector('.link input')")
    with Page(tmp_path / "ben") as ben:
        ben.open(tab.ask("document.querySelector('.link input').value"))
        assert "token" not in ben.ask("location.href")
        for count, (one, other) in enumerate([("1", "1"), ("0", "1"), ("1", "1"), ("0", "0"), ("1", "0")], start=1):
            tab.press(one)
            ben.press(other)
            tab.says(f"{count} of {rows} rows")
            ben.says(f"{count} of {rows} rows")
        assert "granted" not in ben.ask("document.querySelector('.row-card').innerText")
        assert "ana" not in ben.words(), "reviewers do not know of each other"
        ben.press("u")
        ben.says(f"4 of {rows} rows")
        ben.fill("Note", "paid late")
        ben.press("Enter")
        ben.until("document.activeElement === document.body")
        ben.press("0")
        ben.says(f"5 of {rows} rows")
        ben.browser.call("Page.navigate", url=here(server))
        ben.says("open the whole address")
    tab.says("say the same of 3 of 5 common rows (60%)")  # who is named first is who was quicker
    tab.until("document.querySelectorAll('[data-conflict]').length === 2")
    tab.says("Ben Ó says 0: paid late")
    number = tab.ask("document.querySelector('[data-conflict]').dataset.conflict")
    tab.click("It is 1", "document.body.innerText.includes('2 rows, 1 of them settled')")
    tab.until("!!document.querySelector('[data-told=p1]')")
    tab.says("Go on.")
    until = time.monotonic() + PATIENCE
    while (fair := pd.read_csv(folder / AUDIT).set_index("row")["fair"])[int(number)] != 1:
        assert time.monotonic() < until, "what was settled is not in the file"
        time.sleep(0.05)
    assert fair.notna().sum() == 4, "a conflict that is open counts for nothing"


def test_rows_are_paged_on_the_server(server, tab):
    tab.open(f"{here(server)}/?screen=data")
    tab.until("document.querySelectorAll('[data-column]').length === 9")
    first = "document.querySelector('.rows tbody td').innerText"
    tab.until(f"{first} === '1'")
    tab.fill("Go to row", "333")
    tab.press("Enter")
    tab.until(f"{first} === '326'")
    assert tab.ask("document.querySelectorAll('.rows tbody tr').length") == 25
    tab.click("Another table", "document.body.innerText.includes('Undo: back to loans.csv')")
    tab.click("Undo: back to loans.csv", "document.body.innerText.includes('granted = 1 is favourable')")
    assert tab.browser.complaints() == []
    assert json.dumps(tab.browser.requests()).count("http://") == len(
        [url for url in tab.browser.requests() if url.startswith(here(server))]
    )
