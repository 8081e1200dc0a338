"""A comparison as files in a folder, to be looked at and to be read again."""

from __future__ import annotations

import hashlib
import io
import json
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from problog4fairness.beliefs import Belief
from problog4fairness.data import MEBIBYTE, csv_text, inside, parse_json, read_file, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.evaluation import GAIN_COLUMNS as GAINS
from problog4fairness.evaluation import RATES, Comparison
from problog4fairness.evaluation import SCORE_COLUMNS as AUDITED

# Bytes of the table of single folds, and of its first line.
MOST_RESULTS, LONGEST_HEADER = 64 * MEBIBYTE, 1000
COMPARISON_FILES = ("comparison.csv", "summary.csv", "comparison.json", "figure.png", "figure.pdf")


def save_comparison(comparison: Comparison, folder: str | PathLike[str], belief: Belief | None = None) -> list[Path]:
    """Write the comparison into a folder; gives the paths of its files.

    ``comparison.csv`` has every fold, ``summary.csv`` the means, ``comparison.json`` everything else that
    :func:`read_comparison` needs, and the figure is there as PNG and PDF.
    A report about another belief than this one refuses the folder.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in COMPARISON_FILES]
    figure = comparison.plot()
    drawn = {}
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=160, metadata=metadata)
        drawn[kind] = file.getvalue()
    comparison.to_csv(paths[0])
    write_atomically(paths[1], csv_text(comparison.summary, 6))
    about = comparison.to_dict()
    del about["summary"]
    write_atomically(paths[2], json.dumps({"belief": _hash(belief), **about}, indent=1, default=str) + "\n")
    write_atomically(paths[3], drawn["png"])
    write_atomically(paths[4], drawn["pdf"])
    return paths


def read_comparison(
    folder: str | PathLike[str], belief: Belief | None = None, learner: str | None = None
) -> Comparison:
    """What :func:`save_comparison` wrote. ``belief`` and ``learner`` are those that it must be about; None for any."""
    folder = Path(folder)
    try:
        about = parse_json(read_file(inside(folder, "comparison.json"), MEBIBYTE))
        table = read_file(inside(folder, "comparison.csv"), MOST_RESULTS)
        if len(table.splitlines()[0]) > LONGEST_HEADER:
            raise ValueError("its table has other columns")
        results = pd.read_csv(io.BytesIO(table), dtype={"value": str})
        results["value"] = results["value"].map(float)  # to the last digit, unlike pandas's own
        gains = pd.DataFrame(about["gains"], columns=["against", *GAINS]).set_index("against")
        if gains.isna().any(axis=None):
            raise ValueError("an older version wrote it")
        comparison = Comparison(
            results=results,
            levels=tuple(tuple(level) if isinstance(level, list) else level for level in about["levels"]),
            gains=gains,
            audited_scores=pd.DataFrame(about["audited_scores"], columns=list(AUDITED)),
            rates=pd.DataFrame(about["rates"], columns=list(RATES)),
            **{
                name: about[name]
                for name in ("data_disparity", "left_out", "rows", "audited", "kinds", "learner", "sample")
            },
        )
        # What was forged may only show where it is used.
        comparison.to_dict()
        for labels in comparison.labels:
            comparison.table(labels)
        np.array(list(comparison.data_disparity.values()), dtype=float)
        _ = comparison.verdict
    except FileNotFoundError as error:
        raise P4FError(
            f"{folder} holds no comparison: {Path(error.filename).name} is missing; run p4f compare"
        ) from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError) as error:
        raise P4FError(f"{folder} holds no comparison that can be read ({error}); run p4f compare again") from None
    if belief is not None and about.get("belief") not in (None, _hash(belief)):
        raise P4FError(f"the comparison in {folder} is about another belief than the model; run p4f compare again")
    if learner is not None and comparison.learner != learner:
        raise P4FError(
            f"the comparison in {folder} is of the learner {comparison.learner}, the model's is {learner}; "
            f"run p4f compare --learner {learner}"
        )
    return comparison


def _hash(belief: Belief | None) -> str | None:
    """What a belief says: its kind, its columns and its numbers."""
    if belief is None:
        return None
    numbers = {
        parameter.name: None if parameter.value is None else f"{parameter.value:.9g}" for parameter in belief.parameters
    }
    described = [type(belief).__name__, belief.columns.sensitive, belief.features, numbers]
    return hashlib.sha256(json.dumps(described, default=str).encode()).hexdigest()
