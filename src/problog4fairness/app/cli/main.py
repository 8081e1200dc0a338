"""Entry point of ``p4f``: it is on the screen before anything large is imported."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NoReturn, TextIO

from problog4fairness.app.cli.output import begin, clear, say, with_options
from problog4fairness.errors import P4FError

_SHOW = warnings.showwarning
_INTERRUPTED = 130
_TOLD: set[str] = set()  # a line is said once by each command
# Threads that wait by spinning take the cores from those that compute: with other work on the machine, comparing on
# 6,000 rows took 70 s of processor time instead of 5. Matrices here are small: several threads of BLAS gain nothing.
_QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}


def main() -> None:
    """Run ``p4f``; bad input is one line on standard error and exit status 2, warnings of the library one line each."""
    for name, value in _QUIET_THREADS.items():
        os.environ.setdefault(name, value)
    warnings.showwarning = _show_warning
    _TOLD.clear()
    begin(sys.argv[1:])
    try:
        status = _run()
    except P4FError as error:
        _fail(with_options(str(error)))
    except KeyboardInterrupt:
        _interrupted()
    except MemoryError:
        _fail("there is not enough memory for this; use fewer rows or columns, or a smaller program")
    except RecursionError:
        _fail("something in these files is nested too deeply")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    else:
        sys.exit(status)
    finally:
        clear()


def _run() -> int:
    """The status of the command that the words after ``p4f`` name."""
    import typer

    from problog4fairness.app.cli.app import UsageProblem, app

    try:
        status = app(standalone_mode=False)
    except UsageProblem as error:
        _fail(_usage(error))
    except typer.Abort:
        _interrupted()
    if status == _INTERRUPTED:  # what typer makes of Ctrl-C
        _interrupted()
    return status if isinstance(status, int) else 0


def _usage(error: Any) -> str:
    """What was wrong with the words after ``p4f``; of what is missing, what it is."""
    message, missing = str(error.format_message()), getattr(error, "param", None)
    about = getattr(missing, "help", None) if message.startswith("Missing") else None
    return f"{message.rstrip('.')}: {about}" if about else message


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if not category.__module__.startswith(("problog4fairness.", "studies.")):
        _SHOW(message, category, filename, lineno, file, line)
        return
    text = f"{getattr(message, 'prefix', 'warning')}: {with_options(' '.join(str(message).split()))}"
    if text not in _TOLD:
        _TOLD.add(text)
        say(text, error=True)


def _interrupted() -> NoReturn:
    say("interrupted; nothing was written by halves", error=True)
    sys.exit(_INTERRUPTED)


def _fail(message: str) -> NoReturn:
    say(" ".join(message.split()), error=True)
    sys.exit(2)
