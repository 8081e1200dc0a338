"""Fitting one network or many through a mechanism."""

from problog4fairness.training.fit import fit_many
from problog4fairness.training.history import Fit
from problog4fairness.training.job import Job
from problog4fairness.training.likelihood import Likelihood, RecordedLabel
from problog4fairness.training.mixture import Mixture
from problog4fairness.training.mlp import MLP
from problog4fairness.training.module import fit_module
from problog4fairness.training.settings import Settings

__all__ = ["MLP", "Fit", "Job", "Likelihood", "Mixture", "RecordedLabel", "Settings", "fit_many", "fit_module"]
