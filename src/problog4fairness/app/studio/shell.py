"""The frame around the screens: the path on the left, one screen at a time, light or dark."""

from __future__ import annotations

import asyncio
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response
from nicegui import Client, ui
from nicegui.elements.mixins.text_element import TextElement

from problog4fairness.app.studio.parts import EDITOR, box, ended, text
from problog4fairness.app.studio.project import AUDIT, BELIEF, MODEL, REPORT, TAKEN, Project
from problog4fairness.app.studio.server import REVIEW
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.errors import P4FError

# The colours of reports, read as a file: importing that room takes seconds.
_PALETTE = Path(__file__).parents[1] / "report" / "palette.css"
_LOOK, _EDITOR = (Path(__file__).with_name(name) for name in ("look.css", "program.js"))


@dataclass(frozen=True)
class Screen:
    """A step of the path: the module of the same name shows it.

    Most modules need torch or matplotlib, which take seconds to load. So the first screen does not wait for the others:
    they are loaded in a thread once it stands.
    """

    key: str
    name: str
    done: Callable[[Studio], bool]

    def load(self) -> None:
        """Import what shows it; waits for another thread that is importing it."""
        _loaded[self.key] = import_module(f"problog4fairness.app.studio.screens.{self.key}").show

    @property
    def show(self) -> Callable[[Studio, Go], None] | None:
        """Shows it; None before it is loaded."""
        return _loaded.get(self.key)


_loaded: dict[str, Callable[[Studio, Go], None]] = {}


def _worked(key: str) -> Callable[[Studio], bool]:
    def done(studio: Studio) -> bool:
        work = studio.last(key)
        return work is not None and work.state == "done"

    return done


SCREENS = (
    Screen(
        "data", "Data", lambda studio: None not in (studio.project.choices.recorded, studio.project.choices.sensitive)
    ),
    Screen("belief", "Belief", lambda studio: studio.project.has(BELIEF)),
    Screen("audit", "Audit", lambda studio: studio.project.has(AUDIT)),
    Screen("check", "Check", _worked("check")),
    Screen("train", "Train", lambda studio: studio.project.has(MODEL)),
    Screen("stress", "Compare", _worked("stress")),
    Screen("report", "Report", lambda studio: studio.project.has(REPORT)),
)


@cache
def _look() -> str:
    """The style of all pages."""
    colours, look = (file.read_text(encoding="utf-8") for file in (_PALETTE, _LOOK))
    return colours.replace(".light", "body").replace(".dark", "body.body--dark") + look


@cache  # once in this process
def _load_all() -> None:
    """Load all screens, in the background."""

    def load() -> None:
        for screen in SCREENS:
            screen.load()

    threading.Thread(target=load, name="studio: screens", daemon=True).start()


def application(project: Project, link: Callable[[str], str] = str) -> FastAPI:
    """The application that shows a project; ``link`` gives the address of a reviewer's page."""
    web = FastAPI(openapi_url=None)
    studio = Studio(project, link)

    @ui.page("/")
    def page(screen: str = "data") -> None:
        _page(studio, screen)

    @ui.page(f"{REVIEW}{{name:path}}")
    async def review_page(name: str) -> None:
        ui.add_css(_look())
        ui.dark_mode(value=None)
        page = await asyncio.to_thread(import_module, "problog4fairness.app.studio.screens.review")
        page.show(studio, name)

    @web.get("/page")
    def report_page() -> FileResponse:
        # A page from who knows where: whatever is in it, it may do nothing.
        return FileResponse(
            project.path(REPORT), media_type="text/html", headers={"content-security-policy": "sandbox"}
        )

    @web.get(EDITOR)
    def program_module() -> FileResponse:
        return FileResponse(_EDITOR, media_type="text/javascript")

    @web.get("/file/{name}")
    def file(name: str) -> Response:
        if name not in TAKEN or not project.has(name):
            return PlainTextResponse("there is no such file", 404)
        return FileResponse(project.path(name), filename=name)

    ui.run_with(
        web,
        title="p4f studio",
        show_welcome_message=False,
        tailwind=False,
        dark=None,
        language="en-US",
        reconnect_timeout=30,
        gzip_middleware_factory=None,  # the guard reads pages, and this machine is near
    )
    return web


