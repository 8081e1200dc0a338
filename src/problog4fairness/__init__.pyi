from . import (
    audit,
    beliefs,
    checks,
    data,
    datasets,
    errors,
    estimators,
    evaluation,
    learners,
    metrics,
    program,
    robustness,
    statistics,
)
from .app.report.build import report
from .audit.audit import Audit
from .audit.planning.plan import hoeffding_plan
from .beliefs.belief import Belief
from .beliefs.templates.chains import chain
from .beliefs.templates.custom import ProgramBelief
from .beliefs.templates.features.measurement import MeasurementBias
from .beliefs.templates.features.numeric import NumericMeasurementBias
from .beliefs.templates.historical import HistoricalBias
from .beliefs.templates.labels.changed import ChangedBias
from .beliefs.templates.labels.dependence import depends_on
from .beliefs.templates.labels.label import ClassBias, LabelBias
from .beliefs.templates.labels.row import RowBias
from .beliefs.templates.none import NoBias
from .beliefs.templates.records.annotators import Annotators
from .beliefs.templates.records.positive import PositiveUnlabelled
from .beliefs.templates.records.selective import SelectiveLabels
from .beliefs.templates.records.unknown_group import UnknownGroup
from .checks.checking import check
from .estimators.classifier import DebiasedClassifier
from .evaluation.comparison import compare
from .program.program import Program

__version__: str

__all__ = [
    "Annotators",
    "Audit",
    "Belief",
    "ChangedBias",
    "ClassBias",
    "DebiasedClassifier",
    "HistoricalBias",
    "LabelBias",
    "MeasurementBias",
    "NoBias",
    "NumericMeasurementBias",
    "PositiveUnlabelled",
    "Program",
    "ProgramBelief",
    "RowBias",
    "SelectiveLabels",
    "UnknownGroup",
    "__version__",
    "audit",
    "beliefs",
    "chain",
    "check",
    "checks",
    "compare",
    "data",
    "datasets",
    "depends_on",
    "errors",
    "estimators",
    "evaluation",
    "hoeffding_plan",
    "learners",
    "metrics",
    "program",
    "report",
    "robustness",
    "statistics",
]
