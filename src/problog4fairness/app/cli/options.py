"""Options that several commands share, in groups; :func:`add` puts the options of a group in the group's place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, get_args, get_type_hints

import typer

from problog4fairness.app.cli.output import working
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit
    from problog4fairness.beliefs import Belief
    from problog4fairness.learners import Network


class SamplingName(StrEnum):
    """How audited rows were sampled, where their columns do not say it."""

    random = "random"


class LearnerName(StrEnum):
    """What learns the fair label."""

    auto = "auto"
    linear = "linear"
    boosted = "boosted"
    network = "network"


def option(metavar: str, about: str, *names: str, **more: Any) -> Any:
    """An option with a value: what stands for the value in the help, and what the option is for."""
    return typer.Option(*names, metavar=metavar, help=about, **more)


Table: TypeAlias = Annotated[
    str, typer.Argument(metavar="TABLE", help="CSV or Parquet; - for standard input.", show_default=False)
]
ModelFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model, as p4f train writes it.", show_default=False)
]
BeliefFile: TypeAlias = Annotated[Path, option("FILE", "A belief: FILE.pl, as p4f estimate writes it.", "--belief")]
Recorded: TypeAlias = Annotated[str, option("COLUMN", "Column of the recorded label.", "--recorded")]
RecordedInTraining: TypeAlias = Annotated[
    str | None, option("COLUMN", "Column of the recorded label. Default: its name in training.", "--recorded")
]
Fair: TypeAlias = Annotated[str | None, option("COLUMN", "Column of the audited, fair label.", "--fair")]
Favourable: TypeAlias = Annotated[
    str | None, option("VALUE", "The favourable label, as 1, yes or good.", "--favourable")
]
GroupValue: TypeAlias = Annotated[str | None, option("VALUE", "The sensitive group, as 1, yes or F.", "--group")]
When: TypeAlias = Annotated[
    str | None, option("COLUMN", "The day of each row, as 2020-03-01; has the bias changed?", "--when")
]
LearnerChoice: TypeAlias = Annotated[
    LearnerName,
    option(
        "NAME",
        "What learns the fair label: linear (logistic regression; its coefficients can be read), boosted (trees; "
        "mostly best on tables), network (several small ones, averaged), or auto, the one of these under which "
        "recorded rows that were held out are most likely.",
        "--learner",
    ),
]
UseSensitive: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--use-sensitive/--group-free",
        help="Whether the model uses the group, or has the same fair label for people who are alike in all other "
        "columns. Default: chosen by audited rows where there are any, group-free otherwise.",
        show_default=False,
    ),
]
Threshold: TypeAlias = Annotated[
    float, option("P", "The fair label is favourable from this probability on.", min=0, max=1)
]
Seed: TypeAlias = Annotated[int, option("N", "The same seed gives the same result.", "--seed", min=0)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output: TypeAlias = Annotated[str, option("FILE", "The file to write.", "-o", "--output", show_default=False)]
Figure: TypeAlias = Annotated[
    Path | None, option("FILE", "Plot the result to this file: .png, .pdf or .svg.", "--figure")
]
ForSpreadsheet: TypeAlias = Annotated[
    bool,
    typer.Option("--for-spreadsheet", help="Put ' before texts such as =1+1 that a spreadsheet would run as formulas."),
]


def _columns(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", metavar="COLUMN", help=f"{text}; repeat for more.")


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    panel: ClassVar = "Reading tables"

    delimiter: Annotated[str | None, option("SIGN", "Between values: , ; | or tab. Default: detected.")] = None
    encoding: Annotated[str | None, option("NAME", "Such as utf-8 or cp1252. Default: detected.")] = None
    decimal: Annotated[str | None, option("SIGN", "The decimal sign, . or , . Default: detected.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options as arguments of functions that read tables."""
        return dict(vars(self))

    def table(self, source: str | Path, texts: Sequence[str] = ()) -> pd.DataFrame:
        """A table, with a sign of life while it is read."""
        from problog4fairness.data import read_table

        with working(f"reading {source}"):
            return read_table(source, **self.given, texts=texts)


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """A table of recorded data, a belief about it, and which column is what."""

    data: Table
    belief: BeliefFile
    recorded: Recorded
    sensitive: Annotated[str | None, option("COLUMN", "Column of the sensitive variable. Default: the belief's.")] = (
        None
    )
    favourable: Favourable = None
    group: GroupValue = None


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """How audited rows were sampled."""

    sampling: Annotated[
        SamplingName | None,
        option(
            "NAME",
            "random: the audited rows are a random sample. Not needed for rows that p4f plan drew.",
            show_default=False,
        ),
    ] = None
    cluster: Annotated[
        str | None, option("COLUMN", "Column of the audit with the person or officer to whom several rows belong.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class AuditOptions(SampleOptions):
    """Audited rows: where they are, and how they were sampled."""

    audit: Annotated[Path | None, option("FILE", "Audited rows in a table of their own, with the column --fair.")] = (
        None
    )
    fair: Fair = None

    def rows(self, frame: pd.DataFrame, reading: Reading, *beside: str) -> pd.DataFrame | Audit | None:
        """Audited rows of the file, or of ``frame``, with the design that the options state.

        ``beside`` are columns that were filled in besides the fair label.
        """
        audited = None if self.audit is None else reading.table(self.audit)
        if self.sampling is None and self.cluster is None:
            return audited
        from problog4fairness.estimators import stated_audit

        filled_in = [*([self.fair] if self.fair else []), *beside]
        return stated_audit(audited, frame, filled_in, self.sampling and self.sampling.value, self.cluster)


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """Which columns a model learns from."""

    drop: Annotated[list[str] | None, _columns("drop", "A column not to learn from")] = None
    keep: Annotated[list[str] | None, _columns("keep", "A column to keep even if it looks like an identifier")] = None
    features: Annotated[list[str] | None, _columns("features", "Learn from this column only")] = None

    @property
    def columns(self) -> dict[str, Any]:
        """The options as arguments of the library."""
        return {"drop": self.drop or [], "keep": self.keep or [], "features": self.features}


@dataclass(frozen=True, kw_only=True)
class TableOptions(FeatureOptions, AuditOptions, RoleOptions):
    """What checks, training and comparisons are given: a table, a belief, audited rows, and the columns to learn from.

    An option of a base class stands in the help before those of the classes that are named in front of it.
    """

    def read(self, reading: Reading, *beside: str) -> tuple[pd.DataFrame, pd.DataFrame | Audit | None, Belief]:
        """The table, its audited rows, and the belief bound to it; ``beside`` as for :meth:`AuditOptions.rows`."""
        frame = reading.table(self.data)
        audited = self.rows(frame, reading, *beside)
        with working("getting ready"):  # takes seconds to import; what is wrong with the tables is said before
            from problog4fairness.estimators import belief_for
        return frame, audited, belief_for(self.belief, frame, sensitive=self.sensitive, group=self.group)

    def roles(self, audited: pd.DataFrame | Audit | None) -> dict[str, Any]:
        """Which column is what, as arguments of the library."""
        return {"recorded": self.recorded, "audit": audited, "fair": self.fair, "favourable": self.favourable}


@dataclass(frozen=True)
class NetworkOptions:
    """How networks are trained."""

    panel: ClassVar = "Networks only (--learner network)"

    epochs: Annotated[int | None, option("N", "Passes over the data, at most.", min=1)] = None
    patience: Annotated[
        int | None, option("N", "Epochs without improvement before it stops. Default: suited to the table.", min=1)
    ] = None
    batch_size: Annotated[int | None, option("N", "Rows of a step. Default: suited to the table.", min=1)] = None
    learning_rate: Annotated[float | None, option("RATE", "Step size. Default: suited to the batch size.")] = None

    def learner(self, name: LearnerName) -> Network | str:
        """The learner of this name, with these options."""
        from problog4fairness.learners import Network

        given = {option: value for option, value in vars(self).items() if value is not None}
        if not given:
            return name.value
        if name is not LearnerName.network:
            raise P4FError(f"--{next(iter(given)).replace('_', '-')} is an option of networks; add --learner network")
        return Network(**{"max_epochs" if option == "epochs" else option: value for option, value in given.items()})


@dataclass(frozen=True)
class BiasOptions:
    """What the belief of a name is like: which labels or features are wrong, and on what that depends."""

    panel: ClassVar = "The belief"

    belief: Annotated[str, option("NAME", "{beliefs}, or a program FILE.pl.")] = "label"
    feature: Annotated[list[str] | None, _columns("feature", "A recorded feature that is distorted")] = None
    fair_feature: Annotated[list[str] | None, _columns("fair-feature", "The audited column of each such feature")] = (
        None
    )
    negative: Annotated[bool, typer.Option(help="A fair 1 may be recorded as 0.")] = True
    positive: Annotated[bool, typer.Option(help="A fair 0 may be recorded as 1.")] = True
    only_group: Annotated[bool, typer.Option("--only-group", help="Only the sensitive group's data are distorted.")] = (
        False
    )
    noise: Annotated[bool, typer.Option("--noise", help="Anybody's label may be wrong by mistake, too.")] = False
    by: Annotated[list[str] | None, _columns("by", "For row and changed: the bias differs by its values")] = None
    model: Annotated[list[str] | None, _columns("model", "For row and changed: numbers it may depend on")] = None
    when: When = None
    changed: Annotated[
        list[str] | None, option("DAY", "For changed: the first day after it; searched where it is not given.")
    ] = None

    answer: Annotated[
        list[str] | None,
        option(
            "FIELD=VALUE",
            "Any other field that the belief declares, such as kept=accepted; several columns with commas between "
            "them; repeat for more.",
        ),
    ] = None

    @property
    def fields(self) -> dict[str, str]:
        """The answers to other fields, by name."""
        parts = {answer: answer.partition("=") for answer in self.answer or ()}
        for answer, (name, equals, value) in parts.items():
            if not (name and equals and value):
                raise P4FError(f"--answer {answer}: write FIELD=VALUE, such as kept=accepted")
        return {name.strip(): value.strip() for name, _, value in parts.values()}

    @property
    def columns(self) -> list[str]:
        """All columns that are named."""
        from problog4fairness.beliefs import belief_types

        several = [self.feature, self.fair_feature, self.by, self.model]
        if self.answer and self.belief in belief_types():
            of_columns = [
                f.name for f in belief_types()[self.belief].kind.fields if f.kind in ("column", "columns", "values")
            ]
            several += [value.split(",") for name, value in self.fields.items() if name in of_columns]
        return [*(name for names in several for name in names or ()), *([self.when] if self.when else [])]

    @property
    def given(self) -> dict[str, Any]:
        """The options as arguments of a table that beliefs are made from."""
        return {
            "features": self.feature or (),
            "fair_features": self.fair_feature or (),
            "fields": self.fields,
            **{name: getattr(self, name) for name in ("negative", "positive", "only_group", "noise", "when")},
            **{name: getattr(self, name) or () for name in ("by", "model", "changed")},
        }


def add(app: typer.Typer, command: Callable[..., Any], example: str) -> None:
    """Add a command to the application, with the options of its groups in their place."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _parameters(groups[parameter.name])
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[parameter.name]))

    @wraps(command)
    def run(**options: Any) -> Any:
        grouped = {
            name: group(**{field.name: options.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**options, **grouped)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app.command(epilog=f"Example:  p4f {example}")(run)


def _parameters(group: type) -> Iterator[inspect.Parameter]:
    """The options of a group as parameters, below the group's heading in the help where it has one."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        hint = hints[field.name]
        if hasattr(group, "panel"):
            kind, option = get_args(hint)
            option = copy(option)
            option.rich_help_panel = group.panel
            hint = Annotated[(kind, option)]
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def refuse_both(output: str | None, as_json: bool, option: str = "-o") -> None:
    """Raise the error that says that JSON and a file cannot both go to standard output."""
    if output == "-" and as_json:
        raise P4FError(f"{option} - and --json both take standard output; name a file with {option} FILE")


def named_numbers(option: str, text: str, form: str, between: str = ",") -> tuple[str, list[float]]:
    """Name and numbers of what was given to an option, such as ``p1=0.2:0.6``; ``form`` says how it is written."""
    name, _, numbers = text.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(between)]
    except ValueError:
        values = []
    if not (name.strip() and values):
        raise P4FError(f"{option} {text}: write {form}")
    return name.strip(), values