class _Step:
    """A button of the path. It stays, and is marked anew: a click on one that is being replaced would be lost."""

    def __init__(self, studio: Studio, go: Go, number: int, screen: Screen) -> None:
        self._studio, self._number, self._screen = studio, number, screen
        self._button = ui.element("button").on("click", lambda: go(screen.key))
        with self._button:
            self._mark = TextElement(tag="span", text="").classes("mark").props('aria-hidden="true"')
            text("span", screen.name)

    def mark(self, here: str) -> None:
        """Show whether it is done, and whether it is the one that is shown."""
        done = self._screen.done(self._studio)
        self._mark.set_text("✓" if done else str(self._number))
        self._button.props(f'aria-label="{self._number}. {self._screen.name}{", done" if done else ""}"')
        self._button.classes(**{"add" if done else "remove": "done"})
        self._button.props(**{"add" if self._screen.key == here else "remove": 'aria-current="step"'})
        if self._screen.key == here:  # on a phone, the path is longer than the page is wide
            place = "{block: 'nearest', inline: 'center'}"
            ui.run_javascript(f"getHtmlElement({self._button.id})?.scrollIntoView({place})")


def _show(show: Callable[[Studio, Go], None], studio: Studio, go: Go) -> None:
    """Show a screen; files of the project that cannot be read are named, and the others stay within reach."""
    try:
        show(studio, go)
    except (P4FError, OSError) as error:
        box(str(error), "bad")


def _page(studio: Studio, screen: str) -> None:
    _without_frame(ui.context.client)
    ui.add_css(_look())
    ui.dark_mode(value=None)
    known = {one.key: one for one in SCREENS}
    here = {"key": screen if screen in known else "data"}

    def go(key: str) -> None:
        here["key"] = key
        ui.navigate.history.replace(f"/?screen={key}")
        mark()
        body.refresh()
        # Who uses the keyboard goes on from the top of the new screen.
        ui.run_javascript("document.querySelector('main.screen')?.focus(), scrollTo(0, 0)")

    def mark() -> None:
        for step in path:
            step.mark(here["key"])

    with ui.element("header").classes("top"):
        text("h1", "p4f studio")
        text("span", studio.project.folder.resolve().name, "folder").props["title"] = str(studio.project.folder)
        dark = ui.button("Light or dark").props("flat dense no-caps")
        dark.on("click", js_handler="() => Quasar.Dark.toggle()")  # the browser knows which of the two is shown

    @ui.refreshable
    def body() -> None:
        screen = known[here["key"]]
        if screen.show is not None:
            _show(screen.show, studio, go)
            return

        async def load() -> None:
            await asyncio.to_thread(screen.load)
            body.refresh()

        ui.spinner(size="2rem").props('aria-label="loading"')
        ui.timer(0, load, once=True)

    with ui.element("div").classes("house"):
        with ui.element("nav").classes("path").props('aria-label="The path"'):
            path = [_Step(studio, go, number, screen) for number, screen in enumerate(SCREENS, start=1)]
            mark()
        with ui.element("main").classes("screen").props("tabindex=-1"):
            body()
    restart = shlex.join(["p4f", "studio", str(studio.project.folder)])
    ended(f"Start it again in a terminal, {restart}, and open the address that it prints. Nothing is lost.")
    done = [one.done(studio) for one in SCREENS]

    def look() -> None:
        """Mark what was done on a screen, here or on another page."""
        now = [one.done(studio) for one in SCREENS]
        if now != done:
            done[:] = now
            mark()

    ui.timer(1, look)
    ui.context.client.on_connect(_load_all)


def _without_frame(client: Client) -> None:
    """Take the landmark from the element that the framework puts around a page: the screen is what is main."""
    for around in client.page_container:
        around.props("role=presentation")
