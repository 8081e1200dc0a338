"""A compiled program: exact probabilities of its queries, in batches, with gradients; and what is left of it.

Before training, all that does not depend on the networks that are trained is done once. With the sensitive column and
the parameters known, P(query) is affine in the classifier's outputs in all of the paper's programs:
P = base + sum of c_k w_k, where w_k are the outcome probabilities of the free networks. One evaluation of the circuit
gives the values, one backward pass the coefficients, and a randomised check in float64 shows whether P really is
affine; where it is not, the part of the circuit above the free networks is kept instead. Rows with the same fixed
values share one entry, so a binary sensitive column costs two entries however long the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from problog4fairness.errors import DisjunctionError, InconsistentEvidenceError, LimitError
from problog4fairness.program.circuit.compiled import CircuitData, Leaf
from problog4fairness.program.circuit.passes import Plan, evaluate, evaluate_log, evaluate_ratio
from problog4fairness.program.circuit.specialised import Affine, Folded, Specialised
from problog4fairness.program.circuit.weights import (
    Given,
    Values,
    batch_shape,
    circuit_inputs,
    find,
    missing,
    require,
)

AFFINE_TOLERANCE = 1e-9
# Rows of the circuit times entries of the batch that are evaluated at once.
CHUNK = 1 << 24


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
        self.plan = Plan(data.first_decision, data.nodes, data.roots)

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
            return evaluate(self.plan, inputs)[2::2].T.reshape(*shape, -1)
        # However unlikely the evidence is, in log space it can be divided by.
        inputs = circuit_inputs(self.data, given, shape, log_space=True)
        evidence, shares = evaluate_ratio(self.plan, inputs)
        self._check_evidence(evidence > -torch.inf)
        return shares[1::2].T.reshape(*shape, -1)

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
        roots = evaluate_log(self.plan, inputs)
        evidence, result = roots[0], roots[1::2] if negated else roots[2::2]
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
        given = self._find(nn, parameters, logits)
        for leaf, entry in zip(self.leaves, given, strict=True):
            if entry is None and leaf.kind == "parameter":
                raise missing(leaf)
        exact = [None if e is None else Given(e.leaf, e.value.detach().double(), e.logits) for e in given]
        entries, codes = _distinct(exact)
        shape = batch_shape([entry for entry in entries if entry is not None])
        check_work(self.data.edges * shape.numel(), most)
        affine = _affine(self, entries)
        if affine is None:
            folded = Folded(self, entries, codes)
            check_work(folded.edges * (1 if codes is None else len(codes)), most)
            return folded
        free = [leaf for leaf, entry in zip(self.leaves, given, strict=True) if entry is None]
        return Affine(self.queries, free, codes, *affine)

    def _values(self, nn: Values | None, parameters: Values | None, logits: Values | None) -> list[Given]:
        return require(self.leaves, self._find(nn, parameters, logits))

    def _find(self, nn: Values | None, parameters: Values | None, logits: Values | None) -> list[Given | None]:
        return find(self.leaves, nn, parameters, logits, self._defaults, self._names)

    def _check_evidence(self, possible: Tensor) -> None:
        if not bool(possible.all()):
            raise InconsistentEvidenceError(
                f"the evidence has probability 0 for {int((~possible).sum())} of {possible.numel()} rows"
            )


def check_work(products: int, most: float) -> None:
    """Refuse what would take too long, before it is begun."""
    if products > most:
        raise LimitError(
            f"one evaluation of the program on these rows computes {products:.1e} products, more than {most:.1e}; "
            "make it smaller, use fewer rows, or raise the time limit by limits=..."
        )


def _distinct(given: Sequence[Given | None]) -> tuple[list[Given | None], Tensor | None]:
    """The distinct combinations of fixed values, and which of them each row has."""
    known = [entry for entry in given if entry is not None]
    shape = batch_shape(known)
    if not shape or shape[-1] == 1:
        return list(given), None
    rows = shape[-1]
    if rows == 0:
        # Any combination will do, since no row has it.
        none = torch.zeros(0, dtype=torch.long, device=known[0].value.device)
        return [_one_row(e) if e is not None and e.batch and e.batch[-1] == 0 else e for e in given], none
    varying = [e for e in known if e.batch and e.batch[-1] == rows]
    keys = [e.value.movedim(len(e.batch) - 1, 0).reshape(rows, -1) for e in varying]
    codes = torch.zeros(rows, dtype=torch.long, device=keys[0].device)
    for column in torch.cat(keys, dim=1).unbind(1):
        # One column at a time: far quicker than looking for distinct rows at once.
        values, place = torch.unique(column, return_inverse=True)
        _, codes = torch.unique(codes * len(values) + place, return_inverse=True)
    examples = torch.empty(int(codes.max()) + 1, dtype=torch.long, device=codes.device)
    examples[codes] = torch.arange(rows, device=codes.device)
    distinct = [
        Given(e.leaf, e.value.index_select(len(e.batch) - 1, examples), e.logits)
        if e is not None and e.batch and e.batch[-1] == rows
        else e
        for e in given
    ]
    return distinct, codes


def _one_row(given: Given) -> Given:
    """A value of no rows, with one row of zeros instead."""
    shape = list(given.value.shape)
    shape[len(given.batch) - 1] = 1
    return Given(given.leaf, given.value.new_zeros(shape), given.logits)


def _affine(circuit: Circuit, given: Sequence[Given | None]) -> tuple[Tensor, Tensor] | None:
    """Base and coefficients of every (query, truth) pair, or None where they are not affine in the free outputs."""
    known = [entry for entry in given if entry is not None]
    shape = batch_shape(known) or torch.Size([1])
    lead = max(1, shape[:-1].numel())
    step = max(1, CHUNK // (circuit.data.first_decision + circuit.size) // lead)
    parts = []
    for start in range(0, shape[-1], step):
        part = [None if e is None else _slice(e, start, step, shape[-1]) for e in given]
        try:
            result = _Expansion(circuit, part).coefficients()
        except DisjunctionError:
            # A free network shares an annotated disjunction with other heads: no point inside its range is safe.
            return None
        if result is None:
            return None
        parts.append(result)
    return torch.cat([base for base, _ in parts], dim=-2), torch.cat([c for _, c in parts], dim=-3)


def _slice(given: Given, start: int, step: int, rows: int) -> Given:
    if not given.batch or given.batch[-1] != rows or rows == 1:
        return given
    dimension = len(given.batch) - 1
    length = min(step, rows - start)
    return Given(given.leaf, given.value.narrow(dimension, start, length), given.logits)


class _Expansion:
    """P of every (query, truth) pair as a function of the free outputs, and its expansion into an affine form."""

    def __init__(self, circuit: Circuit, given: Sequence[Given | None]) -> None:
        self._data = circuit.data
        self._given = given
        known = [entry for entry in given if entry is not None]
        self._shape = batch_shape(known) or torch.Size([1])
        self._device = known[0].value.device if known else torch.device("cpu")
        self._free = [leaf for leaf, entry in zip(circuit.leaves, given, strict=True) if entry is None]
        self._plan = circuit.plan
        self._generator = torch.Generator().manual_seed(20260101)

    def coefficients(self) -> tuple[Tensor, Tensor] | None:
        point = [value.requires_grad_() for value in self._random_point()]
        values, evidence = self._probability(point)
        if not bool((evidence > 0).all()):
            raise InconsistentEvidenceError("the evidence has probability 0 for the values that are fixed")
        slopes = []
        for pair in values:
            gradients = (
                torch.autograd.grad(pair.sum(), point, retain_graph=True) if point and pair.requires_grad else []
            )
            slopes.append([_outcome_slopes(leaf, g) for leaf, g in zip(self._free, gradients, strict=False)])
        bases, coefficients = [], []
        with torch.no_grad():
            for index, slope in enumerate(slopes):
                lowest = [_lowest_vertex(leaf, s) for leaf, s in zip(self._free, slope, strict=False)]
                rises = [s - s.amin(-1, keepdim=True) for s in slope]
                rise = torch.cat(rises, dim=-1) if rises else values[index].new_zeros(*self._shape, 0)
                vertex, certain = self._probability(lowest if lowest else [p.detach() for p in point])
                by_difference = values[index] - (rise * self._weights(point)).sum(-1)
                bases.append(torch.where(certain > 0, vertex[index], by_difference.clamp(min=0)))
                coefficients.append(rise)
            base, rise = torch.stack(bases, dim=-1), torch.stack(coefficients, dim=-2)
            for _ in range(2):
                point = self._random_point()
                affine = base + (rise * self._weights(point).unsqueeze(-2)).sum(-1)
                true = self._probability(point)[0].movedim(0, -1)
                if not torch.allclose(affine, true, rtol=0, atol=AFFINE_TOLERANCE):
                    return None
        return base, rise

    def _random_point(self) -> list[Tensor]:
        """Outcome probabilities for every free network, well inside their range."""
        point = []
        for leaf in self._free:
            count = len(leaf.outcomes) if leaf.outcomes else 1
            raw = 0.1 + 0.8 * torch.rand(count, generator=self._generator, dtype=torch.float64)
            value = raw / raw.sum() if leaf.outcomes else raw[0]
            shape = (*self._shape, count) if leaf.outcomes else self._shape
            point.append(value.to(self._device).expand(shape).clone())
        return point

    def _probability(self, point: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Values ``[pairs, ...]`` given the evidence, and the probability of the evidence."""
        open_values = iter(point)
        given = [
            Given(leaf, next(open_values), False) if entry is None else entry
            for leaf, entry in zip(self._data.leaves, self._given, strict=True)
        ]
        inputs = circuit_inputs(self._data, given, self._shape, log_space=False)
        roots = evaluate(self._plan, inputs).reshape(-1, *self._shape)
        return roots[1:] / roots[0], roots[0]

    def _weights(self, point: Sequence[Tensor]) -> Tensor:
        """Probabilities of all outcomes side by side, in the order of the coefficients."""
        columns = [
            p if leaf.outcomes else torch.stack([1 - p, p], -1) for leaf, p in zip(self._free, point, strict=True)
        ]
        return torch.cat(columns, dim=-1) if columns else torch.zeros(*self._shape, 0, dtype=torch.float64)


def _outcome_slopes(leaf: Leaf, gradient: Tensor) -> Tensor:
    """Slopes of (no, yes), or of each of the outcomes; only their differences mean something."""
    return gradient if leaf.outcomes else torch.stack([torch.zeros_like(gradient), gradient], dim=-1)


def _lowest_vertex(leaf: Leaf, slopes: Tensor) -> Tensor:
    """The certain outcome at which P is smallest."""
    choice = slopes.argmin(-1)
    if leaf.outcomes:
        return torch.nn.functional.one_hot(choice, len(leaf.outcomes)).to(slopes.dtype)
    return choice.to(slopes.dtype)
