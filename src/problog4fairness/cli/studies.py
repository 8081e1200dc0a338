"""How every study ends on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from problog4fairness.cli.output import say

if TYPE_CHECKING:
    from problog4fairness.experiments.claims import Claim


def tell(claims: Iterable[Claim], folder: Path, failures: Mapping[str, str]) -> int:
    """Print which claims hold, where everything is, and what failed; the exit status."""
    for claim in claims:
        say(claim.line)
    say(folder)
    for name, reason in failures.items():
        say(f"failed: {name}: {reason}", error=True)
    return 1 if failures else 0
