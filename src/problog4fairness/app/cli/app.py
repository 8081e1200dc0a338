"""The application: all commands of ``p4f``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from problog4fairness.app.cli import (
    bands,
    check,
    compare,
    demo,
    estimate,
    plan,
    predict,
    program,
    report,
    reproduce,
    studio,
    train,
)
from problog4fairness.app.cli.helping import Group, fit_help
from problog4fairness.app.cli.output import say

# Newer releases of typer carry their own copy of click: this is the root of usage errors in either.
UsageProblem: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    name="p4f",
    cls=Group,
    help="From data with unfair labels to a model of the fair ones, by stating how the data became unfair.",
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes leave the text a third of 80 columns
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
plan.register(app)
estimate.register(app)
check.register(app)
train.register(app)
predict.register(app)
bands.register(app)
compare.register(app)
report.register(app)
demo.register(app)
program.register(app)
studio.register(app)
reproduce.register(app)
fit_help(app)


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
