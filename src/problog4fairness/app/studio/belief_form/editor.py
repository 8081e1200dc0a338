"""The editor of programs: colours, and errors under the lines where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import events, ui

MODULE = "/program.js"
SCRIPT = Path(__file__).with_name("program.js")


class ProgramEditor:
    """A field for a program.

    Parameters
    ----------
    program
        What stands there at first.
    typed
        What to do after a keystroke.
    """

    def __init__(self, program: str, typed: Callable[[events.ValueChangeEventArguments[str]], Any]) -> None:
        self.field = ui.codemirror(program, on_change=typed).classes("program").props("data-part=program")
        self._do("dress")

    @property
    def text(self) -> str:
        """What stands there."""
        return self.field.value or ""

    def write(self, text: str) -> None:
        """Put another program there; the editor's own undo takes that back, too."""
        self.field.set_value(text)

    def complain(self, line: int, column: int | None, why: str) -> None:
        """Show an error under its line."""
        self._do("tell", line, column, why)

    def clear(self) -> None:
        """Take the errors away."""
        self._do("tell", None)

    def _do(self, what: str, *arguments: Any) -> None:
        given = "".join(f", {json.dumps(argument)}" for argument in arguments)
        call = f"import({json.dumps(MODULE)}).then((editor) => editor.{what}(component{given}))"
        self.field.client.run_javascript(f"const component = getElement({self.field.id}); if (component) {call};")
