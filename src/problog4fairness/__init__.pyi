from . import (
    audit,
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
from .app.report.build import Report, report
from .audit.audits import Audit
from .audit.columns import AuditWarning
from .audit.planning.hoeffding import hoeffding_plan
from .beliefs.belief import Belief
from .beliefs.describe.files import belief_text, read_belief
from .beliefs.likelihood.observation import Observation
from .beliefs.templates.chains import chain
from .beliefs.templates.custom import ProgramBelief
from .beliefs.templates.features.measurement import MeasurementBias
from .beliefs.templates.features.numeric import NumericMeasurementBias
from .beliefs.templates.historical import HistoricalBias
from .beliefs.templates.labels.changed import ChangedBias
from .beliefs.templates.labels.classes import ClassBias
from .beliefs.templates.labels.dependence import depends_on
from .beliefs.templates.labels.label import LabelBias
from .beliefs.templates.labels.row import RowBias
from .beliefs.templates.none import NoBias
from .beliefs.templates.records.annotators import Annotators
from .beliefs.templates.records.positive import PositiveUnlabelled
from .beliefs.templates.records.selective import SelectiveLabels
from .beliefs.templates.records.unknown_group import UnknownGroup
from .checks.checking import check
from .checks.comparing_beliefs import BeliefComparison, compare_beliefs
from .checks.identifiable_parameters import identifiability
from .checks.learned_parameters import learn_parameters
from .checks.result import CheckResult
from .data.rows import Rows
from .estimators.classifier import DebiasedClassifier
from .evaluation.comparison import compare
from .program.circuit.circuit import Circuit
from .program.circuit.compiled import Leaf
from .program.circuit.observed import Observed
from .program.circuit.specialised import Specialised
from .program.program import Program
from .program.sandbox.process import Limits
from .statistics.priors import Beta
from .statistics.sample_sizes import required_samples, rows_to_draw

__version__: str

__all__ = [
    "Annotators",
    "Audit",
    "AuditWarning",
    "Belief",
    "BeliefComparison",
    "Beta",
    "ChangedBias",
    "CheckResult",
    "Circuit",
    "ClassBias",
    "DebiasedClassifier",
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
    "audit",
    "belief_text",
    "chain",
    "check",
    "checks",
    "compare",
    "compare_beliefs",
    "data",
    "datasets",
    "depends_on",
    "errors",
    "estimators",
    "evaluation",
    "hoeffding_plan",
    "identifiability",
    "learn_parameters",
    "learners",
    "metrics",
    "program",
    "read_belief",
    "report",
    "required_samples",
    "robustness",
    "rows_to_draw",
    "statistics",
]
