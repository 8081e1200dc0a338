"""Finished work on disk, each piece in a file of its own that is named after everything that determines it.

The name is a hash of an *identity*: plain data that says what was computed, from what and by which code. What is
changed is computed again, and nothing else is. Files are written beside their place and then moved there, so that a
killed run leaves whole files or none. A file that is damaged all the same, or whose rows are not the ones that work
of this identity has, counts as missing: its checksum may be right, for whoever wrote the file wrote that too.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from problog4fairness.errors import P4FError
from problog4fairness.rows.problems import warn
from problog4fairness.rows.writing import write_whole

Table: TypeAlias = list[list[Any]]
Identity: TypeAlias = Mapping[str, Any]
# What the rows of a table begin with, in their order; after it each row has one number.
Keys: TypeAlias = Sequence[Sequence[str | int | float]]


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

    def load(self, identity: Identity, keys: Keys) -> Table | None:
        """The table of this identity; None if missing, or damaged, of which a warning tells.

        Parameters
        ----------
        identity
            What was computed.
        keys
            What its rows begin with.
        """
        table = self.find(identity, keys)
        if table is None and (file := self._file(name_of(identity))).exists():
            warn(f"{file}: damaged, or not the results that it is named after; computed again")
        return table

    def find(self, identity: Identity, keys: Keys) -> Table | None:
        """As :meth:`load`, without a warning."""
        key = name_of(identity)
        # As long as a whole file can be: the numbers and the frame around them take fewer than 100 bytes each.
        longest = len(json.dumps([identity, keys])) + 100 * (len(keys) + 3)
        try:
            with self._file(key).open("rb") as file:
                content = json.loads(file.read(longest + 1))
            table = content["table"]
            if content["key"] != key or content["checksum"] != digest_of(table):
                return None
            return _with_numbers(keys, table)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None

    def save(self, identity: Identity, table: Iterable[list[Any]]) -> None:
        """Store a table, in one step."""
        key, table = name_of(identity), list(table)
        content = {"key": key, "checksum": digest_of(table), "of": identity, "table": table}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(key), json.dumps(content))

    def try_save(self, identity: Identity, table: Iterable[list[Any]]) -> bool:
        """Store a table where that is possible; whether it was."""
        try:
            self.save(identity, table)
        except (OSError, P4FError):
            return False
        return True

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _with_numbers(keys: Keys, table: Any) -> Table | None:
    """The rows of a table, with nothing taken from the file but their numbers; None where they are other rows."""
    if [tuple(key) for *key, _ in table] != [tuple(key) for key in keys]:
        return None
    numbers = [number for *_, number in table]
    if not all(type(number) is float and not math.isinf(number) for number in numbers):
        return None
    return [[*key, number] for key, number in zip(keys, numbers, strict=True)]
