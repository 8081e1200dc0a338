"""Long work on a screen: a button that begins it, a bar and a stop while it runs, its result when it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from problog4fairness.app.studio.parts import box, guarded, soft, text
from problog4fairness.app.studio.state import Studio
from problog4fairness.app.studio.work import process as work

# Makes what is shown while it runs, and gives what brings it up to date.
Running = Callable[[work.Work], Callable[[], None]]
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
    teach: str = "",
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
        The function of :mod:`.tasks`, and what it gets besides the folder; a callable among them is asked then.
    done, running
        Show the result, and more than a bar while it runs.
    more
        Buttons beside the first.
    teach
        What there will be to see, said as long as there is nothing.
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
            ui.button("Stop", on_click=job.stop).props("outline no-caps color=negative").classes("self-start")
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
            ui.button(button, on_click=guarded(begin)).props(f"unelevated no-caps data-do={key}")
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


def progress(job: work.Work) -> Callable[[], None]:
    """A bar, and what is being done."""
    bar = ui.linear_progress(show_value=False).props(f'aria-label="{job.name}"')
    said = text("p", "", "soft").props("role=status data-part=progress")

    def update() -> None:
        share, words = how_far(job)
        bar.props(remove="indeterminate") if share is not None else bar.props("indeterminate")
        bar.set_value(share or 0)
        said.set_text(words)  # type: ignore[attr-defined]

    update()
    return update


def how_far(job: work.Work) -> tuple[float | None, str]:
    """Which share of the present step is done, None where that is not known; and the same in words."""
    last = job.told[-1] if job.told else {}
    words = [str(last.get("step", "reading the table"))]
    words += [str(last["label"])] if last.get("label") else []
    words += [f"loss {last['loss']:.4f}"] if last.get("loss") is not None else []
    words.append(f"{job.seconds:.0f} s so far")
    left = last.get("left")
    # Fits end once they no longer become better, mostly long before they must.
    words += [f"at most about {left:.0f} s left in this step"] if left is not None and left >= 1 else []
    return last.get("share"), ", ".join(words)
