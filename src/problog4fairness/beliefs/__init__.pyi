from .belief import Belief
from .convert import as_belief, belief_types, estimate_on_table, known_kinds, named_belief
from .describe.files import MARK, belief_text, read_belief
from .describe.plain_data import BeliefError, belief_of
from .describe.words import Label
from .description import BeliefKind, Columns, LabelRecord, Question
from .fields import AFFECTED, GIVEN, GROUPS, LOST, SENSITIVE, Field, FieldTable
from .fitting import LEAST_SIGNAL, admissible_values, check_rows, restore
from .likelihood.combinations import every
from .likelihood.inputs import FairInputs, fair_inputs
from .likelihood.observation import CHUNK, Observation, Posterior
from .templates.chains import Chain, chain
from .templates.custom import ProgramBelief
from .templates.features.feature_bias import Distorted
from .templates.features.measurement import MeasurementBias
from .templates.features.numeric import NumericMeasurementBias
from .templates.historical import HistoricalBias
from .templates.labels.changed import ChangedBias, search_change
from .templates.labels.dependence import depends_on
from .templates.labels.label import NEGATIVE, POSITIVE, ClassBias, LabelBias
from .templates.labels.row import Change, RowBias
from .templates.labels.stage import LabelStage
from .templates.none import NoBias
from .templates.records.annotators import Annotators
from .templates.records.positive import PositiveUnlabelled
from .templates.records.selective import SelectiveLabels
from .templates.records.unknown_group import UnknownGroup
from .templates.records.votes import by_column, coded_votes

__all__ = [
    "AFFECTED",
    "CHUNK",
    "GIVEN",
    "GROUPS",
    "LEAST_SIGNAL",
    "LOST",
    "MARK",
    "NEGATIVE",
    "POSITIVE",
    "SENSITIVE",
    "Annotators",
    "Belief",
    "BeliefError",
    "BeliefKind",
    "Chain",
    "Change",
    "ChangedBias",
    "ClassBias",
    "Columns",
    "Distorted",
    "FairInputs",
    "Field",
    "FieldTable",
    "HistoricalBias",
    "Label",
    "LabelBias",
    "LabelRecord",
    "LabelStage",
    "MeasurementBias",
    "NoBias",
    "NumericMeasurementBias",
    "Observation",
    "PositiveUnlabelled",
    "Posterior",
    "ProgramBelief",
    "Question",
    "RowBias",
    "SelectiveLabels",
    "UnknownGroup",
    "admissible_values",
    "as_belief",
    "belief_of",
    "belief_text",
    "belief_types",
    "by_column",
    "chain",
    "check_rows",
    "coded_votes",
    "depends_on",
    "estimate_on_table",
    "every",
    "fair_inputs",
    "known_kinds",
    "named_belief",
    "read_belief",
    "restore",
    "search_change",
]
