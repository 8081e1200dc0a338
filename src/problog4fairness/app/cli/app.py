"""The application: all commands of ``p4f``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from problog4fairness.app.cli.audit import estimate, plan
from problog4fairness.app.cli.model import bounds, predict, uncertainty
from problog4fairness.app.cli.options import add
from problog4fairness.app.cli.output import say
from problog4fairness.app.cli.program import draw, lint, query
from problog4fairness.app.cli.report import report, verify
from problog4fairness.app.cli.tour import demo, studio
from problog4fairness.app.cli.train import check, compare, train
from problog4fairness.errors import P4FError

# src/problog4fairness/app/cli/app.py, in a checkout.
ROOT = Path(__file__).parents[4]
# Longer names of options stand on a line of their own, so that sentences keep most of the width.
NAMES = 27
# A blank at which no line is broken.
_TOGETHER = "\xa0"
_RANGE = re.compile(r"\bx ?[<>]|[<>]=? ?x\b")
# Newer releases of typer carry their own copy of click: this is the root of usage errors in either.
UsageProblem: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


class Command(TyperCommand):
    """A command whose options are told in sections."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What is written after the name of the command: ``[OPTIONS] TABLE``."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def get_help(self, ctx: Any) -> str:
        """The whole help."""
        return super().get_help(ctx).replace(_TOGETHER, " ")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; those with a panel come below its name."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, about = record
            if "{beliefs}" in about:
                about = about.replace("{beliefs}", _beliefs())
            argument = parameter.param_type_name == "argument"
            section = "Arguments" if argument else getattr(parameter, "rich_help_panel", None) or "Options"
            shown = name.split()[0] if argument else re.sub(r"<(\S+)>", r"\1", name)
            sections.setdefault(section, []).append((shown, _unbroken(without_range(about))))
        for section, rows in sections.items():
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows, col_max=NAMES)


class Group(TyperGroup):
    """A command of commands, each with a whole sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, on as many lines as it needs."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, one.get_short_help_str(limit=500)) for name, one in known.items() if one and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _beliefs() -> str:
    """The names of all beliefs, those of other packages among them."""
    from problog4fairness.beliefs import belief_types

    return ", ".join(belief_types())


def without_range(about: str) -> str:
    """What an option is for, without the numbers it takes: an error says them where they matter.

    >>> without_range("Number of seeds.  [default: 5; x>=1]")
    'Number of seeds.  [default: 5]'
    """
    text, bracket, inside = about.rpartition("  [")
    kept = [part for part in inside.removesuffix("]").split("; ") if not _RANGE.search(part)]
    return about if not bracket else f"{text}  [{'; '.join(kept)}]" if kept else text


def _unbroken(about: str) -> str:
    """With what stands in brackets at the end on one line."""
    text, bracket, inside = about.rpartition("  [")
    return f"{text}{bracket}{inside.replace(' ', _TOGETHER)}" if bracket else about


def fit_help(app: typer.Typer) -> None:
    """Give all commands of an application, and of those inside it, this help."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            fit_help(group.typer_instance)


def add_studies(app: typer.Typer, root: Path = ROOT) -> None:
    """Add the studies' own commands to the application, or one that says where they are."""
    if (root / "studies" / "commands.py").is_file():
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))  # it stays there, for the processes that a study starts
        app.add_typer(import_module("studies.commands").app, name="reproduce")
        return
    options = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=options)(reproduce)


def reproduce() -> None:
    """Run one of the paper's studies: only in a checkout of the sources."""
    raise P4FError(
        "the paper's studies are in the folder studies/ of problog4fairness' source repository, not in the installed "
        "library; run `p4f reproduce` or `python -m studies` in a checkout"
    )


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
    uncertainty: "uncertainty loans.p4f loans.csv -o people.csv --figure uncertainty.png",
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
add_studies(app)
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
