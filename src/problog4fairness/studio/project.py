"""A project is a folder that a person can read: the table, the belief, the audit, the model, the page.

The files are those that the commands write and read, so one may begin in the terminal and go on in the browser. What
was chosen on the page stands in ``project.json``.
"""

from __future__ import annotations

import json
import shlex
import warnings
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import P4FError
from problog4fairness.rows import FileNote, Roles, TableError, find_roles, read_table, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs import Belief

CHOICES, BELIEF, AUDIT, REVIEWS, MODEL, REPORT = (
    "project.json",
    "belief.pl",
    "audit.csv",
    "reviews.jsonl",
    "model.p4f",
    "report.html",
)
FORMAT = 1


@dataclass(frozen=True)
class Choices:
    """What was chosen on the page.

    Attributes
    ----------
    table
        The file of the table; relative to the folder where it is in it.
    recorded, favourable, sensitive, group
        The columns and values, as :func:`~problog4fairness.rows.find_roles` takes them.
    drop
        Columns not to learn from.
    fair
        The name of the column of the fair label in the audit.
    learner
        What learns the fair label.
    independent
        Whether the fair label is independent of the group.
    seed
        Of everything that is drawn.
    """

    table: str | None = None
    recorded: str | None = None
    favourable: str | None = None
    sensitive: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    fair: str = "fair"
    learner: str = "auto"
    independent: bool = True
    seed: int = 0


@dataclass
class Project:
    """A folder, and what is known of its table.

    Parameters
    ----------
    folder
        Made where it is not there.
    """

    folder: Path
    choices: Choices = field(default_factory=Choices)
    remarks: list[str] = field(default_factory=list)
    _frame: pd.DataFrame | None = field(default=None, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Project:
        """The project of a folder; a new one where there is none yet."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / CHOICES
        return cls(folder, _read_choices(file) if file.exists() else Choices())

    def choose(self, **changes: Any) -> None:
        """Change what was chosen, and keep it on the disk."""
        chosen = replace(self.choices, **changes)
        if chosen.table != self.choices.table:
            self._frame = None
        self.choices = chosen
        write_whole(self.folder / CHOICES, json.dumps({"format": FORMAT, **asdict(chosen)}, indent=2) + "\n")

    def begin(self, table: Path) -> None:
        """Begin with a table, whose columns are still to be told apart."""
        here = table.resolve()
        inside = here.parent == self.folder.resolve()
        said: dict[str, Any] = dict.fromkeys(("recorded", "favourable", "sensitive", "group"))
        self.choose(table=here.name if inside else str(here), drop=(), **said)

    def path(self, name: str) -> Path:
        """A file of the project."""
        return self.folder / name

    def has(self, name: str) -> bool:
        """Whether a file of the project is there."""
        return (self.folder / name).exists()

    @property
    def table_file(self) -> Path:
        """The file of the table."""
        if self.choices.table is None:
            raise P4FError("there is no table yet; drop one on the first screen")
        return self.folder / self.choices.table

    @property
    def frame(self) -> pd.DataFrame:
        """The table as it is read."""
        if self._frame is None:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                self._frame = read_table(self.table_file)
            self.remarks = [" ".join(str(one.message).split()) for one in heard]
        return self._frame

    def roles(self) -> Roles:
        """Which column is what; an error says what is still to be chosen."""
        said = self.choices
        if said.recorded is None or said.sensitive is None:
            raise TableError("choose the recorded label and the sensitive column")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FileNote)
            return find_roles(
                self.frame,
                recorded=said.recorded,
                sensitive=said.sensitive,
                favourable=said.favourable,
                group=said.group,
            )

    def belief(self) -> Belief:
        """The belief of the project's file."""
        from problog4fairness.classifier.table import belief_for

        if not self.has(BELIEF):
            raise P4FError("there is no belief yet; state one on the second screen")
        return belief_for(self.path(BELIEF), self.frame, sensitive=self.choices.sensitive, group=self.choices.group)

    def keep_belief(self, belief: Belief) -> None:
        """Write the belief's file."""
        from problog4fairness.beliefs import belief_text

        write_whole(self.path(BELIEF), belief_text(belief))

    def command(self, name: str, *arguments: str, roles: bool = True) -> str:
        """The command that does the same, to be typed in the project's folder."""
        said = self.choices
        options = {
            "--recorded": said.recorded,
            "--sensitive": said.sensitive,
            "--favourable": said.favourable,
            "--group": said.group,
        }
        given = [part for flag, value in options.items() if roles and value is not None for part in (flag, value)]
        return shlex.join(["p4f", name, *arguments, *given])


def _read_choices(file: Path) -> Choices:
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise P4FError(f"{file}: this is no project of p4f studio ({error})") from None
    known = {own.name: own.type for own in fields(Choices)}
    if not isinstance(said, dict) or said.pop("format", None) != FORMAT or not set(said) <= set(known):
        raise P4FError(f"{file}: this is no project of this version of p4f studio")
    if isinstance(said.get("drop"), list):
        said["drop"] = tuple(map(str, said["drop"]))
    default = asdict(Choices())
    for name, value in said.items():
        texts = default[name] is None or isinstance(default[name], str)
        if not (isinstance(value, str) or value is None if texts else type(value) is type(default[name])):
            raise P4FError(f"{file}: {name} cannot be {value!r}")
    return Choices(**said)
