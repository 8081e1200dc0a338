"""What each learner costs through a belief, as a ratio to what people would run without one.

Everything is a ratio to a reference measured in the same run, on one thread, in rounds that alternate. Times are
processor times of this process, so that what else the machine does hardly counts. A fit is that of the classifier, from
a data frame, with everything that belongs to it. The rows have 20 columns, half numbers and half binary, and labels
that were turned down in one group.

`p4f predict` on Parquet is told in rows a second of processor time, without starting Python; EM and the variants of
rows are left out where they would take hours.

    python benchmarks/learners.py [--quick] [--rows N ...] [--only NAME ...] [--json PATH]
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything that brings its own threads

import argparse
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import torch
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import problog4fairness as p4f
from problog4fairness.data import Chunks, write_chunks
from problog4fairness.estimators import Scorer
from problog4fairness.learners import Boosted, Learner, Network

COLUMNS, BINARY, TREES, HELD_OUT = 20, 10, 100, 20_000
LABEL = p4f.LabelBias("a", {1: 0.3, 0: 0.05}, 0.05)
# What LightGBM is told in both places.
PLAIN = {"learning_rate": 0.1, "num_leaves": 31, "min_data_in_leaf": 20, "lambda_l2": 1.0, "num_threads": 1,
         "deterministic": True, "force_row_wise": True, "objective": "binary", "verbosity": -1}  # fmt: skip
# The variants of a row are rows of the learner: 16 times as many for 4 features, where other columns tell rows apart.
# EM fits an estimator a dozen times.
MOST_VARIANTS = MOST_EM = 100_000


@dataclass(frozen=True, eq=False)
class People:
    """Features, group and recorded label; and the same of people who are held out."""

    frame: pd.DataFrame
    group: np.ndarray
    label: np.ndarray

    def part(self, rows: slice) -> People:
        return People(self.frame.iloc[rows].reset_index(drop=True), self.group[rows], self.label[rows])

    @property
    def everything(self) -> np.ndarray:
        """Features and group, as a classifier of the recorded label needs them."""
        return np.column_stack([self.frame.to_numpy(), self.group])


def people(rows: int, columns: int = COLUMNS, binary: int = BINARY) -> tuple[People, People]:
    """Rows to learn from, and held-out ones; some effects are not linear."""
    rng = np.random.default_rng(0)
    count = rows + HELD_OUT
    x = rng.normal(size=(count, columns))
    x[:, columns - binary :] = x[:, columns - binary :] > 0
    weights = rng.normal(size=columns) / np.sqrt(columns)
    score = 1.5 * (x - x.mean(0)) @ weights + 0.7 * (x[:, 0] * x[:, 1] - x[:, -1] * x[:, 2])
    fair = score + rng.logistic(scale=0.5, size=count) > 0
    group = rng.integers(0, 2, count)
    lost = rng.random(count) < np.where(group == 1, 0.3, 0.05)
    label = np.where(fair, ~lost, rng.random(count) < 0.05).astype(np.int64)
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(columns)])
    every = People(frame, group, label)
    return every.part(slice(0, rows)), every.part(slice(rows, None))


@dataclass
class Result:
    """One ratio; or, where ``at_least``, rows a second, of which more is better."""

    name: str
    rows: int
    ratio: float
    seconds: float
    reference: float
    goal: float
    note: str = ""
    at_least: bool = False

    @property
    def verdict(self) -> str:
        met = self.ratio >= self.goal if self.at_least else self.ratio <= self.goal
        return f"at {'least' if self.at_least else 'most'} {self.goal:,.12g}: {'met' if met else 'missed'}"


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compared(
    name: str, rows: int, goal: float, rounds: int, ours: Callable[[], object], theirs: Callable[[], object]
) -> Result:
    """Both in turn; the median of the ratios."""
    pairs = [(timed(ours), timed(theirs)) for _ in range(rounds)]
    ratio = statistics.median(own / other for own, other in pairs)
    return Result(name, rows, ratio, *(statistics.median(side) for side in zip(*pairs, strict=True)), goal)


def fitted(own: People, learner: Learner | str | object, belief: p4f.Belief | None = LABEL) -> p4f.DebiasedClassifier:
    model = p4f.DebiasedClassifier(belief, learner, random_state=0)
    return model.fit(own.frame, own.label, sensitive_features=None if belief is None else own.group)


def trees_of_lightgbm(own: People, stopping: bool) -> lightgbm.Booster:
    """Its own binary objective on everything, the same trees or as many as early stopping takes."""
    if not stopping:
        return lightgbm.train(PLAIN, lightgbm.Dataset(own.frame.to_numpy(), own.label), TREES)
    cut = len(own.label) // 10
    x = own.everything
    data = lightgbm.Dataset(x[cut:], own.label[cut:])
    held = data.create_valid(x[:cut], own.label[:cut])
    stop = [lightgbm.early_stopping(Boosted().patience, verbose=False)]
    return lightgbm.train(PLAIN, data, Boosted().max_trees, valid_sets=[held], callbacks=stop)


def boosted(rows: int, rounds: int) -> list[Result]:
    own, _ = people(rows)
    learner = Boosted(max_trees=TREES, validation=0)
    name = f"boosted / LightGBM's own objective, {TREES} trees each"
    return [compared(name, rows, 1.3, rounds, lambda: fitted(own, learner), lambda: trees_of_lightgbm(own, False))]


def linear(rows: int, rounds: int) -> list[Result]:
    own, _ = people(rows)
    name = "linear / scikit-learn's LogisticRegression (lbfgs)"
    theirs = lambda: LogisticRegression().fit(own.frame.to_numpy(), own.label)  # noqa: E731
    return [compared(name, rows, 2.0, rounds, lambda: fitted(own, "linear"), theirs)]


def network(rows: int, rounds: int) -> list[Result]:
    """The default network, and one network, against trees; with the likelihood of held-out records."""
    own, held = people(rows)
    found = []
    for name, learner, goal in (("network, default", Network(), 5.0), ("network, one", Network(networks=1), 5.0)):
        result = compared(f"{name} / LightGBM's own, early stopping", rows, goal, rounds,
                          lambda own=own, learner=learner: fitted(own, learner),
                          lambda own=own: trees_of_lightgbm(own, True))  # fmt: skip
        ours = fitted(own, learner).predict_recorded_proba(held.frame, sensitive_features=held.group)[:, 1]
        theirs = trees_of_lightgbm(own, True).predict(held.everything)
        losses = (_loss(held.label, ours), _loss(held.label, np.asarray(theirs)))
        result.note = "held-out log-likelihood {:.4f}, LightGBM's {:.4f}".format(*(-loss for loss in losses))
        found.append(result)
    return found


def _loss(label: np.ndarray, chance: np.ndarray) -> float:
    return -float(np.log(np.where(label == 1, chance, 1 - chance)).mean())


def em(rows: int, rounds: int) -> list[Result]:
    if rows > MOST_EM:
        return []
    own, _ = people(rows)
    trees = HistGradientBoostingClassifier(random_state=0)
    name = "EM with HistGradientBoosting / one fit of it"
    theirs = lambda: HistGradientBoostingClassifier(random_state=0).fit(own.frame.to_numpy(), own.label)  # noqa: E731
    return [compared(name, rows, 12.0, rounds, lambda: fitted(own, trees), theirs)]


def measurement(rows: int, rounds: int) -> list[Result]:
    """Four distorted features, alone and beside 16 columns of which every row has its own values."""
    found = []
    for columns, kinds in ((4, "4 columns"), (COLUMNS, f"{COLUMNS} columns")):
        if columns > 4 and rows > MOST_VARIANTS:
            continue
        own, _ = people(rows, columns, max(4, columns // 2))
        belief = p4f.MeasurementBias(list(own.frame.columns[-4:]), "a", 0.3, 0.05)
        # The same number of trees and epochs on both sides.
        learners = {
            "boosted": (Boosted(max_trees=TREES, validation=0), 2.5),
            "network": (Network(max_epochs=5, patience=5), 1.33),
        }
        for name, (learner, goal) in learners.items():
            ours = lambda own=own, learner=learner, belief=belief: fitted(own, learner, belief)  # noqa: E731
            plain = lambda own=own, learner=learner: fitted(own, learner, None)  # noqa: E731
            title = f"{name}, measurement bias n = 4, {kinds} / without a belief"
            found.append(compared(title, rows, goal, rounds, ours, plain))
    return found


def predict(rows: int, rounds: int) -> list[Result]:
    """What `p4f predict` does with a Parquet file, from the file to the scored one."""
    own, _ = people(rows)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "rows.parquet", Path(folder) / "scored.parquet"
        own.frame.assign(a=own.group).to_parquet(source)
        for name, learner in (("linear", "linear"), ("network", Network(max_epochs=1))):
            scorer = Scorer(fitted(own.part(slice(0, 1000)), learner))
            work = lambda scorer=scorer: Chunks(source).through(  # noqa: E731
                lambda frames: write_chunks(scorer.through(frames), target)
            )
            seconds = statistics.median(timed(work) for _ in range(rounds))
            title = f"predict, {name}: rows a second"
            found.append(Result(title, rows, rows / seconds, seconds, 0.0, 500_000, at_least=True))
    return found


PARTS = {
    "boosted": boosted,
    "linear": linear,
    "network": network,
    "em": em,
    "measurement": measurement,
    "predict": predict,
}


def show(console: Console, results: list[Result]) -> None:
    columns = ["", "rows", "seconds", "reference", "ratio", "goal"]
    table = Table(*columns, title="Fit through a belief, times its reference (one thread)", title_justify="left")
    for own in results:
        name = own.name + (f"\n  {own.note}" if own.note else "")
        times = (
            f"{own.seconds:.2f}",
            f"{own.reference:.2f}",
            f"{own.ratio:,.0f}" if own.at_least else f"{own.ratio:.2f}",
        )
        table.add_row(name, f"{own.rows:,}", *times, own.verdict)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 rows only, one round")
    parser.add_argument("--rows", type=int, nargs="+", help="other sizes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="some of the comparisons")
    parser.add_argument("--json", type=Path, default=Path("build/bench/learners.json"), help="where to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", p4f.errors.LearningWarning)  # a few epochs are not enough to learn, and need not be
    console = Console()
    sizes = options.rows or ([10_000] if options.quick else [10_000, 100_000, 1_000_000])
    for name in options.only:  # compiles programs, imports packages
        PARTS[name](1_000, 1)
    results = []
    for rows in sizes:
        rounds = 1 if options.quick or rows > 100_000 else 3
        own = [result for name in options.only for result in PARTS[name](rows, rounds)]
        show(console, own)
        results += own
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    console.print(f"written to {options.json}")


if __name__ == "__main__":
    main()
