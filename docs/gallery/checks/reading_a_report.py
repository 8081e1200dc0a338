"""
Reading a report
================

A report is one self-contained page about a model: what is believed, how sure that is, what changes for whom, and what
speaks against it. The tables behind the page are attributes.
"""

import os
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer rows
data = p4f.datasets.loans(rows=600 if short else 3000)
features = list(data.features)
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])

names = {
    "poor_area": {1: "applicants from poor areas", 0: "applicants from other areas"},
    "granted": {1: "a loan", 0: "no loan"},
}
page = p4f.report(model, data.loans, audit=data.audit, fair="repaid", names=names)

# %%
# It begins with sentences. Read the warnings before anything else: where there are some, the rest does
# not count for much.

for sentence in page.summary:
    print(textwrap.fill(sentence, 100))
print("\nwarnings:", *page.warnings or ["none"])
print("warnings of the training:", *page.training_warnings or ["none"])

# %%
# What is believed, and how sure that is: each parameter with its interval and the rows that it came from.

print(page.parameters.drop(columns="meaning").round(3).to_string())

# %%
# What changes, by group: shares of favourable labels on record and as decided.

page.plot()

# %%
# What the audited rows say of the decisions.

print(page.audited.round(3).T.to_string())

# %%
# Which recorded labels are most likely wrong, for somebody to look at again.

print(page.suspects.head().round(3).to_string())

# %%
# The page itself is one file.

with TemporaryDirectory() as folder:
    page.save(Path(folder) / "report.html")
    print(f"{(Path(folder) / 'report.html').stat().st_size / 1024:.0f} KiB")
