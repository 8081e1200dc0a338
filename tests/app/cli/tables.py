"""Loan tables as files, as people have them: with an identifier, yes and no, and a few missing values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from problog4fairness import datasets


def write_tables(folder: Path) -> Path:
    """``loans.csv``, ``audit.csv`` and ``new.csv`` in a folder."""
    data = datasets.loans(rows=600, audited=400, new=80)
    for name, frame in (("loans", data.loans), ("audit", data.audit), ("new", data.new)):
        frame = frame.assign(
            customer=np.arange(len(frame)) + 1, poor_area=np.where(frame["poor_area"] == 1, "yes", "no")
        )
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder
