"""How a number is recorded in one group, recorded = factor * fair + shift + noise.

The parameters are estimated and drawn, recorded numbers inverted to fair ones, and all of it written as clauses, in
sentences and in a diagram.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2, norm, normaltest, t, trim_mean

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs.describe.diagrams import OTHERS, sensitive
from problog4fairness.beliefs.variables import goal
from problog4fairness.data import Floats, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import Node, comment, number
from problog4fairness.statistics import Parameter

# Where a group's numbers are recorded as they are; what fair values are like does not matter then.
NEUTRAL = {"factor": 1.0, "shift": 0.0, "noise": 0.0, "mean": 0.0, "spread": 1.0}
MEANINGS = {
    "factor": "by which the fair {feature} is multiplied where {group}",
    "shift": "by which the fair {feature} is moved where {group}",
    "noise": "the standard deviation of chance in the recorded {feature} where {group}",
    "mean": "the mean of the fair {feature} where {group}",
    "spread": "the standard deviation of the fair {feature} where {group}",
}
BOUNDS = {"noise": (0.0, math.inf), "spread": (1e-300, math.inf)}
# Rows from which the shape of a distribution is judged, and a chance below which it is not normal.
SHAPE_ROWS, NOT_NORMAL = 20, 0.001
# A kurtosis from which tails are heavy, so that a sample shows too little of it; by how much: measured on t4 samples.
HEAVY_FROM, HEAVY = 4.0, 1.3
# Rows that a line and the spread around it need, at least.
LEAST_ROWS = 4


class Recording(NamedTuple):
    """How a feature is recorded in one group, and how its fair values are distributed there."""

    factor: float
    shift: float
    noise: float
    mean: float
    spread: float

    def fair(self, recorded: Floats) -> tuple[Floats, float]:
        """Mean and standard deviation of the fair value, which is normal, given the recorded one."""
        total = self.factor**2 * self.spread**2 + self.noise**2
        slope = self.factor * self.spread**2 / total
        centre = self.mean + slope * (recorded - self.shift - self.factor * self.mean)
        return centre, self.spread * self.noise / math.sqrt(total)


def from_fair_values(
    parameters: Mapping[str, Parameter], fair: Floats, recorded: Floats, confidence: float
) -> list[Parameter]:
    """The parameters of a feature in one group, from fair and recorded values; those that are stated stay.

    A line by least squares, with Student's interval; noise and spread with Bonett's, which knows how heavy the tails
    of noise and fair values are.
    """
    known = {kind: _stated(parameters, kind) for kind in NEUTRAL}
    columns = {"factor": fair, "shift": np.ones_like(fair)}
    free = [kind for kind in columns if known[kind] is None]
    rest = recorded - sum(columns[kind] * value for kind in columns if (value := known[kind]) is not None)
    x = np.stack([columns[kind] for kind in free], axis=1) if free else np.zeros((len(fair), 0))
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ (x.T @ rest)
    degrees = len(fair) - len(free)
    noise = float(np.sqrt(((rest - x @ coefficients) ** 2).sum() / degrees))
    sure = noise if known["noise"] is None else known["noise"]
    reach = float(t.ppf((1 + confidence) / 2, degrees)) * sure * np.sqrt(np.diag(inverse))
    values = {
        kind: (value, value - wide, value + wide) for kind, value, wide in zip(free, coefficients, reach, strict=True)
    }
    left = rest - x @ coefficients
    values["noise"] = (noise, *_spread_interval(noise, degrees, confidence, left))
    _warn_of_shape(parameters, {"noise": left, "spread": fair})
    values |= _of_fair(fair, confidence)
    return _with_values(parameters, values, len(fair))


def from_repeats(
    parameters: Mapping[str, Parameter], feature: str, first: Floats, second: Floats, confidence: float
) -> list[Parameter]:
    """The same from two measurements, which tell of the noise; how fair values are moved must be stated."""
    for kind in ("factor", "shift"):
        if kind in parameters and _stated(parameters, kind) is None:
            raise P4FError(
                f"measuring twice tells of the noise, not of {parameters[kind].name}; state factor and shift, False "
                "for none, or audit fair values"
            )
    factor, shift = (_stated(parameters, kind) or NEUTRAL[kind] for kind in ("factor", "shift"))
    rows, mean = len(first), (first + second) / 2
    noise = float(np.std(first - second, ddof=1)) / math.sqrt(2)
    whole, part = float(np.var(mean, ddof=1)), noise**2 / 2
    if whole <= part:
        raise P4FError(f"two measurements of {feature} differ more than people do; noise is all there is")
    values = _of_fair((mean - shift) / factor, confidence)
    spread = math.sqrt(whole - part) / abs(factor)
    error = math.sqrt(2 * (whole**2 + part**2) / (rows - 1)) / factor**2
    wide = float(norm.ppf((1 + confidence) / 2)) * error
    low, high = (math.sqrt(max(spread**2 + sign * wide, 1e-12)) for sign in (-1, 1))
    values["spread"] = (spread, low, high)
    values["noise"] = (noise, *_spread_interval(noise, rows - 1, confidence, first - second))
    _warn_of_shape(parameters, {"noise": first - second})
    return _with_values(parameters, values, rows)


def _stated(parameters: Mapping[str, Parameter], kind: str) -> float | None:
    """What somebody states; a parameter that does not exist is the neutral one."""
    parameter = parameters.get(kind)
    if parameter is None:
        return NEUTRAL[kind]
    return parameter.value if parameter.rows is None else None


def _of_fair(fair: Floats, confidence: float) -> dict[str, tuple[float, float, float]]:
    mean, spread, degrees = float(fair.mean()), float(fair.std(ddof=1)), len(fair) - 1
    reach = float(t.ppf((1 + confidence) / 2, degrees)) * spread / math.sqrt(len(fair))
    return {
        "mean": (mean, mean - reach, mean + reach),
        "spread": (spread, *_spread_interval(spread, degrees, confidence, fair)),
    }


def _spread_interval(spread: float, degrees: int, confidence: float, values: Floats) -> tuple[float, float]:
    """The interval of a standard deviation: the chi-squared one, and as wide as the tails of ``values`` ask for.

    Bonett (2006): the logarithm of a variance is nearly normal, with a variance by the kurtosis around a trimmed mean.
    """
    ends = chi2.ppf([(1 + confidence) / 2, (1 - confidence) / 2], degrees)
    low, high = map(float, spread * np.sqrt(degrees / ends))
    rows, z = len(values), float(norm.ppf((1 + confidence) / 2))
    square = float(((values - values.mean()) ** 2).sum())
    if rows < SHAPE_ROWS or square <= 0:
        return low, high
    centre = float(trim_mean(values, 1 / (2 * math.sqrt(rows - 4))))
    kurtosis = rows * float(((values - centre) ** 4).sum()) / square**2
    correction = rows / (rows - z)
    error = correction * math.sqrt(max(0.0, kurtosis - (rows - 3) / rows) / (rows - 1))
    error *= HEAVY if kurtosis > HEAVY_FROM else 1.0
    middle = spread * math.sqrt(correction)
    return min(low, middle * math.exp(-z * error / 2)), max(high, middle * math.exp(z * error / 2))


def _warn_of_shape(parameters: Mapping[str, Parameter], values: Mapping[str, Floats]) -> None:
    """Say where audited values contradict that they are normal, by D'Agostino and Pearson's test of skew and tails."""
    for kind, sample in values.items():
        if kind not in parameters or len(sample) < SHAPE_ROWS or np.ptp(sample) <= 1e-9 * (1 + np.abs(sample).max()):
            continue
        p = float(normaltest(sample).pvalue)
        if p < NOT_NORMAL:
            warn_audit(
                f"normality is contradicted for {parameters[kind].name}, {parameters[kind].meaning} (p = {p:.1g}); "
                "intervals allow for it, but learners take it as normal: a logarithm of the feature may be nearer"
            )


def _with_values(
    parameters: Mapping[str, Parameter], values: Mapping[str, tuple[float, float, float]], rows: int
) -> list[Parameter]:
    estimated = []
    for kind, parameter in parameters.items():
        if parameter.value is not None and parameter.rows is None:
            estimated.append(parameter)
            continue
        value, low, high = map(float, values[kind])
        estimated.append(replace(parameter, value=value, low=low, high=high, rows=rows))
    return estimated


def drawn_values(parameters: Mapping[str, Parameter], rng: np.random.Generator) -> dict[str, float]:
    """One posterior draw of the parameters that were estimated, by name."""
    estimated = {
        kind: parameter
        for kind, parameter in parameters.items()
        if parameter.rows is not None and parameter.value is not None
    }
    if not estimated:
        return {}
    rows = next(int(parameter.rows or 0) for parameter in estimated.values())
    value = {kind: float(parameters[kind].value or 0.0) if kind in parameters else NEUTRAL[kind] for kind in NEUTRAL}
    drawn: dict[str, float] = {}
    free = [kind for kind in ("factor", "shift") if kind in estimated]
    for kind, degrees in (("noise", rows - len(free)), ("spread", rows - 1)):
        if kind in estimated:
            worth = min(float(degrees), _degrees(estimated[kind]))
            drawn[kind] = value[kind] * math.sqrt(worth / rng.chisquare(worth))
    squares = np.array(
        [
            [(rows - 1) * value["spread"] ** 2 + rows * value["mean"] ** 2, rows * value["mean"]],
            [rows * value["mean"], rows],
        ]
    )
    if free:
        chosen = [("factor", "shift").index(kind) for kind in free]
        matrix = np.linalg.inv(squares[np.ix_(chosen, chosen)]) * drawn.get("noise", value["noise"]) ** 2
        moved = rng.multivariate_normal([value[kind] for kind in free], matrix)
        drawn |= dict(zip(free, map(float, moved), strict=True))
    if "mean" in estimated:
        drawn["mean"] = float(rng.normal(value["mean"], drawn.get("spread", value["spread"]) / math.sqrt(rows)))
    return {parameters[kind].name: value for kind, value in drawn.items()}


def _degrees(parameter: Parameter) -> float:
    """The degrees of freedom with which a chi-squared interval is as wide as this one."""
    if not parameter.low or not parameter.high or parameter.high <= parameter.low:
        return math.inf
    # The logarithm of a standard deviation has the variance 1 / (2 degrees).
    return max(1.0, 2 * 1.96**2 / math.log(parameter.high / parameter.low) ** 2)


def finite(values: Any, name: str) -> Floats:
    """Numbers, or the error that says what is wrong with them."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise P4FError(f"{name} holds values that are not numbers; a numeric feature has numbers only") from None
    wrong = int((~np.isfinite(numbers)).sum())
    if wrong:
        raise P4FError(f"{name} has {wrong} values that are missing or not finite; fill them in, or drop those rows")
    return numbers


