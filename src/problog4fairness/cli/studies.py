"""How every study ends on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from problog4fairness.experiments.claims import Claim


def tell(claims: Iterable[Claim], folder: Path, failures: Mapping[str, str]) -> int:
    """Print which claims hold, where everything is, and what failed; the exit status."""
    for claim in claims:
        print(claim.line)
    print(folder)
    for name, reason in failures.items():
        print(f"failed: {name}: {reason}", file=sys.stderr)
    return 1 if failures else 0
