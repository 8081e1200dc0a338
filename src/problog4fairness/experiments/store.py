"""Finished stacks on disk, each in a file of its own that is named after everything that determines its numbers.

The name is a hash of the points, the method, seeds, folds, training settings and the source of the code that computes:
what is changed is computed again, and nothing else is. Files are written beside their place and then moved there, so
that a killed run leaves whole files or none; a file that is damaged all the same counts as missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import problog4fairness
from problog4fairness.experiments.study import StackPlan

COLUMNS = ("bias", "x", "method", "seed", "fold", "metric", "value")
Table: TypeAlias = list[list[Any]]

# What the numbers of a stack depend on; drawing and reporting are not among it.
_CODE = ("datasets", "mechanisms", "training", "baselines/relabelling.py")
_OWN = ("cells.py", "measure.py", "methods.py", "networks.py", "work.py")


@cache
def code_version() -> str:
    """A hash of the source that computes a stack."""
    package = Path(problog4fairness.__file__).parent
    files = [package / "experiments" / name for name in _OWN]
    for name in _CODE:
        place = package / name
        files += sorted(place.glob("*.py")) if place.is_dir() else [place]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def identity(plan: StackPlan) -> dict[str, Any]:
    """Everything that determines the numbers of a stack, as plain data."""
    return {
        "method": plan.method.identity,
        "points": [asdict(point) for point in plan.points],
        "seeds": list(plan.seeds),
        "folds": plan.folds,
        "rows": plan.rows,
        "training": asdict(plan.training),
        "code": code_version(),
    }


def key_of(plan: StackPlan) -> str:
    """The name of a stack: a hash of its :func:`identity`."""
    return _digest(identity(plan))[:32]


@dataclass(frozen=True)
class Store:
    """A folder of finished stacks.

    Attributes
    ----------
    folder
        Made when the first stack is saved.
    """

    folder: Path

    def load(self, plan: StackPlan) -> Table | None:
        """The numbers of a stack, a row of :data:`COLUMNS` per cell and metric; None if missing or damaged."""
        key = key_of(plan)
        try:
            content = json.loads(self._file(key).read_text(encoding="utf-8"))
            table, whole = content["table"], content["key"] == key and content["checksum"] == _digest(content["table"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return [list(row) for row in table] if whole else None

    def save(self, plan: StackPlan, table: Table) -> None:
        """Store the numbers of a stack, in one step."""
        key = key_of(plan)
        content = {"key": key, "checksum": _digest(table), "of": identity(plan), "table": table}
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{key}-", suffix=".tmp", dir=self.folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).replace(self._file(key))
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
