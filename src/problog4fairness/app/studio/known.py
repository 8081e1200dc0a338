"""What a screen needs before it has anything to show."""

from __future__ import annotations

from nicegui import ui

from problog4fairness.app.studio.parts import box
from problog4fairness.app.studio.project import BELIEF
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.errors import P4FError


def belief_is_known(studio: Studio, go: Go) -> bool:
    """Whether there is a belief with numbers; if not, the screen says so and leads there."""
    if not studio.project.has(BELIEF):
        lead("There is no belief yet.", "To the belief", "belief", go)
        return False
    try:
        studio.project.belief().require_known()
    except P4FError as error:
        lead(str(error), "To the audit", "audit", go)
        return False
    return True


def lead(why: str, button: str, screen: str, go: Go) -> None:
    """Say what is missing, and lead to where it is made."""
    box(" ".join(why.split()), "note")
    ui.button(button, on_click=lambda: go(screen)).props("unelevated no-caps").classes("self-start")
