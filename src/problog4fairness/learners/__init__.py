"""Fitting one network or many through a mechanism."""

from problog4fairness.learners.fit import fit_many
from problog4fairness.learners.history import Fit
from problog4fairness.learners.job import Job
from problog4fairness.learners.likelihood import Likelihood, RecordedLabel
from problog4fairness.learners.mixture import Mixture
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.module import fit_module
from problog4fairness.learners.settings import Settings

__all__ = ["MLP", "Fit", "Job", "Likelihood", "Mixture", "RecordedLabel", "Settings", "fit_many", "fit_module"]
