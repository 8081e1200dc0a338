"""Pictures of every screen of the studio, on the demo's loans: ``make screenshots``.

``python -m tests.app.studio.screenshots FOLDER [LOOK ...]`` walks the path in Chromium, does everything on it, and
takes a picture of each screen at each of the looks below.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from problog4fairness import LabelBias, datasets
from problog4fairness.app.studio.auditing import Audit, draw, plan
from problog4fairness.app.studio.project import Project
from problog4fairness.app.studio.shell import SCREENS
from problog4fairness.data import write_table
from tests.app.studio.driver import Page, Server

# Width in pixels, colour scheme, and the largest height.
LOOKS = {
    "light": (1280, "light", 1600),
    "dark": (1280, "dark", 1600),
    "phone": (390, "light", 1600),
    "phone-dark": (390, "dark", 1600),
    "tablet": (768, "light", 1600),
    "wide": (2560, "light", 1600),
}
QUIET = (
    "!document.querySelector('.q-spinner') && "
    "![...document.querySelectorAll('button')].some(button => button.innerText === 'Stop')"
)
# The first slider of parameters is moved and let go, so that one sees who is affected.
MOVED = """(own => own && (own.value = own.max, ['input', 'change'].forEach(kind =>
  own.dispatchEvent(new Event(kind)))))(document.querySelector('[data-slider]'))"""
TO_DO = "[...document.querySelectorAll('[data-do]:not([data-do=reset])')].map(button => button.dataset.do)"


def demo(folder: Path, rows: int = 2000) -> Project:
    """A project of the demo's loans, most of whose drawn rows two people audited, nearly always as it is true."""
    project = Project.open(folder)
    truth = datasets.loans(rows=1, audited=rows, new=1).audit
    write_table(truth.drop(columns="repaid"), str(project.path("loans.csv")))
    project.choose(table="loans.csv", recorded="granted", favourable="1", sensitive="poor_area", group="1")
    project.keep_belief(LabelBias("poor_area", groups=(0, 1)).bind({}, favourable=1))
    for part in (5, 4):  # two rounds; of the second one, some are left
        draw(project, plan(project, 0.1))
        audit = Audit(project)
        fair = {row: str(truth["repaid"].iloc[row - 1]) for row in audit.numbers}
        audit.reviews.take({row: fair[row] for row in audit.numbers[: len(fair) * part // 5]}, "ana")
        audit.write()
    ben = audit.numbers[:25]
    audit.reviews.take({row: "10"[int(fair[row])] if row in ben[3:5] else fair[row] for row in ben}, "ben")
    audit.write()
    estimated = audit.estimate()
    assert estimated is not None
    project.keep_belief(estimated)
    project.choose(learner="linear")
    return project


def visit(page: Page, name: str) -> None:
    """Go to a screen by the path."""
    page.click(name, f"document.querySelector('.path [aria-current]').innerText.includes('{name}')")
    page.until(QUIET)


def walk(page: Page, address: str) -> None:
    """Do on each screen what is to be done there."""
    page.open(address)
    for screen in SCREENS:
        visit(page, screen.name)
        for _ in tabs(page):
            for name in page.ask(TO_DO):
                page.begin(name)
                page.until(QUIET, 600)


def tabs(page: Page) -> Iterator[str]:
    """Open one tab of the screen after the other; what their pictures are called after the screen's name."""
    names = page.ask("[...document.querySelectorAll('main [data-tab]')].map(tab => tab.dataset.tab)")
    for number, name in enumerate(names or [""]):
        if number:
            tab = f"[data-tab={name}]"
            page.pick(tab, f"document.querySelector('{tab}').getAttribute('aria-selected') === 'true'")
            page.until(QUIET)
        yield f"-{number + 1}" if number else ""


def take(page: Page, width: int, scheme: str, height: int) -> bytes:
    """A picture of what the page shows, as PNG in few colours."""
    from PIL import Image

    page.resize(width)
    page.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.until(QUIET)
    page.ask("new Promise(done => setTimeout(done, 800))")
    high = min(height, int(page.ask("document.documentElement.scrollHeight")))
    if page.ask("!!document.querySelector('iframe')"):  # a page in the page is drawn only where one sees it
        page.resize(width, high)
        page.ask("new Promise(done => setTimeout(done, 1500))")
    clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
    shot = page.browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    # Few colours, and those far apart: the rare ones are those of the methods.
    image = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    kept = io.BytesIO()
    image.save(kept, "PNG", optimize=True)
    return kept.getvalue()


def main(folder: Path, looks: list[str]) -> None:
    """Write ``SCREEN-LOOK.png`` for each screen and look."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        project = demo(Path(place) / "loans")
        with Server(str(project.folder)) as server, Page(Path(place) / "tab") as page:
            walk(page, server.address)
            for screen in SCREENS:
                visit(page, screen.name)
                if screen.key == "audit":
                    page.review("ana")
                for tab in tabs(page):
                    page.ask(MOVED)
                    for look in looks or LOOKS:
                        file = folder / f"{screen.key}{tab}-{look}.png"
                        file.write_bytes(take(page, *LOOKS[look]))
                        print(f"{file}: {file.stat().st_size / 1000:.0f} kB", flush=True)
            print(*page.browser.complaints(), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
