"""Cells that a spreadsheet would run: a CSV file has no way to say that ``=cmd|...`` is a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# With the forms of these signs in East Asian text, and blanks, which some spreadsheets skip.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s*\Z")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts, and names of columns, a spreadsheet shows instead of running them.

    An apostrophe is put before each text that begins as a formula does; numbers, also those in columns of text, stay.

    Examples
    --------
    >>> import pandas as pd
    >>> without_formulas(pd.DataFrame({"note": ["=1+1", "-5", "fine"]}))["note"].tolist()
    ["'=1+1", '-5', 'fine']
    """
    import pandas as pd

    columns = {}
    for name in frame.columns:
        codes, values = pd.factorize(frame[name])
        harmless = all(not isinstance(value, str) or value is _defused(value) for value in values)
        if harmless:
            columns[_defused(name)] = frame[name]
        else:
            texts = pd.Series([*map(_defused, values), None], dtype=object)
            columns[_defused(name)] = texts.iloc[codes].set_axis(frame.index)
    return pd.DataFrame(columns, index=frame.index)


def _defused(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.match(value):
        return f"'{value}"
    return value
