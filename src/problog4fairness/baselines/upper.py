"""The upper baseline: what one would get from data without bias."""

from __future__ import annotations

from problog4fairness.baselines.lower import LowerBaseline


class UpperBaseline(LowerBaseline):
    """The network of :class:`LowerBaseline`; give it *fair* features and labels.

    It can only be trained where the fair data are known: on synthetic data, or on an audit. What makes it the upper
    baseline is the data that ``fit`` gets, nothing else.
    """
