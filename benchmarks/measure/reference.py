"""DeepProbLog 2.1 on the same listings, data and network: a step of its own training loop, with its circuit cache.

It is installed by `make bench` without its dependencies; where it is absent, :func:`version` is None and nothing else
in this module may be called. Its parameters must be numbers, its neural predicates take a list, and `?-` is no query.

All rows of a listing share one query, such as ``y_(x)``, so that its circuit is compiled once and found in the cache;
the example enters by substitution, ``x -> tensor(rows(17))``. In the measurement listing every flipped vector
``x_(0,1,0,0)`` is substituted by its own row, and ``[x_(0,1,0,0), 3]`` by its third feature.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

import torch
from torch import Tensor, nn

from measure.listings import FEATURES, Listing, network, optimiser


def version() -> str | None:
    """The version that is installed, or None; also None where it cannot be imported."""
    try:
        _deepproblog()
        return installed_version("deepproblog")
    except (PackageNotFoundError, ImportError):
        return None


def _deepproblog() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "ApproximateEngine is not available as PySwip could not be found"
        import deepproblog.engines
        import deepproblog.model
        import deepproblog.network
        import deepproblog.query
        import deepproblog.train
    return deepproblog


class Reference:
    """One listing in DeepProbLog, ready to train on some batches."""

    def __init__(self, listing: Listing, batches: Sequence[Tensor]) -> None:
        deepproblog = _deepproblog()
        # float(loss) inside DeepProbLog; harmless, and printed once per query otherwise.
        warnings.filterwarnings("ignore", message="Converting a tensor with requires_grad")
        self.net = network()
        h = deepproblog.network.Network(_Classifier(self.net), "h", optimizer=optimiser(self.net), batching=True)
        columns = [name for name in listing.known if name != "n"]
        readers = [
            deepproblog.network.Network(_Column(FEATURES + i), name, batching=True) for i, name in enumerate(columns)
        ]
        if "n" in listing.known:
            readers.append(deepproblog.network.Network(_Column(0), "n", batching=True))
        self._model = deepproblog.model.Model(_dialect(listing), [h, *readers], load=False)
        self._model.add_tensor_source("rows", _Rows(listing, len(columns)))
        self._model.add_tensor_source("feature", _Features(listing))
        with redirect_stdout(io.StringIO()):  # "Caching ACs"
            self._model.set_engine(deepproblog.engines.ExactEngine(self._model), cache=True)
        self._model.train()
        self._trainer = deepproblog.train.TrainObject(self._model)
        self._batches = [[_query(deepproblog, listing, int(row)) for row in batch] for batch in batches]

    def loss(self, number: int) -> float:
        """The mean loss of a batch, and its gradient in ``net``; DeepProbLog computes both at once."""
        self._model.optimizer.zero_grad()
        batch = self._batches[number % len(self._batches)]
        return float(self._trainer.get_loss(batch, self._model.solver.semiring.cross_entropy))

    def step(self, number: int) -> None:
        """One training step, as in DeepProbLog's own TrainObject.train."""
        self.loss(number)
        self._model.optimizer.step()


def _dialect(listing: Listing) -> str:
    text = re.sub(r"(?m)^\?-.*$", "", listing.file.read_text(encoding="utf-8"))
    text = re.sub(r"nn\((\w+),([^)]*)\)", r"nn(\1,[\2])", text)
    for name, value in listing.parameters.items():
        text = re.sub(rf"(?m)^{name}(\(N\))?\s*::", f"{value} ::", text)
    return text


def _query(deepproblog: Any, listing: Listing, row: int) -> Any:
    from problog.logic import Constant, Term, list2term

    def tensor(source: str, *arguments: int) -> Term:
        return Term("tensor", Term(source, *map(Constant, arguments)))

    if listing.name == "measurement":
        substitution = {}
        for code, flips in enumerate(listing.data.flips.int().tolist()):
            vector = Term("x_", *map(Constant, flips))
            substitution[vector] = tensor("rows", row, code)
            for number in range(1, FEATURES + 1):
                substitution[list2term([vector, Constant(number)])] = list2term([tensor("feature", row, code, number)])
        query = Term("y", Term("x_", *map(Constant, [0] * FEATURES)))
    else:
        substitution = {Term("x"): tensor("rows", row, 0)}
        query = Term("y_", Term("x"))
    return deepproblog.query.Query(query, substitution=substitution, p=float(listing.data.recorded[row]))


class _Rows:
    """``tensor(rows(17, 5))``: row 17 with the features of the fifth subset flipped, then the sensitive attributes."""

    def __init__(self, listing: Listing, attributes: int) -> None:
        data = listing.data
        known = data.attributes[:, :attributes].unsqueeze(1).expand(-1, len(data.flips), -1)
        self._rows = torch.cat([data.flipped, known], dim=-1)

    def __getitem__(self, arguments: Sequence[Any]) -> Tensor:
        row, code = map(int, arguments)
        return self._rows[row, code]


class _Features:
    """``tensor(feature(17, 5, 3))``: the third feature of that row."""

    def __init__(self, listing: Listing) -> None:
        self._features = listing.data.flipped.unsqueeze(-1)

    def __getitem__(self, arguments: Sequence[Any]) -> Tensor:
        row, code, number = map(int, arguments)
        return self._features[row, code, number - 1]


class _Classifier(nn.Module):
    """P(fair label = 1), ``[rows, 1]``."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, row: Tensor) -> Tensor:
        return torch.sigmoid(self.net(row[..., :FEATURES]))


class _Column(nn.Module):
    """A known column, as a network without weights."""

    def __init__(self, column: int) -> None:
        super().__init__()
        self.column = column

    def forward(self, row: Tensor) -> Tensor:
        return row[..., self.column : self.column + 1]
