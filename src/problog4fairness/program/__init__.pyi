from .circuit.circuit import Circuit
from .circuit.compiled import CircuitData, Ground, Leaf, Structure, ground_text
from .circuit.observed import (
    KNOWN_RULED_OUT,
    SAFE_SUM,
    UNKNOWN,
    AffineObserved,
    AffineTerms,
    Cast,
    Observed,
    log_outcomes,
    split_by,
)
from .circuit.specialised import Affine, Specialised
from .diagram.diagram import Diagram, Node
from .language.writing import BUILT_IN, atom, comment, distinct, is_plain, number, predicates, printed, unquoted
from .program import Program, read_text
from .sandbox.lifetime import end_with_parent, in_lasting_thread
from .sandbox.process import MEBIBYTE, Limits, Worker

__all__ = [
    "BUILT_IN",
    "KNOWN_RULED_OUT",
    "MEBIBYTE",
    "SAFE_SUM",
    "UNKNOWN",
    "Affine",
    "AffineObserved",
    "AffineTerms",
    "Cast",
    "Circuit",
    "CircuitData",
    "Diagram",
    "Ground",
    "Leaf",
    "Limits",
    "Node",
    "Observed",
    "Program",
    "Specialised",
    "Structure",
    "Worker",
    "atom",
    "comment",
    "distinct",
    "end_with_parent",
    "ground_text",
    "in_lasting_thread",
    "is_plain",
    "log_outcomes",
    "number",
    "predicates",
    "printed",
    "read_text",
    "split_by",
    "unquoted",
]
