"""How audited rows were drawn, as columns of their own table, which people fill in and send around."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.audit.strata import Drawn
from problog4fairness.data import Codes, TableError, parse_json
from problog4fairness.errors import P4FError

# The index of the row in its table, the round in which it was drawn, its stratum as a key that tells a reviewer
# nothing, the probability that it was drawn, and the design.
ROW, ROUND, STRATUM, PROBABILITY, DESIGN = "row", "p4f_round", "p4f_stratum", "p4f_probability", "p4f_design"
# A parameter is known well enough within this, where no plan says otherwise.
ERROR = 0.1
MOST_ROUNDS = 1_000_000
OWN = (ROW, ROUND, STRATUM, PROBABILITY, DESIGN)


@dataclass(frozen=True)
class Drawing:
    """How rows were drawn.

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


def is_filled(values: pd.Series[Any]) -> Any:
    """``[rows]``: whether something stands in each cell besides spaces."""
    texts = values.astype("string").str.strip()
    return (texts.notna() & (texts != "")).to_numpy(dtype=bool)


def row_texts(labels: Iterable[Any]) -> list[str]:
    """Index labels as a file writes them: 17.0, of a column with gaps, is 17."""
    return [str(int(own)) if isinstance(own, float) and own == int(own) else str(own) for own in labels]


def stratum_keys(drawing: Drawing, name: str, rows: Sequence[Any]) -> Any:
    """``[rows]``: the key of each row, by its index label, if it is of the stratum with this name.

    Keys of one stratum differ from row to row, so that a sheet without group and recorded label does not tell them.
    """
    start = hashlib.sha256(f"{drawing.table}|{name}|".encode())
    found = []
    for row in row_texts(rows):
        own = start.copy()
        own.update(row.encode())
        found.append(own.hexdigest()[:10])
    return np.array(found, dtype=object)


def read_drawing(frame: Any, known: bool = False) -> Drawing | None:
    """How the rows of a table were drawn, where it says so.

    Parameters
    ----------
    frame
        The rows.
    known
        Whether the sizes of the strata are known otherwise.

    Raises
    ------
    P4FError
        For rows of two designs, a damaged one, or a probability of being drawn without the shares of the strata.
    """
    columns = [] if frame is None or not hasattr(frame, "columns") else list(frame.columns)
    texts = (
        pd.Series(np.asarray(frame[DESIGN], dtype=object)).dropna() if DESIGN in columns else pd.Series(dtype=object)
    )
    texts = texts[texts.astype(str).str.strip() != ""]
    if not len(texts):
        if PROBABILITY in columns and not known:
            raise P4FError(
                f"the rows were drawn by what was recorded (column {PROBABILITY}), but the shares of the whole table, "
                f"column {DESIGN}, are missing; keep that column, or pass the table by drawn_from=..."
            )
        return None
    found = texts.unique().tolist()
    if len(found) > 1:
        raise P4FError(
            f"the column {DESIGN} holds {len(found)} designs; audited rows of one table and plan go together"
        )
    try:
        value = parse_json(str(found[0]))
        sizes = {str(name): int(size) for name, size in value["sizes"].items()}
        if min(sizes.values(), default=0) < 0:
            raise ValueError
        error = float(value.get("error", ERROR))
        if not 0 < error < 1:
            raise ValueError
        return Drawing(str(value["design"]), str(value["table"]), sizes, error)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise P4FError(
            f"the column {DESIGN} was changed and cannot be read; copy it from the file that was drawn"
        ) from None


def planned_error(audit: Any) -> float:
    """Within which each parameter is to be known, by the plan that drew the rows."""
    drawing = read_drawing(getattr(audit, "frame", audit), known=True)
    return ERROR if drawing is None else drawing.error


