"""
Listing 2: measurement bias
===========================

The full program for measurement bias of four binary features (Template 2, extended). ``x_(b1,...,b4)`` is the row
with feature i flipped where bi = 1, and the classifier is asked about every vector that the recorded one may stand
for.
"""

import problog4fairness as p4f

program = p4f.Program(r"""
nn(h,X)    :: y_h(X).
nn(n,X_,N) :: n(X_,N).
nn(a,X_)   :: a(X_).

debias_n(1, x_(0,X,Y,Z), x_(1,X,Y,Z)).
debias_n(2, x_(R,0,Y,Z), x_(R,1,Y,Z)).
debias_n(3, x_(R,X,0,Z), x_(R,X,1,Z)).
debias_n(4, x_(R,X,Y,0), x_(R,X,Y,1)).

p1(N) :: n_neg_bias(X_,N):- a(X_).
p2(N) :: n_neg_bias(X_,N):- \+ a(X_).
p3(N) :: n_pos_bias(X_,N):- a(X_).
p4(N) :: n_pos_bias(X_,N):- \+ a(X_).

n_biased(X_,N)                            :-\+n(X_,N),n_neg_bias(X_,N).
n_biased(X_,N)                              :-n(X_,N),n_pos_bias(X_,N).

debias(X_, X_, 0).
debias(X_, X, N):- >(N,0),is(N2,N-1),n_biased(X_,N),debias_n(N,X_,Xf),  debias(Xf,X,N2).
debias(X_, X, N):- >(N,0),is(N2,N-1),       \+n_biased(X_,N),debias(X_,X,N2).

y(X_):- debias(X_,X,4), y_h(X).

?- y(x_(0,0,0,0)).
""")
circuit = program.compile()
print(len([leaf for leaf in circuit.leaves if leaf.name == "h"]), "questions to the classifier for one row")

# %%
# As a belief, its networks are columns: ``a`` the sensitive one, ``n`` the four features by number. Here a recorded 0
# of the sensitive group is a fair 1 with probability .3, whatever the feature.

strength = {f"p1({feature})": 0.3 for feature in range(1, 5)}
others = {f"p{kind}({feature})": 0.0 for kind in (2, 3, 4) for feature in range(1, 5)}
belief = p4f.ProgramBelief(program.bind({**strength, **others}), features=("r", "q1", "q2", "q3"))

data = p4f.datasets.synthetic(measurement_bias=0.3, rows=1500, seed=0)
X = data.recorded_features.join(data.sensitive)
model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, data.recorded_label)
fair = data.fair_features.join(data.sensitive)
print(f"right on fair features: {(model.predict(fair) == data.fair_label).mean():.3f}")

# %%
# Grounding this program costs 2 to the number of features. The template compiles one small program for each feature,
# and gives the same numbers.

template = p4f.MeasurementBias(["r", "q1", "q2", "q3"], "a", negative={1: 0.3}, positive=False, affected=[1])
same = p4f.DebiasedClassifier(template, "linear", random_state=0).fit(X, data.recorded_label)
print(f"largest difference: {abs(same.predict_proba(X) - model.predict_proba(X)).max():.1e}")