def require_enough(feature: str, where: str, recorded: Floats, other: Floats) -> None:
    """Raise the error that says why audited rows of a group do not tell how a feature is recorded, if they do not."""
    if len(recorded) < LEAST_ROWS:
        raise P4FError(
            f"{len(recorded)} audited rows have {where}; how {feature} is recorded needs {LEAST_ROWS} or more"
        )
    if min(np.ptp(recorded), np.ptp(other)) == 0:
        raise P4FError(f"{feature} is the same in all audited rows with {where}; a constant cannot be distorted")


# A parameter in a sentence: where it is not known, and what stands before it where it is.
_WORDS = {
    "factor": ("a factor", ""),
    "shift": ("an amount", ""),
    "noise": ("a standard deviation", "a standard deviation of "),
    "mean": ("a mean", "a mean of "),
    "spread": ("a standard deviation", "a standard deviation of "),
}


def with_interval(parameter: Parameter) -> str:
    """The value of a parameter with its interval."""
    if parameter.value is None:
        return "unknown"
    known = "" if parameter.low is None or parameter.high is None else f" ({parameter.low:.4g} to {parameter.high:.4g})"
    return f"{parameter.value:.4g}{known}"


def numeric_rules(
    variable: Sensitive, names: Mapping[str, str], nodes: Floats, weights: Floats, fair: str, asked: str
) -> list[str]:
    """The clauses that make ``fair`` of what the classifier is ``asked`` about each point, in paragraphs.

    ``names`` are those of features in the program, ``nodes`` and ``weights`` the points of a standard normal number.
    """
    places, parts = [f"K{i + 1}" for i in range(len(names))], []
    multiples = ", ".join(f"{z:.4f}" for z in nodes)
    for feature, name in names.items():
        points = " ;\n    ".join(f"{number(w)} :: {name}(X,{k + 1})" for k, w in enumerate(weights))
        parts.append(f"{comment(f'{feature}: at its mean plus {multiples} standard deviations')}\n{points}.")
    at = ", ".join(f"{name}(X,{place})" for name, place in zip(names.values(), places, strict=True))
    rules = [
        f"{fair}(X) :- {goal(variable, level)}, {at}, {asked}(x_({level},{','.join(places)}))."
        for level in range(len(variable.levels))
    ]
    return [*parts, "\n".join(rules)]


