from .columns import beside, complete_rows, is_frame, refuse_sparse, require_column, sensitive_frame, to_frame
from .counts import COUNT, counted_rows, counts_of, one_by_one
from .covariates import OTHER, Category, Period, Score, days_of, numbers_of
from .features import feature_columns, identifiers
from .groups import Grouping
from .io.bounded import MEBIBYTE, inside, parse_json, plain_file, read_file
from .io.chunks import Chunks, StartAgain, read_chunks
from .io.reading import read_table
from .io.writing import (
    check_folder,
    check_output,
    csv_text,
    is_parquet,
    ready_folder,
    whole_file,
    whole_output,
    write_chunks,
    write_table,
    write_whole,
)
from .joining import matches, positions, with_audit
from .labels import find_classes, label_codes, majority, ordered_pair
from .notebook import inline_figure, write_figure
from .problems import FileNote, FileWarning, GroupUseNote, TableError, listed, note, reason_of, warn
from .roles import (
    MAX_CLASSES,
    MAX_GROUPS,
    Roles,
    as_groups,
    check_column,
    find_labels,
    find_levels,
    find_roles,
    known_levels,
    plain_feature,
    rewritten,
)
from .rows import Rows
from .sensitive import Sensitive, has_others, named_groups
from .swapped import warn_swapped
from .types import Codes, Floats, Level
from .values import Value, conventional, plain, plain_column, values_of
from .whole_tables import WholeTable

__all__ = [
    "COUNT",
    "MAX_CLASSES",
    "MAX_GROUPS",
    "MEBIBYTE",
    "OTHER",
    "Category",
    "Chunks",
    "Codes",
    "FileNote",
    "FileWarning",
    "Floats",
    "GroupUseNote",
    "Grouping",
    "Level",
    "Period",
    "Roles",
    "Rows",
    "Score",
    "Sensitive",
    "StartAgain",
    "TableError",
    "Value",
    "WholeTable",
    "as_groups",
    "beside",
    "check_column",
    "check_folder",
    "check_output",
    "complete_rows",
    "conventional",
    "counted_rows",
    "counts_of",
    "csv_text",
    "days_of",
    "feature_columns",
    "find_classes",
    "find_labels",
    "find_levels",
    "find_roles",
    "has_others",
    "identifiers",
    "inline_figure",
    "inside",
    "is_frame",
    "is_parquet",
    "known_levels",
    "label_codes",
    "listed",
    "majority",
    "matches",
    "named_groups",
    "note",
    "numbers_of",
    "one_by_one",
    "ordered_pair",
    "parse_json",
    "plain",
    "plain_column",
    "plain_feature",
    "plain_file",
    "positions",
    "read_chunks",
    "read_file",
    "read_table",
    "ready_folder",
    "reason_of",
    "refuse_sparse",
    "require_column",
    "rewritten",
    "sensitive_frame",
    "to_frame",
    "values_of",
    "warn",
    "warn_swapped",
    "whole_file",
    "whole_output",
    "with_audit",
    "write_chunks",
    "write_figure",
    "write_table",
    "write_whole",
]
