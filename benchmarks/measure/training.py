"""Training steps per second: plain PyTorch, ours through each listing, and DeepProbLog through each listing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from measure import reference
from measure.listings import BATCH, ROWS, Data, Listing, listings, network, optimiser
from measure.rounds import Contestant, Ratio, ratio, run_rounds

Loss = Callable[[nn.Module, Tensor], Tensor]

PLAIN = "plain PyTorch"
EVERY_ROW = "measurement, all 16 rows each"
GOALS = {"label": (0.95, 110.0), "three attributes": (0.90, 250.0), "measurement": (0.75, 4000.0)}
TOLERANCE = 1e-5
# Fresh weights give nearly the same output for every input, which would hide an error in the coefficients.
CONTRAST = 3.0
BATCHES, REFERENCE_BATCHES = 100, 4


@dataclass(frozen=True)
class Plan:
    """How long to measure; ``reference_rounds`` by listing."""

    rounds: int
    block: int
    warm_up: int
    reference_rounds: dict[str, int]


FULL = Plan(480, 10, 3, {"label": 20, "three attributes": 12, "measurement": 8})
QUICK = Plan(60, 10, 3, {"label": 1, "three attributes": 1, "measurement": 1})


@dataclass(frozen=True)
class Agreement:
    """How far two contestants are apart on one batch: their losses, and the largest difference of a gradient."""

    listing: str
    contestant: str
    loss: float
    difference: float
    gradient: float

    @property
    def close(self) -> bool:
        return self.difference <= TOLERANCE and self.gradient <= TOLERANCE


@dataclass(frozen=True)
class Speed:
    """One contestant's result."""

    contestant: str
    step_seconds: float
    to_plain: Ratio
    to_reference: Ratio | None


class Training:
    """The whole comparison: :meth:`agreements` first, then :meth:`speeds`."""

    def __init__(self, data: Data, with_reference: bool) -> None:
        generator = torch.Generator().manual_seed(1)
        self._data = data
        self._batches = [torch.randint(0, ROWS, (BATCH,), generator=generator) for _ in range(BATCHES)]
        self._listings = listings(data)
        self._losses = self._ours()
        few = self._batches[:REFERENCE_BATCHES]
        self._references = {
            name: reference.Reference(listing, few) for name, listing in self._listings.items() if with_reference
        }

    def _ours(self) -> dict[str, Loss]:
        label, three, measurement = (listing.likelihood() for listing in self._listings.values())
        x, (distinct, where), flipped = self._data.x, self._data.distinct, self._data.flipped
        order = self._flip_order(self._listings["measurement"])
        where, flipped = where[:, order], flipped[:, order]
        return {
            "label": lambda net, rows: -label(net(x[rows]), rows).mean(),
            "three attributes": lambda net, rows: -three(net(x[rows]), rows).mean(),
            "measurement": lambda net, rows: -measurement(net(distinct).squeeze(-1)[where[rows]], rows).mean(),
            EVERY_ROW: lambda net, rows: -measurement(net(flipped[rows]).squeeze(-1), rows).mean(),
        }

    def _flip_order(self, listing: Listing) -> Tensor:
        """Which of ``data.flips`` each free network output is about."""
        flips = [tuple(map(int, flip)) for flip in self._data.flips.tolist()]
        free = listing.specialised().free
        return torch.tensor([flips.index(leaf.arguments[0].arguments) for leaf in free])

    def agreements(self) -> list[Agreement]:
        """Ours and DeepProbLog's loss and gradient against the formula written by hand, on one batch."""
        rows = self._batches[0]
        found = []
        for name, listing in self._listings.items():
            true, slopes = _loss_and_slopes(listing.closed_loss, rows)
            for contestant in [name, EVERY_ROW] if name == "measurement" else [name]:
                loss, own = _loss_and_slopes(self._losses[contestant], rows)
                found.append(Agreement(name, f"ours, {contestant}", loss, abs(loss - true), _apart(own, slopes)))
            if name in self._references:
                model = self._references[name]
                model.net.load_state_dict(_contrasted().state_dict())
                loss = model.loss(0)
                own = [_slope(p) for p in model.net.parameters()]
                model.net.load_state_dict(network().state_dict())
                found.append(Agreement(name, f"DeepProbLog, {name}", loss, abs(loss - true), _apart(own, slopes)))
        return found

    def speeds(self, plan: Plan) -> list[Speed]:
        plain = Contestant(PLAIN, self._step(self._plain_loss), plan.block, plan.rounds, plan.warm_up)
        ours = {
            name: Contestant(f"ours, {name}", self._step(loss), plan.block, plan.rounds, plan.warm_up)
            for name, loss in self._losses.items()
        }
        theirs = {
            name: Contestant(f"DeepProbLog, {name}", model.step, 1, plan.reference_rounds[name])
            for name, model in self._references.items()
        }
        for contestant in (plain, *ours.values()):
            for number in range(BATCHES):
                contestant.step(number)
        # DeepProbLog is warm already: its circuits were compiled, and its code was run, for the agreement.
        run_rounds([plain, *ours.values(), *theirs.values()], plan.rounds)
        speeds = [Speed(PLAIN, plain.step_seconds, ratio(plain, plain), None)]
        for name, contestant in ours.items():
            slow = theirs.get("measurement" if name == EVERY_ROW else name)
            to_reference = None if slow is None else ratio(contestant, slow)
            speeds.append(Speed(contestant.name, contestant.step_seconds, ratio(contestant, plain), to_reference))
        speeds += [Speed(c.name, c.step_seconds, ratio(c, plain), None) for c in theirs.values()]
        return speeds

    def _plain_loss(self, net: nn.Module, rows: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(net(self._data.x[rows]).squeeze(-1), self._data.recorded[rows])

    def _step(self, loss: Loss) -> Callable[[int], None]:
        net = network()
        adam = optimiser(net)

        def step(number: int) -> None:
            adam.zero_grad()
            loss(net, self._batches[number % BATCHES]).backward()
            adam.step()

        return step


def _loss_and_slopes(loss: Loss, rows: Tensor) -> tuple[float, list[Tensor]]:
    net = _contrasted()
    value = loss(net, rows)
    value.backward()
    return float(value.detach()), [_slope(p) for p in net.parameters()]


def _contrasted() -> nn.Sequential:
    net = network()
    net.load_state_dict({name: CONTRAST * value for name, value in net.state_dict().items()})
    return net


def _slope(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()


def _apart(left: list[Tensor], right: list[Tensor]) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(left, right, strict=True))
