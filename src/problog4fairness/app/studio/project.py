"""A project is a folder that a person can read: the table, the belief, the audit, the model, the page.

The files are those that the commands write and read, so one may begin in the terminal and go on in the browser. What
was chosen on the page stands in ``project.json``.
"""

from __future__ import annotations

import json
import shlex
import shutil
import warnings
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from problog4fairness.app.studio.columns import MANY, Column, columns_of
from problog4fairness.data import (
    MEBIBYTE,
    FileNote,
    Roles,
    TableError,
    Value,
    atomic_file,
    find_roles,
    inside,
    parse_json,
    read_file,
    read_table,
    values_of,
    write_atomically,
)
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs import Belief

CHOICES, BELIEF, DRAFT, AUDIT = "project.json", "belief.pl", "belief.draft.pl", "audit.csv"
REVIEWS, MODEL, REPORT = "reviews.jsonl", "model.p4f", "report.html"
# What the last screens make: p4f compare, p4f uncertainty, moves of the sliders, and p4f report --suspects, p4f predict
# -o, p4f report --bundle.
COMPARISON, PEOPLE, MOVES = "comparison", "people.csv", "moves.safetensors"
SUSPECTS, SCORED, EVIDENCE = "suspects.csv", "scored.csv", "evidence"
# What can be taken away, and how it is called.
TAKEN = {
    REPORT: "the page",
    f"{EVIDENCE}.zip": "the evidence folder",
    MODEL: "the model",
    SCORED: "the table with scores",
    SUSPECTS: "the rows for review",
    BELIEF: "the belief",
    AUDIT: "the audit",
}
FORMAT = 1


@dataclass(frozen=True)
class Choices:
    """What was chosen on the page.

    Columns and values are those that :func:`~problog4fairness.data.find_roles` takes; the names of groups and labels
    are those that ``p4f report --names`` takes.
    """

    table: str | None = None  # its file, in the folder
    recorded: str | None = None
    favourable: str | None = None
    sensitive: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()  # columns not to learn from
    fair: str = "fair"  # the column of the fair label in the audit
    learner: str = "auto"
    use_sensitive: str = "auto"  # "yes" where the model uses the group, "no" for a group-free one
    seed: int = 0
    error: float = 0.1  # half the width that the interval of every parameter may have after the audit
    reviewer: str = ""  # who reviews on the main page
    seeds: int = 5  # how often a comparison splits the table
    # For the record of the report.
    title: str | None = None
    author: str | None = None
    purpose: str | None = None
    date: str | None = None
    reviewed_by: str | None = None
    approved_by: str | None = None
    names: tuple[str, ...] = ()

    @property
    def uses_group(self) -> Literal["auto"] | bool:
        """The same as ``use_sensitive``, as functions take it."""
        return self.use_sensitive == "yes" if self.use_sensitive in ("yes", "no") else "auto"


@dataclass
class Project:
    """A folder, and what is known of its table."""

    folder: Path
    choices: Choices = field(default_factory=Choices)
    remarks: list[str] = field(default_factory=list)
    _frame: pd.DataFrame | None = field(default=None, repr=False)
    _columns: list[Column] | None = field(default=None, repr=False)
    _values: dict[str, list[Value]] = field(default_factory=dict, repr=False)
    _counts: dict[str, int] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Project:
        """The project of a folder; a new one where there is none yet."""
        folder.mkdir(parents=True, exist_ok=True)
        project = cls(folder)
        if project.has(CHOICES):
            project.choices = _read_choices(project.path(CHOICES))
        return project

    def choose(self, **changes: Any) -> None:
        """Change what was chosen, and keep it on the disk."""
        chosen = replace(self.choices, **changes)
        if chosen.table != self.choices.table:
            self._frame, self._columns, self._values, self._counts = None, None, {}, {}
        self.choices = chosen
        write_atomically(self.path(CHOICES), json.dumps({"format": FORMAT, **asdict(chosen)}, indent=2) + "\n")

    def begin(self, table: Path) -> None:
        """Begin with a table, whose columns are still to be told apart; one from elsewhere is copied to the folder."""
        here = table.resolve()
        if here.parent != self.folder.resolve():
            with here.open("rb") as source, atomic_file(self.path(here.name)) as target:
                shutil.copyfileobj(source, target)
        unknown: dict[str, Any] = dict.fromkeys(("recorded", "favourable", "sensitive", "group"))
        self.choose(table=here.name, drop=(), **unknown)

    def tables(self) -> list[str]:
        """Files of the folder that may be the table, such as those that were there before."""
        kinds = (".csv", ".tsv", ".parquet")
        tables = (file for file in self.folder.iterdir() if file.suffix.lower() in kinds and file.name != AUDIT)
        return sorted(file.name for file in tables if file.is_file())

    def path(self, name: str) -> Path:
        """A file of the project; the error of one that is a link, which would lead to a file of somebody else."""
        path = self.folder / name
        if path.is_symlink():
            raise P4FError(f"{path} is a link; a project holds the files themselves")
        return path

    def has(self, name: str) -> bool:
        """Whether a file of the project is there."""
        return self.path(name).exists()

    @property
    def table_file(self) -> Path:
        """The file of the table."""
        if self.choices.table is None:
            raise P4FError("there is no table yet; drop one on the first screen")
        return inside(self.folder, self.choices.table)

    @property
    def frame(self) -> pd.DataFrame:
        """The table as it is read."""
        if self._frame is None:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                self._frame = read_table(self.table_file)
            self.remarks = [" ".join(str(one.message).split()) for one in heard]
        return self._frame

    def columns(self) -> list[Column]:
        """The columns of the table at a glance; the first call takes seconds where there are a million rows."""
        if self._columns is None:
            self._columns = columns_of(self.frame)
        return self._columns

    def values(self, column: str) -> list[Value]:
        """The different values of a column, in order, without missing ones."""
        if column not in self._values:
            self._values[column] = values_of(self.frame[column])
        return self._values[column]

    def count(self, column: str) -> int:
        """How many different values a column has."""
        if column not in self._counts:
            counts = {column.name: column.values for column in self._columns or ()}
            self._counts[column] = counts[column] if column in counts else int(self.frame[column].nunique())
        return self._counts[column]

    def roles(self) -> Roles:
        """Which column is what; an error says what is still to be chosen."""
        choices = self.choices
        if choices.recorded is None or choices.sensitive is None:
            raise TableError("choose the recorded label and the sensitive column")
        for column in {choices.recorded, choices.sensitive} & set(map(str, self.frame.columns)):
            if self.count(column) > MANY:
                raise TableError(f"column {column!r} has {self.count(column):,} values; a label or a group has a few")
        with warnings.catch_warnings(action="ignore", category=FileNote):
            return find_roles(
                self.frame,
                recorded=choices.recorded,
                sensitive=choices.sensitive,
                favourable=choices.favourable,
                group=choices.group,
            )

    def belief(self) -> Belief:
        """The belief of the project's file."""
        from problog4fairness.estimators import belief_for

        if not self.has(BELIEF):
            raise P4FError("there is no belief yet; state one on the second screen")
        return belief_for(self.path(BELIEF), self.frame, sensitive=self.choices.sensitive, group=self.choices.group)

    def keep_belief(self, belief: Belief) -> None:
        """Write the belief's file."""
        from problog4fairness.beliefs import belief_text

        write_atomically(self.path(BELIEF), belief_text(belief))

    def read(self, name: str) -> pd.DataFrame:
        """A table that people fill in: that some column is still empty is no reason to warn."""
        with warnings.catch_warnings(action="ignore"):
            return read_table(self.path(name))

    def audited_rows(self) -> pd.DataFrame | None:
        """The drawn rows that have a fair label, if there are any; those of which a feature was asked have none."""
        if not self.has(AUDIT) or not self._asks_for_label():
            return None
        audit, fair = self.read(AUDIT), self.choices.fair
        known = audit[audit[fair].notna()].reset_index(drop=True) if fair in audit else ()
        return known if len(known) else None

    @property
    def is_audited(self) -> bool:
        """Whether some drawn row has a fair label."""
        return self.audited_rows() is not None

    def _asks_for_label(self) -> bool:
        from problog4fairness.app.studio.auditing import Asked

        try:
            return not Asked.of(self, self.belief()).feature
        except P4FError:
            return False

    def learning(self) -> list[str]:
        """What training and comparison are told besides the columns: the audit, columns left out, the learner."""
        choices = self.choices
        arguments = ["--audit", AUDIT, "--fair", choices.fair] if self.is_audited else []
        arguments += [part for name in choices.drop for part in ("--drop", name)]
        arguments += {"yes": ["--use-sensitive"], "no": ["--group-free"]}.get(choices.use_sensitive, [])
        return [*arguments, "--learner", choices.learner, "--seed", str(choices.seed)]

    def command(self, name: str, *arguments: str, roles: bool = True) -> str:
        """The command that does the same, to be typed in the project's folder."""
        choices = self.choices
        options = {
            "--recorded": choices.recorded,
            "--sensitive": choices.sensitive,
            "--favourable": choices.favourable,
            "--group": choices.group,
        }
        options_given = [
            part for flag, value in options.items() if roles and value is not None for part in (flag, value)
        ]
        return shlex.join(["p4f", name, *arguments, *options_given])


def _read_choices(file: Path) -> Choices:
    try:
        stored = parse_json(read_file(inside(file.parent, file.name), MEBIBYTE), 10_000)
    except (ValueError, OSError) as error:
        raise P4FError(f"{file}: this is no project of p4f studio ({error})") from None
    known = {choice.name: choice.type for choice in fields(Choices)}
    if not isinstance(stored, dict) or stored.pop("format", None) != FORMAT or not set(stored) <= set(known):
        raise P4FError(f"{file}: this is no project of this version of p4f studio")
    table = stored.get("table")
    if isinstance(table, str):
        inside(file.parent, table)
        if table.startswith("-"):
            raise P4FError(f"{file}: the table {table!r} has a name that a command would take for an option")
    for name in ("drop", "names"):
        if isinstance(stored.get(name), list):
            stored[name] = tuple(map(str, stored[name]))
    default = asdict(Choices())
    for name, value in stored.items():
        texts = default[name] is None or isinstance(default[name], str)
        if not (isinstance(value, str) or value is None if texts else type(value) is type(default[name])):
            raise P4FError(f"{file}: {name} cannot be {value!r}")
    return Choices(**stored)
