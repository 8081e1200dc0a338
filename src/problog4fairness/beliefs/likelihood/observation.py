"""A belief applied to rows: all that a learner needs to know of it.

For row i, fair inputs v and fair classes f, with coefficients c from the circuit:

    P(recorded_i) = sum over v and f of c_ivf h_f(x_v)
    q_ivf         = c_ivf h_f(x_v) / P(recorded_i)

A row may stand for several fair inputs: under measurement bias for every vector of fair features that its recorded ones
may have come from. Many rows stand for the same ones, so the distinct inputs are kept once, and a row points at them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from problog4fairness.beliefs.likelihood.inputs import FairInputs
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.program import AffineTerms, Observed

# Rows times variants that are looked at together.
CHUNK = 1 << 20
# Numbers that are kept at once while rows go through a circuit.
NUMBERS = 1 << 24
# Combinations of certain answers that are tried to find the range of P(recorded).
MOST_CORNERS = 256
# A classifier as sure as this is certain in float64, and its logarithms are still finite.
SURE = 1e4


class View(ABC):
    """What a belief says of rows before their labels are looked at, as a function of a classifier's logits.

    Attributes
    ----------
    before
        Whether it does; not for a program that reads the record and only says how likely it is.
    codes
        ``[rows]``: the kind of each row. What is said of two rows of a kind differs by their logits only.
    width
        Numbers that are kept for each row while it is computed.
    """

    before: bool = True
    codes: Tensor
    width: int = 1

    @abstractmethod
    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """log P(what is recorded), ``[rows, outcomes]``, for logits ``[rows, variants * outputs]`` of some rows.

        The classes come first, in their order; where nothing may be recorded, that comes last.
        """

    @abstractmethod
    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:
        """log P(fair class), ``[rows, classes]``, given the recorded features."""

    @abstractmethod
    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:
        """The likelihood of recorded classes ``[rows]``; fair classes ``[rows]`` are -1 where they are not known."""

    def corners(self, variants: int, classes: int) -> Tensor | None:
        """Fair classes ``[corners, variants]`` among which every P(recorded) is least and greatest; None if too many.

        P(recorded) is affine in what a classifier says of one input, so its ends are where all inputs are certain.
        """
        if classes**variants > MOST_CORNERS:
            return None
        return torch.cartesian_prod(*[torch.arange(classes)] * variants).reshape(-1, variants)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the record tells of what was fair.

    Attributes
    ----------
    weights
        ``[rows, variants, classes]``: q, the expected weight of every fair input and fair class.
    inputs
        ``[rows, variants]``: the inputs that they belong to.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor", negative={1: 0.5}, positive=False, affected=[1])
    >>> frame = pd.DataFrame({"income": [1.0, 1.0], "poor": [1, 0]})
    >>> seen = belief.observe(p4f.data.Rows(frame, features=("income",), recorded=np.array([0, 0])))
    >>> found = seen.posterior(torch.full((len(seen.table), 2), 0.5, dtype=torch.float64).log())
    >>> found.by_input(len(seen.table)).round(decimals=4).tolist()  # the weights of 0 and 1 that EM refits on
    [[0.6667, 0.3333], [1.0, 0.0]]
    """

    weights: Tensor
    inputs: Tensor

    @property
    def fair(self) -> Tensor:
        """P(fair class | what was recorded), ``[rows, classes]``; NaN where that has probability 0."""
        total = self.weights.sum(1)
        whole = total.sum(-1)
        # Less than 1: something was recorded whatever is fair; more: several inputs have a fair label each.
        if bool(((whole > 0) & ((whole - 1).abs() > 1e-3)).any()):
            raise P4FError(
                "the belief's program asks about several inputs at once; it does not say which label is fair"
            )
        return total / whole.unsqueeze(-1)

    def by_input(self, count: int, weights: Tensor | None = None) -> Tensor:
        """``[inputs, classes]``: the expected weight of each input and class over all rows, as EM refits on it.

        Parameters
        ----------
        count
            Number of distinct inputs.
        weights
            ``[rows]``: how much each row counts.
        """
        expected = self.weights if weights is None else self.weights * weights.reshape(-1, 1, 1)
        result = expected.new_zeros(count, expected.shape[-1])
        return result.index_add_(0, self.inputs.reshape(-1), expected.reshape(-1, expected.shape[-1]))


