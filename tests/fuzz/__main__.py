"""``python -m tests.fuzz [--what KIND] N [--seed S]``: many more of what ``make test`` tries a few of."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz import circuits, reading

CIRCUITS = "circuit"


def main() -> int:
    """Command line; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("count", type=int, help="how many, of each kind")
    parser.add_argument("--seed", type=int, default=0, help="number of the first; the same number is the same input")
    parser.add_argument(
        "--what",
        choices=(CIRCUITS, *reading.TARGETS, "all"),
        default=CIRCUITS,
        help="circuit: random programs, compared with problog; otherwise valid files of this kind that were changed, "
        "which are to be read or refused in one line",
    )
    parser.add_argument("--keep", type=Path, help="where to write the file that is wrong")
    options = parser.parse_args()
    for what in (CIRCUITS, *reading.TARGETS) if options.what == "all" else (options.what,):
        began = time.perf_counter()
        try:
            if what == CIRCUITS:
                told = circuits.run(options.count, options.seed)
            else:
                told = reading.run(what, options.count, options.seed, options.keep)
        except (circuits.MismatchError, reading.ReadingError) as error:
            if error.__cause__ is not None and what != CIRCUITS:
                traceback.print_exception(error.__cause__)
            print(error)
            return 1
        print(f"{told} in {time.perf_counter() - began:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
