"""From a model and its data to a page that can be shown."""

from problog4fairness.reporting.build import Report, report
from problog4fairness.reporting.joining import with_audit
from problog4fairness.reporting.words import in_words

__all__ = ["Report", "in_words", "report", "with_audit"]
