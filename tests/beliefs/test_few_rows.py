"""Parameters that rest on few audited rows are told together, not one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import problog4fairness as p4f


def test_many_parameters_with_few_rows_are_one_warning():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": np.repeat(np.arange(12), 8), "granted": rng.integers(0, 2, 96)})
    frame["repaid"] = np.where(frame["area"] == 3, 0, rng.integers(0, 2, 96))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p4f.LabelBias("area", groups=range(12)).estimate(frame, recorded="granted", fair="repaid")
    told = [str(own.message) for own in caught if "audited row" in str(own.message) and " tell" in str(own.message)]
    assert len(told) <= 2
    assert any("no audited row tells about neg(3)" in own for own in told)
    assert any("more parameters" in own for own in told)
