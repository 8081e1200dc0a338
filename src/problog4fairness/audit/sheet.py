"""How audited rows were sampled, as columns of their own table, which people fill in and send around."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.strata import SamplingFrame
from problog4fairness.data import Codes, Floats, TableError, column_of, is_frame, parse_json, to_frame
from problog4fairness.errors import P4FError

# The index of the row in its table, the round in which it was drawn, its stratum as a key that tells a reviewer
# nothing, the probability that it was drawn, and the design.
ROW, ROUND, STRATUM, PROBABILITY, DESIGN = "row", "p4f_round", "p4f_stratum", "p4f_probability", "p4f_design"
OWN = (ROW, ROUND, STRATUM, PROBABILITY, DESIGN)
# A parameter is known well enough within this, where no plan says otherwise.
ERROR = 0.1
MOST_ROUNDS = 1_000_000


@dataclass(frozen=True)
class SheetDesign:
    """How rows were sampled.

    Attributes
    ----------
    design
        ``"neyman"``, by group and by what was recorded, or ``"hoeffding"``, whatever was recorded.
    table
        The fingerprint of the table.
    sizes
        The number of rows of each stratum in the whole table.
    error
        Half the width of the interval within which each parameter is to be known.
    """

    design: str
    table: str
    sizes: Mapping[str, int]
    error: float = ERROR

    @property
    def text(self) -> str:
        """What every row says of it."""
        plain = {"design": self.design, "table": self.table, "sizes": dict(self.sizes), "error": self.error}
        return json.dumps(plain, ensure_ascii=False)

    def keys(self, stratum: str, rows: Iterable[Any]) -> Any:
        """``[rows]``: the key of each row, by its index label, if it is of the stratum with this name.

        Keys of one stratum differ from row to row, so that a sheet without group and recorded label hides them.
        """
        start = hashlib.sha256(f"{self.table}|{stratum}|".encode())
        keys = []
        for row in row_texts(rows):
            digest = start.copy()
            digest.update(row.encode())
            keys.append(digest.hexdigest()[:10])
        return np.array(keys, dtype=object)


def is_filled(values: pd.Series[Any]) -> Any:
    """``[rows]``: whether something stands in each cell besides spaces."""
    texts = values.astype("string").str.strip()
    return (texts.notna() & (texts != "")).to_numpy(dtype=bool)


def row_texts(labels: Iterable[Any]) -> list[str]:
    """Index labels as a file writes them: 17.0, of a column with gaps, is 17."""
    return [str(int(label)) if isinstance(label, float) and label == int(label) else str(label) for label in labels]


def read_design(frame: pd.DataFrame, known: bool = False) -> SheetDesign | None:
    """How the rows of a table were sampled, where it says so; ``known`` says whether strata are known otherwise.

    Raises
    ------
    P4FError
        For rows of two designs, a damaged one, or a probability of being drawn without the shares of the strata.
    """
    texts = frame[DESIGN].dropna().astype(str) if DESIGN in frame.columns else pd.Series(dtype=object)
    designs = texts[texts.str.strip() != ""].unique().tolist() if len(texts) else []
    if not designs:
        if PROBABILITY in frame.columns and not known:
            raise P4FError(
                f"the rows were drawn by what was recorded (column {PROBABILITY}), but the shares of the whole table, "
                f"column {DESIGN}, are missing; keep that column, or pass the table by drawn_from=..."
            )
        return None
    if len(designs) > 1:
        raise P4FError(f"the column {DESIGN} holds {len(designs)} designs; pass audited rows of one table and plan")
    try:
        value = parse_json(designs[0])
        sizes = {str(name): int(size) for name, size in value["sizes"].items()}
        error = float(value.get("error", ERROR))
        if min(sizes.values(), default=0) < 0 or not 0 < error < 1:
            raise ValueError
        return SheetDesign(str(value["design"]), str(value["table"]), sizes, error)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise P4FError(
            f"the column {DESIGN} was changed and cannot be read; copy it from the file that was drawn"
        ) from None


def planned_error(audit: Any) -> float:
    """Within which each parameter is to be known, by the plan that sampled the rows."""
    frame = getattr(audit, "frame", audit)
    design = read_design(to_frame(frame), known=True) if is_frame(frame) and DESIGN in frame.columns else None
    return ERROR if design is None else design.error


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows that were drawn in earlier rounds, filled in or not.

    Attributes
    ----------
    frame
        The file as it was read.
    places
        ``[rows]``: which row of the table each is, from 0.
    round
        The last round; 1 where the rows name none.
    """

    frame: pd.DataFrame
    places: Codes
    round: int

    @classmethod
    def of(cls, frame: pd.DataFrame, table: SamplingFrame, design: str) -> Sheet:
        """Check that a file is what a plan for this table wrote."""
        written = read_design(frame)
        if written is None or ROW not in frame.columns:
            name = DESIGN if ROW in frame.columns else ROW
            raise TableError(f"the rows that were drawn lack the column {name!r}; draw into a new file")
        if written.table != table.fingerprint or written.design != design:
            was = "another table" if written.table != table.fingerprint else f"a plan with design={written.design!r}"
            raise TableError(f"the rows were drawn from {was}, not from this one; draw into a new file")
        rows = frame[ROW].to_numpy()
        places = pd.Index(row_texts(table.labels)).get_indexer(pd.Index(row_texts(rows)))
        if (places < 0).any():
            raise TableError(f"the column {ROW!r} holds {rows[places < 0][0]}, which is no row of the table")
        repeated = pd.Series(places).duplicated().to_numpy()
        if repeated.any():
            raise TableError(f"row {rows[repeated][0]} of the table occurs twice among the rows; keep one of them")
        rounds = pd.to_numeric(frame[ROUND], errors="coerce").dropna() if ROUND in frame.columns else pd.Series([1])
        if not rounds.between(1, MOST_ROUNDS).all():
            raise TableError(f"the column {ROUND!r} holds a number that is not between 1 and {MOST_ROUNDS:,}")
        return cls(frame, places.astype(np.int64), int(rounds.max()) if len(rounds) else 1)


