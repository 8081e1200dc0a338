"""Groups and combinations without audited rows: what is missing is named, and there is a way on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.errors import MissingValueError, P4FError
from problog4fairness.statistics import check_known

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
REGIONS = ["east", "north", "south"]


def audit() -> pd.DataFrame:
    """Audited rows of the north and the south."""
    rows = {"region": ["north"] * 40 + ["south"] * 40, "fair": [1] * 80}
    return pd.DataFrame(rows).assign(recorded=[0] * 10 + [1] * 30 + [0] * 14 + [1] * 26)


def estimated() -> p4f.LabelBias:
    belief = p4f.LabelBias("region", positive=False, groups=REGIONS)
    with pytest.warns(AuditWarning, match="pooled"):
        return belief.estimate(audit(), recorded="recorded", fair="fair")


def test_a_group_without_rows_is_named_with_the_ways_on() -> None:
    with pytest.raises(MissingValueError, match=r"pooled.*Beta"):
        check_known(estimated().parameters)


def test_a_group_without_rows_is_pooled_from_the_others() -> None:
    belief = estimated().pooled()
    check_known(belief.parameters)
    known = belief.parameter_table()
    assert known["value"].iloc[0] == pytest.approx(0.3, abs=0.1)
    widths = known["high"] - known["low"]
    assert widths.iloc[0] > 1.2 * widths.iloc[1]
    assert belief.parameters[0].rows == 0
    assert p4f.beliefs.read_belief(p4f.beliefs.belief_text(belief)) == belief
    draws = [one.parameter_table()["value"].iloc[0] for one in belief.draws(500, random_state=0)]
    assert np.std(draws) > 0.03


def test_a_prior_is_another_way_on() -> None:
    belief = estimated()
    belief = belief.with_priors({belief.parameters[0].name: p4f.statistics.Beta(1, 4)})
    assert belief.parameters[0].value == pytest.approx(0.2)


def test_where_no_group_tells_nothing_is_pooled() -> None:
    belief = p4f.LabelBias("region", groups=REGIONS)
    with pytest.warns(AuditWarning):
        found = belief.estimate(audit(), recorded="recorded", fair="fair")
    with pytest.raises(P4FError, match="in any group"):
        found.pooled()


@pytest.mark.parametrize("levels", [(0, 1), ("a", "b", "c")])
def test_combinations_of_proxies_without_linked_rows_are_pooled(levels: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.integers(0, 4, 60), "q": rng.integers(0, 4, 60)})
    frame["g"] = [levels[-1] if own else levels[0] for own in rng.random(60) < 0.7]
    frame = frame[(frame["p"] != 3) | (frame["q"] != 3)]
    belief = p4f.UnknownGroup("g", {"p": (0, 1, 2, 3), "q": (0, 1, 2, 3)}, groups=levels)
    with pytest.warns(AuditWarning, match="additive=True"):
        found = belief.estimate(frame)
    check_known(found.parameters)
    shares = found.group_shares(p4f.data.Rows(pd.DataFrame({"p": [3], "q": [3]}), ()))
    assert shares.sum() == pytest.approx(1)
    assert shares[0, -1] == pytest.approx((frame["g"] == levels[-1]).mean(), abs=0.2)
