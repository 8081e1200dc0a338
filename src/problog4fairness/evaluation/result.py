"""What came of a comparison: tables, a figure, files."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle, product
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import csv_text, inline_figure, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.evaluation.gains import GAIN_COLUMNS as GAINS
from problog4fairness.evaluation.gains import LABELS, RATES, Gain
from problog4fairness.evaluation.gains import SCORE_COLUMNS as AUDITED
from problog4fairness.evaluation.methods import METHODS
from problog4fairness.evaluation.methods.method import Method, ThroughBelief
from problog4fairness.metrics import METRICS, summarise

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Labels: TypeAlias = Literal["fair", "recorded"]
# An interval from fewer repetitions is not shown as one.
FEWEST_SEEDS = 3
# The column of a table that names two groups.
APART = "furthest apart"

# Every kind of method, by the name that a comparison has for it.
KINDS: dict[str, type[Method]] = {ThroughBelief.name: ThroughBelief, **METHODS}
LINE = "disparity of the labels"
# For methods without a style: colours that colour-blind readers can tell apart, markers for black and white.
FREE = tuple(
    (colour, marker) for marker, colour in product("Ph<>pd8", ("#56B4E9", "#999999", "#8C6D31", "#332288", "#BBCC33"))
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods on one table, each scored in every fold of every seed.

    Scores on *fair* labels have intervals over the audited rows, weighted by the design of the audit. Scores on
    *recorded* labels have intervals over seeds, which differ in how the table was split and in what the learner draws:
    they say how sure these repetitions make us of the means on *this* table. There are none from fewer than three.

    Attributes
    ----------
    results
        A row per ``method``, ``seed``, ``fold``, ``labels`` (``"fair"`` or ``"recorded"``), ``metric`` and ``value``.
        Metrics are all of :data:`problog4fairness.metrics.METRICS`; NaN where a fold has no rows for it.
    data_disparity
        The disparity of the labels themselves: of the recorded ones, and of the fair ones where they are known.
    left_out
        Methods that could not run on these data, and why.
    levels
        The groups, the sensitive one of two last.
    rows, audited
        How many rows have a recorded label, and how many a fair one.
    kinds
        By method, what kind it is of: ``"belief"``, or its short name among
        :data:`problog4fairness.evaluation.METHODS`.
    learner
        What learned, in all methods.
    gains
        What the first belief gains over each other method on rows with a fair label; see
        :class:`~problog4fairness.evaluation.gains.Gain`.
    audited_scores
        The scores on fair labels with intervals over the audited rows: ``method``, ``metric``, ``mean``, ``low``, ...;
        NaN where the metric has no function for its interval.
    rates
        The share of favourable decisions by ``labels``, ``method`` and ``group``, and of the labels themselves.
    sample
        How the rows with a fair label were sampled, in words.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=1, audited=60, new=1)
    >>> model = p4f.DebiasedClassifier(p4f.LabelBias("poor_area", 0.2, 0.1), "linear")
    >>> options = {"methods": ["recorded_only"], "seeds": 1, "folds": 2}
    >>> comparison = p4f.compare(data.audit, model, recorded="granted", fair="repaid", **options)
    >>> comparison.methods, sorted(set(comparison.results["labels"]))
    (['this model', 'trained on recorded labels'], ['fair', 'recorded'])
    """

    results: pd.DataFrame
    data_disparity: Mapping[str, float]
    left_out: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[Any, ...] = (0, 1)
    rows: int = 0
    audited: int = 0
    kinds: Mapping[str, str] = field(default_factory=dict)
    learner: str = "network"
    gains: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(GAINS)))
    audited_scores: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(AUDITED)))
    rates: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(RATES)))
    sample: str = ""

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Mean, standard error and 95% interval by ``method``, ``labels`` and ``metric``, as the table has them.

        Of fair labels over the audited rows, of recorded ones over seeds: NaN where these are fewer than three.
        """
        summary = summarise(self.results.dropna(subset="value"), by=["method", "labels", "metric"])
        ends = ["standard_error", "low", "high"]
        summary.loc[summary["n"] < FEWEST_SEEDS, ends] = np.nan
        if not len(self.audited_scores):
            return summary
        fair = self.audited_scores.assign(labels="fair")[list(summary.columns)]
        return pd.concat([fair, summary[summary["labels"] != "fair"]], ignore_index=True)

    @property
    def methods(self) -> list[str]:
        """The methods that ran, in order."""
        return list(dict.fromkeys(self.results["method"]))

    @property
    def about(self) -> dict[str, str]:
        """What each method does, in a few words."""
        return {name: KINDS[kind].about for name in self.methods if (kind := self.kinds.get(name, "")) in KINDS}

    def intervals(self, labels: Labels) -> str:
        """What ± means in the table of these labels, as a sentence."""
        if labels == "fair" and len(self.audited_scores):
            return (
                f"± is half a 95% interval over the audited rows ({self.sample}), each decided by classifiers that "
                "were not fitted on it; it holds the classifiers fixed."
            )
        seeds = self.results["seed"].nunique()
        if seeds < FEWEST_SEEDS:
            return f"No intervals: {seeds} {'repetition is' if seeds == 1 else 'repetitions are'} too few for one."
        return f"± is half a 95% interval over {seeds} splits of this table."

    def furthest(self, labels: Labels, method: str | None = None) -> tuple[str, str] | None:
        """The groups with the highest and the lowest selection rate of a method, or of the labels themselves."""
        rows = self.rates[(self.rates["labels"] == labels) & (self.rates["method"] == (method or LABELS))].dropna()
        if len(rows) < 2:
            return None
        groups = rows.set_index("group")["rate"]
        return str(groups.idxmax()), str(groups.idxmin())

    def gain(self, kind: str = "without_sensitive") -> tuple[str, Gain] | None:
        """The name of the method of a kind, and what the belief gains over it; None where that is not known."""
        for name, method in self.kinds.items():
            if method == kind and name in self.gains.index:
                return name, Gain(**self.gains.loc[name].to_dict())
        return None

    @property
    def verdict(self) -> str:
        """What the belief gains over leaving the sensitive column out, or over the recorded labels, and who by it."""
        summary = self.gain("without_sensitive") or self.gain("recorded_only")
        if summary is None:
            return "No fair label is known, so nothing says whether the belief is better than doing without it."
        name, gain = summary
        return f"Against a model {name}: {gain.sentence(self.rows)}. {gain.covers}"

    @property
    def labels(self) -> list[Labels]:
        """What methods were scored on: fair labels, if any are known, and recorded ones."""
        return [kind for kind in ("fair", "recorded") if kind in self.data_disparity]

    def table(self, labels: Labels | None = None) -> pd.DataFrame:
        """A row per method and a column per metric, "value ± half the 95% interval"; NaN where there is none.

        Of more than two groups the column ``furthest apart`` names those with the highest and the lowest rate.

        Parameters
        ----------
        labels
            Which labels to be judged by; the fair ones by default, where any are known.
        """
        chosen = self.check_labels(labels or self.labels[0])
        rows = self.summary[self.summary["labels"] == chosen]
        text = [_plus_minus(mean, high) for mean, high in zip(rows["mean"], rows["high"], strict=True)]
        wide = rows.assign(text=text).pivot(index="method", columns="metric", values="text")
        columns = [name for name in dict.fromkeys(self.results["metric"]) if name in wide.columns]
        table = wide.loc[self.methods, columns].rename_axis(columns=None)
        if len(self.levels) > 2 and len(self.rates):
            pairs = [self.furthest(chosen, method) for method in self.methods]
            table[APART] = ["" if pair is None else f"{pair[0]} above {pair[1]}" for pair in pairs]
        return table

    def plot(self, labels: Labels | None = None, *, x: str = "disparity", y: str = "accuracy") -> Figure:
        """Draw a marker per method at its values, with the 95% intervals of :meth:`table`.

        Parameters
        ----------
        labels
            Which labels to be judged by; by default one panel for each kind that is known.
        x, y
            The metrics on the axes: one of which nearer to 0 is better, and one of which higher is better. With the
            disparity, that of the labels themselves is a grey line.
        """
        from matplotlib.figure import Figure

        for axis, metric, better in (("x", x, "nearer 0"), ("y", y, "higher")):
            allowed = [name for name, known in METRICS.items() if known.better == better]
            if metric not in allowed:
                raise P4FError(f"{axis}={metric!r} is not one of {', '.join(allowed)}")
        panels = self.labels if labels is None else [self.check_labels(labels)]
        width = 0.6 + 3.9 * len(panels)
        figure = Figure(figsize=(width, 3.4), layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, kind in zip(grid, panels, strict=True):
            _panel(axes, self, kind, x, y)
            axes.set_title(f"tested on {kind} labels", fontsize="medium")
            axes.set_xlabel(METRICS[x].axis(len(self.levels)))
            axes.set_ylabel(METRICS[y].axis(len(self.levels)))
        handles, names = _legend(grid)
        columns = _columns(names, width)
        figure.set_figheight(3.4 + 0.19 * math.ceil(len(names) / columns))
        figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small", frameon=False)
        return figure

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write ``results`` to a file, whole or not at all."""
        write_atomically(path, csv_text(self.results))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single folds as plain data, ready for JSON; numbers that are not known are None."""
        return {
            "rows": self.rows,
            "audited": self.audited,
            "levels": [list(level) if isinstance(level, tuple) else level for level in self.levels],
            "data_disparity": {name: _known(value) for name, value in self.data_disparity.items()},
            "left_out": dict(self.left_out),
            "kinds": dict(self.kinds),
            "learner": self.learner,
            "sample": self.sample,
            "audited_scores": _records(self.audited_scores),
            "rates": _records(self.rates),
            "gains": self.gains.reset_index(names="against").to_dict("records"),
            "verdict": self.verdict,
            "summary": _records(self.summary),
        }

    def check_labels(self, labels: str) -> Labels:
        """The kind of labels, or an error where methods were not scored on it."""
        for kind in self.labels:
            if kind == labels:
                return kind
        raise P4FError(f"there are no scores on {labels!r} labels; there are some on {' and '.join(self.labels)} ones")

    def __repr__(self) -> str:
        return f"Comparison of {', '.join(self.methods)}, on {self.rows} rows, {self.audited} audited"

    def __str__(self) -> str:
        lines = [repr(self), f"on {self.labels[0]} labels:", self.table().to_string(), self.intervals(self.labels[0])]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        """In a notebook: its table, the verdict, and the figure."""
        drawn = inline_figure(self.plot(), "Accuracy against statistical disparity, a mark for each method.")
        caption = html.escape(f"{self.intervals(self.labels[0])} {self.verdict}")
        return f"<div>{self.table().to_html()}<p>{caption}</p>{drawn}</div>"


def _plus_minus(mean: float, high: float) -> str:
    return f"{mean:.3f}" if math.isnan(high) else f"{mean:.3f} ± {high - mean:.3f}"


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _known(value) for name, value in row.items()} for row in table.to_dict("records")]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def styles(kinds: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; those whose kind has none, or has given it away, get a free one in their order.

    Parameters
    ----------
    kinds
        By title, the kind of each method: its name in :data:`~problog4fairness.evaluation.METHODS`, or ``"belief"``.

    Examples
    --------
    >>> from problog4fairness.evaluation import styles
    >>> styles({"this model": "belief", "trained on recorded labels": "recorded_only"})
    {'this model': ('#D55E00', 'o'), 'trained on recorded labels': ('#0072B2', 'v')}
    """
    # Neighbours differ in both, so that a few of them are told apart by either.
    free = cycle(FREE[(6 * number) % len(FREE)] for number in range(len(FREE)))
    known = {name: method.style for name, method in KINDS.items()}
    return {title: known.pop(kind, None) or next(free) for title, kind in kinds.items()}


