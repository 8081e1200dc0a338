"""What a user would do instead of stating a belief: each method is one file, and one entry in :data:`METHODS`."""

from __future__ import annotations

from problog4fairness.evaluation.methods.exponentiated_gradient import ExponentiatedGradient
from problog4fairness.evaluation.methods.massaging import Massaging
from problog4fairness.evaluation.methods.method import Method
from problog4fairness.evaluation.methods.plain import AuditOnly, Oracle, RecordedOnly, WithoutSensitive
from problog4fairness.evaluation.methods.threshold_optimizer import ThresholdOptimizer

# By the names that ``compare(methods=...)`` takes, in the order of its tables.
METHODS: dict[str, type[Method]] = {
    "oracle": Oracle,
    "audit_only": AuditOnly,
    "recorded_only": RecordedOnly,
    "without_sensitive": WithoutSensitive,
    "massaging": Massaging,
    "threshold_optimizer": ThresholdOptimizer,
    "exponentiated_gradient": ExponentiatedGradient,
}
