"""Learners by name."""

from __future__ import annotations

from typing import Any

from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.learners.auto import CANDIDATES, Auto
from problog4fairness.learners.base import Learner
from problog4fairness.learners.em import Reweighted
from problog4fairness.learners.validation import require

LEARNERS: dict[str, type[Learner]] = {"auto": Auto, **CANDIDATES}


def named_learner(name: object) -> Learner:
    """The learner with this name, with its default options; a learner as it is; one around a scikit-learn classifier.

    Parameters
    ----------
    name
        A name of ``LEARNERS``, a learner, or a scikit-learn classifier.

    Examples
    --------
    >>> from problog4fairness.learners import named_learner
    >>> named_learner("linear")
    Linear()
    """
    if isinstance(name, Learner):
        return name
    if isinstance(name, str):
        if name not in LEARNERS:
            raise UnknownNameError(f"there is no learner {name!r}; {among(name, LEARNERS)}")
        return LEARNERS[name]()
    if not hasattr(name, "fit"):
        raise P4FError(
            f"a learner is a name ({', '.join(LEARNERS)}), one of p4f.learners or a scikit-learn classifier, "
            f"not {type(name).__name__}"
        )
    learner = Reweighted(name)
    learner.check_options()
    return learner


def learner_json(learner: Learner | str) -> Any:
    """A learner as plain data: its name, or its name and options."""
    if isinstance(learner, str):
        return learner
    names = {kind: name for name, kind in LEARNERS.items()}
    if type(learner) not in names:
        raise P4FError(
            f"a model with the learner {type(learner).__name__} cannot be saved; it is not one of p4f.learners"
        )
    return {"name": names[type(learner)], **learner.get_params(deep=False)}


def learner_of_json(value: Any) -> Learner | str:
    """The inverse of :func:`learner_json`; ``ValueError`` for what a stranger made up."""
    if isinstance(value, str):
        require(value in LEARNERS, "its learner is unknown")
        return value
    require(isinstance(value, dict) and value.get("name") in LEARNERS, "its learner is unknown")
    kind = LEARNERS[value["name"]]
    options = {name: tuple(each) if isinstance(each, list) else each for name, each in value.items() if name != "name"}
    require(set(options) == set(kind().get_params(deep=False)), "the options of its learner are others")
    learner = kind(**options)
    learner.check_options()
    return learner
