"""A belief and all that a user would do instead, on one's own data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from problog4fairness.audit import Audit
from problog4fairness.beliefs import Belief, as_belief
from problog4fairness.data import FileNote, Floats, Sensitive
from problog4fairness.errors import P4FError, among
from problog4fairness.estimators import DebiasedClassifier, check_use_sensitive, settled, tell_group_use
from problog4fairness.evaluation.data import Cell, ComparedRows, cells, compared_rows
from problog4fairness.evaluation.gains import audited_scores, decided_shares, gains, selection_rates
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.method import Method, ThroughBelief
from problog4fairness.evaluation.result import Comparison
from problog4fairness.evaluation.run import Predictions, chosen_group_use, chosen_learner, predictions, scored
from problog4fairness.learners import LEARNERS, Auto, Learner, Linear, named_learner
from problog4fairness.metrics import scores
from problog4fairness.program import Program

# Fits through beliefs drawn from the posterior, for the interval of a gain.
DRAWS = 8
# Fits with another random state, and how far that is from the others.
REPEATS, OTHER_SEED = 3, 2_000_000


def compare(
    data: pd.DataFrame,
    model: DebiasedClassifier | Belief | Program | str | Mapping[str, DebiasedClassifier | Belief | Program | str],
    *,
    recorded: str,
    sensitive: str | Sensitive | None = None,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    features: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    folds: int = 5,
) -> Comparison:
    """Train what a belief says, and what a user would do instead, on parts of a table, and score them on the rest.

    For each seed the rows are split into folds, evenly by group and labels; each fold is tested on after training on
    the others. All methods have the same learner, and what they fit is fitted together; each classifier is what
    :class:`~problog4fairness.DebiasedClassifier` would be on those rows. Scores on *recorded* labels favour methods
    that repeat the bias; those on *fair* labels, where an audit gives some, tell who is right.

    Parameters
    ----------
    data
        The table: recorded features and labels, and the sensitive columns, which methods that see the group see. Of
        three or more classes the accuracy counts all, and everything else is about the favourable one against the
        others; methods for two labels are left out. Labels may be missing, or be votes in several columns, where the
        belief says so; methods without a belief then learn from the rows that have a label, which is what most votes
        say.
    model
        A :class:`~problog4fairness.DebiasedClassifier`, fitted or not, whose learner and options are used; a belief, a
        program or its text stands for one with default options. It is called "this model"; a dictionary of several
        gives them names. The learner is that of the first, in all methods; ``"auto"`` and ``use_sensitive="auto"`` are
        decided once, on the rows of the first split that are learned from.
    recorded, sensitive
        Columns of the recorded label and of the sensitive variable; the latter by default as the belief says.
    audit, fair
        Audited rows, and the column of their fair label. Rows that also occur in ``data``, equal in all shared columns,
        are the same people; the others are added. Without ``audit`` the fair label is a column of ``data``, missing
        where nobody checked. Where some rows have one, those that are learned from teach the model, as with
        ``fit(fair=...)``; those that are tested on never do.
    features
        The columns to learn from; by default all but labels and those that identify rows or hold dates.
    methods
        What to compare with, by names in :data:`~problog4fairness.evaluation.METHODS`. By default all for which there
        are labels, ``"oracle"`` where all fair labels are known and ``"audit_only"`` where some are, but for
        ``"exponentiated_gradient"``, which takes as long as all others.
    seeds, folds
        How often to split, or by which seeds, and into how many parts; by default 5 times, and 3 times from 20,000
        rows on.

    Returns
    -------
    A :class:`~problog4fairness.evaluation.Comparison`. Methods that cannot run on these data are named in its
    ``left_out``.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=1, audited=300, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=False)
    >>> model = p4f.DebiasedClassifier(belief, "linear")
    >>> options = {"methods": ["recorded_only"], "seeds": 1, "folds": 2}
    >>> p4f.compare(data.audit, model, recorded="granted", fair="repaid", **options).methods
    ['this model', 'trained on recorded labels']
    """
    models = _models(model)
    favourable = next((clf.favourable for clf in models.values() if clf.favourable is not None), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)  # which of 0 and 1 is favourable need not be said in Python
        rows = compared_rows(
            data,
            [_belief(clf) for clf in models.values()],
            recorded=recorded,
            sensitive=sensitive,
            audit=audit,
            fair=fair,
            favourable=favourable,
            features=features,
        )
    return compare_rows(rows, models, methods=methods, seeds=seeds, folds=folds)


def compare_rows(
    data: ComparedRows,
    model: DebiasedClassifier | Mapping[str, DebiasedClassifier],
    *,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    folds: int = 5,
) -> Comparison:
    """:func:`compare` on rows that :func:`compared_rows` has read."""
    models = _models(model)
    first = next(iter(models.values()))
    learner = _learner(first)
    learner.check_options()
    parts = cells(data, seeds, folds)
    chosen: list[Method] = []
    for name, clf in models.items():
        method = _through(name, clf, data)
        if clf.use_sensitive == "auto" and method.learn_from_audit and not hasattr(clf, "fitted_"):
            try:
                use = chosen_group_use(method, data, parts[0], learner, first.class_weight)
            except P4FError as error:
                raise P4FError(f"{name}: {error}") from None
            tell_group_use(use, stacklevel=3)
            method.use_sensitive = use.used
        chosen.append(method)
    chosen += [METHODS[kind](data.sensitive) for kind in _method_names(methods, data)]
    if isinstance(learner, Auto):
        learner = chosen_learner(learner, data, chosen[0], parts[0], first.class_weight)
    predicted = predictions(data, chosen, parts, learner, class_weight=first.class_weight)
    for name, reason in predicted.left_out.items():
        if name in models:
            raise P4FError(f"{name}: {reason}")
    this = chosen[0]
    if isinstance(this, ThroughBelief) and (data.fair >= 0).any():
        _refit(data, this, chosen, parts, learner, first.class_weight, predicted)
    decided = decided_shares(data, parts, predicted)
    return Comparison(
        results=scored(data, chosen, parts, predicted),
        data_disparity=_data_disparity(data),
        left_out=predicted.left_out,
        levels=data.sensitive.levels,
        rows=int((data.recorded >= 0).sum()),
        audited=int((data.fair >= 0).sum()),
        kinds={method.title: method.name for method in chosen},
        learner=learner_word(learner),
        gains=gains(data, parts, predicted, decided, this.title),
        audited_scores=audited_scores(data, decided),
        rates=selection_rates(data, decided),
        sample="" if data.audit is None else data.audit.describe(),
    )


def learner_word(learner: Learner) -> str:
    """How a learner is called: its name, or that of the estimator inside it."""
    names = {kind: name for name, kind in LEARNERS.items()}
    return names.get(type(learner), type(getattr(learner, "estimator", learner)).__name__)


def _models(model: Any) -> dict[str, DebiasedClassifier]:
    """Classifiers by name; a belief stands for one with default options."""
    models = {}
    for name, one in (model if isinstance(model, Mapping) else {ThroughBelief.title: model}).items():
        if name in METHODS:
            raise P4FError(f"a belief cannot be called {name!r}, which is another method; give it another name")
        models[str(name)] = one if isinstance(one, DebiasedClassifier) else DebiasedClassifier(one)
        try:
            _belief(models[str(name)])
        except P4FError as error:
            raise P4FError(f"{name}: {error}") from None
    if not models:
        raise P4FError("nothing to compare: pass a belief or a classifier, or a dictionary of some")
    return models


def _belief(clf: DebiasedClassifier) -> Belief:
    fitted: Belief | None = getattr(clf, "belief_", None)
    return as_belief(clf.belief) if fitted is None else fitted


def _learner(clf: DebiasedClassifier) -> Learner:
    """The learner of a classifier; of a fitted one, that which it chose."""
    learner = named_learner(clf.learner)
    return settled(learner, clf.fitted_) if hasattr(clf, "fitted_") else learner


def _through(name: str, clf: DebiasedClassifier, data: ComparedRows) -> ThroughBelief:
    """A classifier as a method: a fitted one learns from the audit, and uses the group, as it did."""
    check_use_sensitive(clf.use_sensitive)
    belief, fitted = _belief(clf), hasattr(clf, "fitted_")
    learned = clf.audited_ > 0 if fitted else bool((data.fair < 0).any()) and belief.record.copied
    return ThroughBelief(
        data.sensitive,
        belief,
        name,
        use_sensitive=clf.group_use_.used if fitted else clf.use_sensitive is True,
        test_features=clf.test_features,
        learn_from_audit=learned,
    )


def _method_names(methods: Sequence[str] | None, data: ComparedRows) -> list[str]:
    if methods is None:
        known = data.fair >= 0
        absent = {"audit_only"} if known.all() else {"oracle"} if known.any() else {"oracle", "audit_only"}
        # It takes as many fits as all others together: for who asks for it.
        return [kind for kind in METHODS if kind not in {*absent, "exponentiated_gradient"}]
    named = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    for name in named:
        if name not in METHODS:
            raise P4FError(f"there is no method {name!r}; {among(name, METHODS)}")
    return [kind for kind in METHODS if kind in named]


def _data_disparity(data: ComparedRows) -> dict[str, float]:
    """The disparity of the labels themselves, of each kind that is known."""
    disparities = {}
    for kind, labels, audit in (("fair", data.fair, data.audit), ("recorded", data.recorded, None)):
        known = labels >= 0
        favourable = labels[known] == data.rows.favourable
        if known.any():
            disparities[kind] = scores(favourable, favourable, data.groups[known], audit=audit)["disparity"]
    return disparities


def _refit(
    data: ComparedRows,
    this: ThroughBelief,
    methods: Sequence[Method],
    parts: Sequence[Cell],
    learner: Learner,
    class_weight: Any,
    predicted: Predictions,
) -> None:
    """What the interval of a gain needs beside the folds: other parameters, and another random state, in some cells."""
    if any(parameter.rows is not None for parameter in this.belief.parameters):
        for place, drawn in enumerate(this.belief.draws(min(DRAWS, len(parts)), parts[0].random_state)):
            one = predictions(data, [this.with_belief(drawn)], [parts[place]], learner, False, class_weight)
            # A drawn belief may rule out what was recorded; then it says nothing.
            predicted.drawn.extend((place, chances[0]) for chances in one.witnessed.values())
    if not isinstance(learner, Linear):  # whose fits do not depend on chance
        reseeded = [replace(cell, seed=cell.seed + OTHER_SEED) for cell in parts[:REPEATS]]
        witnessed: dict[str, list[Floats]] = predictions(
            data, methods, reseeded, learner, False, class_weight
        ).witnessed
        predicted.repeated.extend(
            (place, {name: chances[place] for name, chances in witnessed.items()}) for place in range(len(reseeded))
        )
