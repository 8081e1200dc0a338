"""
Listing 3: three sensitive variables
====================================

The program of the face study: whether a mouth is slightly open was labelled worse in faces with high cheekbones, then
in blurred ones, then in smiling ones.
"""

import problog4fairness as p4f

program = p4f.Program(r"""
nn(h,X) :: y_h(X).

nn(hc,X) :: hc(X).
nn(bl,X) :: bl(X).
nn(sm,X) :: sm(X).

p1_hc :: label_neg_bias_hc(X):- hc(X).
p2_hc :: label_neg_bias_hc(X):- \+hc(X).
p3_hc :: label_pos_bias_hc(X):- hc(X).
p4_hc :: label_pos_bias_hc(X):- \+hc(X).

p1_bl :: label_neg_bias_bl(X):- bl(X).
p2_bl :: label_neg_bias_bl(X):- \+bl(X).
p3_bl :: label_pos_bias_bl(X):- bl(X).
p4_bl :: label_pos_bias_bl(X):- \+bl(X).

p1_sm :: label_neg_bias_sm(X):- sm(X).
p2_sm :: label_neg_bias_sm(X):- \+sm(X).
p3_sm :: label_pos_bias_sm(X):- sm(X).
p4_sm :: label_pos_bias_sm(X):- \+sm(X).

y1(X) :- y_h(X), \+label_neg_bias_hc(X).
y1(X) :- \+y_h(X), label_pos_bias_hc(X).

y2(X) :- y1(X), \+label_neg_bias_bl(X).
y2(X) :- \+y1(X), label_pos_bias_bl(X).

y_(X) :- y2(X), \+label_neg_bias_sm(X).
y_(X) :- \+y2(X), label_pos_bias_sm(X).

?- y_(x).
""")
program.diagram()

# %%
# Twelve parameters. With all of them known:

parameters = {f"p{kind}_{name}": 0.1 * kind for kind in range(1, 5) for name in ("hc", "bl", "sm")}
printed = program.bind(parameters).probability(nn={"h": 0.8, "hc": 1.0, "bl": 0.0, "sm": 1.0})
print(printed)

# %%
# ``chain`` writes the same program, for columns of one's own.

chain = p4f.chain(*(p4f.LabelBias(name) for name in ("hc", "bl", "sm"))).bind(parameters)
print(chain.program().probability(nn={"h": 0.8, "hc": 1.0, "bl": 0.0, "sm": 1.0}))
