"""Learning the fair label through an observation: linear models, boosted trees, networks, any estimator or module."""

from problog4fairness.learners.base import Fitted, Learner, Task
from problog4fairness.learners.boosted import Boosted, FittedBoosted
from problog4fairness.learners.calibrated import Calibrated
from problog4fairness.learners.choice import Auto, FittedChoice
from problog4fairness.learners.em import FittedEstimator, LikelihoodWarning, Reweighted
from problog4fairness.learners.fit import fit_many
from problog4fairness.learners.history import Fit
from problog4fairness.learners.job import Job
from problog4fairness.learners.linear import FittedLinear, Linear
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.module import fit_module
from problog4fairness.learners.named import named_learner
from problog4fairness.learners.network import FittedNetwork, Network
from problog4fairness.learners.progress import Bar
from problog4fairness.learners.settings import Settings

__all__ = [
    "MLP",
    "Auto",
    "Bar",
    "Boosted",
    "Calibrated",
    "Fit",
    "Fitted",
    "FittedBoosted",
    "FittedChoice",
    "FittedEstimator",
    "FittedLinear",
    "FittedNetwork",
    "Job",
    "Learner",
    "LikelihoodWarning",
    "Linear",
    "Network",
    "Reweighted",
    "Settings",
    "Task",
    "fit_many",
    "fit_module",
    "named_learner",
]
