"""Sections that other parts of the library add to a report, each written in a file of its own.

A section is a function of the facts, what things are called, a seed and whether to show progress, that gives its
identifier, heading and content, or None where it has nothing to say. Add it to ``SECTIONS``; they come between the
sensitivity and the rows for review. The table of what is asked for (:mod:`.card`) already looks for ``doubts`` and
``bands``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from problog4fairness.reporting import doubted
from problog4fairness.reporting.banded import bands
from problog4fairness.reporting.facts import Facts
from problog4fairness.reporting.markup import Markup
from problog4fairness.reporting.names import Names

Section: TypeAlias = tuple[str, str, Markup]


def _doubts(facts: Facts, names: Names, seed: int, progress: bool | None) -> Section:  # noqa: ARG001
    return "doubts", "Do the data contradict the belief?", doubted.section(facts, seed, progress)


SECTIONS: tuple[Callable[[Facts, Names, int, bool | None], Section | None], ...] = (_doubts, bands)
