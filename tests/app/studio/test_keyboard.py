"""The whole path with Tab, Enter, the space bar and arrows alone; no screen holds anybody, nothing is out of reach."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from problog4fairness import datasets
from problog4fairness.app.studio.project import AUDIT, MODEL, REPORT, Project
from problog4fairness.app.studio.shell import SCREENS
from tests.app.report.browser import installed
from tests.app.studio.driver import PATIENCE, Page, Server
from tests.app.studio.screenshots import demo, visit

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")

# What has the keyboard: what it says, whether one sees it, and whether it is a part of the page at all.
FOCUSED = """(() => {
  const own = document.activeElement, field = own.closest('.q-field, .cm-editor, .q-slider, .q-uploader');
  const marked = [own, field, own.parentElement].filter(Boolean).some(one => {
    const style = getComputedStyle(one);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || one.matches('.q-field--focused'); });
  const outside = own === document.body || own.matches('main');
  const said = [own.closest('[aria-label]')?.ariaLabel, own.innerText, own.closest('label')?.innerText];
  return {words: said.filter(Boolean).join(' ').trim(),
          outside, seen: marked || outside, place: own.outerHTML.slice(0, 160)}; })()"""
# What can be used on the screen and was not reached; of radio buttons and tabs, arrows reach the others.
LEFT = """[...document.querySelectorAll('button, a[href], input, textarea, summary, [tabindex]')].filter(own =>
  own.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !own.dataset.stop && !own.disabled &&
  own.tabIndex >= 0 && !own.matches('[role=tab], [role=radio], [aria-hidden=true] *, .cm-content *')
  ).map(own => own.outerHTML.slice(0, 200))"""
MOST = 150


def step(page):
    """Go on to the next thing with Tab; out of the editor as the screen says. What has the keyboard then."""
    if page.ask("document.activeElement.matches('.cm-content')"):
        page.press("Escape")
    page.press("Tab")
    with suppress(AssertionError):
        page.until(f"{FOCUSED}.seen", 20)  # the editor takes a moment
    return page.ask(FOCUSED)


def to(page, words):
    """Go on with Tab to what says this."""
    passed = []
    for _ in range(MOST):
        here = step(page)
        if words in here["words"]:
            assert here["seen"], f"one does not see that this has the keyboard: {here['place']}"
            return
        passed.append(here["words"][:40])
    raise AssertionError(f"Tab does not lead to {words!r}, but to {passed}; the page says: {page.words()}")


def use(page, words, then, key="Enter"):
    """Go to what says this and press a key, until there is what follows: what is drawn anew just then hears nothing."""
    for patience in (20, 20, PATIENCE):
        page.until(f"document.body.innerText.includes({json.dumps(words)}) || {then}")
        if not page.ask(then):
            to(page, words)
            page.press(key)
        try:
            page.until(then, patience)
        except AssertionError:
            if patience == PATIENCE:
                raise
        else:
            return


def leave(page, words, then):
    """Go to another screen by what says this; it takes the keyboard once it is drawn."""
    use(page, words, then)
    page.until("document.activeElement.matches('main')")


def says(words):
    return f"document.body.innerText.includes({json.dumps(words)})"


def pick(page, label, value):
    """Choose in a list with arrows."""
    to(page, label)
    page.press("ArrowDown")
    page.until("!!document.querySelector('.q-menu .q-item')")
    for _ in range(MOST):
        if page.ask("document.querySelector('.q-menu .q-manual-focusable--focused')?.innerText.trim()") == value:
            break
        page.press("ArrowDown")
    page.press("Enter")
    page.until("!document.querySelector('.q-menu')")


def type_in(page, words):
    page.browser.call("Input.insertText", text=words)


def test_from_the_table_to_the_report(tmp_path):
    table, folder = tmp_path / "loans.csv", tmp_path / "project"
    datasets.loans(rows=300, audited=5, new=5).loans.to_csv(table, index=False)
    with Server(str(table), "-o", str(folder)) as server, Page(tmp_path / "tab") as page:
        page.open(server.address)
        page.until("!!document.querySelector('[data-column]')")
        pick(page, "Which column is the recorded label?", "granted")
        page.until("!!document.querySelector('[data-role=favourable]')")
        pick(page, "Which column is sensitive?", "poor_area")
        leave(page, "State a belief", "!!document.querySelector('[data-part=picture] svg')")
        use(page, "Only where poor_area = 1", "document.querySelectorAll('[data-parameter]').length === 2", " ")
        page.press(" ")  # everybody, after all
        page.until("document.querySelectorAll('[data-parameter]').length === 4")
        to(page, "The program")
        page.press("Escape")
        leave(page, "Keep it and plan the audit", says("rows in this round"))
        to(page, "the error allowed")
        page.press("ArrowRight")
        page.says("to know every parameter within 0.11 ")
        leave(page, "Draw these rows", says("Who reviews?"))
        to(page, "Your name")
        type_in(page, "ana")
        page.press("Enter")
        page.until("!!document.querySelector('[data-key=u]')")
        for count in range(1, 25):
            page.press("01"[count % 2])
            page.says(f"{count} of ")
        page.says("p1:")
        leave(page, "Use these numbers", says("Do the data contradict the belief?"))
        leave(page, "Train", "!!document.querySelector('[data-do=train]')")
        use(
            page,
            "linear: ",
            "document.querySelector('[role=radio][aria-checked=true]').innerText.includes('linear')",
            " ",
        )
        use(page, "Train", says("To the report"))
        assert (folder / MODEL).exists()
        leave(page, "To the report", says("For the record"))
        to(page, "Author")
        type_in(page, "Ana Vos")
        use(
            page, "Compare with other methods", "document.querySelector('[role=checkbox]').ariaChecked === 'false'", " "
        )
        use(page, "Write the report", "!!document.querySelector('[data-part=page]')")
        to(page, "Download the page")
        assert "Ana Vos" in (folder / REPORT).read_text()
        assert page.browser.complaints() == []


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return demo(tmp_path_factory.mktemp("keyboard") / "loans", rows=600)


@pytest.fixture(scope="module")
def page(tmp_path_factory, project):
    with Server(str(project.folder)) as server, Page(tmp_path_factory.mktemp("tab")) as page:
        page.open(server.address)
        yield page


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.key)
def test_everything_on_a_screen_is_within_reach_and_nothing_holds_the_keyboard(page, project, screen):
    assert Project.open(project.folder).has(AUDIT)
    visit(page, screen.name)
    page.until("document.activeElement.matches('main')")
    for _ in range(10):  # what was drawn anew on the way is not reached again in the same round
        once_around(page)
        if not page.ask(LEFT):
            break
    assert page.ask(LEFT) == [], "Tab does not lead to these"
    assert page.ask("[...document.querySelectorAll('[tabindex]')].filter(one => one.tabIndex > 0).length") == 0


def once_around(page):
    """Press Tab until it comes back to where it was; all that has the keyboard on the way is marked, and seen."""
    page.ask("document.querySelectorAll('[data-stop]').forEach(one => delete one.dataset.stop), 0")
    for _ in range(MOST):
        here = step(page)
        assert here["seen"], f"one does not see that this has the keyboard: {here['place']}"
        if not here["outside"] and page.ask("document.activeElement.dataset.stop === 'true'"):
            return
        page.ask("document.activeElement.dataset.stop = true")
    raise AssertionError("Tab does not come round")
