"""All methods, by the names that ``compare(methods=...)`` takes, in the order of its tables."""

from __future__ import annotations

from problog4fairness.baselines.massaging import MassagedLabels
from problog4fairness.baselines.method import Method
from problog4fairness.baselines.parity import ParityByThresholds
from problog4fairness.baselines.plain import KnowingFairLabels, OnlyAuditedRows, RecordAsItIs, WithoutSensitive
from problog4fairness.baselines.reductions import ParityByReductions

METHODS: dict[str, type[Method]] = {
    "upper": KnowingFairLabels,
    "audit only": OnlyAuditedRows,
    "lower": RecordAsItIs,
    "unawareness": WithoutSensitive,
    "massaging": MassagedLabels,
    "parity": ParityByThresholds,
    "reductions": ParityByReductions,
}
