"""What all open pages of a project share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from problog4fairness.app.studio.process import Work, start
from problog4fairness.app.studio.project import AUDIT, BELIEF, MODEL, Choices, Project

Go = Callable[[str], None]
# What work is done on; all other work is on the model.
INPUTS = {"check": (BELIEF, AUDIT), "train": (BELIEF, AUDIT), "compare": (BELIEF, AUDIT)}
RESULTS = "results"


@dataclass
class Studio:
    """A project, and the long work that was begun on it; it goes on when a page is closed."""

    project: Project
    # The address of the page on which somebody of a name reviews, and the names of those for whom there is one.
    link: Callable[[str], str] = str
    invited: list[str] = field(default_factory=list)
    # The last work of each kind: train, compare, report.
    work: dict[str, Work] = field(default_factory=dict)
    # What was chosen for the table that somebody left for another one, to go back to it.
    left: Choices | None = None
    _read: dict[Path, tuple[int, Any]] = field(default_factory=dict, repr=False)

    def begin(self, key: str, task: Callable[..., Any], *arguments: Any) -> None:
        """Begin long work; its result is kept in the folder."""
        folder = self.project.folder
        file = folder / RESULTS / f"{key}.json"
        self.work[key] = start(key, task, str(folder), *arguments, of=self.inputs(key), file=file)

    def last(self, key: str) -> Work | None:
        """The last work of a kind, also of a server before this one."""
        if key not in self.work:
            kept = Work.kept(key, self.project.folder / RESULTS / f"{key}.json")
            if kept is None:
                return None
            self.work[key] = kept
        return self.work[key]

    def is_stale(self, work: Work) -> bool:
        """Whether what the work was done on has changed since."""
        return work.of != self.inputs(work.name)

    def read(self, name: str, reader: Callable[[Path], Any]) -> Any:
        """A file of the project as ``reader`` gives it, read again only where it has changed."""
        file = self.project.path(name)
        written = file.stat().st_mtime_ns
        if self._read.get(file, (0, None))[0] != written:
            self._read[file] = written, reader(file)
        return self._read[file][1]

    def inputs(self, key: str) -> dict[str, str]:
        """What work of a kind is done on, as hashes by name."""
        names = INPUTS.get(key, (MODEL,))
        return {
            name: hashlib.sha256(self.project.path(name).read_bytes()).hexdigest()
            for name in names
            if self.project.has(name)
        }
