"""A compiled program: exact probabilities of its queries, in batches, with gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from problog4fairness.errors import InconsistentEvidenceError
from problog4fairness.program.circuit.compiled import CircuitData, Leaf
from problog4fairness.program.circuit.passes import Plan, evaluate, evaluate_log, evaluate_ratio
from problog4fairness.program.circuit.weights import Given, Values, batch_shape, circuit_inputs, find, require

if TYPE_CHECKING:
    from problog4fairness.program.circuit.specialised import Specialised


class Circuit:
    r"""What is left of a program after it was ground and compiled; :meth:`Program.compile` makes it.

    All values may be numbers, tensors of any shape that broadcast together (``[rows]``, ``[models, rows]``, with
    the outcomes last where a network has more than two), or callables that get the ground arguments of the leaf.
    They are named by network or parameter, ``"h"``, or by one ground leaf, ``"h(x_(1,0,0,0))"``. Results have the
    broadcast shape with the queries as the last dimension, and can be differentiated in every value.

    Parameters
    ----------
    data
        The compiled program.
    defaults
        Values of parameters that need not be given.
    networks, parameters
        The names that values may be given for.

    Attributes
    ----------
    queries
        The ground queries, in the order of the results' last dimension.
    leaves
        The values that the program leaves open.

    Examples
    --------
    >>> import torch
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program(r"nn(h,X) :: y(X). p :: lost. z :- y(x), \+lost. ?- z.").compile()
    >>> circuit.queries, [str(leaf) for leaf in circuit.leaves]
    (('z',), ['h(x)', 'p'])
    >>> h = torch.tensor([0.5, 1.0], requires_grad=True)
    >>> circuit.probability(nn={"h": h}, parameters={"p": 0.2})[:, 0].tolist()
    [0.4000000059604645, 0.800000011920929]
    """

    def __init__(
        self,
        data: CircuitData,
        defaults: Mapping[str, float] | None = None,
        networks: Iterable[str] = (),
        parameters: Iterable[str] = (),
    ) -> None:
        self.data = data
        self._defaults = dict(defaults or {})
        # What the text names but no query depends on may be given a value too.
        self._names = {"network": frozenset(networks), "parameter": frozenset(parameters)}
        roots = [data.evidence, *(query.true for query in data.queries), *(query.false for query in data.queries)]
        self._plan = Plan(data.first_decision, data.nodes, roots)

    def __repr__(self) -> str:
        return f"Circuit({', '.join(self.queries)}: {self.size} nodes, leaves {', '.join(map(str, self.leaves))})"

    @property
    def queries(self) -> tuple[str, ...]:
        """The ground queries."""
        return tuple(query.name for query in self.data.queries)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The values that the program leaves open."""
        return self.data.leaves

    @property
    def size(self) -> int:
        """Number of decision nodes."""
        return len(self.data.nodes)

    def probability(
        self, nn: Values | None = None, parameters: Values | None = None, *, logits: Values | None = None
    ) -> Tensor:
        r"""P(query | evidence) for all queries, ``[..., queries]``.

        Parameters
        ----------
        nn
            Outputs of networks as probabilities.
        parameters
            Parameters that the program names.
        logits
            Outputs of networks as logits, instead of ``nn``.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> circuit = p4f.Program(r"nn(h,X)::y(X). p::flip. z :- y(x), \+flip. query(z).").compile()
        >>> circuit.probability(nn={"h": 0.5}, parameters={"p": 0.2})
        tensor([0.4000], dtype=torch.float64)
        """
        given = self._values(nn, parameters, logits)
        shape = batch_shape(given)
        if not self.data.conditioned:
            inputs = circuit_inputs(self.data, given, shape, log_space=False)
            true = self._split(evaluate(self._plan, inputs))[1]
            return true.T.reshape(*shape, -1)
        # However unlikely the evidence is, in log space it can be divided by.
        inputs = circuit_inputs(self.data, given, shape, log_space=True)
        evidence, shares = evaluate_ratio(self._plan, inputs)
        self._check_evidence(evidence > -torch.inf)
        return shares[: len(self.data.queries)].T.reshape(*shape, -1)

    def log_probability(
        self,
        nn: Values | None = None,
        parameters: Values | None = None,
        *,
        logits: Values | None = None,
        negated: bool = False,
    ) -> Tensor:
        """log P(query | evidence) for all queries, ``[..., queries]``; with ``negated``, log P(not query | evidence).

        Computed in log space: finite and with exact gradients where the probability itself would be rounded to 0 or 1.
        A query of probability 0 gives ``-inf``, and no gradient.
        """
        given = self._values(nn, parameters, logits)
        shape = batch_shape(given)
        inputs = circuit_inputs(self.data, given, shape, log_space=True)
        roots = evaluate_log(self._plan, inputs)
        evidence, true, false = self._split(roots)
        result = false if negated else true
        if self.data.conditioned:
            self._check_evidence(evidence > -torch.inf)
            result = result - evidence
        return result.T.reshape(*shape, -1)

    def specialise(
        self,
        nn: Values | None = None,
        parameters: Values | None = None,
        *,
        logits: Values | None = None,
        most: float = math.inf,
    ) -> Specialised:
        """Fix what is known; what is left is a formula over the networks that got no value.

        The work that depends on the fixed values alone is done once, here. Where the probability turns out to be affine
        in the free networks (it is in all of the paper's programs) a few coefficients per row are all that is left;
        otherwise the part of the circuit that the free networks reach.

        Parameters
        ----------
        nn, logits
            Known outputs of networks, such as the sensitive column: numbers, or tensors ``[..., rows]``.
        parameters
            All parameters: numbers, or tensors ``[models, 1]`` for many models at once.
        most
            Products that one evaluation may compute, over all rows.
        """
        from problog4fairness.program.circuit.specialise import specialise

        return specialise(self, self._find(nn, parameters, logits), most)

    def _values(self, nn: Values | None, parameters: Values | None, logits: Values | None) -> list[Given]:
        return require(self.leaves, self._find(nn, parameters, logits))

    def _find(self, nn: Values | None, parameters: Values | None, logits: Values | None) -> list[Given | None]:
        return find(self.leaves, nn, parameters, logits, self._defaults, self._names)

    def _split(self, roots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        count = len(self.data.queries)
        return roots[0], roots[1 : 1 + count], roots[1 + count :]

    def _check_evidence(self, possible: Tensor) -> None:
        if not bool(possible.all()):
            raise InconsistentEvidenceError(
                f"the evidence has probability 0 for {int((~possible).sum())} of {possible.numel()} rows"
            )
