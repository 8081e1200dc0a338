from .base import Learner, Task, fit_tasks
from .boosted import Boosted, FittedBoosted
from .distributed import SEVERAL, WEIGHT, ClusterTask, cluster_encoder, fit_trees, require_cluster
from .em import FittedEstimator, LikelihoodWarning, Reweighted
from .encoder import MISSING, make_encoder, slot_name
from .fitted import LARGEST_SHIFT, SLOPES, Calibrated, Fitted, recalibrated
from .linear import FittedLinear, Linear
from .named import LEARNERS, Auto, FittedChoice, learner_json, learner_of_json, named_learner, row_losses
from .networks.fit import fit_many
from .networks.module import fit_module
from .networks.network import FittedNetwork, Network
from .networks.stack import MLP
from .networks.training import Fit, Settings
from .progress import Bar, listening, progress_bar
from .trees import light
from .validation import Shape, require

__all__ = [
    "LARGEST_SHIFT",
    "LEARNERS",
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
    "Learner",
    "LikelihoodWarning",
    "Linear",
    "Network",
    "Reweighted",
    "Settings",
    "Shape",
    "Task",
    "cluster_encoder",
    "fit_many",
    "fit_module",
    "fit_tasks",
    "fit_trees",
    "learner_json",
    "learner_of_json",
    "light",
    "listening",
    "make_encoder",
    "named_learner",
    "progress_bar",
    "recalibrated",
    "require",
    "require_cluster",
    "row_losses",
    "slot_name",
]
