"""What a person waits for in ``p4f studio``, in a real browser; needs Chromium.

python benchmarks/studio.py [--rounds 3] [--rows 1000000]

Seconds are those of the clock, on whatever else the machine does; the best of the rounds is printed beside the goal.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from problog4fairness.app.studio import REVIEWS, Project
from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server
from tests.app.studio.screenshots import demo, visit, walk

# Milliseconds from a change in the page until something else in it has changed.
CHANGED = """(part, change) => new Promise(done => {
  const begun = performance.now();
  new MutationObserver((_, watch) => { watch.disconnect(); done(performance.now() - begun); })
    .observe(document.querySelector(part), {childList: true, subtree: true, characterData: true, attributes: true});
  change(); })"""


def main() -> None:
    """Print what was measured, a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    if installed() is None:
        print("no Chromium; `make browser` installs it on Debian")
        return
    with TemporaryDirectory() as place, Page(Path(place) / "tab") as page:
        folder = Path(place)
        start = min(first_screen(page, folder / f"new{number}") for number in range(options.rounds))
        say("from p4f studio to the first screen", f"{start:.1f} s", "3 s")
        say(f"{options.rows:,} rows", *large(page, folder, options.rows))
        project = demo(folder / "loans")
        with Server(str(project.folder)) as server:
            walk(page, server.address)
            say("a move of a slider", told(slider(page, options.rounds)), "200 ms")
            visit(page, "Belief")
            page.until("!!document.querySelector('[data-part=picture] svg') && !!document.querySelector('.cm-content')")
            say("a digit in the program to its sentences", told(keystroke(page, options.rounds)), "300 ms")
            say("a rule in the program to another picture", told(rule(page, options.rounds)), "300 ms")
            (project.folder / REVIEWS).unlink()
            say("rows audited by keyboard", f"{audited(page):.0f} a minute", "")


def told(times: list[float]) -> str:
    """Milliseconds as the best of the rounds, and the one in the middle."""
    return f"{min(times):.0f} ms (half of {len(times)} below {np.median(times):.0f})"


def say(what: str, measured: str, goal: str) -> None:
    """One line."""
    print(f"{what:45} {measured:32} {f'goal: {goal}' if goal else ''}", flush=True)


def first_screen(page: Page, folder: Path) -> float:
    """Seconds from the command to a screen that can be used."""
    begun = time.monotonic()
    with Server("-o", str(folder)) as server:
        page.open(server.address)
        return time.monotonic() - begun


def keystroke(page: Page, rounds: int) -> list[float]:
    """Milliseconds from a digit that is typed to the sentences of the changed program, which come with its picture."""
    times: list[float] = []
    for number in range(rounds):
        page.ask("document.querySelector('.cm-content').focus()")
        line = "[...document.querySelectorAll('.cm-line')].find(line => line.textContent.startsWith('0.'))"
        page.ask(f"getSelection().collapse(document.createTreeWalker({line}, NodeFilter.SHOW_TEXT).nextNode(), 2)")
        typing = f"() => document.execCommand('insertText', false, '{number + 1}')"
        times.append(page.ask(f"({CHANGED})('[data-part=words]', {typing})"))
        page.ask("new Promise(done => setTimeout(done, 1500))")
    return times


def rule(page: Page, rounds: int) -> list[float]:
    """Milliseconds from a rule that is added to a picture that was never drawn before."""
    times: list[float] = []
    for number in range(rounds):
        page.ask("document.querySelector('.cm-content').focus(), getSelection().selectAllChildren("
                 "[...document.querySelectorAll('.cm-line')].at(-1)), getSelection().collapseToEnd()")  # fmt: skip
        added = f"\\n0.1 :: other{number}(X).\\ny_(X) :- other{number}(X)."
        typing = f"() => document.execCommand('insertText', false, '{added}')"
        times.append(page.ask(f"({CHANGED})('[data-part=picture]', {typing})"))
        page.ask("new Promise(done => setTimeout(done, 1500))")
    return times


def audited(page: Page, rows: int = 30) -> float:
    """Rows a minute that somebody who need not think can answer."""
    visit(page, "Audit")
    page.review("quick")
    page.says("0 of ")
    begun = time.monotonic()
    for count in range(1, rows + 1):
        page.press("01"[count % 2])
        page.says(f"{count} of ")
    return 60 * rows / (time.monotonic() - begun)


def slider(page: Page, rounds: int) -> list[float]:
    """Milliseconds from a move of the first slider to the numbers that it moves."""
    visit(page, "Compare")
    page.pick("[data-tab=whatif]", "!!document.querySelector('.slider input[type=range]')")
    times: list[float] = []
    for number in range(rounds):
        find = "const slider = document.querySelector('.slider input[type=range]')"
        value = f"slider.value = +slider.min + (+slider.max - slider.min) * {(number + 1) / (rounds + 1)}"
        move = f"() => {{ {find}; {value}; slider.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
        times.append(page.ask(f"({CHANGED})('[data-part=numbers]', {move})"))
    return times


def large(page: Page, folder: Path, rows: int) -> tuple[str, str]:
    """Until a large CSV is on the screen, and the most memory that its server and the processes it started had."""
    rng = np.random.default_rng(0)
    numbers = {f"x{number}": rng.normal(size=rows).round(3) for number in range(8)}
    labels = {
        "group": rng.integers(0, 2, rows),
        "granted": rng.integers(0, 2, rows),
        "job": rng.choice(["a", "b"], rows),
    }
    project = Project.open(folder / "large")
    pd.DataFrame({**numbers, **labels}).to_csv(project.path("table.csv"), index=False)
    project.begin(project.path("table.csv"))
    project.choose(recorded="granted", sensitive="group")
    begun = time.monotonic()
    with Server(str(project.folder)) as server:
        page.open(server.address)
        page.says(f"{rows:,} rows", 600)
        page.says("State a belief", 600)
        seconds = time.monotonic() - begun
        visit(page, "Belief")
        page.until("!!document.querySelector('[data-part=picture] svg')", 600)
        most = server.most_memory() / 2**30
    return f"{seconds:.1f} s, {most:.2f} GiB", "2 GiB"


if __name__ == "__main__":
    main()
