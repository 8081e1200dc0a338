from .build import Report, report
from .demo import FAIR, FILES, RECORDED, SENSITIVE, Demo
from .facts import collect
from .files.bundle import FLAGS, Inputs, verify, write_bundle
from .files.stored import COMPARISON_FILES, read_comparison, save_comparison
from .files.suspects import write_queue
from .files.tables import review_table
from .html.markup import Markup, plain, tag
from .html.names import Names
from .html.svg import VARIABLES, inline
from .refits import FOLDS, SEEDS, learner_name, model_learner

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
