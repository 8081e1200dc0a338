"""The application: all commands of ``p4f``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from problog4fairness.app.cli import reproduce
from problog4fairness.app.cli.bands import bands, bounds
from problog4fairness.app.cli.check import check
from problog4fairness.app.cli.compare import compare
from problog4fairness.app.cli.demo import demo
from problog4fairness.app.cli.estimate import estimate
from problog4fairness.app.cli.helping import Group, fit_help
from problog4fairness.app.cli.options import add
from problog4fairness.app.cli.output import say
from problog4fairness.app.cli.plan import plan
from problog4fairness.app.cli.predict import predict
from problog4fairness.app.cli.program import draw, lint, query
from problog4fairness.app.cli.report import report, verify
from problog4fairness.app.cli.studio import studio
from problog4fairness.app.cli.train import train

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
_LABELS = "--recorded granted --sensitive poor_area"
_AUDIT = "--audit audit.csv --fair repaid"
_EXAMPLES: dict[Callable[..., Any], str] = {
    plan: "plan --data loans.csv --sensitive poor_area --recorded granted --draw todo.csv --fair repaid; "
    "fill in some rows of todo.csv, and run it again",
    estimate: "estimate audit.csv --sensitive poor_area --recorded granted --fair repaid -o belief.pl",
    check: f"check loans.csv --belief belief.pl --recorded granted {_AUDIT}",
    train: f"train loans.csv --belief belief.pl {_LABELS} -o loans.p4f",
    predict: "predict loans.p4f new.csv -o scored.csv",
    bands: "bands loans.p4f loans.csv -o people.csv --figure bands.png",
    bounds: "bounds loans.p4f loans.csv --box p1=0.2:0.6",
    compare: f"compare loans.csv --belief belief.pl {_LABELS} {_AUDIT} -o comparison",
    report: f"report loans.p4f --data loans.csv {_AUDIT} -o report.html",
    verify: "verify evidence --data loans.csv",
    demo: "demo -o demo",
    lint: "lint examples/label.pl",
    query: "query examples/label.pl --nn h=0.7 --nn a=1 --set p1=0.3 --set p2=0 --set p3=0 --set p4=0",
    draw: "draw examples/label.pl -o label.svg",
    studio: "studio loans.csv",
}
for command, example in _EXAMPLES.items():
    add(app, command, example)
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
