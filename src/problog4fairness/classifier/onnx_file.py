"""The trained network as an ONNX file: fair probabilities from encoded features."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from problog4fairness.errors import P4FError
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.network import FittedNetwork
from problog4fairness.rows import write_whole

if TYPE_CHECKING:
    from problog4fairness.classifier.estimator import DebiasedClassifier


def to_onnx(model: DebiasedClassifier, path: str | PathLike[str]) -> None:
    """See :meth:`DebiasedClassifier.to_onnx`."""
    check_is_fitted(model)
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise P4FError("writing ONNX needs the package onnx: pip install 'problog4fairness[onnx]'") from None
    nodes, weights, value = [], [], "features"
    network = _network(model)
    layers: list[Any] = list(network.layers)
    for number, layer in enumerate(layers):
        names = (f"weight{number}", f"bias{number}")
        for name, tensor in zip(names, (layer.weight, layer.bias), strict=True):
            weights.append(numpy_helper.from_array(tensor.detach().numpy().copy(), name))
        out = "logits" if number == len(layers) - 1 else f"linear{number}"
        nodes.append(helper.make_node("Gemm", [value, *names], [out], transB=1))
        if out != "logits":
            nodes.append(helper.make_node("Relu", [out], [f"hidden{number}"]))
        value = f"hidden{number}"
    if len(model.classes_) == 2:
        nodes += [
            helper.make_node("Sigmoid", ["logits"], ["yes"]),
            helper.make_node("Neg", ["logits"], ["negated"]),
            helper.make_node("Sigmoid", ["negated"], ["no"]),
            helper.make_node("Concat", ["no", "yes"], ["fair_probabilities"], axis=1),
        ]
    else:
        nodes.append(helper.make_node("Softmax", ["logits"], ["fair_probabilities"], axis=1))
    sizes = network.sizes
    graph = helper.make_graph(
        nodes,
        "problog4fairness",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["rows", sizes[0]])],
        [helper.make_tensor_value_info("fair_probabilities", TensorProto.FLOAT, ["rows", len(model.classes_)])],
        weights,
    )
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(file)
    write_whole(path, file.SerializeToString())


def _network(model: DebiasedClassifier) -> MLP:
    if not isinstance(model.fitted_, FittedNetwork):
        raise P4FError(f"only networks can be written as ONNX, not the learner {model.fitted_.kind}")
    return model.fitted_.network
