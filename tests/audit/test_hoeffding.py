"""The paper's plan: how many rows to audit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.audit.planning.hoeffding import hoeffding_plan
from problog4fairness.data import FileWarning, Roles
from problog4fairness.errors import P4FError
from problog4fairness.statistics import required_samples, rows_to_draw

ROLES = Roles("granted", "area", None, ("no", "yes"), ("M", "F"))
RNG = np.random.default_rng(0)
DATA = pd.DataFrame(
    {
        "area": RNG.choice(["M", "F"], 4000, p=[0.7, 0.3]),
        "granted": RNG.choice(["no", "yes"], 4000, p=[0.6, 0.4]),
        "x": np.arange(4000),
    }
)


def test_each_cell_gets_what_it_needs():
    plan = hoeffding_plan(0.1, 0.95, frame=DATA, roles=ROLES)
    assert plan.needed == required_samples(0.1, 0.95) == 185
    for cell in plan.cells.itertuples():
        of_cell = (DATA["area"] == cell.group[-1]) & (DATA["granted"] == cell.fair)
        assert cell.share == pytest.approx(of_cell.mean())
        assert cell.to_draw == rows_to_draw(185, cell.share)
    assert plan.simple == plan.cells["to_draw"].max()
    women = DATA[DATA["area"] == "F"]
    assert plan.groups["to_draw"][1] == rows_to_draw(185, (women["granted"] == "yes").mean())
    assert plan.stratified == plan.groups["to_draw"].sum() < plan.simple
    assert hoeffding_plan(frame=DATA, roles=ROLES, positive_rate=0.5).stratified == 2 * rows_to_draw(185, 0.5)


def test_too_few_rows_and_empty_cells_are_told():
    with pytest.warns(FileWarning) as told:
        plan = hoeffding_plan(0.1, 0.95, frame=DATA[:300], roles=ROLES)
    assert plan.simple == plan.stratified == 300
    assert plan.asked > 1000
    assert any("rows with area = F are needed, and there are" in str(t.message) for t in told)
    with pytest.warns(FileWarning, match="no row has area = M and the label yes"):
        hoeffding_plan(frame=DATA[(DATA["area"] == "F") | (DATA["granted"] == "no")], roles=ROLES)


@pytest.mark.parametrize("options", [{"error": 0}, {"confidence": 1}, {"positive_rate": 1}, {"group_share": 0}])
def test_numbers_outside_their_range(options):
    with pytest.raises(P4FError, match="not between 0 and 1"):
        hoeffding_plan(**options)
