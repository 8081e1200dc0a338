"""How strong a bias is: estimates from audited rows, their intervals, and how many rows an audit needs."""

from problog4fairness.parameters.plan import AuditPlan, audit_plan
from problog4fairness.parameters.proportions import Estimate, interval, proportion
from problog4fairness.parameters.samples import required_samples, rows_to_draw

__all__ = ["AuditPlan", "Estimate", "audit_plan", "interval", "proportion", "required_samples", "rows_to_draw"]
