"""Finished work on disk, each piece in a file of its own that is named after everything that determines it.

The name is a hash of an *identity*: plain data that says what was computed, from what and by which code. What is
changed is computed again, and nothing else is. Files are written beside their place and then moved there, so that a
killed run leaves whole files or none; a file that is damaged all the same counts as missing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from problog4fairness.files.writing import write_whole

Table: TypeAlias = list[list[Any]]
Identity: TypeAlias = Mapping[str, Any]


@cache
def source_version(places: tuple[str, ...]) -> str:
    """A hash of source files of this package; a folder stands for all modules in it, not for those below."""
    package = Path(__file__).parents[1]
    files: list[Path] = []
    for name in places:
        place = package / name
        files += sorted(place.glob("*.py")) if place.is_dir() else [place]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def digest_of(value: Any) -> str:
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def name_of(identity: Identity) -> str:
    """The name under which work of this identity is stored."""
    return digest_of(identity)[:32]


@dataclass(frozen=True)
class Archive:
    """A folder of finished tables.

    Attributes
    ----------
    folder
        Made when the first table is saved.
    """

    folder: Path

    def load(self, identity: Identity) -> Table | None:
        """The table of this identity; None if missing or damaged."""
        key = name_of(identity)
        try:
            content = json.loads(self._file(key).read_text(encoding="utf-8"))
            table, whole = content["table"], content["key"] == key
            whole = whole and content["checksum"] == digest_of(table)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return [list(row) for row in table] if whole else None

    def save(self, identity: Identity, table: Iterable[list[Any]]) -> None:
        """Store a table, in one step."""
        key, table = name_of(identity), list(table)
        content = {"key": key, "checksum": digest_of(table), "of": identity, "table": table}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(key), json.dumps(content))

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
