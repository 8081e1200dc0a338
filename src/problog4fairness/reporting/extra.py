"""Sections that other parts of the library add to a report, each written in a file of its own.

A section is a function of the facts that gives its identifier, heading and content, or None where it has nothing to
say. Add it to ``SECTIONS``; the table of what is asked for (:mod:`.card`) already looks for ``doubts`` and ``bands``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from problog4fairness.reporting.facts import Facts
from problog4fairness.reporting.markup import Markup

Section: TypeAlias = tuple[str, str, Markup]

SECTIONS: tuple[Callable[[Facts], Section | None], ...] = ()
