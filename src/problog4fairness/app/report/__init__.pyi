from .build import Report, report
from .bundle import FLAGS, Inputs, verify, write_bundle
from .demo import FAIR, FILES, RECORDED, SENSITIVE, Demo
from .facts import collect
from .markup import Markup, plain, tag
from .names import Names
from .refits import FOLDS, SEEDS, learner_name, model_learner
from .review import write_queue
from .stored import COMPARISON_FILES, read_comparison, save_comparison
from .svg import VARIABLES, inline
from .tables import review_table

__all__ = [
    "COMPARISON_FILES",
    "FAIR",
    "FILES",
    "FLAGS",
    "FOLDS",
    "RECORDED",
    "SEEDS",
    "SENSITIVE",
    "VARIABLES",
    "Demo",
    "Inputs",
    "Markup",
    "Names",
    "Report",
    "collect",
    "inline",
    "learner_name",
    "model_learner",
    "plain",
    "read_comparison",
    "report",
    "review_table",
    "save_comparison",
    "tag",
    "verify",
    "write_bundle",
    "write_queue",
]
