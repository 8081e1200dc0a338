"""Training on rows that do not fit one machine: with the address of a Dask scheduler as the only change.

python examples/cluster.py                                # two processes on this machine
python examples/cluster.py tcp://scheduler.example:8786   # a cluster

It needs the extra ``dask``. In earnest the table is ``dask.dataframe.read_parquet("loans/*.parquet")``.
"""

from __future__ import annotations

import sys

import dask.dataframe as dd
from distributed import Client, LocalCluster

import problog4fairness as p4f


def main() -> None:
    here = None if sys.argv[1:] else LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(here or sys.argv[1]):
        data = p4f.datasets.loans(rows=20_000)
        features = list(data.features)
        loans = dd.from_pandas(data.loans, npartitions=8)

        belief = p4f.LabelBias(sensitive="poor_area", positive=False, affected=[1])
        belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
        model = p4f.DebiasedClassifier(belief, "boosted", random_state=0)
        model.fit(loans[features], loans["granted"], sensitive_features=loans["poor_area"])

        fair = model.predict_proba(loans[features])[:, 1].mean().compute()
        print(f"granted: {data.loans['granted'].mean():.1%}, fair: {fair:.1%}")
        right = (model.predict(data.new[features]) == data.new["repaid"]).mean()
        print(f"right in {right:.1%} of new rows")
    if here is not None:
        here.close()


if __name__ == "__main__":
    main()
