"""From a model and its data to a page that can be shown."""

from problog4fairness.reporting.build import Report, report

__all__ = ["Report", "report"]
