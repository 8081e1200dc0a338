"""``p4f report``: one page about a model; ``p4f verify``: whether the evidence behind one still gives it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date as day
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from problog4fairness.app.cli import options
from problog4fairness.app.cli.options import option
from problog4fairness.app.cli.output import print_json, save, say, working
from problog4fairness.errors import P4FError


@dataclass(frozen=True)
class RecordOptions:
    """Who made a report, for what, and the evidence behind it."""

    panel: ClassVar = "For the record"

    title: Annotated[str | None, option("TEXT", "Heading of the page.")] = None
    author: Annotated[str | None, option("NAME", "Who made the report.")] = None
    purpose: Annotated[str | None, option("TEXT", "What the model is to be used for.")] = None
    date: Annotated[str | None, option("DATE", "Its date. Default: today.")] = None
    reviewed_by: Annotated[str | None, option("NAME", "Who reviewed it, and when.")] = None
    approved_by: Annotated[str | None, option("NAME", "Who approved it, and when.")] = None
    bundle: Annotated[Path | None, option("FOLDER", "Write all evidence there, too, for p4f verify.")] = None
    design: Annotated[Path | None, option("FILE", "How the audit was drawn, for the bundle.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """What is stated on the page."""
        stated = {name: value for name, value in vars(self).items() if name not in ("bundle", "design")}
        return stated | {"date": self.date or day.today().isoformat()}


def report(
    model: options.ModelFile,
    data: Annotated[str, option("FILE", "The recorded data; - for standard input.", "--data")],
    output: options.Output,
    audit: options.AuditOptions,
    record: RecordOptions,
    reading: options.Reading,
    recorded: options.RecordedInTraining = None,
    favourable: options.Favourable = None,
    names: Annotated[
        list[str] | None,
        option(
            "COLUMN=VALUE:WORDS",
            "What a group's people, or what a label gives, is called on the page, such as "
            "poor_area=1:'applicants from poor areas' or granted=1:'a loan'; repeat for more.",
            "--names",
        ),
    ] = None,
    comparison: Annotated[
        Path | None, option("FOLDER", "What p4f compare wrote. Default: computed now.", "--comparison")
    ] = None,
    no_comparison: Annotated[bool, typer.Option("--no-comparison", help="Leave the comparison out.")] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity/--no-sensitivity", help="Whether to vary the parameters.")
    ] = True,
    suspects: Annotated[Path | None, option("FILE", "Write all rows for review, likeliest first, as CSV.")] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Write one page about a model: what it believes, how sure that is, what it changes, and what could be wrong.

    The page needs no other file and no network; it can be printed, mailed, and read on a phone.
    """
    from problog4fairness.data import check_output

    if comparison is not None and no_comparison:
        raise P4FError("--comparison and --no-comparison contradict each other; leave one out")
    for path in (output, suspects):
        if path is not None:
            check_output(path, data, model, audit.audit)
    with working("looking at the model"):
        from problog4fairness.app.report import Inputs, Names, write_bundle

    given = {
        "fair": audit.fair,
        "recorded": recorded,
        "favourable": favourable,
        **record.given,
        "seed": seed,
        "sampling": audit.sampling and audit.sampling.value,
        "cluster": audit.cluster,
        **reading.given,
    }
    inputs = Inputs(
        model,
        data,
        audit.audit,
        options={name: value for name, value in given.items() if value is not None},
        names=Names.parsed(names or []).words,
        comparison=comparison or not no_comparison,
        sensitivity=sensitivity,
    )
    made = inputs.report()
    files: list[object] = []
    with working("writing"):
        save(made.save, output)
        if suspects is not None:
            save(made.save_queue, suspects)
            files.append(suspects)
        if record.bundle is not None:
            files += write_bundle(made, inputs, record.bundle, record.design)
    if as_json:
        print_json({"report": output, "files": [*files, output], **made.to_dict()})
        return
    say(
        *made.summary, *(f"warning: {warning}" for warning in (*made.training_warnings, *made.warnings)), *files, output
    )


def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="What p4f report --bundle wrote.", show_default=False)
    ],
    data: Annotated[str, option("FILE", "The recorded data, which are not in the folder.", "--data")],
    as_json: options.Json = False,
) -> None:
    """Make a report again from its evidence, and say what differs.

    The exit status is 1 where something does.
    """
    with working("making the report again"):
        from problog4fairness.app.report import verify as differences

        differing = differences(folder, data)
    if as_json:
        print_json({"folder": folder, "differences": differing})
    else:
        say(*(differing or ["Nothing differs: the files are those of the report, and they give the same page."]))
    if differing:
        raise typer.Exit(1)
