from .audit import Audit
from .audit_table import MAX_VALUES, AuditTable
from .estimation.audited_rows import as_audit, audited_rows, frame_of
from .estimation.counting import counted_cells, counted_features, counted_labels
from .estimation.diagnostics import FEW_ROWS, LITTLE_SIGNAL, group_signal, warn_few, warn_signal, warn_unweighted
from .estimation.maximum_likelihood import LabelModel, most_likely
from .estimation.posterior_draws import generator, posterior_draws
from .estimation.record_likelihood import Learned, Terms, adequate_matrix, design_matrix, learn
from .estimation.stratified import Design, Stratified, Target, design_of
from .planning.allocation import next_round, wanted_rows
from .planning.plan import AuditPlan, hoeffding_plan
from .planning.planning import PILOT, fair_columns, parameter_table, plan_audit, rounds, strata_table
from .reading import AuditWarning, by_feature, read_labels, warn_audit
from .sheet import DESIGN, NOT_STATED, OWN, PROBABILITY, ROW, STRATUM, Sheet, is_filled, planned_error
from .strata import (
    AuditRules,
    NoStrataError,
    SamplingFrame,
    Strata,
    audit_groups,
    feature_strata,
    index_of,
    label_strata,
    table_frame,
)

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
    "AuditRules",
    "AuditTable",
    "AuditWarning",
    "Design",
    "LabelModel",
    "Learned",
    "NoStrataError",
    "SamplingFrame",
    "Sheet",
    "Strata",
    "Stratified",
    "Target",
    "Terms",
    "adequate_matrix",
    "as_audit",
    "audit_groups",
    "audited_rows",
    "by_feature",
    "counted_cells",
    "counted_features",
    "counted_labels",
    "design_matrix",
    "design_of",
    "fair_columns",
    "feature_strata",
    "frame_of",
    "generator",
    "group_signal",
    "hoeffding_plan",
    "index_of",
    "is_filled",
    "label_strata",
    "learn",
    "most_likely",
    "next_round",
    "parameter_table",
    "plan_audit",
    "planned_error",
    "posterior_draws",
    "read_labels",
    "rounds",
    "strata_table",
    "table_frame",
    "wanted_rows",
    "warn_audit",
    "warn_few",
    "warn_signal",
    "warn_unweighted",
]