def draw_rows(
    table: SamplingFrame,
    design: SheetDesign,
    wanted: Codes,
    fair: Sequence[str],
    before: Sheet | None,
    rng: np.random.Generator,
    cells: pd.DataFrame | None = None,
    hidden: Sequence[str] = (),
) -> pd.DataFrame:
    """The rows of all rounds: those from before as they are, then ``wanted`` new ones of each stratum.

    New rows stand in random order: whoever fills in the first of them only has filled in a random part of each stratum.
    ``cells`` are the columns of the table that are copied, where it was coded for the plan, but those ``hidden``; with
    some of these, nothing in the rows tells their stratum.
    """
    source = table.frame if cells is None else cells
    taken = [name for name in (*OWN, *fair) if name in source.columns]
    if taken:
        remedy = "name another one by fair=..." if taken[0] in fair else "rename it"
        raise TableError(f"the table already has a column {taken[0]!r}; {remedy}")
    earlier = np.zeros(0, dtype=np.int64) if before is None else before.places
    left = ~np.isin(np.arange(len(table.codes)), earlier)
    new = []
    for stratum, count in enumerate(wanted.tolist()):
        rows = np.flatnonzero((table.codes == stratum) & left)
        new.append(rng.choice(rows, size=min(int(count), len(rows)), replace=False))
    chosen = rng.permutation(np.concatenate(new)) if new else np.zeros(0, dtype=np.int64)
    labels = pd.Index(table.labels)
    sheet = source.iloc[chosen].drop(columns=list(hidden)).set_axis(labels[chosen])
    sheet.insert(0, ROW, sheet.index)
    # Empty cells of no type, so that anything may be filled in.
    empty = {name: pd.Series([None] * len(sheet), index=sheet.index, dtype=object) for name in fair}
    sheet = sheet.assign(**empty, **{ROUND: 1 if before is None else before.round + 1})
    places = np.concatenate([earlier, chosen])
    if before is not None:
        old = before.frame.set_axis(labels[earlier])
        columns = [*old.columns, *(name for name in sheet.columns if name not in old.columns)]
        parts = [part.reindex(columns=columns).astype(object) for part in (old, sheet)]
        sheet = pd.concat(parts) if len(sheet) else old
    strata = table.codes[places]
    keys = np.full(len(places), "", dtype=object)
    for stratum, name in enumerate(table.strata.names):
        keys[strata == stratum] = design.keys(name, labels[places[strata == stratum]].tolist())
    drawn = np.bincount(strata, minlength=len(table.sizes))
    chances = {} if hidden else {PROBABILITY: np.round(drawn / np.maximum(table.sizes, 1), 6)[strata]}
    sheet = sheet.drop(columns=PROBABILITY, errors="ignore")
    return sheet.assign(**{STRATUM: keys}, **chances, **{DESIGN: design.text})


Sampling: TypeAlias = Literal["random", "stratified", "unknown"]

NOT_STATED = (
    "nothing says how the audited rows were sampled; they are taken as a random sample. If they are one, state it by "
    'sampling="random" (argument of p4f.Audit.of)'
)


