"""What is known of a parameter before any audit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from problog4fairness.errors import P4FError


@dataclass(frozen=True)
class Beta:
    """What is known of a probability before any row is looked at: as if ``a`` rows had shown it, and ``b`` had not.

    Parameters
    ----------
    a, b
        Above 0. Their sum says how many rows the prior is worth, ``a / (a + b)`` is its mean.

    Examples
    --------
    >>> low, high = Beta(2, 8).interval()
    >>> f"{Beta(2, 8).mean:.2f} ({low:.2f} to {high:.2f})"
    '0.20 (0.03 to 0.48)'
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for number in (self.a, self.b):
            if type(number) not in (int, float) or not 0 < number < math.inf:
                raise P4FError(f"Beta({self.a!r}, {self.b!r}): both must be numbers above 0, such as Beta(2, 8)")

    @property
    def mean(self) -> float:
        """The expected probability."""
        return self.a / (self.a + self.b)

    @property
    def information(self) -> float:
        """The Fisher information of the rows that it is worth."""
        return (self.a + self.b) / (self.mean * (1 - self.mean))

    def after(self, successes: float, rows: float) -> Beta:
        """What is known once ``successes`` were seen among ``rows``."""
        return Beta(self.a + successes, self.b + rows - successes)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The range that holds the probability with this confidence, as much of the rest below as above."""
        from scipy.special import betaincinv

        rest = (1 - confidence) / 2
        return float(betaincinv(self.a, self.b, rest)), float(betaincinv(self.a, self.b, 1 - rest))

    def __str__(self) -> str:
        return f"Beta({self.a:g}, {self.b:g})"
