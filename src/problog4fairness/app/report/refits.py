"""What a report fits again: other methods, and other values of the parameters."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd

from problog4fairness.app.report.facts import Facts, feature_names, sensitive_of
from problog4fairness.data import MOST_ROWS
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, refit_learner
from problog4fairness.evaluation import Comparison, compare_rows, compared_rows, learner_word
from problog4fairness.learners import Learner
from problog4fairness.robustness import Sensitivity, sensitivity
from problog4fairness.statistics import Parameter, count

# More parameters than this make the figure unreadable; the least certain ones are shown.
MOST_PARAMETERS = 6
SEEDS, FOLDS = 3, 3


def model_learner(model: DebiasedClassifier) -> Learner:
    """The learner that a model has: of ``auto`` the one that it chose."""
    return refit_learner(model)


def learner_name(model: DebiasedClassifier) -> str:
    """What a comparison calls the learner of a model."""
    return learner_word(model_learner(model))


def sampled(facts: Facts, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """The rows to fit on, and sentences that say which those are."""
    data, notes = facts.data, []
    if facts.dropped:
        notes.append(f"{count(facts.dropped, 'row')} without {facts.label.column} had to be left out.")
    if len(data) <= MOST_ROWS:
        return data, notes
    chosen = np.sort(np.random.default_rng(seed).choice(len(data), MOST_ROWS, replace=False))
    notes.append(
        f"Comparison and sensitivity were fitted on {count(MOST_ROWS)} of {count(len(data))} rows, drawn at random; "
        "everything else is about all rows."
    )
    return data.iloc[chosen].reset_index(drop=True), notes


def compared(facts: Facts, sample: pd.DataFrame, seed: int) -> Comparison:
    """The model's belief and learner against other methods with the same learner, by the audited rows."""
    model, column, features = facts.model, facts.label.column, feature_names(facts.model)
    if not facts.belief.sensitive_columns:
        raise P4FError("the belief names no sensitive column, so there are no groups")
    audit = None
    if facts.sample is not None:
        # Positions are those in the rows that are fitted on.
        audit = replace(facts.sample, rows=np.full(len(facts.sample), -1, dtype=np.int64))
    needed = {column, facts.fair, *features, *facts.belief.read_columns}
    with warnings.catch_warnings():
        # The page says how the audit was sampled, and the columns are those of training.
        warnings.simplefilter("ignore", UserWarning)
        rows = compared_rows(
            sample,
            [facts.belief],
            recorded=column,
            audit=audit,
            fair=None if audit is None else facts.fair,
            favourable=facts.label.values[-1],
            features=features,
            drop=[name for name in sample.columns if name not in needed],
        )
    return compare_rows(rows, model, seeds=[seed + number for number in range(SEEDS)], folds=FOLDS)


def varied(facts: Facts, sample: pd.DataFrame) -> Sensitivity | None:
    """The least certain parameters, each over its interval and beyond; None where there are none."""
    model, features = facts.model, feature_names(facts.model)
    known = facts.belief.probabilities
    if not known:
        return None
    widest = sorted(known, key=_width, reverse=True)[:MOST_PARAMETERS]
    return sensitivity(
        model,
        sample[features],
        sample[facts.label.column],
        sensitive_features=sensitive_of(model, sample),
        audit=facts.sample,
        parameters=[parameter.name for parameter in known if parameter in widest],
    )


def _width(parameter: Parameter) -> float:
    """The width of a parameter's interval; a value that was stated may be anything."""
    return 1.0 if parameter.low is None or parameter.high is None else parameter.high - parameter.low
