"""Where a program cannot be read any further, and whether a full stop is what it lacks."""

from __future__ import annotations

from typing import Any

from problog.errors import ProbLogError
from problog.program import PrologString

from problog4fairness.errors import Place


def position_of(source: Any, location: Any) -> Place:
    """Line and column of a place that problog names."""
    if isinstance(location, tuple) and len(location) == 3:
        # problog's parser counts the columns of the first line from 0 and those of the others from 1.
        return {"line": location[1], "column": location[2] + (location[1] == 1)}
    position = source.lineno(location) if isinstance(location, int) else None
    return {"line": position[1], "column": position[2]} if position else {}


def missing_stop(text: str, place: Place) -> Place | None:
    """The end of a line that lacks a full stop, where one lets the text be read further than ``place``."""
    lines = text.split("\n")
    line, column = place.get("line", len(lines)), place.get("column", 1)
    for last in (line - 1, len(lines)):
        # Before the line with the error, or at the very end.
        while last and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("%")):
            last -= 1
        if not last or lines[last - 1].split("%")[0].rstrip().endswith((".", ",", ":-", "::", "(", ";")):
            continue
        code, mark, remark = lines[last - 1].partition("%")
        source = PrologString("\n".join([*lines[: last - 1], f"{code.rstrip()}. {mark}{remark}", *lines[last:]]))
        try:
            list(source)
        except ProbLogError as error:
            there = position_of(source, error.location)
            if (there.get("line", 0), there.get("column", 0)) <= (line, column):
                continue
        except (ValueError, AttributeError, RecursionError):
            continue
        return {"line": last, "column": len(code.rstrip()) + 1}
    return None
