"""Entry point of ``p4f``."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any, TextIO

import typer

from problog4fairness.cli import (
    bands,
    compare,
    demo,
    doubt,
    estimate,
    plan,
    predict,
    program,
    report,
    reproduce,
    studio,
    train,
)
from problog4fairness.cli.output import say, with_options
from problog4fairness.errors import P4FError

# Newer releases of typer carry their own copy of click: this is the root of usage errors in either.
_UsageProblem: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_SHOW = warnings.showwarning

app = typer.Typer(
    name="p4f",
    help="From data with unfair labels to a model of the fair ones, by stating how the data became unfair.",
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes leave the text a third of 80 columns
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
plan.register(app)
estimate.register(app)
doubt.register(app)
train.register(app)
predict.register(app)
bands.register(app)
compare.register(app)
report.register(app)
demo.register(app)
program.register(app)
studio.register(app)
reproduce.register(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        say(f"p4f {version('problog4fairness')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """From data with unfair labels to a model of the fair ones, by stating how the data became unfair."""


def main() -> None:
    """Run ``p4f``; bad input is one line on standard error and exit status 2, warnings of the library one line each."""
    warnings.showwarning = _show_warning
    try:
        status = app(standalone_mode=False)
    except P4FError as error:
        _fail(with_options(str(error)))
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
    say(f"{getattr(message, 'prefix', 'warning')}: {with_options(' '.join(str(message).split()))}", error=True)


def _fail(message: str) -> None:
    say(" ".join(message.split()), error=True)
    sys.exit(2)
