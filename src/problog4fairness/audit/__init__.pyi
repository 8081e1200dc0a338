from .audits import NOT_STATED, Audit, frame_of, warn_unweighted
from .columns import AuditWarning, Column, read_audit, tell
from .estimation.cells import counted_cells
from .estimation.estimation import (
    FEW_ROWS,
    LITTLE_SIGNAL,
    by_feature,
    counted_features,
    counted_labels,
    estimate_chain,
    most_likely,
    warn_few,
    warn_signal,
)
from .estimation.maximum_likelihood import LabelModel
from .estimation.posterior_draws import drawn, generator
from .estimation.record_likelihood import Learned, Terms, learn, least_loss
from .estimation.sampling import anytime, audited_rows, filled
from .estimation.scores import fitted_score
from .estimation.signal import group_signal, warn_opposite
from .estimation.stratified import Design, Stratified, design_json, design_of
from .planned_table import PlannedTable
from .planning.allocation import next_round, wanted_rows
from .planning.hoeffding import hoeffding_plan
from .planning.plan import AuditPlan
from .planning.planning import PILOT, plan_audit, strata_table
from .sheet import DESIGN, OWN, PROBABILITY, ROW, STRATUM, Todo, is_filled, planned_error
from .strata import Drawn, NoStrataError, Strata, audit_groups, feature_strata, index_of, label_strata, with_groups
from .tables import MAX_VALUES, AuditTable

__all__ = [
    "DESIGN",
    "FEW_ROWS",
    "LITTLE_SIGNAL",
    "MAX_VALUES",
    "NOT_STATED",
    "OWN",
    "PILOT",
    "PROBABILITY",
    "ROW",
    "STRATUM",
    "Audit",
    "AuditPlan",
    "AuditTable",
    "AuditWarning",
    "Column",
    "Design",
    "Drawn",
    "LabelModel",
    "Learned",
    "NoStrataError",
    "PlannedTable",
    "Strata",
    "Stratified",
    "Terms",
    "Todo",
    "anytime",
    "audit_groups",
    "audited_rows",
    "by_feature",
    "counted_cells",
    "counted_features",
    "counted_labels",
    "design_json",
    "design_of",
    "drawn",
    "estimate_chain",
    "feature_strata",
    "filled",
    "fitted_score",
    "frame_of",
    "generator",
    "group_signal",
    "hoeffding_plan",
    "index_of",
    "is_filled",
    "label_strata",
    "learn",
    "least_loss",
    "most_likely",
    "next_round",
    "plan_audit",
    "planned_error",
    "read_audit",
    "strata_table",
    "tell",
    "wanted_rows",
    "warn_few",
    "warn_opposite",
    "warn_signal",
    "warn_unweighted",
    "with_groups",
]
