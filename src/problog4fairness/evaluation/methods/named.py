"""All methods, by the names that ``compare(methods=...)`` takes, in the order of its tables."""

from __future__ import annotations

from problog4fairness.evaluation.methods.massaging import MassagedLabels
from problog4fairness.evaluation.methods.method import Method
from problog4fairness.evaluation.methods.plain import (
    KnowingFairLabels,
    OnlyAuditedRows,
    RecordAsItIs,
    WithoutSensitive,
)
from problog4fairness.evaluation.methods.reductions import ParityByReductions
from problog4fairness.evaluation.methods.thresholds import ParityByThresholds

METHODS: dict[str, type[Method]] = {
    "upper": KnowingFairLabels,
    "audit only": OnlyAuditedRows,
    "lower": RecordAsItIs,
    "unawareness": WithoutSensitive,
    "massaging": MassagedLabels,
    "parity": ParityByThresholds,
    "reductions": ParityByReductions,
}
