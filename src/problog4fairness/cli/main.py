"""Entry point of ``p4f``."""

from __future__ import annotations

import sys
from typing import Any

import typer

from problog4fairness.cli import program, reproduce
from problog4fairness.errors import P4FError

# Newer releases of typer carry their own copy of click: this is the root of usage errors in either.
_UsageProblem: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    name="p4f",
    help="State how data became unfair as a ProbLog program, look at what it says, and reproduce the paper's studies.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
program.register(app)
reproduce.register(app)


@app.callback()
def _root() -> None:
    """State how data became unfair as a ProbLog program, look at what it says, and reproduce the paper's studies."""


def main() -> None:
    """Run ``p4f``; bad input is one line on standard error and exit status 2."""
    try:
        status = app(standalone_mode=False)
    except P4FError as error:
        _fail(str(error))
    except _UsageProblem as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str) -> None:
    print(" ".join(message.split()), file=sys.stderr)
    sys.exit(2)
