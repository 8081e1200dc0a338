"""Ground terms as plain Python values.

Numbers are numbers, atoms and strings are ``str``, lists are tuples, and ``x_(1,0)`` is ``Structure("x_", (1, 0))``.
A callable that stands for a network gets its arguments in this form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

_SPACES = re.compile(r"('[^']*')|\s+")


@dataclass(frozen=True)
class Structure:
    """A compound ground term: ``x_(1,0)``."""

    functor: str
    arguments: tuple[Ground, ...]

    def __str__(self) -> str:
        return call_text(self.functor, self.arguments)


Ground: TypeAlias = int | float | str | Structure | tuple["Ground", ...]


def text(term: Ground) -> str:
    """The term as ProbLog text, without spaces."""
    if isinstance(term, tuple):
        return "[" + ",".join(map(text, term)) + "]"
    return str(term)


def call_text(name: str, arguments: tuple[Ground, ...]) -> str:
    """``name(arg,...)``, or the bare name where there are no arguments."""
    return f"{name}({','.join(map(text, arguments))})" if arguments else name


def spaceless(name: str) -> str:
    """A name without spaces, except inside quotes."""
    return _SPACES.sub(lambda match: match.group(1) or "", name)


def to_json(term: Ground) -> Any:
    """The term as JSON."""
    if isinstance(term, Structure):
        return {"functor": term.functor, "arguments": [to_json(a) for a in term.arguments]}
    if isinstance(term, tuple):
        return [to_json(a) for a in term]
    return term


def from_json(value: Any) -> Ground:
    """The inverse of :func:`to_json`."""
    if isinstance(value, dict):
        return Structure(str(value["functor"]), tuple(from_json(a) for a in value["arguments"]))
    if isinstance(value, list):
        return tuple(from_json(a) for a in value)
    if isinstance(value, (int, float, str)):
        return value
    raise ValueError(f"not a ground term: {value!r}")
