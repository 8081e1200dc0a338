"""The paper's plan: how many rows to audit."""

from __future__ import annotations

import numpy as np
import pytest

from problog4fairness.audit.planning.plan import hoeffding_of_table, hoeffding_plan
from problog4fairness.data import FileWarning
from problog4fairness.errors import P4FError
from problog4fairness.statistics import required_samples, rows_to_draw

GROUPS, LABELS = ("area = M", "area = F"), ("no", "yes")
# [groups, recorded labels]
SIZES = np.array([[1700, 1100], [700, 500]])


def test_each_cell_gets_what_it_needs():
    plan = hoeffding_of_table(0.1, 0.95, GROUPS, LABELS, SIZES)
    assert plan.needed == required_samples(0.1, 0.95) == 185
    for cell in plan.cells.itertuples():
        assert cell.share == pytest.approx(SIZES[GROUPS.index(cell.group), LABELS.index(cell.fair)] / 4000)
        assert cell.to_draw == rows_to_draw(185, cell.share)
    assert plan.simple == plan.cells["to_draw"].max()
    assert plan.groups["to_draw"][1] == rows_to_draw(185, 500 / 1200)
    assert plan.stratified == plan.groups["to_draw"].sum() < plan.simple


def test_too_few_rows_and_empty_cells_are_told():
    with pytest.warns(FileWarning) as told:
        plan = hoeffding_of_table(0.1, 0.95, GROUPS, LABELS, np.array([[130, 80], [50, 40]]))
    assert plan.simple == plan.stratified == 300
    assert plan.asked > 1000
    assert any("rows with area = F are needed, and there are" in str(t.message) for t in told)
    with pytest.warns(FileWarning, match="no row has area = M and the label yes"):
        hoeffding_of_table(0.1, 0.95, GROUPS, LABELS, np.array([[1700, 0], [700, 500]]))


@pytest.mark.parametrize("options", [{"error": 0}, {"confidence": 1}, {"positive_rate": 1}, {"group_share": 0}])
def test_numbers_outside_their_range(options):
    with pytest.raises(P4FError, match="not between 0 and 1"):
        hoeffding_plan(**options)
