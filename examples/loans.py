"""The README's example, whole: believe, estimate, train, and see what changed.

python examples/loans.py [-o docs/images/loans.svg]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

import problog4fairness as p4f


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/loans.svg"), help="the figure")
    output = parser.parse_args().output
    data = p4f.datasets.loans()
    features, new = list(data.features), data.new

    belief = p4f.LabelBias(sensitive="poor_area", positive=False, affected=[1])
    belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
    print(belief)
    print(belief.parameter_table().drop(columns="meaning").to_string(), "\n")

    loans, every = data.loans, [*features, "poor_area"]
    through = p4f.DebiasedClassifier(belief, learner="linear", random_state=0)
    through.fit(loans[features], loans["granted"], sensitive_features=loans["poor_area"])

    def plain(columns: list[str], label: pd.Series[int]) -> pd.Series[int]:
        model = p4f.DebiasedClassifier(learner="linear", random_state=0).fit(loans[columns], label)
        return pd.Series(model.predict(new[columns]))

    granted = {
        "knowing the\nfair labels": plain(every, data.loans_repaid),
        "the record\nas it is": plain(every, loans["granted"]),
        "without\npoor_area": plain(features, loans["granted"]),
        "this model": pd.Series(through.predict(new[features])),
    }
    table = pd.DataFrame(
        {
            "accuracy": {name: (answer == new["repaid"]).mean() for name, answer in granted.items()},
            "poor areas": {name: answer[new["poor_area"] == 1].mean() for name, answer in granted.items()},
            "other areas": {name: answer[new["poor_area"] == 0].mean() for name, answer in granted.items()},
        }
    )
    print(table.rename(index=lambda name: name.replace("\n", " ")).round(3).to_string())
    draw(table, output)
    print(f"\nfigure: {output}")


def draw(table: pd.DataFrame, output: Path) -> None:
    """Share of applicants who get a loan, by area."""
    with rc_context({"svg.hashsalt": "problog4fairness", "font.size": 10}):
        figure = Figure(figsize=(6.8, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for place, (column, colour) in enumerate({"poor areas": "#d55e00", "other areas": "#0072b2"}.items()):
            left = [row + 0.38 * (place - 0.5) for row in range(len(table))]
            bars = axes.bar(left, table[column], width=0.36, color=colour, label=column)
            axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=9)
        names = [f"{name}\nright for {right:.1%}" for name, right in table["accuracy"].items()]
        axes.set_xticks(range(len(table)), names)
        axes.set_ylabel("share who get a loan")
        axes.set_ylim(0, 1.12)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=2, loc="upper right")
        output.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(output, dpi=200, metadata={"Date": None} if output.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
