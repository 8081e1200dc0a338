"""Names for the arrays that rows are coded in."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
# A group of a sensitive variable: a value, or one value for each of its columns.
Level: TypeAlias = int | str | tuple[int | str, ...]
