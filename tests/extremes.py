"""Random programs at the far ends of their values: no probability and no slope is NaN.

``python -m tests.extremes N [--seed S]`` tries N programs, each in float32 and float64, with logits up to ±500 and
parameters of 0 and 1, with and without evidence, and stops at the first NaN.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from random import Random

import torch
from torch import Tensor

from problog4fairness.errors import DisjunctionError, InconsistentEvidenceError, ProbabilityError
from problog4fairness.program import Circuit
from tests.fuzz import circuits as fuzz

LOGITS = (-500.0, -100.0, -50.0, -45.0, 0.0, 45.0, 100.0, 500.0)


def check(seed: int) -> list[str]:
    """What kind of program ``seed`` is, for each type of numbers; raises AssertionError at a NaN."""
    case = fuzz.generate(Random(seed))
    try:
        circuit = fuzz.compiled(case.text)
    except Exception:  # ours, or one of those by which problog gives up; the worker makes one of ours of it
        return ["not compiled"]
    kinds = []
    for dtype in (torch.float32, torch.float64):
        nn, parameters = fuzz.given(circuit, case, dtype)
        rng = Random(seed)
        logits = {name: _logits(value, rng) for name, value in nn.items()}
        ends = {name: torch.tensor(float(rng.choice((0, 1, value))), dtype=dtype) for name, value in parameters.items()}
        kinds.append(_no_nan(circuit, logits, ends) or _no_nan(circuit, logits, parameters) or "sums above 1")
    return kinds


def _logits(like: Tensor, rng: Random) -> Tensor:
    values = [rng.choice((*LOGITS, rng.uniform(-500, 500))) for _ in range(max(1, like.numel()))]
    return torch.tensor(values if like.ndim else values[0], dtype=like.dtype)


def _no_nan(circuit: Circuit, logits: dict[str, Tensor], parameters: dict[str, Tensor]) -> str | None:
    """Evaluate in every way; None where the values do not fit the program's annotated disjunctions."""
    leaves = [value.clone().requires_grad_() for value in (*logits.values(), *parameters.values())]
    networks = dict(zip(logits, leaves, strict=False))
    others = dict(zip(parameters, leaves[len(logits) :], strict=True))
    try:
        results = [
            circuit.probability(parameters=others, logits=networks),
            circuit.log_probability(parameters=others, logits=networks),
            circuit.log_probability(parameters=others, logits=networks, negated=True),
        ]
    except (DisjunctionError, ProbabilityError):
        return None
    except InconsistentEvidenceError:
        with torch.no_grad(), contextlib.suppress(InconsistentEvidenceError, DisjunctionError):
            middle = {name: torch.zeros_like(value) for name, value in networks.items()}
            circuit.probability(parameters=others, logits=middle)
            raise AssertionError("no finite logit makes evidence impossible") from None
        return "inconsistent"
    for result in results:
        assert not bool(result.isnan().any()), result
        finite = result[result > -torch.inf]
        if leaves and finite.requires_grad and finite.numel():
            slopes = torch.autograd.grad(finite.sum(), leaves, retain_graph=True, allow_unused=True)
            assert not any(bool(slope.isnan().any()) for slope in slopes if slope is not None), slopes
    return "with evidence" if circuit.data.conditioned else "without evidence"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.extremes", description=__doc__)
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="number of the first program")
    arguments = parser.parse_args()
    kinds: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        try:
            kinds.update(check(seed))
        except Exception as error:
            print(f"{fuzz.generate(Random(seed))}\n\nprogram {seed}: {type(error).__name__}: {error}")
            return 1
    print(f"{arguments.count} programs without NaN ({', '.join(f'{n} {kind}' for kind, n in kinds.most_common())})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
