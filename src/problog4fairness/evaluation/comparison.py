"""A belief and all that a user would do instead, on one's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief, as_belief
from problog4fairness.data import Floats
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators import UseSensitive, check_use_sensitive, learner_of, tell_group_use
from problog4fairness.evaluation.audited import audited_scores, selection_rates
from problog4fairness.evaluation.data import ComparedRows, compared_rows
from problog4fairness.evaluation.gains import gains
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.method import Method
from problog4fairness.evaluation.methods.through_belief import ThroughBelief
from problog4fairness.evaluation.result import Comparison
from problog4fairness.evaluation.run import chosen_group_use, chosen_learner, predictions, scored
from problog4fairness.evaluation.splits import Cell, cells
from problog4fairness.learners import LEARNERS, Auto, Learner, Linear
from problog4fairness.metrics import scores
from problog4fairness.program import Program

# Fits through drawn beliefs, for the interval of a gain.
DRAWS = 8
# Fits with another random state, and how far that is from the others.
REPEATS, OTHER_SEED = 3, 2_000_000


def compare(
    X: pd.DataFrame,
    y: Any,
    belief: Belief | Program | str | Mapping[str, Belief | Program | str] | None,
    learner: Learner | str = "auto",
    *,
    sensitive_features: Any = None,
    fair: Any = None,
    audit: Audit | None = None,
    favourable: Any = None,
    levels: Sequence[Any] | None = None,
    split_groups: Any = None,
    use_sensitive: UseSensitive = "auto",
    test_features: Literal["fair", "biased"] | None = None,
    class_weight: Any = None,
    learn_from_audit: bool | None = None,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    folds: int = 5,
    progress: bool | None = None,
) -> Comparison:
    """Train what a belief says, and what a user would do instead, on parts of a table, and score them on the rest.

    For each seed the rows are split into folds, evenly by group and labels; each fold is tested on after training on
    the others. All methods have the same learner, and what they fit is fitted together; each classifier is what
    :class:`~problog4fairness.DebiasedClassifier` would be on those rows. Scores on *recorded* labels favour methods
    that repeat the bias; those on *fair* labels, where an audit gives some, tell who is right.

    Parameters
    ----------
    X
        Recorded features, numbers and categories, with or without the sensitive columns.
    y
        Recorded labels. Of three or more classes the accuracy counts all, and everything else is about the favourable
        one against the others; methods for two labels are left out. They may be missing in some rows, or be votes in
        several columns, where the belief says so; methods without a belief then learn from the rows that have a label,
        which is what most votes say.
    belief
        How the recorded data came from the fair data: a belief, a program or its text, with known parameters. It is
        called "this model"; a dictionary of several gives them names. None compares the other methods alone.
    learner
        What learns, in all methods; as for :class:`~problog4fairness.DebiasedClassifier`. With ``"auto"`` it is chosen
        once, through the (first) belief on the rows of the first split that are learned from.
    sensitive_features
        Names of columns of X, or a series or frame; by default the belief's sensitive columns of X. Methods that see A
        see these columns.
    fair
        Fair labels by row, missing (None, NaN or ``pd.NA``) where nobody checked; None if nobody checked any.
    audit
        How the rows with a fair label were sampled, ``p4f.Audit.of(audit, fair=..., table=X)``: scores on fair labels
        are weighted by it. Without it they are taken as a random sample.
    favourable
        The favourable label; that of the belief, or the largest one by default.
    levels
        The groups, the sensitive one of two last; by default those of the belief. With more than two groups the
        disparity is the largest one between any two, without a sign.
    split_groups
        Rows with the same value never fall on both sides of a split: a value for each row, or the name of a column of X
        that is then not a feature.
    use_sensitive
        Whether A is among the inputs of the belief's classifier; as for :class:`~problog4fairness.DebiasedClassifier`,
        where ``"auto"`` decides once for each belief, on the rows of the first split that are learned from.
    test_features, class_weight
        As for :class:`~problog4fairness.DebiasedClassifier`; weights of classes are for all methods.
    learn_from_audit
        Whether fair labels of rows that are learned from teach the belief's classifier, as with ``fit(fair=...)``;
        those of tested rows never do. By default where some rows have one; where all have, they are the truth to judge
        by, and a belief is not needed to learn from it. Nor where a belief says nothing of how labels were recorded.
    methods
        What to compare with, by names in :data:`~problog4fairness.evaluation.METHODS`. By default all for which there
        are labels, ``"oracle"`` where all fair labels are known and ``"audit_only"`` where some are, but for
        ``"exponentiated_gradient"``, which takes as long as all others.
    seeds, folds
        How often to split, or by which seeds, and into how many parts; by default 5 times, and 3 times from 20,000
        rows on.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    A :class:`~problog4fairness.evaluation.Comparison`. Methods that cannot run on these data are named in its
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
    >>> found = p4f.compare(X, granted, belief, fair=repaid, methods=["recorded_only"], seeds=1, folds=2)
    >>> found.methods
    ['this model', 'trained on recorded labels']
    """
    able = learner_of(learner)
    able.check_options()
    beliefs = _beliefs(belief)
    columns = list(dict.fromkeys(column for own in beliefs.values() for column in own.sensitive_columns))
    labels, classes = _labels(y), None
    for name, own in beliefs.items():
        if own.classes is not None and not set(labels) <= set(own.classes):
            raise P4FError(f"{name}: the belief is for {len(own.classes)} classes, {list(own.classes)}; y has {labels}")
        if own.favourable is not None or len(labels) > 2:
            favourable = own.favourable_among(labels, favourable)
        classes = own.classes or classes
    data = compared_rows(
        X,
        y,
        sensitive_features=columns if sensitive_features is None else sensitive_features,
        fair=fair,
        favourable=favourable,
        classes=classes,
        levels=_levels(beliefs, columns) if levels is None else levels,
        split_groups=split_groups,
        names=columns,
        beliefs=list(beliefs.values()),
        audit=audit,
    )
    some = bool((data.fair < 0).any())
    parts = cells(data, seeds, folds)
    check_use_sensitive(use_sensitive)
    chosen: list[Method] = []
    for name, own in beliefs.items():
        learned = some and own.about_label if learn_from_audit is None else learn_from_audit
        method = ThroughBelief(
            data.sensitive,
            own,
            name,
            use_sensitive=use_sensitive is True,
            test_features=test_features,
            learn_from_audit=learned,
        )
        if use_sensitive == "auto" and learned:
            try:
                use = chosen_group_use(method, data, parts[0], able, progress, class_weight)
            except P4FError as error:
                raise P4FError(f"{name}: {error}") from None
            tell_group_use(use, stacklevel=2)
            method.use_sensitive = use.used
        chosen.append(method)
    chosen += [METHODS[kind](data.sensitive) for kind in _kinds(methods, data)]
    if not chosen:
        raise P4FError("nothing to compare: there is no belief, and methods is empty")
    if isinstance(able, Auto):
        able = chosen_learner(able, data, chosen[0], parts[0], progress, class_weight)
    found = predictions(data, chosen, parts, able, progress, class_weight)
    for name, reason in found.left_out.items():
        if name in beliefs:
            raise P4FError(f"{name}: {reason}")
    if not found.chances:
        raise P4FError("; ".join(f"{name}: {reason}" for name, reason in found.left_out.items()))
    this = next(iter(beliefs), None)
    if this in found.chances and (data.fair >= 0).any():
        found.drawn.extend(_drawn(data, chosen[0], beliefs[this], parts, able, class_weight))
        if not isinstance(able, Linear):  # whose fits do not depend on chance
            found.repeated.extend(_repeated(data, chosen, parts, able, class_weight))
    return Comparison(
        results=scored(data, chosen, parts, found),
        data_disparity=_data_disparity(data),
        left_out=found.left_out,
        levels=data.sensitive.levels,
        rows=int((data.recorded >= 0).sum()),
        audited=int((data.fair >= 0).sum()),
        kinds={method.title: method.name for method in chosen},
        learner=learner_word(able),
        gains=gains(data, parts, found, this),
        audited_scores=audited_scores(data, parts, found),
        rates=selection_rates(data, parts, found),
        sample="" if data.audit is None else data.audit.describe(),
    )


def learner_word(learner: Learner) -> str:
    """How a learner is called: its name, or that of the estimator inside it."""
    names = {kind: name for name, kind in LEARNERS.items()}
    return names.get(type(learner), type(getattr(learner, "estimator", learner)).__name__)


def _beliefs(belief: Any) -> dict[str, Belief]:
    if belief is None:
        return {}
    found = {}
    for name, own in (belief if isinstance(belief, Mapping) else {ThroughBelief.title: belief}).items():
        if name in METHODS:
            raise P4FError(f"a belief cannot be called {name!r}, which is another method; give it another name")
        try:
            found[str(name)] = as_belief(own)
        except P4FError as error:
            raise P4FError(f"{name}: {error}") from None
    return found


def _labels(y: Any) -> list[Any]:
    """The labels that occur."""
    values = np.asarray(y, dtype=object).reshape(-1).tolist()
    return [value for value in dict.fromkeys(values) if not pd.isna(value)]


def _levels(beliefs: Mapping[str, Belief], columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The groups of the beliefs, where those that name any agree."""
    known = {levels for own in beliefs.values() if (levels := _own_levels(own, columns)) is not None}
    return known.pop() if len(known) == 1 else None


