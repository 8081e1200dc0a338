"""Tables that are shown whole."""

from __future__ import annotations

import pandas as pd


class WholeTable(pd.DataFrame):  # type: ignore[misc]
    """A data frame that prints all its columns, where pandas leaves out what 80 characters do not hold."""

    @property
    def _constructor(self) -> type[WholeTable]:
        return WholeTable

    def __repr__(self) -> str:
        with self._whole():
            return str(super().__repr__())

    def _repr_html_(self) -> str | None:
        with self._whole():
            return super()._repr_html_()  # type: ignore[no-any-return]

    @staticmethod
    def _whole() -> pd.option_context:
        return pd.option_context("display.max_columns", None, "display.max_colwidth", None, "display.width", 10_000)
