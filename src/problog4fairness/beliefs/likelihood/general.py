"""The general way from a belief to an observation: its program, compiled and specialised to what the rows know."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from problog4fairness.beliefs.description import Outcomes
from problog4fairness.beliefs.likelihood.inputs import FairInputs
from problog4fairness.beliefs.likelihood.observation import Observation, View
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from problog4fairness.program import Affine, Observed, Program, Specialised, log_outcomes

if TYPE_CHECKING:
    from problog4fairness.program import Leaf


# Products of a circuit in a second, in one pass over all rows.
PRODUCTS = 3e6


def observe_program(
    program: Program,
    rows: Rows,
    inputs: FairInputs,
    record: Outcomes,
    *,
    classifier: str,
    value: Callable[[Leaf], Tensor],
    place: Callable[[Leaf], Tensor],
) -> Observation:
    """Observe rows through a program.

    Parameters
    ----------
    program
        With all its parameters bound. Its query is "the recorded label is 1"; or there is one for each thing that can
        be recorded.
    rows
        What was recorded.
    inputs
        The fair inputs that the rows may stand for.
    record
        What was recorded in them.
    classifier
        The network that is learned.
    value
        For a leaf of any other network, what the rows know of it: ``[rows]``, or ``[rows, outcomes]``.
    place
        For a leaf of the classifier, which of the inputs it is asked about: ``[rows]``.
    """
    circuit = program.compile()
    known = [leaf for leaf in circuit.leaves if leaf.kind == "network" and leaf.name != classifier]
    most = PRODUCTS * program.limits.seconds
    special = circuit.specialise(nn={str(leaf): value(leaf) for leaf in known}, most=most)
    queries, outputs = len(special.queries), rows.outputs
    if queries != (1 if record.size <= 2 else record.size):
        raise P4FError(f"the program has {queries} queries for {record.size} classes; give it one for each class")
    if not special.free or set(special.widths) != {outputs}:
        raise P4FError(f"the program must ask the classifier {classifier} about {len(rows.classes)} classes")
    places, alone = torch.stack([place(leaf) for leaf in special.free], dim=1), len(special.free) == 1
    if inputs.apart and isinstance(special, Affine):
        # As in a template, an input that cannot be the fair one says nothing of what inputs are like.
        special, leaves = special.without_idle()
        entries = torch.zeros(len(rows), dtype=torch.long) if special.codes is None else special.codes
        inputs, places = inputs.only(places.gather(1, leaves[entries]))
    view = ProgramView(special, len(rows), before=record.size > 1, alone=alone)
    observed = None
    if record.codes is not None:
        fair = None if rows.fair is None else torch.tensor(rows.fair)
        observed = view.observe(torch.tensor(record.codes), fair)
    return Observation(inputs, view, observed, outputs, places)


class ProgramView(View):
    """What a specialised circuit says of rows; ``alone`` where its program asks about one input only."""

    def __init__(self, special: Specialised, rows: int, before: bool, alone: bool) -> None:
        self.special, self.before, self.alone = special, before, alone
        self.width = special.width
        self.codes = torch.zeros(rows, dtype=torch.long) if special.codes is None else special.codes

    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_recorded`."""
        logs = self.special.log_probability(logits, rows)
        return logs[:, 0] if logs.shape[1] == 1 else logs[..., 1]

    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_fair`; a program that asks about several inputs says itself what follows from them."""
        if not self.alone:
            return self.log_recorded(logits, rows)
        return log_outcomes(self.special.widths, logits)

    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:
        """See :meth:`View.observe`."""
        observed = self.special.observed(recorded)
        return observed if fair is None else observed.known(fair)
