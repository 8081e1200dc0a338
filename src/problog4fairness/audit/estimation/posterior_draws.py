"""Beliefs drawn from what an audit leaves open: one set of parameters for each draw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.audit.estimation.maximum_likelihood import ALIKE
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.statistics import HALF, Parameter, check_known, outcomes_of

if TYPE_CHECKING:
    from problog4fairness.audit.estimation.stratified import Design

# Draws at once, at most.
MOST = 100_000


def posterior_draws(
    parts: Sequence[Sequence[Parameter]],
    design: Design | None,
    others: Callable[[int, np.random.Generator], Mapping[str, Floats]],
    count: int,
    random_state: Any,
) -> list[dict[str, Parameter]]:
    """For each draw the parameters that vary, as stated ones; see :meth:`Belief.draws`.

    Parameters
    ----------
    parts
        The parameters, in parts that were counted separately.
    design
        What a stratified audit said by stratum, where they come from one.
    others
        Draws ``[count]`` of parameters that are no probabilities, by name.
    count, random_state
        As for :meth:`Belief.draws`.
    """
    if type(count) is not int or not 1 <= count <= MOST:
        raise P4FError(f"count={count!r} is not a whole number from 1 to {MOST:,}")
    parameters = [parameter for part in parts for parameter in part]
    check_known(parameters)
    rng = generator(random_state)
    values: dict[str, Floats] = {}
    for part in parts:
        for cell in _cells(part):
            values |= _counted(cell, count, rng)
    if design is not None:
        values |= design.draws([parameter for parameter in parameters if parameter.rows is not None], count, rng)
    values |= _joint(parameters, count, rng)
    values |= others(count, rng)
    return [
        {
            parameter.name: parameter.stated(float(values[parameter.name][number]))
            for parameter in parameters
            if parameter.name in values
        }
        for number in range(count)
    ]


def generator(random_state: Any) -> np.random.Generator:
    """numpy's generator, from a seed or from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise P4FError(f"random_state={random_state!r} is not a seed; give a whole number of 0 or more") from None


def _cells(part: Sequence[Parameter]) -> list[list[Parameter]]:
    """Parameters that are known by their rows alone, those that share the rows of a cell together."""
    cells: dict[Hashable, list[Parameter]] = {}
    for parameter in part:
        if parameter.rows is None or parameter.information is not None or not parameter.is_probability:
            continue
        worth = None if parameter.prior is None else round(parameter.prior.a + parameter.prior.b, 9)
        cells.setdefault((outcomes_of(parameter), worth), []).append(parameter)
    return list(cells.values())


def _counted(cell: Sequence[Parameter], count: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Shares of one cell, by Dirichlet's distribution; a single one by a Beta."""
    rows, prior = float(cell[0].rows or 0), cell[0].prior
    if prior is not None:
        worth = rows + prior.a + prior.b
        alpha = [(parameter.value or 0.0) * worth for parameter in cell]
        alpha.append(worth - sum(alpha))
    else:
        hits = [(parameter.value or 0.0) * rows for parameter in cell]
        alpha = [*(hit + HALF for hit in hits), max(0.0, rows - sum(hits)) + HALF]
    shares = rng.dirichlet(np.maximum(alpha, 1e-3), count)
    return {parameter.name: shares[:, place] for place, parameter in enumerate(cell)}


def _joint(parameters: Sequence[Parameter], count: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Parameters that were estimated jointly: normal by their information, reflected at 0 and 1.

    Means are half a row away from 0 and 1. Directions that no row tells about do not vary.
    """
    known = [parameter for parameter in parameters if parameter.information is not None]
    if not known:
        return {}
    entries = [dict(parameter.information or ()) for parameter in known]
    matrix = np.array([[entry.get(parameter.name, 0.0) for parameter in known] for entry in entries])
    sizes, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    informed = sizes > ALIKE * max(float(sizes.max()), 1e-300)
    spread = directions[:, informed] / np.sqrt(sizes[informed])
    rows = np.array([float(parameter.rows or 0) for parameter in known])
    means = (np.array([parameter.value or 0.0 for parameter in known]) * rows + HALF) / (rows + 1)
    values = means + rng.standard_normal((count, int(informed.sum()))) @ spread.T
    values = 1 - np.abs(1 - np.abs(values))
    return {parameter.name: np.clip(column, 0.0, 1.0) for parameter, column in zip(known, values.T, strict=True)}
