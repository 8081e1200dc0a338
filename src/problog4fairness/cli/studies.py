"""How every study ends on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from problog4fairness.cli.output import say
from problog4fairness.files.problems import TableError, reason_of

if TYPE_CHECKING:
    from problog4fairness.experiments.claims import Claim


def tell(write: Callable[[], Iterable[Claim]], folder: Path, work: Path, failures: Mapping[str, str]) -> int:
    """Write the report of a study; print which claims hold, where everything is, and what failed; the exit status.

    Parameters
    ----------
    write
        Writes the report, and gives the claims.
    folder
        Where the report is.
    work
        Where finished work is stored, which a report that cannot be written does not touch.
    failures
        Reasons of what failed, by name.
    """
    try:
        claims = write()
    except (OSError, TableError) as error:
        message = f"{reason_of(error)}; what was computed is kept in {work}: run again to write the report"
        raise TableError(message) from None
    for claim in claims:
        say(claim.line)
    say(folder)
    for name, reason in failures.items():
        say(f"failed: {name}: {reason}", error=True)
    return 1 if failures else 0
