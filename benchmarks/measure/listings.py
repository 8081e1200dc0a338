"""The data, the network and the three listings of the paper that every contestant trains through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

import problog4fairness as p4f
from problog4fairness.program import Observed, Specialised, Structure

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS, FEATURES, HIDDEN, BATCH, LEARNING_RATE = 10_000, 4, 32, 64, 3e-4
STRENGTHS = {"p1": 0.3, "p2": 0.1, "p3": 0.05, "p4": 0.2}
ATTRIBUTES = ("hc", "bl", "sm")


def network() -> nn.Sequential:
    """The classifier that every contestant trains: three hidden layers of 32, the same weights each time."""
    torch.manual_seed(0)
    widths = [FEATURES, HIDDEN, HIDDEN, HIDDEN]
    hidden = [layer for i, o in pairwise(widths) for layer in (nn.Linear(i, o), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(HIDDEN, 1))


def optimiser(net: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(net.parameters(), lr=LEARNING_RATE)


class Data:
    """Random rows: four binary features, three binary sensitive attributes (the first also serves as A), a label."""

    def __init__(self, rows: int = ROWS) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randint(0, 2, (rows, FEATURES), generator=generator).float()
        self.attributes = torch.randint(0, 2, (rows, len(ATTRIBUTES)), generator=generator).float()
        self.recorded = torch.randint(0, 2, (rows,), generator=generator).float()
        self.flips = torch.tensor(list(product((0.0, 1.0), repeat=FEATURES)))

    @property
    def a(self) -> Tensor:
        return self.attributes[:, 0]

    @cached_property
    def flipped(self) -> Tensor:
        """Every row with every subset of its features flipped, ``[rows, 16, 4]``, in the order of ``flips``."""
        return (self.x.unsqueeze(1) - self.flips).abs()

    @cached_property
    def distinct(self) -> tuple[Tensor, Tensor]:
        """The distinct rows of ``flipped``, and where each of its rows is among them."""
        rows, where = torch.unique(self.flipped.reshape(-1, FEATURES), dim=0, return_inverse=True)
        return rows, where.view(-1, len(self.flips))


@dataclass(frozen=True)
class Listing:
    """One listing: its file, what is known, and P(recorded = 1) as a formula written by hand."""

    name: str
    file: Path
    known: Mapping[str, object]
    parameters: Mapping[str, float]
    closed_form: Callable[[nn.Module, Tensor], Tensor]
    data: Data

    def specialised(self) -> Specialised:
        circuit = p4f.Program.from_file(self.file).compile()
        return circuit.specialise(nn=self.known, parameters=self.parameters)

    def likelihood(self) -> Observed:
        return self.specialised().observe(self.data.recorded)

    def closed_loss(self, net: nn.Module, rows: Tensor) -> Tensor:
        """The loss that all contestants must agree with."""
        return binary_cross_entropy(self.closed_form(net, rows), self.data.recorded[rows])


def listings(data: Data) -> dict[str, Listing]:
    three = {f"{p}_{attribute}": value for p, value in STRENGTHS.items() for attribute in ATTRIBUTES}
    columns = {name: data.attributes[:, i] for i, name in enumerate(ATTRIBUTES)}

    def feature(x_: Structure, number: int) -> Tensor:
        column = data.x[:, number - 1]
        return 1 - column if x_.arguments[number - 1] else column

    def label(net: nn.Module, rows: Tensor) -> Tensor:
        return _distort(_fair(net, data.x[rows]), data.a[rows])

    def three_attributes(net: nn.Module, rows: Tensor) -> Tensor:
        probability = _fair(net, data.x[rows])
        for attribute in data.attributes[rows].unbind(-1):
            probability = _distort(probability, attribute)
        return probability

    def measurement(net: nn.Module, rows: Tensor) -> Tensor:
        neg, pos = _strengths(data.a[rows])
        x, flips = data.x[rows], data.flips
        wrong = torch.where(x > 0, pos.unsqueeze(-1), neg.unsqueeze(-1)).unsqueeze(1)
        chance = torch.where(flips > 0, wrong, 1 - wrong).prod(-1)
        return (chance * _fair(net, data.flipped[rows])).sum(-1)

    return {
        "label": Listing("label", EXAMPLES / "label.pl", {"a": data.a}, STRENGTHS, label, data),
        "three attributes": Listing(
            "three attributes", EXAMPLES / "three_attributes.pl", columns, three, three_attributes, data
        ),
        "measurement": Listing(
            "measurement", EXAMPLES / "measurement.pl", {"n": feature, "a": data.a}, STRENGTHS, measurement, data
        ),
    }


def _fair(net: nn.Module, x: Tensor) -> Tensor:
    return torch.sigmoid(net(x).squeeze(-1))


def _strengths(a: Tensor) -> tuple[Tensor, Tensor]:
    """Negative and positive bias of each row, by its A."""
    p1, p2, p3, p4 = STRENGTHS.values()
    return torch.where(a > 0, p1, p2), torch.where(a > 0, p3, p4)


def _distort(fair: Tensor, a: Tensor) -> Tensor:
    neg, pos = _strengths(a)
    return fair * (1 - neg) + (1 - fair) * pos


def measurement_text(n: int) -> str:
    """The printed measurement listing for ``n`` features."""
    names = [f"V{i}" for i in range(1, n + 1)]

    def vector(position: int, bit: int) -> str:
        return f"x_({','.join([*names[:position], str(bit), *names[position + 1 :]])})"

    flips = "\n".join(f"debias_n({i + 1}, {vector(i, 0)}, {vector(i, 1)})." for i in range(n))
    return f"""nn(h,X) :: y_h(X).
nn(n,X_,N) :: n(X_,N).
nn(a,X_) :: a(X_).
{flips}
p1(N) :: n_neg_bias(X_,N) :- a(X_).
p2(N) :: n_neg_bias(X_,N) :- \\+ a(X_).
p3(N) :: n_pos_bias(X_,N) :- a(X_).
p4(N) :: n_pos_bias(X_,N) :- \\+ a(X_).
n_biased(X_,N) :- \\+n(X_,N), n_neg_bias(X_,N).
n_biased(X_,N) :- n(X_,N), n_pos_bias(X_,N).
debias(X_, X_, 0).
debias(X_, X, N) :- >(N,0), is(N2,N-1), n_biased(X_,N), debias_n(N,X_,Xf), debias(Xf,X,N2).
debias(X_, X, N) :- >(N,0), is(N2,N-1), \\+n_biased(X_,N), debias(X_,X,N2).
y(X_) :- debias(X_,X,{n}), y_h(X).
?- y(x_({",".join("0" * n)})).
"""
