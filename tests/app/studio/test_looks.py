"""Every screen, light and dark, from a phone to a wall: nothing sticks out, all can be read, controls have names."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from problog4fairness.app.studio.shell import SCREENS
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server
from tests.app.studio.screenshots import demo, visit

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")

CONTROLS = {"button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"}
# Texts whose contrast with what is behind them is below WCAG's AA: 4.5, or 3 for large letters.
FAINT = """(() => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = rgb => [.2126, .7152, .0722].reduce((sum, share, i) => sum + share * linear(rgb[i] / 255), .05);
  const over = (top, below) => [0, 1, 2].map(i => top[i] * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)));
  const behind = element => {
    const stack = [];
    for (let e = element; e; e = e.parentElement) stack.push(parse(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((below, top) => top.length ? over(top, below) : below, [255, 255, 255]); };
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const words = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    if (!words || !element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
    if (element.closest('svg, [aria-hidden=true], [disabled], #popup')) continue;
    const style = getComputedStyle(element), back = behind(element), ink = over(parse(style.color), back);
    const [high, low] = [light(ink), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    if (high / low < (large ? 3 : 4.5)) found.push(`${words.slice(0, 40)}: ${(high / low).toFixed(2)}`);
  }
  return found; })()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    project = demo(folder / "loans", rows=600)
    with Server(str(project.folder)) as server, Page(folder / "tab") as page:
        page.open(server.address)
        yield page


def told(page):
    """What a screen reader finds: the roles of everything, and those controls of which it could say no name."""
    nodes = [node for node in page.browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = [node["role"]["value"] for node in nodes]
    named = [bool(node.get("name", {}).get("value", "").strip()) for node in nodes]
    return roles, [role for role, name in zip(roles, named, strict=True) if role in CONTROLS and not name]


def too_wide(page, width):
    """By how many pixels the page is wider than the window; Chromium needs some frames to lay it out after a change."""
    beyond = f"Math.max(0, document.documentElement.scrollWidth - {width})"
    with suppress(AssertionError):
        page.until(f"{beyond} === 0", seconds=10)
    return page.ask(beyond)


def settled(find):
    """What is still found once the page has had time to be drawn."""
    end = time.monotonic() + 10
    while (found := find()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.key)
def test_a_screen_can_be_read_and_used_by_everybody(page, screen):
    page.resize(390)
    visit(page, screen.name)
    step = "document.querySelector('.path [aria-current]').getBoundingClientRect()"
    page.until(f"{step}.left >= 0 && {step}.right <= innerWidth")
    wrong = {}
    for width in (390, 768, 1280, 2560):
        page.resize(width)
        wrong[f"wider than {width}"] = too_wide(page, width)
    for scheme in ("light", "dark"):
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        media = [{"name": name, "value": value} for name, value in features.items()]
        page.browser.call("Emulation.setEmulatedMedia", features=media)
        page.until(f"document.body.classList.contains('body--{scheme}')")
        wrong[f"faint, {scheme}"] = settled(lambda: page.ask(FAINT))
    wrong["without a name"] = settled(lambda: told(page)[1])
    roles = told(page)[0]
    wrong["landmarks"] = [one for one in ("banner", "main") if roles.count(one) != 1]
    wrong["language"] = page.ask("document.documentElement.lang") != "en-US"
    assert {what: where for what, where in wrong.items() if where} == {}
