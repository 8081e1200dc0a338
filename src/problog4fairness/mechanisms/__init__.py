"""What can go wrong with data: label, measurement and historical bias, and chains of them. Each writes ProbLog."""

from problog4fairness.mechanisms.audit import AuditWarning
from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.belief_file import belief_text, read_belief
from problog4fairness.mechanisms.belief_json import BeliefError
from problog4fairness.mechanisms.chains import Chain, chain
from problog4fairness.mechanisms.custom import ProgramMechanism
from problog4fairness.mechanisms.historical import HistoricalBias
from problog4fairness.mechanisms.label import LabelBias
from problog4fairness.mechanisms.measurement import MeasurementBias
from problog4fairness.mechanisms.rates import Rate

__all__ = [
    "AuditWarning",
    "BeliefError",
    "Chain",
    "HistoricalBias",
    "LabelBias",
    "MeasurementBias",
    "Mechanism",
    "ProgramMechanism",
    "Rate",
    "belief_text",
    "chain",
    "read_belief",
]
