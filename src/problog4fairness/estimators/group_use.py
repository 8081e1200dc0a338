"""Whether a model uses the group or is group-free: stated, or chosen by audited rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from problog4fairness.beliefs import Belief
from problog4fairness.data import GroupUseNote, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators.calibration import ENOUGH, AuditedFolds, mean_and_error
from problog4fairness.learners import Boosted, Learner, Linear, Task, light, require

UseSensitive: TypeAlias = Literal["auto"] | bool
DecidedBy: TypeAlias = Literal["statement", "audited rows", "default"]

# Standard errors by which the held-out likelihood with the group must be above that without it. On made-up people and
# four public tables, 400 audited rows: log loss .5147, against .5187 group-free and .5146 with the group always; an
# error of the disparity of decisions of .060, against .060 and .080, and of mean probabilities of .041, .069 and .043.
EVIDENCE = 0.5
# Rows of the comparison at most, of audited rows and of the others, and into how many parts audited ones are dealt.
COMPARED, PARTS = 3_000, 3
# What both models of the comparison have: they are compared with each other, so neither has to be the best one.
PENALTY, TREES, LEAVES, RATE = 10.0, 20, 4, 0.3


@dataclass(frozen=True)
class GroupUse:
    """Whether a model uses the group, and what decided.

    Attributes
    ----------
    used, columns
        Whether the learner sees the sensitive columns, and which of them are among the features.
    decided_by, rows
        ``"statement"``, ``"audited rows"``, or ``"default"`` where nothing was stated and too few rows are audited; and
        on how many audited rows it was decided.
    gain, error
        How much likelier a held-out fair label is with the group than without it, as a mean difference of
        log-likelihoods, and its standard error; None where nothing was compared.
    """

    used: bool
    columns: tuple[str, ...]
    decided_by: DecidedBy
    rows: int = 0
    gain: float | None = None
    error: float | None = None

    def __str__(self) -> str:
        """One sentence; nothing where there was nothing to decide."""
        if not self.columns:
            return ""
        names, head = ", ".join(self.columns), "Uses the group" if self.used else "Group-free"
        if self.decided_by == "statement":
            return f"{head}: {names} {'is' if self.used else 'is not'} among the inputs of the model, as stated."
        if self.gain is None or self.error is None:
            return (
                f"{head}: {names} is not an input of the model, by default: whether the fair label depends on it was "
                f"not compared on {ENOUGH} or more audited rows of several groups; override with --use-sensitive "
                "(use_sensitive=True)."
            )
        verb = "makes" if self.used else "does not make"
        return (
            f"{head}: {names} {verb} the fair labels of {self.rows} audited rows more likely out of fold "
            f"({self.gain:+.4f} ± {self.error:.4f} log-likelihood per row); override with "
            f"{'--group-free' if self.used else '--use-sensitive'} (use_sensitive={not self.used})."
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data, for a model file."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> GroupUse:
        """The inverse of :meth:`to_json`; ``ValueError`` for what a stranger made up."""
        require(isinstance(value, Mapping) and set(value) == set(cls.__dataclass_fields__), "its group use is unknown")
        columns, numbers = value["columns"], (value["gain"], value["error"])
        require(type(value["used"]) is bool and type(value["rows"]) is int, "its group use is no statement")
        require(value["rows"] >= 0, "its group use rests on no rows")
        require(value["decided_by"] in ("statement", "audited rows", "default"), "its group use was decided by nobody")
        texts = isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
        require(texts, "its group use is about no columns")
        plain = all(n is None or (type(n) is float and math.isfinite(n)) for n in numbers)
        require(plain, "its group use is not in numbers")
        return cls(value["used"], tuple(columns), value["decided_by"], value["rows"], *numbers)


def check_use_sensitive(use_sensitive: object) -> None:
    """Raise the error that says what it may be."""
    if not (use_sensitive == "auto" or isinstance(use_sensitive, bool)):
        raise P4FError(f"use_sensitive must be 'auto', True or False, not {use_sensitive!r}")


def choose_group_use(
    belief: Belief, rows: Rows, columns: Sequence[str], learner: Learner, seed: int, progress: bool | None = None
) -> GroupUse:
    """Let audited rows choose whether the learner sees the sensitive columns.

    With enough audited rows of several groups, a model is fitted with and without the group without each third of them
    in turn, and the likelihoods of the fair labels that were left out are compared. The group is used where they are
    more likely with it by half a standard error. Both models are quick ones of the learner's form, with settings that
    are not searched, on at most 3,000 audited and 3,000 other rows. Without audited rows the model is group-free: the
    recorded likelihood cannot tell a fair label that depends on the group from a belief whose parameters are slightly
    off.

    ``columns`` are the sensitive ones among those that a learner may read, and ``rows.features`` those without them. A
    network, a choice of learners or another estimator is compared by boosted trees instead.
    """
    names, some = tuple(columns), _sample(rows, seed)
    groups = (some, some.with_features((*some.features, *names)))
    folds = [AuditedFolds.of(belief, each, Task(belief.observe(each), seed), PARTS) for each in groups]
    if not len(folds[0]) or some.fair is None or len(some.frame.loc[some.fair >= 0, list(names)].drop_duplicates()) < 2:
        return GroupUse(False, names, "default")
    quick = _quick(learner)
    fits = quick.fit_many([task for each in folds for task in each.tasks()], progress)
    free, weights = folds[0].losses(fits[:PARTS])
    used, _ = folds[1].losses(fits[PARTS:])
    gains = free - used
    gain, error = mean_and_error(gains, weights)
    return GroupUse(gain > EVIDENCE * error, names, "audited rows", len(gains), gain, error)


def _quick(learner: Learner) -> Learner:
    """What is fitted in the comparison: of the learner's form."""
    if isinstance(learner, Linear):
        return Linear(PENALTY)
    try:
        light()
    except P4FError:
        return Linear(PENALTY)
    return Boosted(learning_rate=RATE, leaves=LEAVES, max_trees=TREES, validation=0)


def _sample(rows: Rows, seed: int) -> Rows:
    """So many audited rows, and so many of the others."""
    if rows.fair is None or len(rows) <= COMPARED:
        return rows
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    audited = rows.fair[shuffled] >= 0
    return rows.take(np.sort(np.concatenate([shuffled[audited][:COMPARED], shuffled[~audited][:COMPARED]])))


def tell_group_use(use: GroupUse, stacklevel: int) -> None:
    """Say in one line what was chosen, where nobody stated it."""
    if use.columns and use.decided_by != "statement":
        warnings.warn(GroupUseNote(str(use)), stacklevel=stacklevel + 1)