def _own_levels(belief: Belief, columns: Sequence[str]) -> tuple[Any, ...] | None:
    """The groups of a belief whose one sensitive variable is made of these columns."""
    if len(columns) == 1:
        return belief.known_groups().get(columns[0])
    whole = [variable.levels for variable in belief.variables if list(variable.columns) == list(columns)]
    return whole[0] if whole else None


def _kinds(methods: Sequence[str] | None, data: ComparedRows) -> list[str]:
    if methods is None:
        known = data.fair >= 0
        absent = {"audit_only"} if known.all() else {"oracle"} if known.any() else {"oracle", "audit_only"}
        # Reductions take as many fits as all others together: for who asks for them.
        return [kind for kind in METHODS if kind not in {*absent, "exponentiated_gradient"}]
    named = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    for name in named:
        if name not in METHODS:
            raise P4FError(f"there is no method {name!r}; {among(name, METHODS)}")
    return [kind for kind in METHODS if kind in named]


def _data_disparity(data: ComparedRows) -> dict[str, float]:
    known = data.fair >= 0
    there = data.recorded >= 0
    kinds = {"fair": (data.fair[known], data.groups[known]), "recorded": (data.recorded[there], data.groups[there])}
    favourable = {kind: (label == data.rows.favourable, groups) for kind, (label, groups) in kinds.items()}
    audits = {"fair": data.audit, "recorded": None}
    return {
        kind: scores(own, own, groups, audit=audits[kind])["disparity"]
        for kind, (own, groups) in favourable.items()
        if len(own)
    }


