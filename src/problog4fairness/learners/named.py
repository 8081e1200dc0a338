"""Learners by name."""

from __future__ import annotations

from problog4fairness.errors import P4FError, UnknownNameError
from problog4fairness.learners.base import Learner
from problog4fairness.learners.network import Network

LEARNERS: dict[str, type[Learner]] = {"network": Network}


def named_learner(name: object) -> Learner:
    """The learner with this name, with its default options."""
    if not isinstance(name, str):
        raise P4FError(f"a learner is one of p4f.learners or its name, not {type(name).__name__}")
    if name not in LEARNERS:
        raise UnknownNameError(f"there is no learner {name!r}; there are {', '.join(LEARNERS)}")
    return LEARNERS[name]()
