"""How much recorded labels say about fair ones: 1 - negative - positive, in each combination of groups."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch

from problog4fairness.mechanisms.audit import AuditWarning
from problog4fairness.mechanisms.combinations import Floats, observed
from problog4fairness.mechanisms.custom import ProgramMechanism

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.base import Mechanism


def warn_opposite(mechanism: Mechanism, frame: pd.DataFrame, stacklevel: int) -> None:
    """Warn where recorded labels mean the opposite of fair ones, as negative + positive > 1 says.

    Parameters
    ----------
    mechanism
        The belief; a program is looked at where its label is binary and it asks about the row itself.
    frame
        Rows with the sensitive columns: groups that do not occur in them do not count.
    stacklevel
        Of the warning, as in :func:`warnings.warn`.
    """
    if isinstance(mechanism, ProgramMechanism):
        signal, groups = _of_program(mechanism, frame)
    else:
        signal, groups = _of_template(mechanism, frame)
    opposite = int((signal < 0).sum())
    if not opposite:
        return
    others = f" (and in {opposite - 1} more combinations of groups)" if opposite > 1 else ""
    message = (
        f"where {groups[int(signal.argmin())]}{others}, negative and positive bias sum to more than 1: the belief says "
        "that recorded labels mean the opposite of fair ones; is the favourable label the right one?"
    )
    warnings.warn(AuditWarning(message), stacklevel=stacklevel + 1)


def _of_template(mechanism: Mechanism, frame: pd.DataFrame) -> tuple[Floats, list[str]]:
    levels = observed(mechanism.variables, frame).levels
    table = mechanism.label_table(levels)
    if table is None or table.shape[-1] != 2:
        return np.zeros(0), []
    groups = [
        " and ".join(variable.group_text(level) for variable, level in zip(mechanism.variables, own, strict=True))
        for own in levels.tolist()
    ]
    return (table[:, 1, 1] - table[:, 0, 1]).numpy(), groups


def _of_program(mechanism: ProgramMechanism, frame: pd.DataFrame) -> tuple[Floats, list[str]]:
    circuit = mechanism.program().compile()
    if not mechanism.about_the_row or mechanism.program().evidence or len(circuit.queries) != 1:
        return np.zeros(0), []
    columns = [mechanism.column_values(network, frame) for network in mechanism.columns]
    cells = np.unique(np.column_stack(columns), axis=0) if columns else np.zeros((1, 0))
    nn = {network: torch.tensor(cells[:, i]) for i, network in enumerate(mechanism.columns)}
    no, yes = (
        circuit.probability(nn={**nn, mechanism.classifier: torch.full((len(cells),), h, dtype=torch.float64)})[:, 0]
        for h in (0.0, 1.0)
    )
    names = list(mechanism.columns.values())
    groups = [" and ".join(f"{name} = {value:g}" for name, value in zip(names, cell, strict=True)) for cell in cells]
    return (yes - no).numpy(), groups
