from .build import Report, report, review_table
from .bundle import OPTIONS, Inputs, verify, write_bundle
from .evidence import learner_name
from .facts import collect
from .markup import Markup, inline, page_colour, plain, tag
from .names import Names
from .review import write_queue
from .stored import COMPARISON_FILES, read_comparison, save_comparison

__all__ = [
    "COMPARISON_FILES",
    "OPTIONS",
    "Inputs",
    "Markup",
    "Names",
    "Report",
    "collect",
    "inline",
    "learner_name",
    "page_colour",
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
