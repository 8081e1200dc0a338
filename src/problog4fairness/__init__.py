r"""Train fair classifiers on unfair data, by stating how the data became unfair.

    >>> import problog4fairness as p4f
    >>> loan = p4f.Program(r"0.1 :: neg_bias. gets_loan :- \+neg_bias. query(gets_loan).")
    >>> loan.probability()["gets_loan"].item()
    0.9

Everything here is imported when it is first used, so ``import problog4fairness`` is quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from problog4fairness import baselines, comparison, datasets, doubt, errors, learners, metrics, rows
    from problog4fairness.beliefs import (
        Annotators,
        Audit,
        AuditWarning,
        Belief,
        Beta,
        ChangedBias,
        ClassBias,
        HistoricalBias,
        LabelBias,
        MeasurementBias,
        NoBias,
        NumericMeasurementBias,
        Observation,
        PositiveUnlabelled,
        ProgramBelief,
        RowBias,
        SelectiveLabels,
        UnknownGroup,
        belief_text,
        by,
        chain,
        read_belief,
    )
    from problog4fairness.beliefs.hoeffding import audit_plan
    from problog4fairness.beliefs.samples import required_samples, rows_to_draw
    from problog4fairness.classifier import DebiasedClassifier
    from problog4fairness.comparison.compare import compare
    from problog4fairness.doubt import (
        BeliefComparison,
        Doubts,
        check,
        compare_beliefs,
        identifiability,
        learn_parameters,
    )
    from problog4fairness.program.circuit import Circuit
    from problog4fairness.program.data import Leaf
    from problog4fairness.program.observed import Observed
    from problog4fairness.program.program import Program
    from problog4fairness.program.sandbox import Limits
    from problog4fairness.program.specialised import Specialised
    from problog4fairness.reporting import Report, report
    from problog4fairness.rows.rows import Rows

__all__ = [
    "Annotators",
    "Audit",
    "AuditWarning",
    "Belief",
    "BeliefComparison",
    "Beta",
    "ChangedBias",
    "Circuit",
    "ClassBias",
    "DebiasedClassifier",
    "Doubts",
    "HistoricalBias",
    "LabelBias",
    "Leaf",
    "Limits",
    "MeasurementBias",
    "NoBias",
    "NumericMeasurementBias",
    "Observation",
    "Observed",
    "PositiveUnlabelled",
    "Program",
    "ProgramBelief",
    "Report",
    "RowBias",
    "Rows",
    "SelectiveLabels",
    "Specialised",
    "UnknownGroup",
    "__version__",
    "audit_plan",
    "baselines",
    "belief_text",
    "by",
    "chain",
    "check",
    "compare",
    "compare_beliefs",
    "comparison",
    "datasets",
    "doubt",
    "errors",
    "identifiability",
    "learn_parameters",
    "learners",
    "metrics",
    "read_belief",
    "report",
    "required_samples",
    "rows",
    "rows_to_draw",
]

_HOME = {
    "Annotators": "beliefs",
    "Audit": "beliefs",
    "AuditWarning": "beliefs",
    "Belief": "beliefs",
    "BeliefComparison": "doubt",
    "Beta": "beliefs",
    "ChangedBias": "beliefs",
    "Circuit": "program.circuit",
    "ClassBias": "beliefs",
    "DebiasedClassifier": "classifier",
    "Doubts": "doubt",
    "HistoricalBias": "beliefs",
    "LabelBias": "beliefs",
    "Leaf": "program.data",
    "Limits": "program.sandbox",
    "MeasurementBias": "beliefs",
    "NoBias": "beliefs",
    "NumericMeasurementBias": "beliefs",
    "Observation": "beliefs",
    "Observed": "program.observed",
    "PositiveUnlabelled": "beliefs",
    "Program": "program.program",
    "ProgramBelief": "beliefs",
    "Report": "reporting",
    "RowBias": "beliefs",
    "Rows": "rows.rows",
    "SelectiveLabels": "beliefs",
    "Specialised": "program.specialised",
    "UnknownGroup": "beliefs",
    "audit_plan": "beliefs.hoeffding",
    "belief_text": "beliefs",
    "by": "beliefs",
    "chain": "beliefs",
    "check": "doubt",
    "compare": "comparison",
    "compare_beliefs": "doubt",
    "identifiability": "doubt",
    "learn_parameters": "doubt",
    "read_belief": "beliefs",
    "report": "reporting",
    "required_samples": "beliefs.samples",
    "rows_to_draw": "beliefs.samples",
}
_ROOMS = ("baselines", "comparison", "datasets", "doubt", "errors", "learners", "metrics", "rows")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("problog4fairness")
    if name in _ROOMS:
        return import_module(f"problog4fairness.{name}")
    if name in _HOME:
        return getattr(import_module(f"problog4fairness.{_HOME[name]}"), name)
    # With its name and its owner, Python asks whether another one is meant.
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
