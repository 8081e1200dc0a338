"""What is public: the names that each room exports. Known to the reference and to the tests, and needs no Sphinx."""

from __future__ import annotations

import inspect
import re
from functools import partial
from importlib import import_module
from types import ModuleType

PACKAGE = "problog4fairness"
ROOMS = {
    "": "Top-level API",
    "beliefs": "Beliefs",
    "audit": "Audits",
    "data": "Tables and files",
    "statistics": "Statistics",
    "metrics": "Metrics",
    "learners": "Learners",
    "estimators": "Estimators",
    "checks": "Checks",
    "robustness": "Robustness",
    "evaluation": "Evaluation",
    "datasets": "Datasets",
    "program": "Programs",
    "errors": "Errors",
}


def public_names(room: str) -> list[str]:
    """The names of a room that are for users: documented ones and tables; the others are for other rooms."""
    module = import_module(f"{PACKAGE}.{room}".rstrip("."))
    values = {name: getattr(module, name) for name in getattr(module, "__all__", vars(module))}
    if not room:
        return [name for name, value in values.items() if name[0] != "_" and not isinstance(value, ModuleType)]
    if room == "errors":
        return [name for name, value in values.items() if inspect.isclass(value) and issubclass(value, Exception)]
    above = {id(value) for value in map(partial(getattr, import_module(PACKAGE)), import_module(PACKAGE).__all__)}
    return [
        n for n, value in values.items() if id(value) not in above and (_has_sections(value) or type(value) is dict)
    ]


def _has_sections(value: object) -> bool:
    """A class with examples, or a function whose parameters are described, too."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else inspect.isroutine(value) and value.__doc__
    headings = re.findall(r"^ *(\w+)\n *-+$", text or "", re.MULTILINE)
    return "Examples" in headings and (inspect.isclass(value) or "Parameters" in headings)
