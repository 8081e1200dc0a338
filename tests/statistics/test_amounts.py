"""Numbers as people write them."""

from __future__ import annotations

from problog4fairness.statistics.formatting import count, percent, percent_interval, points


def test_numbers():
    assert [percent(v) for v in (0, 0.004, 0.0381, 0.36, 1, float("nan"))] == ["0%", "0.4%", "3.8%", "36%", "100%", "–"]
    assert [percent(v) for v in (0.994, 0.9967, 0.99996)] == ["99%", "99.7%", "> 99.9%"]
    assert percent_interval(0.36, 0.28, 0.46) == "36% (28% to 46%)"
    assert percent_interval(0.36, None, None) == "36%"
    assert [points(v) for v in (-0.2, 0.004, -0.00001)] == ["−20", "+0.4", "0"]
    assert [count(1, "row"), count(5000, "row"), count(2, "person", "people")] == ["1 row", "5,000 rows", "2 people"]
