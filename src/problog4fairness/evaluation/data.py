"""What methods are compared on: a table's rows, the group of each, how audited ones were sampled, and the splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief, NoBias
from problog4fairness.data import Codes, Level, Roles, Rows, Sensitive, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.estimators import positions_of, sampled_audit, training_rows
from problog4fairness.metrics import plain

# More groups than this are no groups.
MOST_GROUPS = 50
# Rows on which fits are compared with each other, at most.
MOST_WITNESSES = 2000


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Recorded data to compare methods on; made by :func:`compared_rows`.

    Attributes
    ----------
    rows
        The rows with their recorded labels, and fair ones where they are known. All columns are features, the sensitive
        ones too.
    sensitive
        Says the group of each row.
    groups
        ``[rows]``: that group, by its position in ``sensitive.levels``; of two, 1 is the sensitive one.
    audit
        How the rows with a fair label were sampled, in their order; None where there are none.
    """

    rows: Rows
    sensitive: Sensitive
    groups: Codes
    audit: Audit | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def recorded(self) -> Codes:
        """``[rows]``: the recorded label by its position among the classes, the last of which is favourable."""
        return np.asarray(self.rows.recorded)

    @property
    def fair(self) -> Codes:
        """``[rows]``: the fair label, -1 where it is not known."""
        return np.full(len(self), -1, dtype=np.int64) if self.rows.fair is None else self.rows.fair

    @property
    def witnesses(self) -> Codes:
        """Rows with a fair label, on which fits are compared with each other: all, or some of very many."""
        known = np.flatnonzero(self.fair >= 0)
        return known[:: -(-len(known) // MOST_WITNESSES) or 1]

    def known_places(self, rows: Codes) -> Codes:
        """The places of rows among those with a fair label."""
        return np.searchsorted(np.flatnonzero(self.fair >= 0), rows)

    def sampled(self, rows: Codes) -> Audit | None:
        """How some of the rows with a fair label were sampled."""
        return None if self.audit is None else self.audit.take(self.known_places(rows))


def compared_rows(
    data: Any,
    beliefs: Sequence[Belief] = (),
    *,
    recorded: str,
    sensitive: str | Sensitive | None = None,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    **columns: Any,
) -> ComparedRows:
    """Read a table.

    Parameters
    ----------
    data, recorded, sensitive, audit, fair
        As for :func:`~problog4fairness.compare`.
    beliefs
        They say which columns are sensitive, whether labels may be missing, or are the votes of several people, and
        which columns no learner reads.
    columns
        ``favourable``, ``drop``, ``keep`` and ``features``, as for training on a table.
    """
    data = to_frame(data)
    reader = next((b for b in beliefs if b.columns.recorded or b.record.gaps), beliefs[0] if beliefs else NoBias())
    name = sensitive if isinstance(sensitive, str) and reader.columns.sensitive else None
    table = training_rows(data, reader, recorded=recorded, sensitive=name, audit=audit, fair=fair, **columns)
    classes = next((tuple(belief.record.classes) for belief in beliefs if belief.record.classes is not None), ())
    frame = table.features
    if table.groups is not None:
        frame = pd.concat([frame.drop(columns=list(table.groups), errors="ignore"), table.groups], axis=1)
    withheld = {column for belief in beliefs for column in belief.columns.withheld}
    features = tuple(column for column in frame.columns if column not in withheld)
    roles = Roles(table.label, fair=table.fair, favourable=table.favourable, labels=classes)
    rows = Rows.from_table(frame.reset_index(drop=True), roles, reader, features=features)
    known = rows.fair
    sensitive = _sensitive(rows.frame, sensitive, beliefs)
    groups = certain_groups(rows, sensitive)
    for level in range(len(sensitive.levels)):
        if not (groups == level).any():
            raise P4FError(f"no row has {sensitive.group_text(level)}; leave that group out of levels")
    sample = None if known is None or fair is None else _sampled(data, audit, fair, table.places, known)
    if sample is not None and known is not None and sample.sampling == "stratified":
        weights = np.zeros(len(known))
        weights[known >= 0] = sample.weights
        rows = replace(rows, audit_weights=weights)
    return ComparedRows(rows, sensitive, groups, sample)


def certain_groups(rows: Rows, sensitive: Sensitive) -> Codes:
    """``[rows]``: the group of each row, which must be known."""
    positions = rows.positions(sensitive)
    if positions.ndim == 2:
        columns = " and ".join(sensitive.columns)
        raise P4FError(f"{columns} has probabilities of groups; this needs the group of every row")
    return positions.astype(np.int64)


def _sampled(
    data: pd.DataFrame, audit: pd.DataFrame | Audit | None, fair: str, places: Codes, codes: Codes
) -> Audit | None:
    """The audit of the rows with a fair label, in their order; where all have one, nothing was sampled."""
    known = np.flatnonzero(codes >= 0)
    if not len(known):
        return None
    if audit is None and data[fair].notna().all():
        strata, frame = np.zeros(len(known), dtype=np.int64), pd.DataFrame(index=range(len(known)))
        return Audit(frame, "random", np.ones(len(known)), strata, np.zeros(0), None, known)
    if audit is None:
        filled = np.flatnonzero(data[fair].notna())
        sample = replace(sampled_audit(data.iloc[filled].reset_index(drop=True), fair), rows=filled)
    else:
        sample = positions_of(sampled_audit(audit, fair, data), len(data))
    number = {row: place for place, row in enumerate(sample.rows.tolist())}
    return replace(sample.take(np.array([number[row] for row in places[known].tolist()])), rows=known)


def _sensitive(frame: pd.DataFrame, sensitive: str | Sensitive | None, beliefs: Sequence[Belief]) -> Sensitive:
    """The variable by which people are compared: as stated, or that of the beliefs."""
    if isinstance(sensitive, Sensitive):
        return sensitive
    withheld = {column for belief in beliefs for column in belief.columns.withheld}
    named = [column for belief in beliefs for column in belief.columns.sensitive if column not in withheld]
    columns = tuple(dict.fromkeys(named)) or ((sensitive,) if sensitive else ())
    if not columns:
        raise P4FError("which column is sensitive? Name it by sensitive=...")
    known = {levels for belief in beliefs if (levels := _levels(belief, columns)) is not None}
    return Sensitive.of(columns, known.pop() if len(known) == 1 else _default_levels(frame, columns))


def _levels(belief: Belief, columns: tuple[str, ...]) -> tuple[Level, ...] | None:
    """The groups of a belief whose one sensitive variable is made of these columns."""
    if len(columns) == 1:
        return belief.columns.groups.get(columns[0])
    return next((variable.levels for variable in belief.variables if variable.columns == columns), None)


def _default_levels(frame: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Level, ...]:
    """0 and 1, or all of more than two groups, whose order does not matter; never a guess at which one is sensitive."""
    single = len(columns) == 1
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise P4FError(f"no column {missing[0]!r} for the sensitive variable")
    values = frame[list(columns)].dropna().drop_duplicates()
    present = [plain(row[0]) if single else tuple(map(plain, row)) for row in values.itertuples(index=False, name=None)]
    shown = " and ".join(map(repr, columns))
    if single and set(present) <= {0, 1}:
        return (0, 1)
    if len(present) == 2:
        raise P4FError(
            f"sensitive column {shown} has the values {present[0]!r} and {present[1]!r}; state which one is the "
            f"sensitive group by sensitive=Sensitive.of({columns[0]!r}, (other, sensitive))"
        )
    if len(present) > MOST_GROUPS:
        raise P4FError(f"sensitive column {shown} has {len(present)} different values; groups must be few")
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


_LARGEST_SEED = 1_000_000
# How often rows are split by default, and from so many rows on, where splits differ little and fits take long.
SEEDS, MANY_ROWS, SEEDS_OF_MANY = 5, 20_000, 3


@dataclass(frozen=True, eq=False)
class Cell:
    """One fold of one seed.

    Attributes
    ----------
    seed, fold
        The seed, and the number of the fold.
    train, test
        Rows to learn from, and to be tested on, by number.
    """

    seed: int
    fold: int
    train: Codes
    test: Codes

    @property
    def random_state(self) -> int:
        """The same for all methods of this cell: the same first weights and validation rows."""
        return 1000 * self.seed + self.fold


def cells(data: ComparedRows, seeds: int | Sequence[int] | None = None, folds: int = 5) -> list[Cell]:
    """All folds of all seeds; they depend on nothing else than the rows, the seeds and the number of folds.

    Each kind of row, by group, recorded label and fair label (favourable, not, unknown), is spread evenly over the
    folds. By default there are 5 seeds, and 3 from 20,000 rows on.
    """
    return [
        Cell(seed, fold, np.flatnonzero(part != fold), np.flatnonzero(part == fold))
        for seed in seed_list(default_seeds(len(data)) if seeds is None else seeds)
        for part in [_parts(data, seed, folds)]
        for fold in range(folds)
    ]


def default_seeds(rows: int) -> int:
    """How many times so many rows are split, where nothing is stated."""
    return SEEDS if rows < MANY_ROWS else SEEDS_OF_MANY


def seed_list(seeds: int | Sequence[int]) -> list[int]:
    """0, 1, ... for a number of seeds; the seeds themselves where they are given."""
    given: Any = seeds
    if isinstance(given, int | np.integer):
        if isinstance(given, bool) or given < 1:
            raise P4FError(f"seeds={given!r} is not a number of at least 1, nor a list of seeds")
        return list(range(int(given)))
    chosen = list(given)
    for seed in chosen:
        if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _LARGEST_SEED:
            raise P4FError(f"seed {seed!r} is not a whole number between 0 and {_LARGEST_SEED}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise P4FError("seeds must be one or more different numbers")
    return [int(seed) for seed in chosen]


def _parts(data: ComparedRows, seed: int, folds: int) -> Codes:
    """The fold in which each row is tested."""
    given: Any = folds
    if isinstance(given, bool) or not isinstance(given, Integral) or not 2 <= folds <= len(data):
        raise P4FError(f"folds={folds!r} is not a whole number between 2 and the {len(data)} rows")
    classes = len(data.rows.classes)
    kinds = (data.groups * (classes + 1) + data.recorded + 1) * (classes + 1) + data.fair + 1
    # Rows in a random order within their kind, dealt out like cards.
    order = np.lexsort((np.random.default_rng((seed, folds)).random(len(data)), kinds))
    part = np.empty(len(data), dtype=np.int64)
    part[order] = np.arange(len(data)) % folds
    return part
