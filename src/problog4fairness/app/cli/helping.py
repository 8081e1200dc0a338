"""Help that fits 80 columns: whole sentences, headings for options that belong together, and no ranges of numbers."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Longer names of options stand on a line of their own, so that sentences keep most of the width.
NAMES = 27
# A blank at which no line is broken.
_TOGETHER = "\xa0"
_RANGE = re.compile(r"\bx ?[<>]|[<>]=? ?x\b")


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
        for own in self.get_params(ctx):
            record = own.get_help_record(ctx)
            if record is None:
                continue
            name, told = record
            argument = own.param_type_name == "argument"
            section = "Arguments" if argument else getattr(own, "rich_help_panel", None) or "Options"
            shown = name.split()[0] if argument else re.sub(r"<(\S+)>", r"\1", name)
            sections.setdefault(section, []).append((shown, _unbroken(without_range(told))))
        for section, rows in sections.items():
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows, col_max=NAMES)


class Group(TyperGroup):
    """A command of commands, each with a whole sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, on as many lines as it needs."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, own.get_short_help_str(limit=500)) for name, own in known.items() if own and not own.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def without_range(told: str) -> str:
    """What an option is for, without the numbers it takes: an error says them where they matter.

    >>> without_range("Number of seeds.  [default: 5; x>=1]")
    'Number of seeds.  [default: 5]'
    """
    text, bracket, inside = told.rpartition("  [")
    kept = [part for part in inside.removesuffix("]").split("; ") if not _RANGE.search(part)]
    return told if not bracket else f"{text}  [{'; '.join(kept)}]" if kept else text


def _unbroken(told: str) -> str:
    """With what stands in brackets at the end on one line."""
    text, bracket, inside = told.rpartition("  [")
    return f"{text}{bracket}{inside.replace(' ', _TOGETHER)}" if bracket else told


def fit_help(app: typer.Typer) -> None:
    """Give all commands of an application, and of those inside it, this help."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            fit_help(group.typer_instance)
