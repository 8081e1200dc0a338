"""From a model and its data to a page that can be shown."""

from problog4fairness.reporting.build import Report, report
from problog4fairness.reporting.joining import with_audit

__all__ = ["Report", "report", "with_audit"]
