"""Scorers for scikit-learn's model selection that judge by audited fair labels, not by recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.metrics import make_scorer

from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.metrics.table import METRICS

# Smallest probability whose logarithm is taken.
_LEAST = 1e-12


def make_fair_scorer(metric: str = "accuracy", *, favourable: Any = None) -> Any:
    """A scorer for ``cross_validate``, ``GridSearchCV`` and the like: a metric on the audited fair labels of each fold.

    A score on recorded labels rewards a model that repeats their bias. This one looks at the audited rows of the tested
    part alone. They reach it by scikit-learn's metadata routing: enable that by
    ``sklearn.set_config(enable_metadata_routing=True)``, and pass ``fair`` (a fair label for each row, missing where
    nobody audited), ``audit_weight`` (how many people an audited row stands for, where audited rows are not a random
    sample), and ``sensitive_features`` where the metric compares groups.

    Parameters
    ----------
    metric
        ``"log_loss"``, or the name of a metric of :data:`METRICS`. Those that are better near 0 are scored by minus
        their absolute value, and the log loss by minus itself, so that more is always better.
    favourable
        The favourable label; 1 by default.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import cross_validate
    >>> import problog4fairness as p4f
    >>> audit = p4f.datasets.loans(rows=1, audited=200, new=1).audit
    >>> model = p4f.DebiasedClassifier(p4f.LabelBias("poor_area", 0.3, False), "linear", use_sensitive=False)
    >>> X, y, fair = audit[["income", "savings", "poor_area"]], audit["granted"], audit["repaid"]
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer = p4f.metrics.make_fair_scorer("accuracy")
    ...     scores = cross_validate(model, X, y, scoring=scorer, params={"fair": fair}, cv=3)["test_score"]
    >>> bool((scores > 0.5).all())
    True
    """
    if metric != "log_loss" and metric not in METRICS:
        raise UnknownNameError(f"there is no metric {metric!r}; {among(metric, ['log_loss', *METRICS])}")
    if not get_config()["enable_metadata_routing"]:
        raise P4FError(
            "fair labels reach a scorer by metadata routing; call sklearn.set_config(enable_metadata_routing=True)"
        )
    response = "predict_proba" if metric == "log_loss" else "predict"
    scorer = make_scorer(_fair_score, response_method=response, metric=metric, favourable=favourable)
    groups = metric != "log_loss" and METRICS[metric].by_group
    return scorer.set_score_request(fair=True, audit_weight=True, sensitive_features=groups)


def _fair_score(
    y_true: Any,
    y_pred: Any,
    *,
    metric: str,
    favourable: Any,
    fair: Any = None,
    audit_weight: Any = None,
    sensitive_features: Any = None,
) -> float:
    """The metric on the rows with a fair label; ``y_true`` are recorded labels, which say nothing about it."""
    if fair is None:
        raise P4FError("a fair scorer judges by audited fair labels: pass params={'fair': ...}")
    labels = pd.Series(np.asarray(fair, dtype=object))
    if len(labels) != len(y_true):
        raise P4FError(f"fair has {len(labels)} labels for {len(y_true)} rows; give one for each row")
    known = labels.notna().to_numpy()
    if not known.any():
        raise P4FError("no row of a tested part was audited; shuffle the rows, use fewer folds, or audit more")
    truth, predicted = labels[known].to_numpy(), np.asarray(y_pred)[known]
    weights = None if audit_weight is None else np.asarray(audit_weight, dtype=np.float64)[known]
    if metric == "log_loss":
        if predicted.ndim > 1:
            raise P4FError("log_loss is scored for two labels; of more take accuracy")
        good = np.asarray(truth == (1 if favourable is None else favourable), dtype=bool)
        chance = np.clip(np.where(good, predicted, 1 - predicted), _LEAST, 1)
        return float(np.average(np.log(chance), weights=weights))
    chosen, options = METRICS[metric], {}
    if chosen.by_group:
        if sensitive_features is None:
            raise P4FError(f"{metric} compares groups: pass params={{'sensitive_features': ...}}")
        options["sensitive_features"] = np.asarray(sensitive_features)[known]
    value = chosen(truth, predicted, favourable=favourable, sample_weight=weights, **options)
    return -abs(value) if chosen.better == "nearer 0" else value
