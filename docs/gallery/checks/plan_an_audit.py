"""
Plan an audit
=============

An audit is a table of rows whose fair label somebody found out. How many rows does it take?
"""

import matplotlib.pyplot as plt
import numpy as np

import problog4fairness as p4f

# %%
# To know one probability within 10 points with 95% confidence takes 185 rows of its cell, by Hoeffding's inequality.
# A cell is a group and a fair label: applicants from poor areas who could repay.

print(p4f.statistics.required_samples(error=0.1, confidence=0.95))

# %%
# Before the audit nobody knows who is in which cell, so more rows have to be drawn. With a cell that holds a quarter
# of all people:

print(p4f.statistics.rows_to_draw(185, share=0.25))

# %%
# A plan does this for all cells.

plan = p4f.hoeffding_plan(error=0.1, confidence=0.95, positive_rate=0.4, group_share=0.3)
print(plan.cells.to_string())

# %%
# Far fewer are enough if rows are drawn by group *and recorded label*, where they tell most of the belief, in rounds.
# Here somebody who knows the answers fills them in.

loans = p4f.datasets.loans()
one = p4f.LabelBias("poor_area", positive=False, affected=[1])
todo = None
while True:
    rounds = one.plan_audit(loans.loans, recorded="granted", fair="repaid", pilot=todo)
    if rounds.stop:
        break
    todo = rounds.draw()
    todo["repaid"] = loans.loans_repaid.to_numpy()[todo["row"].to_numpy(dtype=int)]
print(rounds)
print(one.estimate(todo, recorded="granted", fair="repaid").parameter_table()[["value", "low", "high", "rows"]])

# %%
# Fewer rows mean wider intervals. The same estimate from 200, 400, ... audited rows of the made-up loans:

truth, sizes = 0.4, (200, 400, 800, 1600, 3200)
data = p4f.datasets.loans(rows=1, audited=max(sizes), new=1, refused=truth)
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
found = [belief.estimate(data.audit[:size], recorded="granted", fair="repaid").parameters[0] for size in sizes]

value = np.array([own.value for own in found])
reach = np.abs(np.array([(own.low, own.high) for own in found]).T - value)
axes = plt.figure(figsize=(6, 3)).subplots()
axes.errorbar(sizes, value, reach, fmt="o", capsize=3, color="#0072b2", label="estimate, 95% interval")
axes.axhline(truth, color="gray", ls="--", label="what was drawn")
axes.set(xscale="log", xlabel="audited rows", ylabel="P(refused | could repay, poor area)", ylim=(0, 1))
axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
axes.legend(frameon=False)
plt.tight_layout()
