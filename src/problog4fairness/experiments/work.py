"""What a worker does: the stacks on one data set, one after the other, each stored as soon as it is finished."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from problog4fairness.errors import P4FError
from problog4fairness.experiments.archive import Table
from problog4fairness.experiments.cells import Memo
from problog4fairness.experiments.measure import measure
from problog4fairness.experiments.store import Store
from problog4fairness.experiments.study import StackPlan


@dataclass(frozen=True)
class Done:
    """What became of some stacks.

    Attributes
    ----------
    tables
        The numbers of each stack, or None where it failed.
    reasons
        For each stack that failed, why.
    """

    tables: list[Table | None] = field(default_factory=list)
    reasons: list[str | None] = field(default_factory=list)


def work(plans: list[StackPlan], store: Store) -> Done:
    """Compute stacks that learn from the same data, with one thread; a failing one does not stop the others."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    memo, done = Memo(), Done()
    try:
        for plan in plans:
            try:
                table = compute(plan, memo)
                store.try_save(plan, table)  # where it cannot, the caller keeps it
            except Exception as error:
                done.tables.append(None)
                done.reasons.append(f"{type(error).__name__}: {error}")
            else:
                done.tables.append(table)
                done.reasons.append(None)
    finally:
        torch.set_num_threads(threads)
    return done


def compute(plan: StackPlan, memo: Memo | None = None) -> Table:
    """The numbers of one stack: a row per cell and metric."""
    stack = plan.stack(Memo() if memo is None else memo)
    predictions = list(plan.method.predict(stack))
    if len(predictions) != len(stack.cells):
        raise P4FError(f"{plan.method.name} gave predictions for {len(predictions)} of {len(stack.cells)} cells")
    table: Table = []
    for cell, chance in zip(stack.cells, predictions, strict=True):
        if len(chance) != len(cell.test):
            raise P4FError(f"{plan.method.name} gave {len(chance)} predictions for {len(cell.test)} people")
        found = measure(cell, chance, plan.method.randomised)
        table += [
            [cell.point.bias, cell.point.x, plan.method.name, cell.seed, cell.fold, metric, value]
            for metric, value in found.items()
        ]
    return table
