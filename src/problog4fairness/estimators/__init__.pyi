from .audited import joined, positions_of, read_audit, sampled_audit, stated_audit, with_fair
from .calibration import FOLDS, AuditedFolds, refit_learner, settled
from .classifier import DebiasedClassifier
from .files.manifest import INTERVAL_COLUMNS
from .files.saving import PACKAGES
from .fitting import (
    check_test_features,
    drawn_seed,
    new_rows,
    recorded_rows,
    row_weights,
    rows_to_fit,
    task_through,
    with_known,
)
from .group_use import GroupUse, UseSensitive, check_use_sensitive, choose_group_use, tell_group_use
from .learner_description import WORDS, learner_facts, learner_words
from .out_of_fold import held_out_proba
from .posterior_fits import Draws, draw, least_signal, possible
from .prediction import distortion_of, explain, fair_proba, predicted, predicts_from
from .scoring import Scorer, feature_frame, score_rows, text_columns
from .training_table import TrainingRows, belief_for, train_on_table, training_rows
from .validation import read_new, read_training

__all__ = [
    "FOLDS",
    "INTERVAL_COLUMNS",
    "PACKAGES",
    "WORDS",
    "AuditedFolds",
    "DebiasedClassifier",
    "Draws",
    "GroupUse",
    "Scorer",
    "TrainingRows",
    "UseSensitive",
    "belief_for",
    "check_test_features",
    "check_use_sensitive",
    "choose_group_use",
    "distortion_of",
    "draw",
    "drawn_seed",
    "explain",
    "fair_proba",
    "feature_frame",
    "held_out_proba",
    "joined",
    "learner_facts",
    "learner_words",
    "least_signal",
    "new_rows",
    "positions_of",
    "possible",
    "predicted",
    "predicts_from",
    "read_audit",
    "read_new",
    "read_training",
    "recorded_rows",
    "refit_learner",
    "row_weights",
    "rows_to_fit",
    "sampled_audit",
    "score_rows",
    "settled",
    "stated_audit",
    "task_through",
    "tell_group_use",
    "text_columns",
    "train_on_table",
    "training_rows",
    "with_fair",
    "with_known",
]
