"""The sections of a report, each as HTML."""
