"""How audited rows were sampled, as columns of their own table, which people fill in and send around."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.audit.strata import SamplingFrame
from problog4fairness.data import Codes, TableError, is_frame, parse_json, to_frame
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

    Parameters
    ----------
    table, design
        What is sampled from, and how.
    wanted
        ``[strata]``: new rows.
    fair
        Names of the columns to fill in.
    before
        Rows of earlier rounds; none of them is drawn again.
    rng
        Chooses the rows.
    cells
        The columns of the table that are copied, where it was coded for the plan.
    hidden
        Columns of the table that are not copied; with some, nothing in the rows tells their stratum.
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
