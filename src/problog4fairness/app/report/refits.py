"""What a report fits again: other methods, and other values of the parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from problog4fairness.app.report.coding import feature_names, sensitive_of
from problog4fairness.app.report.facts import Facts
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, joined, learner_of, positions_of, sampled_audit, settled
from problog4fairness.evaluation import Comparison, compare, learner_word
from problog4fairness.learners import Learner
from problog4fairness.robustness import Sensitivity, sensitivity
from problog4fairness.statistics import Parameter, count

# What is fitted again is fitted on so many rows at most; predictions are made for all.
MOST_ROWS = 20_000
# More parameters than this make the figure unreadable; the least certain ones are shown.
MOST_PARAMETERS = 6
SEEDS, FOLDS = 3, 3


def model_learner(model: DebiasedClassifier) -> Learner:
    """The learner that a model has: of ``auto`` the one that it chose."""
    return settled(learner_of(model.learner), model.fitted_)


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


def compared(facts: Facts, sample: pd.DataFrame, seed: int, progress: bool | None) -> Comparison:
    """The model's belief and learner against other methods with the same learner, by the audited rows."""
    model, column, features = facts.model, facts.label.column, feature_names(facts.model)
    if not facts.belief.sensitive_columns:
        raise P4FError("the belief names no sensitive column, so there are no groups")
    rows, fair, audit = sample, None, None
    if facts.sample is not None and facts.fair is not None:
        needed = list(dict.fromkeys([column, *features, *facts.belief.sensitive_columns]))
        # Positions are those in the rows that are fitted on.
        known = replace(facts.sample, rows=np.full(len(facts.sample), -1, dtype=np.int64))
        known = sampled_audit(known, facts.fair, sample)
        rows = joined(sample, known, facts.fair, needed)
        fair, audit = rows[facts.fair], positions_of(known, len(sample))
    return compare(
        rows[features],
        rows[column],
        belief=facts.belief,
        learner=model_learner(model),
        learn_from_audit=model.audited_ > 0,
        sensitive_features=sensitive_of(model, rows),
        fair=fair,
        audit=audit,
        favourable=facts.label.values[-1],
        use_sensitive=model.group_use_.used,
        seeds=[seed + number for number in range(SEEDS)],
        folds=FOLDS,
        progress=progress,
    )


def varied(facts: Facts, sample: pd.DataFrame, progress: bool | None) -> Sensitivity | None:
    """The least certain parameters, each over its interval and beyond; None where there are none."""
    model, features = facts.model, feature_names(facts.model)
    known = facts.belief.parameters
    if not known:
        return None
    widest = sorted(known, key=_width, reverse=True)[:MOST_PARAMETERS]
    return sensitivity(
        model,
        sample[features],
        sample[facts.label.column],
        sensitive_features=sensitive_of(model, sample),
        audit=facts.sample,
        parameters=[own.name for own in known if own in widest],
        progress=progress,
    )


def _width(own: Parameter) -> float:
    """The width of a parameter's interval; a value that was stated may be anything."""
    return 1.0 if own.low is None or own.high is None else own.high - own.low
