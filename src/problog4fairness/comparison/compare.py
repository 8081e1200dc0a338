"""Our method and all baselines on one's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.comparison.methods import BASELINES, Kind, TableMethod, predict
from problog4fairness.comparison.outcome import Comparison
from problog4fairness.comparison.splits import cells
from problog4fairness.comparison.stacked import scored, table_settings
from problog4fairness.comparison.table import Table
from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from problog4fairness.mechanisms import Mechanism, ProgramMechanism
from problog4fairness.metrics.scores import scores
from problog4fairness.program.program import Program

Belief: TypeAlias = Mechanism | Program | str


def compare(
    X: pd.DataFrame,
    y: Any,
    belief: Belief | Mapping[str, Belief] | None,
    *,
    sensitive_features: Any = None,
    fair: Any = None,
    favourable: Any = None,
    levels: Sequence[Any] | None = None,
    split_groups: Any = None,
    independent: bool = True,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] = 5,
    folds: int = 5,
    settings: Settings | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Train what a belief says, and the baselines, on parts of a table, and score them on the rest of it.

    For each seed the rows are split into folds, evenly by group and labels; each fold is tested on after training on
    the others. All networks of a method are trained as one, all beliefs together. Scores on *recorded* labels favour
    methods that repeat the bias; those on *fair* labels, where an audit gives some, tell who is right.

    Parameters
    ----------
    X
        Recorded features, numbers and categories, with or without the sensitive columns.
    y
        Recorded labels, of two kinds.
    belief
        How the recorded data came from the fair data: a mechanism, a program or its text, with known parameters. It is
        called "ours"; a dictionary of several gives them names. None compares the baselines alone.
    sensitive_features
        Names of columns of X, or a series or frame; by default the belief's sensitive columns of X. Baselines that see
        A see these columns.
    fair
        Fair labels by row, missing (None, NaN or ``pd.NA``) where nobody checked; None if nobody checked any.
    favourable
        The label that counts as 1; the larger of the two by default.
    levels
        The groups, the sensitive one of two last; by default those of the belief. With more than two groups the
        disparity is the largest one between any two, without a sign.
    split_groups
        Rows with the same value never fall on both sides of a split: a value for each row, or the name of a column of X
        that is then not a feature.
    independent
        Whether the fair label is independent of A, so that A is left out of the belief's inputs.
    methods
        Which baselines: among ``"lower"``, ``"upper"``, ``"audit only"``, ``"unawareness"``, ``"massaging"`` and
        ``"parity"``. By default all for which there are labels: "upper" learns from fair labels of all rows, "audit
        only" from those of some.
    seeds, folds
        How often to split, or by which seeds, and into how many parts.
    settings
        How networks are trained; :func:`~problog4fairness.comparison.table_settings` by default.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    A :class:`~problog4fairness.comparison.Comparison`. Baselines that cannot run on these data are named in its
    ``left_out``.

    Raises
    ------
    P4FError
        In one line: data that cannot be read, or a belief that does not fit them.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=1, audited=300, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)
    >>> X, granted, repaid = data.audit[[*data.features, "poor_area"]], data.audit["granted"], data.audit["repaid"]
    >>> found = p4f.compare(X, granted, belief, fair=repaid, methods=["lower"], seeds=1, folds=2)
    >>> found.methods
    ['ours', 'lower']
    """
    beliefs = _beliefs(belief)
    columns = list(dict.fromkeys(column for own in beliefs.values() for column in own.sensitive_columns))
    for own in beliefs.values():
        if own.favourable is not None:
            favourable = own.favourable_among(list(dict.fromkeys(np.asarray(y).tolist())), favourable)
    table = Table.of(
        X,
        y,
        sensitive_features=columns if sensitive_features is None else sensitive_features,
        fair=fair,
        favourable=favourable,
        levels=_levels(beliefs, columns) if levels is None else levels,
        split_groups=split_groups,
        names=columns,
    )
    chosen = [TableMethod(name, belief=own, independent=independent) for name, own in beliefs.items()]
    chosen += [TableMethod(kind, kind) for kind in _baselines(methods, table)]
    if not chosen:
        raise P4FError("nothing to compare: there is no belief, and methods is empty")
    parts = cells(table, seeds, folds)
    found = predict(table, chosen, parts, settings or table_settings(len(table)), progress)
    for name, reason in found.left_out.items():
        if name in beliefs:
            raise P4FError(f"{name}: {reason}")
    if not found.chances:
        raise P4FError("; ".join(f"{name}: {reason}" for name, reason in found.left_out.items()))
    return Comparison(
        results=scored(table, chosen, parts, found),
        data_disparity=_data_disparity(table),
        left_out=found.left_out,
        levels=table.levels,
        rows=len(table),
        audited=int(table.known.sum()),
    )


def _beliefs(belief: Belief | Mapping[str, Belief] | None) -> dict[str, Mechanism]:
    named = {} if belief is None else belief if isinstance(belief, Mapping) else {"ours": belief}
    found = {}
    for name, own in named.items():
        if name in BASELINES:
            raise P4FError(f"a belief cannot be called {name!r}, which is a baseline; give it another name")
        if not isinstance(own, Mechanism | Program | str):
            raise P4FError(f"{name}: a belief is a mechanism, a Program or its text, not {type(own).__name__}")
        found[str(name)] = own if isinstance(own, Mechanism) else ProgramMechanism(own)
    return found


def _levels(beliefs: Mapping[str, Mechanism], columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The groups of the beliefs, where those that name any agree."""
    known = {levels for own in beliefs.values() if (levels := _own_levels(own, columns)) is not None}
    return known.pop() if len(known) == 1 else None


def _own_levels(belief: Mechanism, columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The groups of a belief whose one sensitive variable is made of these columns."""
    if isinstance(belief, ProgramMechanism):
        named = [belief.values.get(network) for network, column in belief.columns.items() if [column] == list(columns)]
        return named[0] if named else None
    same = len(belief.variables) == 1 and list(belief.variables[0].columns) == list(columns)
    return belief.variables[0].levels if same else None


def _baselines(methods: Sequence[str] | None, table: Table) -> list[Kind]:
    if methods is None:
        absent = {"audit only"} if table.known.all() else {"upper"} if table.known.any() else {"upper", "audit only"}
        return [kind for kind in BASELINES if kind not in absent]
    named = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    for name in named:
        if name not in BASELINES:
            raise P4FError(f"there is no method {name!r}; there are {', '.join(BASELINES)}")
    return [kind for kind in BASELINES if kind in named]


def _data_disparity(table: Table) -> dict[str, float]:
    known = table.known
    kinds = {"fair": (table.fair[known], table.groups[known]), "recorded": (table.recorded, table.groups)}
    return {
        kind: scores(label, label.astype(np.float64), groups)["disparity"]
        for kind, (label, groups) in kinds.items()
        if len(label)
    }
