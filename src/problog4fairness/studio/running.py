"""Long work on a screen: a button that begins it, a bar and a stop while it runs, its result when it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from problog4fairness.studio import work
from problog4fairness.studio.parts import box, guarded, soft, text
from problog4fairness.studio.state import Studio

Running = Callable[[work.Work], None]
Done = Callable[[work.Work], None]


def long_work(
    studio: Studio,
    key: str,
    button: str,
    task: Callable[..., Any],
    done: Done,
    *arguments: Any,
    running: Running | None = None,
    more: Callable[[], None] | None = None,
) -> None:
    """Show work of one kind, whoever began it and on whichever page.

    Parameters
    ----------
    studio
        Where the work is kept.
    key
        The kind of work.
    button
        What the button says.
    task, arguments
        The function of :mod:`.tasks`, and what it gets besides the folder.
    done, running
        Show the result, and more than a bar while it runs.
    more
        Buttons beside the first.
    """

    def begin() -> None:
        studio.work[key] = work.start(key, task, str(studio.project.folder), *arguments)
        state.refresh()

    @ui.refreshable
    def progress(job: work.Work) -> None:
        if running is None:
            ui.linear_progress(show_value=False).props(f'indeterminate aria-label="{key}"')
            soft(f"{job.told[-1].get('step', key) if job.told else 'reading'}, {job.seconds:.0f} s")
        else:
            running(job)

    @ui.refreshable
    def state() -> None:
        job = studio.work.get(key)
        seen["state"] = None if job is None else job.state
        if job is not None and job.state == "running":
            progress(job)
            # Apart from what is drawn again and again: a button that is replaced while it is pressed does nothing.
            ui.button("Stop", on_click=job.stop).props("outline no-caps color=negative").classes("self-start")
            return
        if job is not None and job.state == "failed":
            box(job.problem, "bad")
        if job is not None and job.state == "stopped":
            text("p", "It was stopped; what was there before is still there.")
        if job is not None and job.state == "done":
            done(job)
            if job.remarks:
                box(job.remarks)
        with ui.element("div").classes("keys"):
            ui.button(button, on_click=guarded(begin)).props(f"unelevated no-caps data-do={key}")
            if more is not None:
                more()

    seen: dict[str, str | None] = {"state": None}
    state()

    def look() -> None:
        job = studio.work.get(key)
        if job is not None and job.state != seen["state"]:
            state.refresh()
        elif job is not None and job.state == "running":
            progress.refresh(job)

    ui.timer(0.4, look)
