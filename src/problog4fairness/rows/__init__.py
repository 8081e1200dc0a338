"""Tables as files: reading them as they come, which column is what, and writing files whole or not at all."""

from problog4fairness.rows.chunks import Chunks, StartAgain, read_chunks
from problog4fairness.rows.features import feature_columns, identifiers
from problog4fairness.rows.joining import with_audit
from problog4fairness.rows.problems import FileNote, FileWarning, GroupUseNote, TableError, reason_of
from problog4fairness.rows.reading import read_table
from problog4fairness.rows.roles import Roles, check_column, find_roles
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.showing import write_figure
from problog4fairness.rows.writing import (
    check_folder,
    check_output,
    is_parquet,
    ready_folder,
    refuse_overwrite,
    whole_output,
    write_chunks,
    write_table,
    write_whole,
)

__all__ = [
    "Chunks",
    "FileNote",
    "FileWarning",
    "GroupUseNote",
    "Roles",
    "Rows",
    "StartAgain",
    "TableError",
    "check_column",
    "check_folder",
    "check_output",
    "feature_columns",
    "find_roles",
    "identifiers",
    "is_parquet",
    "read_chunks",
    "read_table",
    "ready_folder",
    "reason_of",
    "refuse_overwrite",
    "whole_output",
    "with_audit",
    "write_chunks",
    "write_figure",
    "write_table",
    "write_whole",
]
