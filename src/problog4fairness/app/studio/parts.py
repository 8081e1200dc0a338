"""Small parts that screens are made of. Texts are texts: nothing that a table holds becomes markup."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nicegui import events, ui
from nicegui.elements.mixins.text_element import TextElement

from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import BELIEF
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.errors import P4FError
from problog4fairness.statistics import check_known

if TYPE_CHECKING:
    import pandas as pd

# The address of the script of the editor of programs.
EDITOR = "/program.js"


class Chart(ui.echart, component="chart.js", esm={"p4f-echart": str(Path(inspect.getfile(ui.echart)).parent)}):
    """A chart. It is here since a page must know where its script is when it is opened, before screens are loaded."""


def text(kind: str, words: str, classes: str = "") -> ui.element:
    """An element with a text in it."""
    return TextElement(tag=kind, text=words).classes(classes)


def title(words: str, about: str = "") -> None:
    """The heading of a screen, and a sentence about it."""
    text("h2", words)
    if about:
        text("p", about)


def heading(words: str) -> None:
    """The heading of a part."""
    text("h3", words)


def soft(words: str) -> ui.element:
    """A sentence in a quieter colour."""
    return text("p", words, "soft")


def box(words: str | Sequence[str], kind: str = "note") -> ui.element:
    """Sentences that are to be seen: ``note``, ``good`` or ``bad``."""
    lines = [words] if isinstance(words, str) else words
    with ui.element("div").classes(kind).props(f"role={'alert' if kind == 'bad' else 'status'}") as made:
        for line in lines:
            text("p", line)
    return made


def button(words: str, action: Callable[..., Any], look: str = "outline", props: str = "") -> ui.button:
    """A button: ``unelevated`` for what a screen is for, ``outline`` for others, ``flat`` for what is beside them."""
    return ui.button(words, on_click=guarded(action)).props(f"{look} no-caps {props}").classes("self-start")


def figure(words: str, number: str = "", name: str = "") -> ui.element:
    """A large number with what it is below; gives the number, which may change."""
    with ui.element("div").classes("figure"):
        shown = text("b", number).props(f"data-number={name}")
        text("span", words, "soft")
    return shown


def interval(low: float, high: float, value: float | None, enough: tuple[float, float] | None = None) -> None:
    """An interval between 0 and 1 as a bar, its value as a mark, and the one that would be enough around it."""

    def span(kind: str, left: float, right: float) -> None:
        ui.element(kind).style(f"left: {100 * left:.1f}%; right: {100 - 100 * right:.1f}%")

    with ui.element("div").classes("interval").props("aria-hidden=true"):
        span("i", low, high)
        if value is not None:
            if enough is not None:
                span("u", *enough)
            ui.element("b").style(f"left: {100 * value:.1f}%")


def download(name: str, words: str) -> None:
    """A link to a file of the project."""
    link = text("a", words, "download")
    link.props["href"], link.props["download"], link.props["data-file"] = f"/file/{name}", name, name


def uploader(words: str, take: Callable[[Path, str], Any], kinds: str, width: str = "30rem", **options: Any) -> None:
    """A place to drop a file of some kinds on; ``take`` gets the file, which is there until then, and its name.

    Its button is named, whose sign is a word to who does not see it.
    """

    async def took(event: events.UploadEventArguments) -> None:
        with TemporaryDirectory() as folder:
            suffix = Path(event.file.name).suffix
            file = Path(folder) / f"upload{suffix if suffix in kinds.split(',') else ''}"
            await event.file.save(file)
            outcome = take(file, event.file.name)
            if inspect.isawaitable(outcome):
                await outcome

    field = ui.upload(label=words, on_upload=guarded(took), auto_upload=True, **options)
    field.props(f'accept="{kinds}" flat bordered').style(f"width: min({width}, 100%)")
    find = f"getHtmlElement({field.id})?.querySelector('.q-uploader__header .q-btn')"
    name = f"own ? own.setAttribute('aria-label', {json.dumps(words)}) : n && setTimeout(look, 100, n - 1)"
    ui.run_javascript(f"(function look(n) {{ const own = {find}; {name}; }})(50)")  # it stands a moment later


def table(frame: pd.DataFrame) -> None:
    """A small table."""
    rows = ([f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in frame.itertuples(index=False))
    grid(map(str, frame.columns), rows)


def grid(
    header: Iterable[str],
    rows: Iterable[Sequence[str | Callable[[], object]]],
    part: str = "",
    label: str = "",
    classes: str = "plain",
) -> None:
    """A table that scrolls by itself, with a ``label`` also by the keyboard.

    A cell is a text, or a function that makes it.
    """
    region = ui.element("div").classes("scroll")
    if label:
        region.props(f'tabindex=0 role=region aria-label="{label}"')
    with region, ui.element("table").classes(classes).props(f"data-part={part}" if part else ""):
        with ui.element("thead"), ui.element("tr"):
            for name in header:
                text("th", name).props("scope=col")
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for cell in row:
                        if isinstance(cell, str):
                            text("td", cell)
                        else:
                            cell()


def same(command: str, python: str) -> None:
    """The command and the Python that do the same as this screen."""
    with ui.element("details").classes("same"):
        text("summary", "The same in a terminal, and in Python")
        text("pre", command)
        text("pre", python)


def ended(what_to_do: str) -> None:
    """What is said once the server does not answer; look.css shows it as soon as the framework notices."""
    with ui.element("div").classes("ended").props("role=alert"):
        text("b", "This page has lost its server.")
        text("p", what_to_do)


@contextmanager
def columns() -> Iterator[None]:
    """Two columns, one below the other on a phone."""
    with ui.element("div").classes("two"):
        yield


def guarded(action: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """An action whose named errors are shown in one line, and leave everything as it was."""

    @wraps(action)  # the framework passes an event to those that take one
    async def act(*arguments: Any) -> None:
        try:
            outcome = action(*arguments)
            if inspect.isawaitable(outcome):
                await outcome
        except (P4FError, OSError) as error:
            ui.notify(str(error), type="negative", multi_line=True, timeout=8000, close_button=True)

    return act


def belief_is_known(studio: Studio, go: Go) -> bool:
    """Whether there is a belief with numbers; if not, the screen says so and leads there."""
    if not studio.project.has(BELIEF):
        lead("There is no belief yet.", "To the belief", "belief", go)
        return False
    try:
        check_known(studio.project.belief().parameters)
    except P4FError as error:
        lead(str(error), "To the audit", "audit", go)
        return False
    return True


def lead(why: str, words: str, screen: str, go: Go) -> None:
    """Say what is missing, and lead to where it is made."""
    box(why)
    button(words, lambda: go(screen), "unelevated")


# Makes what is shown while it runs, and gives what brings it up to date.
Running = Callable[[Work], Callable[[], None]]
Done = Callable[[Work], None]


def long_work(
    studio: Studio,
    key: str,
    words: str,
    task: Callable[..., Any],
    done: Done,
    *arguments: Any,
    running: Running | None = None,
    more: Callable[[], None] | None = None,
    teach: str = "",
) -> None:
    """Show work of one kind, whoever began it and on whichever page.

    The ``task`` of :mod:`.tasks` gets the folder and the arguments; a callable among them is asked when it begins.
    ``done`` shows the result, ``running`` more than a bar until then, ``more`` makes buttons beside the first, and
    ``teach`` is said as long as there is nothing to see.
    """

    def begin() -> None:
        studio.begin(key, task, *(argument() if callable(argument) else argument for argument in arguments))
        state.refresh()

    @ui.refreshable
    def state() -> None:
        job = studio.last(key)
        shown["state"] = None if job is None else job.state
        if job is not None and job.state == "running":
            shown["update"] = (running or progress)(job)
            button("Stop", job.stop, props="color=negative")
            return
        if job is None and teach:
            soft(teach)
        if job is not None and job.state == "failed":
            box(job.problem, "bad")
        if job is not None and job.state == "stopped":
            text("p", "It was stopped; what was there before is still there.")
        if job is not None and job.state == "done":
            if studio.is_stale(job):
                box(f"{' or '.join(job.of)} has changed since this was made; do it again.")
            done(job)
            if job.remarks:
                box(job.remarks)
        with ui.element("div").classes("keys"):
            button(words, begin, "unelevated", f"data-do={key}")
            if more is not None:
                more()

    shown: dict[str, Any] = {"state": None, "update": None}
    state()

    def look() -> None:
        job = studio.last(key)
        if job is not None and job.state != shown["state"]:
            state.refresh()
        elif job is not None and job.state == "running":
            shown["update"]()

    ui.timer(0.4, look)


def progress(job: Work) -> Callable[[], None]:
    """A bar, and what is being done."""
    bar = ui.linear_progress(show_value=False).props(f'aria-label="{job.name}"')
    status = text("p", "", "soft").props("role=status data-part=progress")

    def update() -> None:
        share, words = how_far(job)
        bar.props(remove="indeterminate") if share is not None else bar.props("indeterminate")
        bar.set_value(share or 0)
        status.set_text(words)  # type: ignore[attr-defined]

    update()
    return update


def how_far(job: Work) -> tuple[float | None, str]:
    """Which share of the present step is done, None where that is not known; and the same in words."""
    last = job.progress[-1] if job.progress else {}
    words = [str(last.get("step", "reading the table"))]
    words += [str(last["label"])] if last.get("label") else []
    words += [f"loss {last['loss']:.4f}"] if last.get("loss") is not None else []
    words.append(f"{job.seconds:.0f} s so far")
    left = last.get("left")
    # Fits end once they no longer become better, mostly long before they must.
    words += [f"at most about {left:.0f} s left in this step"] if left is not None and left >= 1 else []
    return last.get("share"), ", ".join(words)


# Named, since letters are measured before they are drawn.
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, SOFT, GRID = "var(--ink)", "var(--soft-ink)", "var(--grid)"


def colour(of_figures: str) -> str:
    """What a colour of figures is on the page."""
    from problog4fairness.app.report import page_colour

    return page_colour(of_figures)


def axis(name: str, **options: Any) -> dict[str, Any]:
    """An axis with a name at its middle."""
    return {
        "type": "value",
        "scale": True,
        "name": name,
        "nameLocation": "middle",
        "nameTextStyle": {"color": SOFT, "fontSize": 12},
        "axisLabel": {"color": SOFT, "hideOverlap": True},
        "axisLine": {"show": True, "lineStyle": {"color": GRID}},
        "axisTick": {"lineStyle": {"color": GRID}},
        "splitLine": {"lineStyle": {"color": GRID, "opacity": 0.5}},
        **options,
    }


def chart(options: dict[str, Any], words: str, height: str = "20rem") -> Chart:
    """A chart; ``words`` say what it shows to those who do not see it."""
    base = {"animation": False, "textStyle": {"fontFamily": FONT, "color": INK}}
    # As SVG, whose colours may be variables of the page; a canvas would keep those that it was drawn in.
    made = Chart({**base, **options}, renderer="svg")
    made.style(f"height: {height}; width: 100%; max-width: 46rem").props["role"] = "img"
    made.props["aria-label"] = words
    return made
