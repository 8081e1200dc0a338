"""A trained network or linear model as an ONNX file: fair probabilities from encoded features."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from problog4fairness.data import write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.learners import Calibrated, Fitted, FittedChoice, FittedLinear, FittedNetwork

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
# The weights ``[outputs, inputs]`` and biases ``[outputs]`` of one layer after another.
Layers: TypeAlias = Sequence[tuple[Matrix, Matrix]]

INPUT, OUTPUT = "features", "fair_probabilities"
# The least probability that has a logarithm in float32.
LEAST = 1e-37


def to_onnx(model: DebiasedClassifier, path: str | PathLike[str]) -> None:
    """See :meth:`DebiasedClassifier.to_onnx`."""
    check_is_fitted(model)
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise P4FError("writing ONNX needs the package onnx: pip install 'problog4fairness[onnx]'") from None
    members = _members(model.fitted_)
    nodes, weights = [], []
    for member, layers in enumerate(members):
        value = INPUT
        for number, (weight, bias) in enumerate(layers):
            names = (f"weight{number}_{member}", f"bias{number}_{member}")
            tensors = zip(names, (weight, bias), strict=True)
            weights += [numpy_helper.from_array(tensor, name) for name, tensor in tensors]
            if number:
                nodes.append(helper.make_node("Relu", [value], [f"hidden{number}_{member}"]))
                value = f"hidden{number}_{member}"
            nodes.append(helper.make_node("Gemm", [value, *names], [f"linear{number}_{member}"], transB=1))
            value = f"linear{number}_{member}"
        nodes += _chances(helper, value, f"chances_{member}", len(model.classes_))
    calibrated = model.fitted_ if isinstance(model.fitted_, Calibrated) else None
    averaged = OUTPUT if calibrated is None else "averaged"
    nodes.append(helper.make_node("Mean", [f"chances_{member}" for member in range(len(members))], [averaged]))
    if calibrated is not None:
        numbers = {"least": LEAST, "slope": calibrated.slope, "shifts": [0.0, *calibrated.shifts]}
        weights += [numpy_helper.from_array(np.asarray(number, np.float32), name) for name, number in numbers.items()]
        nodes += _recalibrated(helper, averaged)
    width = members[0][0][0].shape[1]
    graph = helper.make_graph(
        nodes,
        "problog4fairness",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["rows", width])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["rows", len(model.classes_)])],
        weights,
    )
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(file)
    write_atomically(path, file.SerializeToString())


def _chances(helper: Any, logits: str, name: str, classes: int) -> list[Any]:
    """From logits to probabilities."""
    if classes > 2:
        return [helper.make_node("Softmax", [logits], [name], axis=1)]
    return [
        helper.make_node("Sigmoid", [logits], [f"yes_{name}"]),
        helper.make_node("Neg", [logits], [f"negated_{name}"]),
        helper.make_node("Sigmoid", [f"negated_{name}"], [f"no_{name}"]),
        helper.make_node("Concat", [f"no_{name}", f"yes_{name}"], [name], axis=1),
    ]


def _recalibrated(helper: Any, chances: str) -> list[Any]:
    """As :func:`~problog4fairness.learners.recalibrated`."""
    return [
        helper.make_node("Max", [chances, "least"], ["bounded"]),
        helper.make_node("Log", ["bounded"], ["logs"]),
        helper.make_node("Mul", ["logs", "slope"], ["scaled"]),
        helper.make_node("Add", ["scaled", "shifts"], ["shifted"]),
        helper.make_node("Softmax", ["shifted"], [OUTPUT], axis=1),
    ]


def _members(fitted: Fitted) -> Sequence[Layers]:
    """The networks whose probabilities are averaged; a linear model is one of one layer."""
    if isinstance(fitted, FittedChoice | Calibrated):
        return _members(fitted.fitted)
    if isinstance(fitted, FittedLinear):
        numbers = fitted.numbers.astype(np.float32)
        return [[(np.ascontiguousarray(numbers[:-1].T), numbers[-1])]]
    if isinstance(fitted, FittedNetwork):
        states = [{name: tensor.numpy().copy() for name, tensor in net.state_dict().items()} for net in fitted.networks]
        count = len(states[0]) // 2
        return [[(state[f"layers.{n}.weight"], state[f"layers.{n}.bias"]) for n in range(count)] for state in states]
    raise P4FError(f"only networks and linear models can be written as ONNX, not the learner {fitted.kind}")
