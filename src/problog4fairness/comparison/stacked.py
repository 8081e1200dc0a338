"""Scores of methods over seeds and folds, as a long table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from problog4fairness.comparison.methods import Predictions, TableMethod, predict
from problog4fairness.comparison.splits import Cell, cells
from problog4fairness.comparison.table import Table
from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from problog4fairness.metrics.scores import scores

COLUMNS = ("method", "seed", "fold", "labels", "metric", "value")


def table_settings(rows: int) -> Settings:
    """How networks are trained on a table where nothing else is said.

    Two hidden layers of 32, AdamW at .002, at most 60 epochs, 6 without a lower validation loss end a fit; batches of
    64, and larger ones on large tables, about 100 to an epoch and at most 1,024 rows each.
    """
    batch = 64
    while batch < 1024 and rows > 100 * batch:
        batch *= 2
    return Settings(hidden=(32, 32), learning_rate=2e-3, batch_size=batch, max_epochs=60, patience=6)


def stacked(
    table: Table,
    methods: Sequence[TableMethod],
    seeds: int | Sequence[int] = 5,
    folds: int = 5,
    settings: Settings | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Train methods on every fold of every seed, and score them on the rows left out.

    All networks of a method are one fit, and so are those of all beliefs. Splits depend on the table, the seeds and the
    folds alone, so methods may be run one at a time and put together afterwards. With dropout, which the networks of a
    fit draw together, a belief's numbers then differ from those it gets beside other beliefs, but not in distribution.
    Massaging and parity begin with the lower baseline's networks, which are fitted once for all methods of a call.

    Parameters
    ----------
    table
        The people.
    methods
        What to compare.
    seeds, folds
        How often to split the table, or by which seeds, and into how many parts.
    settings
        How networks are trained; :func:`table_settings` by default.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    A row per method, seed, fold, kind of labels (``"recorded"``, and ``"fair"`` on the rows where they are known) and
    metric. A metric that a fold has no rows for is NaN.

    Raises
    ------
    P4FError
        Also where a method cannot run on this table; :func:`~problog4fairness.compare` leaves it out instead.
    """
    parts = cells(table, seeds, folds)
    found = predict(table, methods, parts, settings or table_settings(len(table)), progress)
    for name, reason in found.left_out.items():
        raise P4FError(f"{name}: {reason}")
    return scored(table, methods, parts, found)


def scored(table: Table, methods: Sequence[TableMethod], parts: Sequence[Cell], found: Predictions) -> pd.DataFrame:
    """The scores of predictions, by :data:`COLUMNS`."""
    rows: list[tuple[str, int, int, str, str, float]] = []
    for method in methods:
        for cell, chance in zip(parts, found.chances.get(method.name, ()), strict=False):
            test, audited = cell.test, table.known[cell.test]
            judged = {"fair": table.fair[test][audited], "recorded": table.recorded[test]}
            for labels, truth in judged.items():
                if not len(truth):
                    continue
                chosen = audited if labels == "fair" else slice(None)
                own = scores(truth, chance[chosen], table.groups[test][chosen], randomised=method.randomised)
                rows += [(method.name, cell.seed, cell.fold, labels, name, value) for name, value in own.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))
