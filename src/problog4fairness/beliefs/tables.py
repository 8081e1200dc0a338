"""Observing rows through tables: P(recorded label | fair label, groups), P(fair feature | recorded one, groups)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.combinations import Combinations
from problog4fairness.beliefs.factored import FactoredView, row_kinds
from problog4fairness.beliefs.inputs import fair_inputs
from problog4fairness.beliefs.observation import Observation
from problog4fairness.errors import P4FError
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.types import Codes, Floats


def observe_tables(
    rows: Rows,
    groups: Combinations,
    labels: Tensor | None,
    features: Mapping[str, Tensor],
    values: Mapping[str, Sequence[Any]],
    recorded: Codes | None = None,
) -> Observation:
    """Observe rows through tables.

    Parameters
    ----------
    rows
        What was recorded.
    groups
        The combinations of groups that occur in them.
    labels
        ``[combinations, fair, recorded]``; None where labels are not distorted.
    features
        For each distorted feature ``[combinations, recorded, fair]``.
    values
        For each distorted feature the values that it can take.
    recorded
        What was recorded in each row, by its position in ``labels``; the recorded class by default.
    """
    recorded = rows.recorded if recorded is None else recorded
    classes = len(rows.classes)
    if labels is None:
        labels = torch.eye(classes, dtype=torch.float64).expand(len(groups.levels), classes, classes)
    codes = feature_codes(rows, values)  # first: it refuses values that the inputs could not hold
    inputs = fair_inputs(rows, values)
    kinds, kind = row_kinds(groups.rows, labels, [(codes[name], table) for name, table in features.items()])
    view = FactoredView(kinds, kind, rows.outputs)
    observed = None
    if recorded is not None:
        fair = None if rows.fair is None else torch.tensor(rows.fair)
        observed = view.observe(torch.tensor(recorded), fair)
    return Observation(inputs, view, observed, rows.outputs)


def feature_codes(rows: Rows, values: Mapping[str, Sequence[Any]]) -> dict[str, Codes]:
    """The recorded value of each distorted feature, by its position among the values that the belief knows."""
    codes = {}
    for feature, known in values.items():
        column = rows.column(feature, "the belief")
        place = {value: i for i, value in enumerate(known)}
        unknown = [value for value in column.unique().tolist() if value not in place]
        if unknown:
            raise P4FError(
                f"feature {feature!r} has the value {unknown[0]!r}, which is not among {', '.join(map(repr, known))}; "
                "a distorted feature must be binary or categorical, with its values named"
            )
        codes[feature] = np.asarray(column.map(place), dtype=np.int64)
    return codes


def changed(groups: Combinations, tables: Mapping[str, Tensor], codes: Mapping[str, Codes]) -> dict[str, Floats]:
    """For each distorted feature and row P(fair value != recorded value)."""
    rows = np.arange(len(groups.rows))
    return {name: 1 - groups.mean(table.numpy())[rows, codes[name], codes[name]] for name, table in tables.items()}