def _repeated(
    data: ComparedRows, methods: Sequence[Method], parts: Sequence[Cell], learner: Learner, class_weight: Any
) -> list[tuple[int, dict[str, Floats]]]:
    """What methods predict where some cells are fitted once more with another random state."""
    again = [replace(cell, seed=cell.seed + OTHER_SEED) for cell in parts[:REPEATS]]
    found = predictions(data, methods, again, learner, False, class_weight).witnessed
    return [(place, {name: own[place] for name, own in found.items()}) for place in range(len(again))]


def _drawn(
    data: ComparedRows, method: Method, belief: Belief, parts: Sequence[Cell], learner: Learner, class_weight: Any
) -> list[tuple[int, Floats]]:
    """What a belief's classifier would predict with parameters drawn from what the audit leaves open, in some cells."""
    if not isinstance(method, ThroughBelief) or all(own.rows is None for own in belief.parameters):
        return []
    found = []
    for place, drawn in enumerate(belief.draws(min(DRAWS, len(parts)), parts[0].random_state)):
        again = method.with_belief(drawn)
        one = predictions(data, [again], [parts[place]], learner, False, class_weight)
        # A drawn belief may rule out what was recorded; then it says nothing.
        found += [(place, own[0]) for own in one.witnessed.values()]
    return found
