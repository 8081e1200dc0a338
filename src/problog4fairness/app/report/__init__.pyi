from .build import Report, report
from .bundle import FLAGS, Inputs, verify, write_bundle
from .facts import collect
from .markup import Markup, plain, tag
from .names import Names
from .refits import learner_name
from .review import write_queue
from .stored import COMPARISON_FILES, read_comparison, save_comparison
from .svg import VARIABLES, inline
from .tables import review_table

__all__ = [
    "COMPARISON_FILES",
    "FLAGS",
    "VARIABLES",
    "Inputs",
    "Markup",
    "Names",
    "Report",
    "collect",
    "inline",
    "learner_name",
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
