r"""Train fair classifiers on unfair data, by stating how the data became unfair.

    >>> import problog4fairness as p4f
    >>> loan = p4f.Program(r"0.1 :: neg_bias. gets_loan :- \+neg_bias. query(gets_loan).")
    >>> loan.probability()["gets_loan"].item()
    0.9

Everything here is imported when it is first used, so ``import problog4fairness`` is quick.
"""

import sys
from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("problog4fairness")
    if name not in __all__:
        # With its name and its owner, Python asks whether another one is meant.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return _load(name)
