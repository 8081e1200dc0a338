"""``p4f estimate``: from audited rows to a belief."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.cli.data import (
    Decimal,
    Delimiter,
    Encoding,
    Fair,
    Favourable,
    GroupValue,
    Json,
    SensitiveColumn,
    Table,
    print_json,
    read,
    refuse_both,
    show,
    working,
)
from problog4fairness.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f estimate audit.csv --sensitive poor_area --recorded granted --fair repaid -o belief.pl"
    )(estimate)


def estimate(
    audit: Table,
    sensitive: SensitiveColumn,
    output: Annotated[
        str, typer.Option("-o", "--output", help="The file to write; - for standard output.", show_default=False)
    ],
    recorded: Annotated[str | None, typer.Option(help="Column of the recorded label.")] = None,
    fair: Fair = None,
    belief: Annotated[str, typer.Option(help="label, measurement, or a program FILE.pl.")] = "label",
    favourable: Favourable = None,
    group: GroupValue = None,
    feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="measurement: a recorded feature; repeat for more.")
    ] = None,
    fair_feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="measurement: the audited column of each feature.")
    ] = None,
    negative: Annotated[bool, typer.Option("--negative/--no-negative", help="A fair 1 may be recorded as 0.")] = True,
    positive: Annotated[bool, typer.Option("--positive/--no-positive", help="A fair 0 may be recorded as 1.")] = True,
    only_group: Annotated[
        bool, typer.Option("--only-group", help="Only the sensitive group's data are distorted.")
    ] = False,
    noise: Annotated[bool, typer.Option("--noise", help="Anybody's label may be wrong by mistake, too.")] = False,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Estimate how strong a bias is, from rows whose recorded and fair values are both known.

    Prints the parameters with their 95% intervals, and writes a ProbLog program with the numbers in it; with -o - only
    the program is printed.
    """
    from problog4fairness.errors import P4FError, printable
    from problog4fairness.files import check_output, find_roles, write_whole
    from problog4fairness.mechanisms import belief_text, from_audit
    from problog4fairness.mechanisms.base import Mechanism

    refuse_both(output, as_json)
    program = None if belief in ("label", "measurement") else Path(belief)
    check_output(output, audit, program)
    frame = read(audit, delimiter, encoding, decimal)
    found: Mechanism
    if belief == "measurement":
        pairs = from_audit.feature_pairs(feature or [], fair_feature or [])
        with working("estimating"):
            found, notes = from_audit.measurement_from_table(
                frame, audit, sensitive, pairs, group=group, negative=negative, positive=positive, only_group=only_group
            )
    else:
        if recorded is None or fair is None:
            raise P4FError("an audit has a recorded and a fair label: --recorded COLUMN --fair COLUMN")
        roles = find_roles(frame, recorded=recorded, sensitive=sensitive, fair=fair, favourable=favourable, group=group)
        rows = roles.clean(frame)
        with working("estimating"):
            if program is None:
                found = from_audit.label_belief(
                    rows, roles, negative=negative, positive=positive, only_group=only_group, noise=noise
                )
            else:
                found = from_audit.belief_from_file(rows, roles, program)
        notes = from_audit.audit_notes(rows, roles, audit)
    if output == "-":
        text = belief_text(found, notes)
        # In a file it is what it is; a terminal would obey what stands in it.
        print("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text, end="")
        return
    write_whole(output, belief_text(found, notes))
    if as_json:
        print_json({"belief": output, "kind": type(found).__name__, "parameters": found.parameters})
        return
    show(found.parameters)
    say("", "still_needed: rows of that kind to know a parameter within 0.1", output)