@dataclass(frozen=True, eq=False)
class Todo:
    """Rows that were drawn before, filled in or not.

    Attributes
    ----------
    frame
        The file as it was read.
    places
        ``[rows]``: which row of the table each is, from 0.
    round
        The last round.
    """

    frame: pd.DataFrame
    places: Codes
    round: int

    @classmethod
    def of(cls, frame: pd.DataFrame, table: Drawn, design: str) -> Todo:
        """Check that a file is what a plan for this table wrote."""
        drawing = read_drawing(frame)
        missing = [name for name in (ROW, DESIGN) if name not in frame.columns]
        if drawing is None or missing:
            name = missing[0] if missing else DESIGN
            raise TableError(f"the rows that were drawn lack the column {name!r}; draw into a new file")
        if drawing.table != table.fingerprint or drawing.design != design:
            was = "another table" if drawing.table != table.fingerprint else f"a plan with design={drawing.design!r}"
            raise TableError(f"the rows were drawn from {was}, not from this one; draw into a new file")
        places = pd.Index(row_texts(table.labels)).get_indexer(pd.Index(row_texts(frame[ROW])))
        wrong = places < 0
        if wrong.any():
            raise TableError(
                f"the column {ROW!r} holds {frame[ROW].to_numpy()[wrong][0]}, which is no row of the table"
            )
        if len(np.unique(places)) != len(places):
            twice = frame[ROW].to_numpy()[pd.Series(places).duplicated().to_numpy()][0]
            raise TableError(f"row {twice} of the table occurs twice among the rows that were drawn; keep one of them")
        return cls(frame, places.astype(np.int64), _last_round(frame))


def _last_round(frame: pd.DataFrame) -> int:
    """The number of the last round; 1 where the rows name none."""
    if ROUND not in frame.columns:
        return 1
    rounds = pd.to_numeric(frame[ROUND], errors="coerce").dropna()
    if not rounds.between(1, MOST_ROUNDS).all():
        raise TableError(f"the column {ROUND!r} holds a number that is not between 1 and {MOST_ROUNDS:,}")
    return int(rounds.max()) if len(rounds) else 1


def drawn_rows(
    table: Drawn,
    drawing: Drawing,
    wanted: Codes,
    fair: Sequence[str],
    before: Todo | None,
    rng: np.random.Generator,
    cells: pd.DataFrame | None = None,
    hidden: Sequence[str] = (),
) -> pd.DataFrame:
    """The rows of all rounds: those from before as they are, then ``wanted`` new ones of each stratum.

    New rows stand in random order: whoever fills in the first of them only has filled in a random part of each stratum.

    Parameters
    ----------
    table, drawing
        What is drawn from, and how.
    wanted
        ``[strata]``: new rows.
    fair
        Names of the columns to fill in.
    before
        Rows that were drawn before; none of them is drawn again.
    rng
        Says which rows.
    cells
        The columns of the table that are copied, where it was coded for the plan.
    hidden
        Columns of the table that are not copied; with some, nothing in the rows tells their stratum.
    """
    source = table.frame if cells is None else cells
    taken = [name for name in (*OWN, *fair) if name in source.columns]
    if taken:
        way = "name another one by fair=..." if taken[0] in fair else "rename it"
        raise TableError(f"the table already has a column {taken[0]!r}; {way}")
    gone = np.zeros(len(table.codes), dtype=bool)
    if before is not None:
        gone[before.places] = True
    new = []
    for stratum, count in enumerate(wanted.tolist()):
        left = np.flatnonzero((table.codes == stratum) & ~gone)
        new.append(rng.choice(left, size=min(int(count), len(left)), replace=False))
    chosen = rng.permutation(np.concatenate(new)) if new else np.zeros(0, dtype=np.int64)
    labels = pd.Index(table.labels)
    rows = source.iloc[chosen].drop(columns=list(hidden))
    rows.index = labels[chosen]
    rows.insert(0, ROW, rows.index)
    number = 1 if before is None else before.round + 1
    # Empty cells of no type, so that anything may be filled in.
    empty = {name: pd.Series([None] * len(rows), index=rows.index, dtype=object) for name in fair}
    rows = rows.assign(**empty, **{ROUND: number})
    places = chosen
    if before is not None:
        old = before.frame.set_axis(labels[before.places])
        rows = old if not len(rows) else _below(old, rows)
        places = np.concatenate([before.places, chosen])
    keys = np.full(len(places), "", dtype=object)
    for stratum, name in enumerate(table.strata.names):
        mine = table.codes[places] == stratum
        keys[mine] = stratum_keys(drawing, name, labels[places[mine]].tolist())
    known = {PROBABILITY: _probabilities(table, places)} if not hidden else {}
    return rows.drop(columns=PROBABILITY, errors="ignore").assign(**{STRATUM: keys}, **known, **{DESIGN: drawing.text})


def _below(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    columns = [*frame.columns, *(name for name in rows.columns if name not in frame.columns)]
    parts = [part.reindex(columns=columns).astype(object) for part in (frame, rows)]
    return pd.concat(parts)


def _probabilities(table: Drawn, places: Codes) -> Any:
    strata = table.codes[places]
    drawn = np.bincount(strata, minlength=len(table.sizes))
    return np.round(drawn / np.maximum(table.sizes, 1), 6)[strata]
