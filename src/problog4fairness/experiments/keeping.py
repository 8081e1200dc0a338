"""What was computed is not lost where it cannot be stored."""

from __future__ import annotations

import tempfile
from pathlib import Path

from problog4fairness.errors import P4FError
from problog4fairness.experiments.archive import Archive, Identity, Keys, Table
from problog4fairness.files.problems import reason_of, warn


class Keeper:
    """Sees to it that every table is on disk: in its folder, or in a spare one, of which a warning tells.

    Parameters
    ----------
    folder
        Where tables belong.
    """

    def __init__(self, folder: Path) -> None:
        self._archive = Archive(folder)
        self._spare: Archive | None = None

    def keep(self, identity: Identity, keys: Keys, table: Table) -> None:
        """Store a table, unless it is stored already.

        A worker may have failed to store it, or have stored it on a disk of its own.
        """
        if self._archive.find(identity, keys) is not None:
            return
        try:
            self._archive.save(identity, table)
        except (OSError, P4FError) as error:
            self._save_elsewhere(identity, table, error)

    def _save_elsewhere(self, identity: Identity, table: Table, reason: Exception) -> None:
        told = self._spare is not None
        try:
            if self._spare is None:
                self._spare = Archive(Path(tempfile.mkdtemp(prefix="p4f-")))
            self._spare.save(identity, table)
        except (OSError, P4FError):
            warn(f"{reason_of(reason)}; what was computed is stored nowhere, only in the results of this run")
            return
        if not told:
            warn(
                f"{reason_of(reason)}; what was computed is kept in {self._spare.folder}: make room, move its files to "
                f"{self._archive.folder} and run again"
            )