class Observation:
    """A belief applied to rows: the likelihood of what was recorded, and what that tells of what was fair.

    Parameters
    ----------
    inputs
        The distinct fair inputs, and which of them each row may stand for.
    view
        What was distorted, row by row; None where nothing was.
    observed, outputs
        See below.
    places
        ``[rows]``, where not all rows of ``inputs`` are meant: which of them.

    Attributes
    ----------
    table
        The distinct fair inputs, one row each: what a learner reads.
    outputs
        How many logits a classifier gives for an input: 1 for two classes, k for k.
    variants
        How many fair inputs a row may stand for.
    runs
        ``[rows]``, where the inputs of every row are a run k n, k n + 1, ... k n + n - 1: the number k of its run.
        Then ``inputs`` follows from it and is not stored, which under measurement bias saves most of the memory.
    observed
        The likelihood as a kernel, None for rows without a record.
    drawn
        How much of the weight of a row, on average, rests on inputs that were drawn for others, because there are too
        many to list; 0 where all are listed. What is drawn adds noise to what is learned, and no bias on average.
    distortion
        What computes :meth:`feature_distortion`; None where no features are distorted, or numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor", negative={1: 0.5}, positive=False, affected=[1])
    >>> frame = pd.DataFrame({"income": [1.0, 1.0], "poor": [1, 0]})
    >>> seen = belief.observe(p4f.data.Rows(frame, features=("income",), recorded=np.array([0, 0])))
    >>> half = torch.full((len(seen.table), 2), 0.5, dtype=torch.float64).log()  # a classifier that knows nothing
    >>> seen.posterior(half).fair[:, 1].round(decimals=4).tolist()  # P(fair 1), though both were recorded as 0
    [0.3333, 0.0]
    """

    def __init__(
        self,
        inputs: FairInputs,
        view: View | None,
        observed: Observed | None,
        outputs: int,
        places: Tensor | None = None,
    ) -> None:
        self.table: pd.DataFrame = inputs.table
        self.outputs = outputs
        index = inputs.index if places is None else places
        self.runs = index if index.ndim == 1 else None
        self.variants = inputs.variants if index.ndim == 1 else int(index.shape[1])
        self.observed = observed
        self.drawn = 0.0
        self.distortion: Callable[[], dict[str, Floats]] | None = None
        self._index = index
        self._view = view

    def __len__(self) -> int:
        return len(self._index)

    def feature_distortion(self) -> dict[str, Floats]:
        """For each distorted feature and row the probability that its fair value is not the recorded one."""
        return {} if self.distortion is None else self.distortion()

    @property
    def classes(self) -> int:
        """How many classes the label has."""
        return max(2, self.outputs)

    @property
    def inputs(self) -> Tensor:
        """``[rows, variants]``: which of the distinct fair inputs each row may stand for."""
        return self.needs(torch.arange(len(self), device=self._index.device))

    def needs(self, rows: Tensor) -> Tensor:
        """``[..., variants]``: the inputs of the rows ``[...]``."""
        if self.runs is None:
            return self._index[rows]
        return (self.runs[rows] * self.variants).unsqueeze(-1) + torch.arange(self.variants, device=self.runs.device)

    def input_range(self) -> tuple[int, int]:
        """The first and the last input that any row needs."""
        first, last = int(self._index.min()), int(self._index.max())
        return (first, last) if self.runs is None else (first * self.variants, (last + 1) * self.variants - 1)

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """log P(recorded), ``[...]``, for the rows ``[...]`` with logits ``[..., variants, outputs]``.

        Logits broadcast: where all rows need the same inputs, their dimension may be 1. This is what training runs.
        """
        return self._recorded_part()(logits.flatten(-2), rows)

    def log_likelihood(self, logits: Tensor) -> Tensor:
        """log P(recorded) of every row, ``[rows]``, differentiable.

        Parameters
        ----------
        logits
            ``[inputs, outputs]``: what a classifier says of each row of ``table``.
        """
        chunks = self._chunks()
        if len(chunks) == 1 or not (torch.is_grad_enabled() and logits.requires_grad):
            return torch.cat([self(logits[self.needs(rows)], rows) for rows in chunks])
        # What slopes need of a piece is computed once more when its turn comes, instead of kept of all of them.
        return torch.cat([checkpoint(self, logits[self.needs(rows)], rows, use_reentrant=False) for rows in chunks])

    def posterior(self, log_proba: Tensor) -> Posterior:
        """The expected weight of every fair input and fair class, given what was recorded.

        Parameters
        ----------
        log_proba
            ``[inputs, classes]``: log P(fair class) for each row of ``table``.
        """
        kernel, logits = self._recorded_part(), self.logits(log_proba)
        parts = [logits.new_zeros(0, self.variants, self.classes)]
        for rows in self._chunks():
            q = kernel.posterior(logits[self.needs(rows)].flatten(-2), rows)
            parts.append(q.reshape(len(rows), self.variants, self.classes))
        return Posterior(torch.cat(parts), self.inputs)

    def recorded_proba(self, log_proba: Tensor) -> Tensor:
        """P(recorded class) of every row, ``[rows, classes]``; what the biased process would record.

        With one column more where it may record nothing.
        """
        return self._each(log_proba, recorded=True).exp()

    def fair_proba(self, log_proba: Tensor) -> Tensor:
        """P(fair class) of every row, ``[rows, classes]``, given its recorded features but not its recorded label."""
        return self._each(log_proba, recorded=False).exp()

    def signal(self) -> Tensor | None:
        """P(recorded as 1 | fair 1) - P(recorded as 1 | fair 0) of every row; None but for a binary label of one input.

        1 where labels are right, 0 where they say nothing about the fair one, below 0 where they mean the opposite.
        Where nothing may be recorded, how far what is recorded differs between fair 1 and fair 0, in total variation.
        """
        return self._signal

    @cached_property
    def _signal(self) -> Tensor | None:
        if self.variants != 1 or self.outputs != 1 or self._view is None or not self._view.before:
            return None
        codes = self._view.codes
        examples = torch.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=torch.long)
        examples[codes] = torch.arange(len(codes))
        certain = torch.full((len(examples), 1), SURE, dtype=torch.float64)
        yes, no = (self._view.log_recorded(sign * certain, examples).exp() for sign in (1, -1))
        signal = (yes - no)[:, 1] if yes.shape[1] == 2 else (yes - no).clamp_min(0).sum(1)
        return signal[codes]

    def recorded_given(self) -> Tensor:
        """P(recorded class | fair class) of every row, ``[rows, fair, recorded]``: the same for all of its inputs."""
        sure = torch.full((self.classes, self.classes), -SURE, dtype=torch.float64).fill_diagonal_(0.0)
        return torch.stack([self.recorded_proba(certain.expand(len(self.table), -1)) for certain in sure], dim=1)

    def recorded_range(self) -> tuple[Tensor, Tensor] | None:
        """The least and the greatest P(recorded class), each ``[rows, classes]``, whatever a classifier says.

        None where a row may stand for so many inputs that this cannot be told.
        """
        corners = None if self._view is None else self._view.corners(self.variants, self.classes)
        if corners is None or self._view is None or not self._view.before:
            return None
        ranges = []
        for corner in corners:
            certain = torch.full((self.variants, self.classes), -SURE, dtype=torch.float64)
            certain[torch.arange(self.variants), corner] = 0.0
            logits = self.logits(certain).flatten()
            parts = [self._view.log_recorded(logits.expand(len(rows), -1), rows) for rows in self._chunks()]
            ranges.append(torch.cat(parts or [logits.new_zeros(0, self.classes)]).exp())
        values = torch.stack(ranges)
        return values.amin(0), values.amax(0)

    def terms(self) -> AffineTerms | None:
        """The likelihood as numbers, where it is affine in P(fair class); None elsewhere, and without a record."""
        return None if self.observed is None else self.observed.terms()

    def require_possible(self) -> None:
        """Raise the error that counts rows that cannot have been recorded, if there are any."""
        self._recorded_part().require_possible()

    def stacked(self, others: Sequence[Observation], inputs: Sequence[int]) -> Observation | None:
        """One observation over the rows of this one, followed by those of the others; None where they do not fit.

        The same observation may occur several times, each time with inputs of its own.

        Parameters
        ----------
        others
            The observations that follow.
        inputs
            For this one and each of the others, the position at which its inputs start in the common matrix.
        """
        members = [self, *others]
        if len({(member.outputs, member.variants) for member in members}) > 1:
            return None
        kernel = self._recorded_part().stacked([member._recorded_part() for member in others])
        if kernel is None:
            return None
        even = all(m.runs is not None and start % m.variants == 0 for m, start in zip(members, inputs, strict=True))
        places = [
            m.runs + start // m.variants if even and m.runs is not None else m.inputs + start
            for m, start in zip(members, inputs, strict=True)
        ]
        # Nobody reads the table of a stack: its inputs are encoded already.
        common = FairInputs(pd.DataFrame(), torch.cat(places), self.variants)
        return Observation(common, None, kernel, self.outputs)

    def _recorded_part(self) -> Observed:
        if self.observed is None:
            raise P4FError("these rows have no recorded label; give one to observe them")
        return self.observed

    def _each(self, log_proba: Tensor, recorded: bool) -> Tensor:
        if self._view is None:
            raise P4FError("several observations were stacked; ask each of them by itself")
        if not len(self):
            return log_proba.new_zeros(0, self.classes)
        logits, parts = self.logits(log_proba), []
        for rows in self._chunks():
            chosen = logits[self.needs(rows)].flatten(-2)
            parts.append(self._view.log_recorded(chosen, rows) if recorded else self._view.log_fair(chosen, rows))
        return torch.cat(parts)

    def logits(self, log_proba: Tensor) -> Tensor:
        """``[..., outputs]`` of log-probabilities ``[..., classes]``: the log-odds of the second of two classes."""
        return log_proba[..., 1:] - log_proba[..., :1] if self.outputs == 1 else log_proba

    def _chunks(self) -> Sequence[Tensor]:
        every = torch.arange(len(self), device=self._index.device)
        width = max(part.width for part in (self.observed, self._view) if part is not None)
        return every.split(max(1, min(CHUNK // self.variants, NUMBERS // width))) if len(self) else ()
