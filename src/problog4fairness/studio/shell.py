"""The frame around the screens: the path on the left, one screen at a time, light or dark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from nicegui import ui

from problog4fairness.studio import audit, belief, data, doubts, report, stress, train
from problog4fairness.studio.parts import text
from problog4fairness.studio.project import AUDIT, BELIEF, MODEL, REPORT, Project
from problog4fairness.studio.state import Studio

_LOOK = Path(__file__).with_name("look.css")


@dataclass(frozen=True)
class Screen:
    """A step of the path."""

    key: str
    name: str
    show: Callable[[Studio, Callable[[str], None]], None]
    done: Callable[[Studio], bool]


def _chosen(studio: Studio) -> bool:
    said = studio.project.choices
    return said.recorded is not None and said.sensitive is not None


def _made(name: str) -> Callable[[Studio], bool]:
    return lambda studio: studio.project.has(name)


def _worked(key: str) -> Callable[[Studio], bool]:
    return lambda studio: key in studio.work and studio.work[key].state == "done"


SCREENS = (
    Screen("data", "Data", data.show, _chosen),
    Screen("belief", "Belief", belief.show, _made(BELIEF)),
    Screen("audit", "Audit", audit.show, _made(AUDIT)),
    Screen("doubts", "Doubts", doubts.show, _worked("doubt")),
    Screen("train", "Train", train.show, _made(MODEL)),
    Screen("stress", "Stress", stress.show, _worked("stress")),
    Screen("report", "Report", report.show, _made(REPORT)),
)


def application(project: Project) -> FastAPI:
    """The application that shows a project."""
    web = FastAPI(openapi_url=None)
    studio = Studio(project)

    @ui.page("/")
    def page(screen: str = "data") -> None:
        _page(studio, screen)

    @web.get("/page")
    def report_page() -> FileResponse:
        return FileResponse(project.path(REPORT), media_type="text/html")

    ui.run_with(web, title="p4f studio", show_welcome_message=False, tailwind=False, dark=None, reconnect_timeout=30)
    return web


def _page(studio: Studio, screen: str) -> None:
    ui.add_css(_LOOK.read_text(encoding="utf-8"))
    dark = ui.dark_mode(value=None)
    known = {one.key: one for one in SCREENS}
    here = {"key": screen if screen in known else "data"}

    def go(key: str) -> None:
        here["key"] = key
        ui.navigate.history.replace(f"/?screen={key}")
        path.refresh()
        body.refresh()

    with ui.element("header").classes("top"):
        text("h1", "p4f studio")
        text("span", str(studio.project.folder), "folder")
        ui.button("Light or dark", on_click=lambda: dark.set_value(not dark.value)).props("flat dense no-caps")

    @ui.refreshable
    def path() -> None:
        for number, one in enumerate(SCREENS, start=1):
            done = one.done(studio)
            button = ui.element("button").classes("done" if done else "").on("click", lambda key=one.key: go(key))
            button.props(f'aria-label="{number}. {one.name}{", done" if done else ""}"')
            if one.key == here["key"]:
                button.props('aria-current="step"')
            with button:
                text("span", "✓" if done else str(number), "mark")
                text("span", one.name)

    @ui.refreshable
    def body() -> None:
        known[here["key"]].show(studio, go)

    with ui.element("div").classes("house"):
        with ui.element("nav").classes("path").props('aria-label="The path"'):
            path()
        with ui.element("main").classes("screen"):
            body()
