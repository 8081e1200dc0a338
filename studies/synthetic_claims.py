"""What the paper claims of its studies on made-up people."""

from __future__ import annotations

import pandas as pd

from studies.engine.claims import Claim, Measured, Values, above, everywhere, numbers, within
from studies.methods import INFORMED

TOLERANCE = 1e-9
MITIGATING = ("unawareness", "massaging", "parity")
# The disparity of the best possible classifier where the fair label depends on A: see docs/guide/paper/index.md.
EXACT_DISPARITY = -0.1687


def claims(study: str, results: pd.DataFrame) -> list[Claim]:
    """The claims of a study that its results can decide; none for a study of one's own."""
    make = {"bias-sweep": _bias_sweep, "dependent": _dependent, "assumption": _assumption}.get(study)
    return [] if make is None else make(Measured(results))


def _difference(measured: Measured, bias: str, metric: str, other: str, method: str = "ours") -> Values:
    one, two = (measured(bias=bias, metric=metric, method=name) for name in (method, other))
    return (one - two).dropna()


def _between(values: Values, low: float, high: float) -> Values:
    x = values.index.get_level_values("x")
    return values[(x >= low - TOLERANCE) & (x <= high + TOLERANCE)]


def _bias_sweep(measured: Measured) -> list[Claim]:
    found: list[Claim] = []
    for bias, bound in (("label", 0.006), ("measurement", 0.012)):
        accuracy, disparity = (_difference(measured, bias, metric, "upper") for metric in ("accuracy", "disparity"))
        found += within(f"{bias}: accuracy within {_short(bound)} of upper at every β", accuracy, bound)
        found += within(f"{bias}: disparity within .01 of upper at every β", disparity, 0.01)
        if bias == "label":
            loss = _between(_difference(measured, bias, "accuracy", "upper", "lower"), 0.6, 0.6)
            text = "label: lower loses more than .15 of accuracy at β = .6"
            found += everywhere(text, loss, lambda number: -number.mean - 0.15)
        else:
            found += _ahead(measured, bias)
    level = measured(bias="historical", metric="disparity", method="ours")
    found += within("historical: absolute disparity below .015 at every β", level, 0.015)
    for name, words in (("upper", "upper, which has fair features,"), (INFORMED, "upper with recorded features")):
        behind = _difference(measured, "historical", "accuracy", name)
        found += within(f"historical: accuracy within .012 of {words} at every β", behind, 0.012)
    found += _ahead(measured, "historical")
    for bias in ("label", "measurement", "historical"):
        for name in MITIGATING:
            level = measured(bias=bias, metric="disparity", method=name)
            found += within(f"{bias}: {name} is effective, absolute disparity below .05 at every β", level, 0.05)
    return found


def _ahead(measured: Measured, bias: str) -> list[Claim]:
    found: list[Claim] = []
    for other in ("lower", "unawareness"):
        values = _between(_difference(measured, bias, "accuracy", other), 0.3, 1.0)
        found += above(f"{bias}: accuracy above {other} from β = .3 on", values)
    return found


def _dependent(measured: Measured) -> list[Claim]:
    distance = _difference(measured, "label", "disparity", "upper")
    found = within("disparity within .02 of upper's for β ≤ .8", _between(distance, 0.0, 0.8), 0.02)
    found += within("disparity within .02 of upper's at β = .9", _between(distance, 0.9, 0.9), 0.02)
    level = measured(bias="label", metric="disparity", method="upper")
    text = f"upper's disparity is the exact {_short(EXACT_DISPARITY)} (within .02)"
    found += everywhere(text, level, lambda number: 0.02 - abs(number.mean - EXACT_DISPARITY))
    behind = _between(-_difference(measured, "label", "disparity", "upper", "lower"), 0.3, 1.0)
    found += above("lower's disparity is below upper's from β = .3 on", behind)
    for method in MITIGATING:
        level = measured(bias="label", metric="disparity", method=method)
        found += within(f"{method} goes to a disparity of about 0 (within .05)", level, 0.05)
    return found


def _assumption(measured: Measured, truth: float = 0.3) -> list[Claim]:
    found: list[Claim] = []
    for bias in ("label", "measurement", "historical"):
        accuracy = measured(bias=bias, metric="accuracy", method="ours")
        off = _difference(measured, bias, "disparity", "upper").abs()
        near = f"within .1 of the true β = {truth:g}"
        found += _best(f"{bias}: accuracy is best {near}", accuracy, truth, "accuracy")
        found += _best(f"{bias}: disparity is nearest to upper's {near}", -off, truth, "distance")
        text = f"{bias}: within ±.1 of the true β accuracy loses less than .01"
        gain = _lead(accuracy, _between(accuracy, truth, truth))
        found += everywhere(text, _between(gain, truth - 0.1, truth + 0.1), lambda number: 0.01 + number.mean)
    return found


def _best(text: str, values: Values, truth: float, name: str) -> list[Claim]:
    """A claim that the best place is within .1 of the truth: there it is ahead of every place further off."""
    near = _between(values, truth - 0.1, truth + 0.1)
    if not len(near):
        return []
    best = max(numbers(near), key=lambda number: number.mean)
    lead = -_lead(values.drop(near.index), _between(near, best.x, best.x))
    return above(text, lead, f", the lead of {best.x:g} ({name} {abs(best.mean):.4f})")


def _lead(values: Values, one: Values) -> Values:
    """How far the values of every place are above those of one place, seed by seed."""
    by_seed = one.droplevel("x")
    return (values - values.index.get_level_values("seed").map(by_seed).to_numpy()).dropna()


def _short(number: float) -> str:
    return ("-" if number < 0 else "") + f"{abs(number):g}".removeprefix("0")
