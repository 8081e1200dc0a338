"""``python -m studies``: bad input is one line on standard error and exit status 2."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from problog4fairness.errors import P4FError, printable
from studies.commands import app


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {printable(' '.join(str(message).split()))}", file=sys.stderr)


def main() -> None:
    """Run a study."""
    warnings.showwarning = _show_warning
    try:
        app(prog_name="python -m studies")
    except (P4FError, OSError) as error:
        from problog4fairness.data import reason_of

        print(printable(" ".join(reason_of(error).split())), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
