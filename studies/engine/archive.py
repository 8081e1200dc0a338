"""Finished work on disk, each table in a file of its own that is named after everything that determines it.

The name is a hash of an *identity*: plain data that says what was computed, from what and by which code. What is
changed is computed again, and nothing else is. Files are written beside their place and then moved there, so that a
killed run leaves whole files or none. A file that is damaged all the same, or whose rows are not the ones that work
of this identity has, counts as missing: its checksum may be right, for whoever wrote the file wrote that too.
"""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from problog4fairness.data import FileWarning, reason_of, write_atomically
from problog4fairness.errors import P4FError, one_line
from studies.engine.stack import Identity, Keys, Table


def digest_of(value: Any) -> str:
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def name_of(identity: Identity) -> str:
    """The name under which work of this identity is stored."""
    return digest_of(identity)[:32]


class Archive:
    """A folder of finished tables.

    Parameters
    ----------
    folder
        Made when the first table is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spare: Archive | None = None

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
        if table is None and (file := self.file(identity)).exists():
            warn(f"{file}: damaged, or not the results that it is named after; computed again")
        return table

    def find(self, identity: Identity, keys: Keys) -> Table | None:
        """As :meth:`load`, without a warning."""
        # As long as a whole file can be: the numbers and the frame around them take fewer than 100 bytes each.
        longest = len(json.dumps([identity, keys])) + 100 * (len(keys) + 3)
        try:
            with self.file(identity).open("rb") as file:
                content = json.loads(file.read(longest + 1))
            table = content["table"]
            if content["key"] != name_of(identity) or content["checksum"] != digest_of(table):
                return None
            return with_numbers(keys, table)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None

    def save(self, identity: Identity, table: Iterable[list[Any]]) -> None:
        """Store a table, in one step."""
        key, table = name_of(identity), list(table)
        content = {"key": key, "checksum": digest_of(table), "of": identity, "table": table}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.file(identity), json.dumps(content))

    def try_save(self, identity: Identity, table: Iterable[list[Any]]) -> bool:
        """Store a table where that is possible; whether it was."""
        try:
            self.save(identity, table)
        except (OSError, P4FError):
            return False
        return True

    def keep(self, identity: Identity, keys: Keys, table: Table) -> None:
        """Store a table unless it is stored already: here, or in a spare folder, of which a warning tells.

        A worker may have failed to store it, or have stored it on a disk of its own.
        """
        if self.find(identity, keys) is not None:
            return
        try:
            self.save(identity, table)
        except (OSError, P4FError) as error:
            self._save_elsewhere(identity, table, reason_of(error))

    def _save_elsewhere(self, identity: Identity, table: Table, reason: str) -> None:
        told = self._spare is not None
        try:
            if self._spare is None:
                self._spare = Archive(Path(tempfile.mkdtemp(prefix="p4f-")))
            self._spare.save(identity, table)
        except (OSError, P4FError):
            warn(f"{reason}; what was computed is stored nowhere, only in the results of this run")
            return
        if not told:
            warn(
                f"{reason}; what was computed is kept in {self._spare.folder}: make room, move its files to "
                f"{self.folder} and run again"
            )

    def file(self, identity: Identity, suffix: str = ".json") -> Path:
        """Where what belongs to this identity is."""
        return self.folder / f"{name_of(identity)}{suffix}"


def with_numbers(keys: Keys, table: Any) -> Table | None:
    """The rows of a table, with nothing taken from it but their numbers; None where they are other rows."""
    if [tuple(key) for *key, _ in table] != [tuple(key) for key in keys]:
        return None
    numbers = [number for *_, number in table]
    if not all(type(number) is float and not math.isinf(number) for number in numbers):
        return None
    return [[*key, number] for key, number in zip(keys, numbers, strict=True)]


def warn(message: str) -> None:
    """Warn of a file, in one line."""
    warnings.warn(FileWarning(one_line(message)), stacklevel=3)
