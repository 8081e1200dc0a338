"""The methods that can be compared on a table, each for all seeds and folds at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.baselines.grouped import scores_of
from problog4fairness.baselines.parity import expected_outcome, parity_thresholds
from problog4fairness.baselines.relabelling import massage
from problog4fairness.comparison.learner import Encoders, Learner
from problog4fairness.comparison.splits import Cell
from problog4fairness.comparison.table import Array, Codes, Table
from problog4fairness.errors import P4FError
from problog4fairness.learners import Job, Settings, fit_many
from problog4fairness.mechanisms import Mechanism

Kind: TypeAlias = Literal["lower", "upper", "audit only", "unawareness", "massaging", "parity", "belief"]
BASELINES: tuple[Kind, ...] = ("upper", "audit only", "lower", "unawareness", "massaging", "parity")

# Numbers in the inputs of networks that wait to be fitted together: 512 MiB.
_AT_ONCE = 1 << 27


@dataclass(frozen=True)
class TableMethod:
    """A method to compare.

    Parameters
    ----------
    name
        In tables and legends.
    kind
        ``"lower"`` (recorded labels, with A), ``"unawareness"`` (without A), ``"massaging"``, ``"parity"``,
        ``"upper"`` (fair labels of all training rows), ``"audit only"`` (fair labels of the audited training rows), or
        ``"belief"`` (recorded labels through a mechanism).
    belief
        The mechanism; or a function from a :class:`~problog4fairness.comparison.Cell` to one, such as
        ``lambda cell: beliefs[cell.seed]``, where it differs between seeds, or is estimated from ``cell.train``.
    independent
        Whether a belief's network does without A, as in :class:`~problog4fairness.DebiasedClassifier`.
    """

    name: str
    kind: Kind = "belief"
    belief: Mechanism | Callable[[Cell], Mechanism] | None = None
    independent: bool = True

    def __post_init__(self) -> None:
        if self.kind not in (*BASELINES, "belief"):
            raise P4FError(f"there is no method {self.kind!r}; there are {', '.join(BASELINES)} and belief")
        if (self.kind == "belief") != (self.belief is not None):
            raise P4FError(f"the method {self.name!r} of the kind {self.kind!r} {_BELIEF[self.kind == 'belief']}")

    @property
    def randomised(self) -> bool:
        """Whether its predictions are chances of a random decision."""
        return self.kind == "parity"


_BELIEF = {True: "needs a belief", False: "takes no belief"}


@dataclass(frozen=True, eq=False)
class Predictions:
    """What methods predict for the test rows of each cell.

    Attributes
    ----------
    chances
        By method, P(label = 1) of the rows of ``cell.test`` for each cell.
    left_out
        Methods that could not run on this table, and why, in one line.
    """

    chances: dict[str, list[Array]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def predict(
    table: Table, methods: Sequence[TableMethod], cells: Sequence[Cell], settings: Settings, progress: bool | None
) -> Predictions:
    """Train every method in every cell and predict the test rows; all beliefs are fitted as one."""
    repeated = {method.name for method in methods if [m.name for m in methods].count(method.name) > 1}
    if repeated:
        raise P4FError(f"two methods have the name {min(repeated)!r}")
    run = _Run(table, cells, settings, progress)
    result = Predictions()
    beliefs = [method for method in methods if method.kind == "belief"]
    fitted = run.fitted({method.name: run.beliefs(method) for method in beliefs}, result.left_out)
    for method in methods:
        try:
            if method.kind != "belief":
                result.chances[method.name] = run.baseline(method.kind)
            elif method.name in fitted:
                result.chances[method.name] = run.chances(fitted[method.name])
        except P4FError as error:
            result.left_out[method.name] = str(error)
    return result


# A network to train, its rows and their labels, and what the rows are called.
_Task: TypeAlias = tuple[Learner, pd.DataFrame, Codes, Hashable]


class _Run:
    """The methods on one table, with what they share: the lower baseline's networks, which massaging and parity need.

    Each baseline is fitted in a call of its own, so that its numbers do not depend on what it is compared with, not
    even under dropout, which networks of a stack draw together.
    """

    def __init__(self, table: Table, cells: Sequence[Cell], settings: Settings, progress: bool | None) -> None:
        self._table, self._cells, self._settings, self._progress = table, cells, settings, progress
        self._encoders = Encoders(table.frame)
        self._lower: list[Learner] | None = None

    def beliefs(self, method: TableMethod) -> Iterable[_Task]:
        """What a belief learns from, cell by cell."""
        for cell in self._cells:
            mechanism = method.belief(cell) if callable(method.belief) else method.belief
            options: dict[str, Any] = {"sensitive": list(self._table.sensitive), "independent": method.independent}
            # The table has its labels as 0 and 1, whatever the belief calls them.
            known = None if mechanism is None else mechanism.with_favourable(1)
            yield self._task(cell, self._table.recorded[cell.train], mechanism=known, **options)

    def baseline(self, kind: Kind) -> list[Array]:
        """The predictions of a baseline."""
        if kind == "lower":
            return self.chances(self._lower_learners())
        if kind == "massaging":
            return self._massaging()
        if kind == "parity":
            return self._parity()
        tasks = {"unawareness": self._unawareness, "upper": self._upper, "audit only": self._audit_only}[kind]()
        return self.chances(self._alone(tasks))

    def chances(self, learners: Sequence[Learner]) -> list[Array]:
        """Predictions for the test rows of each cell."""
        pairs = zip(self._cells, learners, strict=True)
        return [learner.chance(self._rows(cell.test)) for cell, learner in pairs]

    def fitted(self, tasks: dict[str, Iterable[_Task]], failed: dict[str, str]) -> dict[str, list[Learner]]:
        """Fit all that is to be done, by name; what cannot be fitted is noted in ``failed`` instead."""
        done: dict[str, list[Learner]] = {}
        waiting: list[tuple[Learner, Job]] = []
        for name, own in tasks.items():
            try:
                for learner, frame, label, rows in own:
                    waiting.append((learner, learner.prepare(frame, label, self._encoders, rows)))
                    done.setdefault(name, []).append(learner)
                    matrices = {id(job.inputs): job.inputs.numel() for _, job in waiting}
                    if sum(matrices.values()) > _AT_ONCE:
                        self._fit(waiting)
            except P4FError as error:
                failed[name] = str(error)
                dropped = set(map(id, done.pop(name, [])))
                waiting = [pair for pair in waiting if id(pair[0]) not in dropped]
        self._fit(waiting)
        return done

    def _fit(self, waiting: list[tuple[Learner, Job]]) -> None:
        if not waiting:
            return
        fits = fit_many([job for _, job in waiting], self._settings, progress=self._progress)
        for (learner, _), fit in zip(waiting, fits, strict=True):
            learner.finish(fit)
        waiting.clear()

    def _alone(self, tasks: Iterable[_Task]) -> list[Learner]:
        failed: dict[str, str] = {}
        done = self.fitted({"alone": tasks}, failed)
        if failed:
            raise P4FError(failed["alone"])
        return done["alone"]

    def _task(self, cell: Cell, label: Codes, rows: Codes | None = None, **options: Any) -> _Task:
        learner = Learner(random_state=cell.random_state, **asdict(self._settings), **options)
        name = (cell.seed, cell.fold, "all" if rows is None else "audited")
        return learner, self._rows(cell.train if rows is None else rows), label, name

    def _rows(self, rows: Codes) -> pd.DataFrame:
        return self._table.frame.iloc[rows].reset_index(drop=True)

    def _lower_learners(self) -> list[Learner]:
        if self._lower is None:
            self._lower = self._alone(self._task(cell, self._table.recorded[cell.train]) for cell in self._cells)
        return self._lower

    def _unawareness(self) -> Iterable[_Task]:
        omitted = list(self._table.sensitive)
        return (self._task(cell, self._table.recorded[cell.train], sensitive=omitted) for cell in self._cells)

    def _upper(self) -> Iterable[_Task]:
        table = self._table
        if not table.known.all():
            raise P4FError(f"needs the fair label of every row; {_share(table)}")
        return (self._task(cell, table.fair[cell.train]) for cell in self._cells)

    def _audit_only(self) -> Iterable[_Task]:
        table = self._table
        if table.known.all() or not table.known.any():
            raise P4FError(f"needs fair labels of some rows, but not of all; {_share(table)}")
        audited = [cell.train[table.known[cell.train]] for cell in self._cells]
        return (self._task(cell, table.fair[rows], rows) for cell, rows in zip(self._cells, audited, strict=True))

    def _massaging(self) -> list[Array]:
        """Where no label is changed, the lower baseline's network is the one that predicts."""
        table = self._table
        if len(table.levels) != 2:
            raise P4FError(f"massaging is for two groups; there are {len(table.levels)}")
        self._require_groups()
        learners, changed = list(self._lower_learners()), []
        for number, cell in enumerate(self._cells):
            recorded, rng = table.recorded[cell.train], np.random.default_rng(cell.random_state)
            ranking = scores_of(learners[number], self._rows(cell.train))
            massaged = massage(recorded, ranking, table.groups[cell.train], rng)
            if (massaged != recorded).any():
                changed.append((number, self._task(cell, massaged)))
        if changed:
            for (number, _), learner in zip(changed, self._alone(task for _, task in changed), strict=True):
                learners[number] = learner
        return self.chances(learners)

    def _parity(self) -> list[Array]:
        table, found = self._table, []
        self._require_groups(labels=True)
        for cell, learner in zip(self._cells, self._lower_learners(), strict=True):
            train, test = cell.train, cell.test
            ranking = scores_of(learner, self._rows(train))
            thresholds = parity_thresholds(ranking, table.recorded[train], table.groups[train])
            found.append(expected_outcome(thresholds, scores_of(learner, self._rows(test)), table.groups[test])[:, 1])
        return found

    def _require_groups(self, labels: bool = False) -> None:
        """An error where the training rows of a cell lack a group, or with ``labels`` a group lacks a label."""
        table = self._table
        for cell in self._cells:
            for group in range(len(table.levels)):
                own = np.unique(table.recorded[cell.train][table.groups[cell.train] == group])
                where = f"{table.group_text(group)} (seed {cell.seed}, fold {cell.fold})"
                if not len(own):
                    raise P4FError(f"no training row has {where}; every group must occur")
                if labels and len(own) < 2:
                    raise P4FError(f"all training rows with {where} have the same recorded label; it needs both")


def _share(table: Table) -> str:
    count = int(table.known.sum())
    return f"known are {count} of {len(table)}" if count else "none is known"
