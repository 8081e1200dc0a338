"""Sections that other parts of the library add to a report, each written in a file of its own.

A section is a function of the facts, a seed and whether to show progress, that gives its identifier, heading and
content, or None where it has nothing to say. Add it to ``SECTIONS``; they come between the sensitivity and the rows for
review. The table of what is asked for (:mod:`.card`) already looks for ``doubts`` and ``bands``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from problog4fairness.reporting import doubted
from problog4fairness.reporting.banded import bands
from problog4fairness.reporting.facts import Facts
from problog4fairness.reporting.markup import Markup

Section: TypeAlias = tuple[str, str, Markup]


def _doubts(facts: Facts, seed: int, progress: bool | None) -> Section:
    return "doubts", "Do the data contradict the belief?", doubted.section(facts, seed, progress)


SECTIONS: tuple[Callable[[Facts, int, bool | None], Section | None], ...] = (_doubts, bands)
