"""What all open pages of a project share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from problog4fairness.studio.project import Project
from problog4fairness.studio.work import Work

Go = Callable[[str], None]


@dataclass
class Studio:
    """A project, and the long work that was begun on it; it goes on when a page is closed.

    Attributes
    ----------
    project
        The folder.
    work
        The last work of each kind: ``train``, ``compare``, ``report``.
    """

    project: Project
    work: dict[str, Work] = field(default_factory=dict)
