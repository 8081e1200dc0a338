"""Learning the fair label through an observation: small networks in stacks, any torch module."""

from problog4fairness.learners.base import Fitted, Learner, Task
from problog4fairness.learners.fit import fit_many
from problog4fairness.learners.history import Fit
from problog4fairness.learners.job import Job
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.module import fit_module
from problog4fairness.learners.named import named_learner
from problog4fairness.learners.network import FittedNetwork, Network
from problog4fairness.learners.progress import Bar
from problog4fairness.learners.settings import Settings

__all__ = [
    "MLP",
    "Bar",
    "Fit",
    "Fitted",
    "FittedNetwork",
    "Job",
    "Learner",
    "Network",
    "Settings",
    "Task",
    "fit_many",
    "fit_module",
    "named_learner",
]
