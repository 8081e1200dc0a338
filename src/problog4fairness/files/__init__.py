"""Tables as files: reading them as they come, which column is what, and writing files whole or not at all."""

from problog4fairness.files.features import feature_columns, identifiers
from problog4fairness.files.problems import FileNote, FileWarning, TableError
from problog4fairness.files.reading import read_table
from problog4fairness.files.roles import Roles, check_column, find_roles
from problog4fairness.files.writing import check_folder, check_output, refuse_overwrite, write_table, write_whole

__all__ = [
    "FileNote",
    "FileWarning",
    "Roles",
    "TableError",
    "check_column",
    "check_folder",
    "check_output",
    "feature_columns",
    "find_roles",
    "identifiers",
    "read_table",
    "refuse_overwrite",
    "write_table",
    "write_whole",
]
