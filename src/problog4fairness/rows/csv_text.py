"""Tables as CSV text: byte for byte what pandas writes, in half the time where there are numbers and plain texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def csv_text(frame: pd.DataFrame, delimiter: str, header: bool) -> str:
    """The rows of a table, and its header, each ended by a newline."""
    columns = [_texts(frame[name], delimiter) for name in frame.columns]
    if len(columns) < 2 or any(column is None for column in columns):
        return str(frame.to_csv(index=False, header=header, sep=delimiter, lineterminator="\n"))
    head = frame.iloc[:0].to_csv(index=False, sep=delimiter, lineterminator="\n") if header else ""
    rows = map(delimiter.join, zip(*(column for column in columns if column is not None), strict=True))
    return head + "".join(f"{row}\n" for row in rows)


def _texts(column: pd.Series[Any], delimiter: str) -> Iterable[str] | None:
    """The cells of a column; None where a cell may have to be quoted."""
    import pandas as pd

    if column.dtype in (np.dtype(np.int64), np.dtype(bool)):
        return map(str, column.tolist())
    if column.dtype == np.dtype(np.float64):
        texts = map(repr, column.tolist())
        return texts if column.notna().all() else ["" if text == "nan" else text for text in texts]
    codes, found = pd.factorize(column)
    values = list(found)
    if not all(isinstance(value, str) and value and not set(value) & {delimiter, '"', "\n", "\r"} for value in values):
        return None
    cells = np.array([*values, ""], dtype=object)[codes]
    return cells.tolist()  # type: ignore[no-any-return]
