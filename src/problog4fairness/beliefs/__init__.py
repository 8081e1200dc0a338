"""What can go wrong with data: label, measurement and historical bias, and chains of them. Each writes ProbLog."""

from problog4fairness.beliefs.allocation import next_round, wanted_rows
from problog4fairness.beliefs.annotators import Annotators
from problog4fairness.beliefs.audit import AuditWarning
from problog4fairness.beliefs.audits import Audit
from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.belief_file import belief_text, read_belief
from problog4fairness.beliefs.belief_json import BeliefError
from problog4fairness.beliefs.chains import Chain, chain
from problog4fairness.beliefs.changed import ChangedBias
from problog4fairness.beliefs.classes import ClassBias
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.dependence import by
from problog4fairness.beliefs.design import Design
from problog4fairness.beliefs.historical import HistoricalBias
from problog4fairness.beliefs.label import LabelBias
from problog4fairness.beliefs.measurement import MeasurementBias
from problog4fairness.beliefs.none import NoBias
from problog4fairness.beliefs.numeric import NumericMeasurementBias
from problog4fairness.beliefs.numeric_chain import NumericChain
from problog4fairness.beliefs.observation import Observation, Posterior
from problog4fairness.beliefs.plan import AuditPlan
from problog4fairness.beliefs.positive import PositiveUnlabelled
from problog4fairness.beliefs.priors import Beta
from problog4fairness.beliefs.probabilities import Cell, Parameter
from problog4fairness.beliefs.row import RowBias
from problog4fairness.beliefs.selective import SelectiveLabels
from problog4fairness.beliefs.unknown_group import UnknownGroup

__all__ = [
    "Annotators",
    "Audit",
    "AuditPlan",
    "AuditWarning",
    "Belief",
    "BeliefError",
    "Beta",
    "Cell",
    "Chain",
    "ChangedBias",
    "ClassBias",
    "Design",
    "HistoricalBias",
    "LabelBias",
    "MeasurementBias",
    "NoBias",
    "NumericChain",
    "NumericMeasurementBias",
    "Observation",
    "Parameter",
    "PositiveUnlabelled",
    "Posterior",
    "ProgramBelief",
    "RowBias",
    "SelectiveLabels",
    "UnknownGroup",
    "belief_text",
    "by",
    "chain",
    "next_round",
    "read_belief",
    "wanted_rows",
]
