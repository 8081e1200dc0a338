from .auto import Auto, FittedChoice, row_losses
from .base import Fitted, Learner, Shape, Task
from .calibrated import LARGEST_SHIFT, SLOPES, Calibrated, recalibrated
from .distributed import SEVERAL, WEIGHT, ClusterTask, cluster_encoder, fit_trees, require_cluster
from .em.reweighted import FittedEstimator, LikelihoodWarning, Reweighted
from .encoder import CHUNK, MAX_CATEGORIES, MISSING, encode, make_encoder, prepared, slot_name
from .history import Fit
from .job import Job
from .linear.logistic import FittedLinear, Linear
from .named import LEARNERS, learner_json, learner_of_json, named_learner
from .networks.fit import fit_many
from .networks.mlp import MLP
from .networks.module import fit_module
from .networks.network import FittedNetwork, Network
from .plain import require
from .progress import Bar, each, is_shown, listening, progress_bar
from .refit import fit_again, fit_tasks
from .settings import Settings
from .trees.arrays import light
from .trees.boosted import Boosted, FittedBoosted

__all__ = [
    "CHUNK",
    "LARGEST_SHIFT",
    "LEARNERS",
    "MAX_CATEGORIES",
    "MISSING",
    "MLP",
    "SEVERAL",
    "SLOPES",
    "WEIGHT",
    "Auto",
    "Bar",
    "Boosted",
    "Calibrated",
    "ClusterTask",
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
    "Shape",
    "Task",
    "cluster_encoder",
    "each",
    "encode",
    "fit_again",
    "fit_many",
    "fit_module",
    "fit_tasks",
    "fit_trees",
    "is_shown",
    "learner_json",
    "learner_of_json",
    "light",
    "listening",
    "make_encoder",
    "named_learner",
    "prepared",
    "progress_bar",
    "recalibrated",
    "require",
    "require_cluster",
    "row_losses",
    "slot_name",
]