def _panel(axes: Axes, comparison: Comparison, labels: Labels, x: str, y: str) -> None:
    looks = styles({name: comparison.kinds.get(name, "") for name in comparison.methods})
    scores = comparison.summary[comparison.summary["labels"] == labels].set_index(["method", "metric"])
    own_disparity = comparison.data_disparity[labels]
    if x == "disparity" and not math.isnan(own_disparity):
        axes.axvline(own_disparity, color="#888888", linewidth=1, label=LINE, zorder=1)
    for method in comparison.methods:
        if (method, x) not in scores.index or (method, y) not in scores.index:
            continue
        across, up = scores.loc[(method, x)], scores.loc[(method, y)]
        colour, marker = looks[method]
        # The intervals of the table; NaN, where it has none, draws nothing.
        axes.hlines(up["mean"], across["low"], across["high"], colors=colour, linewidth=1.2, zorder=2)
        axes.vlines(across["mean"], up["low"], up["high"], colors=colour, linewidth=1.2, zorder=2)
        edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6}
        at = (across["mean"], up["mean"])
        size = 9 if marker == "*" else 6
        axes.plot(*at, linestyle="none", color=colour, marker=marker, markersize=size, label=method, zorder=3, **edge)
    axes.autoscale_view()
    axes.margins(0.08)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(grid: Sequence[Axes]) -> tuple[list[Artist], list[str]]:
    """Every method once, also one that has no marker in the first panel; the line of the labels last."""
    artists: dict[str, Artist] = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        artists |= dict(zip(labels, handles, strict=True))
    names = [name for name in artists if name != LINE] + [name for name in artists if name == LINE]
    return [artists[name] for name in names], names


def _columns(names: Sequence[str], width: float) -> int:
    """In how many columns, at most four, a legend in small print is no wider than the figure, in inches."""
    for count in (4, 3, 2):
        columns = [part for part in np.array_split(np.array([len(name) for name in names]), count) if len(part)]
        if sum(0.6 + 0.072 * int(part.max()) for part in columns) <= width:
            return len(columns)
    return 1
