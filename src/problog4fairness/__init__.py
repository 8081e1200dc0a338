r"""Train fair classifiers on unfair data, by stating how the data became unfair.

    >>> import problog4fairness as p4f
    >>> loan = p4f.Program(r"0.1 :: neg_bias. gets_loan :- \+neg_bias. query(gets_loan).")
    >>> loan.probability()["gets_loan"].item()
    0.9

Everything here is imported when it is first used, so ``import problog4fairness`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from problog4fairness.program.circuit import Circuit
    from problog4fairness.program.data import Leaf
    from problog4fairness.program.program import Program
    from problog4fairness.program.sandbox import Limits
    from problog4fairness.program.specialised import Observed, Specialised

__all__ = ["Circuit", "Leaf", "Limits", "Observed", "Program", "Specialised", "__version__", "errors"]

_HOME = {
    "Circuit": "program.circuit",
    "Leaf": "program.data",
    "Limits": "program.sandbox",
    "Program": "program.program",
    "Observed": "program.specialised",
    "Specialised": "program.specialised",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("problog4fairness")
    if name == "errors":
        return import_module("problog4fairness.errors")
    if name in _HOME:
        return getattr(import_module(f"problog4fairness.{_HOME[name]}"), name)
    raise AttributeError(f"module 'problog4fairness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
