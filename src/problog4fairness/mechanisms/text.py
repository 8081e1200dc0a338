"""Writing ProbLog: names and numbers as atoms."""

from __future__ import annotations

import re
from collections.abc import Iterable

from problog4fairness.errors import P4FError

Level = int | str | tuple[int | str, ...]

_PLAIN = re.compile(r"[a-z][a-zA-Z0-9_]*\Z")


def slug(name: str) -> str:
    """A column's name as a plain atom: ``High Cheekbones`` is ``high_cheekbones``."""
    cleaned = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_").lower()
    return cleaned if _PLAIN.match(cleaned) else f"c_{cleaned}"


def distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number appended to those that occurred before."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def atom(value: Level) -> str:
    """A group or class as a ground term: ``1``, ``north``, ``'New York'``, ``g(1,north)``."""
    if isinstance(value, tuple):
        return "g(" + ",".join(atom(part) for part in value) + ")"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.match(value):
        return value
    if any(character in value for character in "'\\\n\r\0"):
        raise P4FError(f"the value {value!r} has characters that a ProbLog program cannot hold; recode it")
    return f"'{value}'"


def comment(text: str) -> str:
    """Text as comment lines."""
    return "\n".join(f"% {line}" for line in text.splitlines())


def number(value: float) -> str:
    """A probability, exactly."""
    return repr(float(value))
