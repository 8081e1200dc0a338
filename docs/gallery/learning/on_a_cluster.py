"""
Rows on a cluster
=================

Rows that do not fit one machine come as a Dask data frame, and boosted trees train where the rows are. Here the
cluster is one worker in this process; in earnest the address of a scheduler is the only change:
``Client("tcp://scheduler:8786")``.
"""

import os

import dask.dataframe as dd
from distributed import Client, LocalCluster

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer rows
cluster = LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
client = Client(cluster)

# %%
# In earnest: ``dask.dataframe.read_parquet("loans/*.parquet")``.

data = p4f.datasets.loans(rows=2000 if short else 20_000)
features = list(data.features)
loans = dd.from_pandas(data.loans, npartitions=4)

# %%
# The belief is estimated from a small table, as always.

belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
model = p4f.DebiasedClassifier(belief, p4f.learners.Boosted(max_trees=50), random_state=0)
model.fit(loans[features], loans["granted"], sensitive_features=loans["poor_area"])

# %%
# Predictions of a Dask frame are a Dask array; those of a data frame an ordinary one.

chance = model.predict_proba(loans[features])[:, 1]
print(f"granted: {data.loans['granted'].mean():.3f}, fair: {chance.mean().compute():.3f}")
print(f"right in {(model.predict(data.new[features]) == data.new['repaid']).mean():.3f} of new rows")

# %%
client.close()
cluster.close()
