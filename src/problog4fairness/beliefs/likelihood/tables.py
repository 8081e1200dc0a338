"""Observing rows through tables: P(recorded label | fair label, groups), P(fair feature | recorded one, groups)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.likelihood.combinations import Combinations
from problog4fairness.beliefs.likelihood.factored import FactoredView, Kinds, row_groups, row_kinds
from problog4fairness.beliefs.likelihood.inputs import FairInputs, fair_inputs, own_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.sampled_inputs import Likely, likely_vectors, row_seeds
from problog4fairness.beliefs.templates.features.feature_bias import Distorted
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError

# Fair vectors that are all listed, unless somebody says how many; with more, so many stand for the others.
ALL, SOME = 1024, 32


def observe_tables(
    rows: Rows,
    groups: Combinations,
    labels: Tensor | None,
    features: Mapping[str, Tensor],
    parts: Sequence[Distorted],
    recorded: Codes | None = None,
    most: int | None = None,
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
        For each part ``[combinations, recorded, fair]``.
    parts
        The distorted features, or those of them that are distorted together.
    recorded
        What was recorded in each row, by its position in ``labels``; the recorded class by default.
    most
        How many fair vectors a row may stand for; if there are more, the likeliest ones and draws of the others.
    """
    recorded = rows.recorded if recorded is None else recorded
    classes = len(rows.classes)
    if labels is None:
        labels = torch.eye(classes, dtype=torch.float64).expand(len(groups.levels), classes, classes)
    codes = [part.codes(feature_codes(rows, part)) for part in parts]  # first: it refuses values that are not known
    tables = [(part_codes, features[part.title]) for part_codes, part in zip(codes, parts, strict=True)]
    vectors = math.prod(len(part.values) for part in parts)
    if vectors <= (most or ALL):
        inputs = fair_inputs(rows, {name: value for part in parts for name, value in part.listed.items()})
        observation = _observed(rows, inputs, *row_kinds(groups.rows, labels, tables), recorded)
    else:
        shares, chosen = row_groups(groups.rows)
        factors = [table[chosen, torch.from_numpy(part_codes)[:, None]] for part_codes, table in tables]
        likely = likely_vectors(factors, most or SOME, row_seeds(codes, different=recorded is not None))
        values = {
            name: np.asarray(part_codes)[place]
            for number, part in enumerate(parts)
            for name, part_codes, place in part.places(likely.positions[..., number].numpy())
        }
        observation = observe_weighted(rows, values, likely, shares, labels[chosen].log(), recorded)
    observation.distortion = partial(_changed, groups, parts, tables)
    return observation


def observe_weighted(
    rows: Rows, values: Mapping[str, Any], likely: Likely, shares: Tensor, labels: Tensor, recorded: Codes | None
) -> Observation:
    """Observe rows each of which stands for fair vectors of its own.

    Parameters
    ----------
    rows
        What was recorded.
    values
        For each distorted feature its fair values, ``[rows, groups, vectors]``.
    likely
        How likely they are.
    shares, labels
        Of each row, as in :class:`Kinds`: ``[rows, groups]`` and ``[rows, groups, fair, recorded]``.
    recorded
        As for :func:`observe_tables`.
    """
    count, groups, vectors = likely.weights.shape
    # The vectors of all groups side by side; each group has weight on its own ones only.
    weights = torch.full((count, groups, groups, vectors), -torch.inf, dtype=torch.float64)
    weights[:, torch.arange(groups), torch.arange(groups)] = likely.weights.log()
    kinds = Kinds(shares, labels, (weights.flatten(2),))
    inputs = own_inputs(rows, {name: value.reshape(count, -1) for name, value in values.items()})
    observation = _observed(rows, inputs, kinds, torch.arange(count), recorded)
    observation.drawn = float((likely.drawn * shares.exp()).sum(1).mean()) if count else 0.0
    return observation


def _observed(rows: Rows, inputs: FairInputs, kinds: Kinds, kind: Tensor, recorded: Codes | None) -> Observation:
    view = FactoredView(kinds, kind, rows.outputs)
    observed = None
    if recorded is not None:
        fair = None if rows.fair is None else torch.tensor(rows.fair)
        observed = view.observe(torch.tensor(recorded), fair)
    return Observation(inputs, view, observed, rows.outputs)


def feature_codes(rows: Rows, part: Distorted) -> dict[str, Codes]:
    """The recorded value of each feature of a part, by its position among the values that the belief knows."""
    codes = {}
    for feature, known in part.listed.items():
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


def _changed(
    groups: Combinations, parts: Sequence[Distorted], tables: Sequence[tuple[Codes, Tensor]]
) -> dict[str, Floats]:
    """For each distorted feature and row P(fair value != recorded value)."""
    return {
        name: groups.mean(shares)[np.arange(len(codes)), codes]
        for part, (codes, table) in zip(parts, tables, strict=True)
        for name, shares in part.changed(table.numpy()).items()
    }
