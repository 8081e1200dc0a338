"""What is public: the names that each room exports. Known to the reference and to the tests, and needs no Sphinx."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType

PACKAGE = "problog4fairness"
ROOMS = {
    "": "The names at hand",
    "beliefs": "Beliefs",
    "learners": "Learners",
    "classifier": "Classifier",
    "metrics": "Metrics",
    "doubt": "Doubt",
    "comparison": "Comparison",
    "baselines": "Baselines",
    "datasets": "Datasets",
    "rows": "Rows and files",
    "errors": "Errors",
}


def public_names(room: str) -> list[str]:
    """The names that a room exports, but for those that stand in the package itself and for modules."""
    module = import_module(f"{PACKAGE}.{room}".rstrip("."))
    own = [n for n, value in vars(module).items() if inspect.isclass(value) and value.__module__ == module.__name__]
    names = getattr(module, "__all__", own)
    above = set(import_module(PACKAGE).__all__) if room else set()
    return [
        name
        for name in names
        if name not in above and not name.startswith("_") and not isinstance(getattr(module, name), ModuleType)
    ]