def sample_of(
    frame: pd.DataFrame,
    sampling: str | None,
    strata: str | Sequence[str] | None,
    population: Mapping[Any, float] | None,
    inclusion: Any,
    table: Any,
) -> Sample:
    """How the rows of a frame were sampled; the parameters are those of :meth:`Audit.of`."""
    design = read_design(frame, known=True)
    if design is not None:
        if sampling is not None or strata is not None or inclusion is not None:
            raise P4FError("the rows say how they were sampled, in their columns p4f_...; state nothing else")
        return _of_sheet(frame, design)
    if strata is not None:
        return _of_strata(frame, [strata] if isinstance(strata, str) else list(strata), population, table)
    if inclusion is not None:
        return _of_inclusion(np.asarray(inclusion, dtype=np.float64))
    if sampling not in (None, "random"):
        raise P4FError(f'sampling must be "random", not {sampling!r}; state others by strata= or inclusion=')
    if sampling is None:
        warn_audit(NOT_STATED)
    return Sample("unknown" if sampling is None else "random", np.zeros(len(frame), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Sample:
    """The strata of rows, and either the sizes of these or each row's inverse inclusion probability."""

    sampling: Sampling
    strata: Codes
    population: Floats = field(default_factory=lambda: np.zeros(0))
    names: tuple[str, ...] = ("everybody",)
    by: str = ""
    inverse: Floats | None = None

    def weights(self) -> Floats:
        """Inverse inclusion probabilities, with mean 1."""
        weights = np.ones(len(self.strata)) if self.inverse is None else self.inverse
        if len(self.population):
            counts = np.bincount(self.strata, minlength=len(self.population))
            weights = (self.population / np.maximum(counts, 1))[self.strata]
        return np.asarray(weights / weights.mean())


def _of_sheet(frame: pd.DataFrame, design: SheetDesign) -> Sample:
    """The design that a plan wrote into the rows."""
    missing = [name for name in (ROW, STRATUM) if name not in frame.columns]
    if missing:
        raise P4FError(f"the audited rows were drawn by a plan, but its column {missing[0]!r} is missing; keep it")
    names, rows = tuple(design.sizes), frame[ROW].tolist()
    keys = frame[STRATUM].map(str).str.strip().to_numpy()
    strata = np.full(len(frame), -1, dtype=np.int64)
    for place, name in enumerate(names):
        strata[keys == design.keys(name, rows)] = place
    wrong = np.flatnonzero((strata < 0) & frame[DESIGN].notna().to_numpy())
    if len(wrong):
        raise P4FError(
            f"row {rows[wrong[0]]} of the audit: its column {STRATUM} was changed; copy it from the file that was drawn"
        )
    if (strata < 0).any():
        raise P4FError(f"{int((strata < 0).sum())} audited rows do not say how they were drawn; leave them out")
    population = np.array([design.sizes[name] for name in names], dtype=np.float64)
    if (np.bincount(strata, minlength=len(names)) > population).any():
        raise P4FError("there are more audited rows than the table that they were drawn from has; drop repeated rows")
    if len(names) == 1:
        return Sample("random", strata, population, names)
    by = "group and recorded value" if design.design == "neyman" else "group"
    return Sample("stratified", strata, population, names, by)


def _of_strata(frame: pd.DataFrame, columns: list[str], population: Mapping[Any, float] | None, table: Any) -> Sample:
    """Strata that somebody states, by columns."""

    def kinds(rows: pd.DataFrame) -> list[Any]:
        values = [column_of(rows, name, "the strata of the audit").tolist() for name in columns]
        return values[0] if len(columns) == 1 else list(zip(*values, strict=True))

    if population is not None:
        sizes = {stratum: float(size) for stratum, size in population.items()}
    elif table is not None:
        sizes = pd.Series(kinds(to_frame(table))).value_counts(sort=False).astype(float).to_dict()
    else:
        raise P4FError("how large are the strata? pass population={stratum: rows}, or the table")
    if any(size < 0 for size in sizes.values()):
        raise P4FError("a stratum cannot have fewer than 0 rows")
    place = {stratum: number for number, stratum in enumerate(sizes)}
    sampled = kinds(frame)
    lacking = [stratum for stratum in sampled if stratum not in place]
    if lacking:
        raise P4FError(f"population says nothing of the stratum {lacking[0]!r}")
    values = [(stratum,) if len(columns) == 1 else stratum for stratum in sizes]
    words = [", ".join(f"{name} = {value}" for name, value in zip(columns, kind, strict=True)) for kind in values]
    strata = np.array([place[stratum] for stratum in sampled], dtype=np.int64)
    return Sample("stratified", strata, np.array(list(sizes.values())), tuple(words), " and ".join(columns))


def _of_inclusion(probability: Floats) -> Sample:
    """Inclusion probabilities that somebody states."""
    wrong = ~((probability > 0) & (probability <= 1))
    if wrong.any():
        raise P4FError(f"inclusion holds {probability[wrong][0]}, which is no probability above 0")
    nothing = np.zeros(len(probability), dtype=np.int64)
    return Sample("stratified", nothing, inverse=1 / probability)