def numeric_words(variable: Sensitive, groups: Mapping[tuple[str, int], Mapping[str, Parameter]]) -> list[str]:
    """A sentence for each feature and group; the parameters are by what they are: factor, shift and so on."""
    sentences = []
    for (feature, level), parameters in reversed(list(groups.items())):
        words = {kind: _in_words(kind, parameters.get(kind)) for kind in NEUTRAL}
        sentences.append(
            f"Where {variable.group_text(level)}, the recorded {feature} is the fair one times {words['factor']}, plus "
            f"{words['shift']}, plus chance with {words['noise']}; fair values have {words['mean']} and "
            f"{words['spread']}."
        )
    return sentences


def _in_words(kind: str, parameter: Parameter | None) -> str:
    unknown, before = _WORDS[kind]
    if parameter is not None and parameter.value is None:
        return f"{unknown} that is not known yet"
    return f"{before}{f'{NEUTRAL[kind]:g}' if parameter is None else with_interval(parameter)}"


def numeric_nodes(variable: Sensitive, names: Mapping[str, Sequence[str]]) -> list[Node]:
    """The fair numbers, which nobody has seen, and the recorded ones below them; with the parameters of each."""
    nodes = [Node(OTHERS, observed=True), *sensitive([variable])]
    for feature, parameters in names.items():
        fair = tuple(name for name in parameters if name.startswith(("mean(", "spread(")))
        moved = tuple(name for name in parameters if name not in fair)
        nodes.append(Node(f"{feature} (fair)", variable.columns, fair))
        nodes.append(Node(f"{feature} (recorded)", (f"{feature} (fair)", *variable.columns), moved, observed=True))
    return nodes
