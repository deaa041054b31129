r"""
9. Ranking by query, and survival
=================================

Two classes are one way to say which row belongs above which. A search engine orders the documents
of one query; a survival model orders patients, some of whom were still alive when last seen. This
tutorial solves both with a proof.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import (
    SurvivalSVM,
    compare_models,
    concordance,
    concordance_index,
    ordinal_pairs,
    query_pairs,
    solve,
    survival_pairs,
    uno_concordance,
)

# %%
# Queries that differ in difficulty
# ---------------------------------
# There are forty queries of twelve documents, each with five features and a grade 0, 1 or 2.
# Feature 4 shows how easy the query is, so it predicts the grade well and the order within a query
# not at all.

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(40), 12)
X = rng.normal(size=(480, 5))
ease = 2 * rng.normal(size=40)[qid]
X[:, 4] += ease
relevance = X[:, :4] @ np.array([1.0, 0.7, 0.4, 0.0]) + 0.8 * rng.normal(size=480) + ease
grade = np.digitize(relevance, [-1.0, 1.5])
pairs, mixed = query_pairs(qid, grade), ordinal_pairs(grade)
print(f"{pairs.count()} pairs within queries, {mixed.count()} if queries are ignored")

# %%
# Joachims' ranking SVM, with the mean over the :math:`M` pairs, is
#
# .. math:: \min_w \; \frac\lambda2 |w|^2 + \frac1M \sum_{(i, j):\; q_i = q_j,\; y_i > y_j}
#           \max(0, 1 - w'(x_i - x_j)).
#
# The pairs are never listed: a merge of each query's grades gives exact sums over them in
# :math:`O(n \log n)`. The library treats all such pairs as rows with a group and a key:
#
# .. literalinclude:: /../exact/pairs/kinds.py
#    :language: python
#    :pyobject: query_pairs

lam = 1e-3
within = solve(X, grade, lam, qid=qid)
across = solve(X, grade, lam, qid=np.zeros(480, dtype=int))
print(fill(within.certificate.statement, 88))
assert within.certificate.relative_gap < 1e-8

# %%
# The concordance is the share of pairs in the right order. Its standard error sums what each query
# contributes, so two models on the same queries can be compared. The second model spends much of
# its norm on feature 4, which separates queries.

scores = [X @ solution.w for solution in (within, across)]
first, second = (concordance(pairs, each, units="groups") for each in scores)
difference = compare_models(first, second)
print(f"within queries {first.value:.3f}, across {second.value:.3f}, p = {difference.p_value:.1g}")
assert difference.interval[0] > 0

axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")[1]
place = np.arange(5)
axes.bar(place - 0.2, within.w, 0.4, label="pairs within queries")
axes.bar(place + 0.2, across.w, 0.4, label="queries ignored")
axes.set(xticks=place, xticklabels=[f"feature {k}" for k in place], ylabel="weight")
axes.legend()
plt.show()

# %%
# Times and events
# ----------------
# We know when some patients died, and of the others only that they lived until their last visit. A
# row that died at :math:`t` is above the rows of a later time, and above those that left at
# :math:`t`. These are the pairs of Harrell's C. Larger scores mean a higher risk.

X = rng.normal(size=(600, 4))
death = np.exp(-X @ np.array([0.8, -0.5, 0.3, 0.0])) * rng.exponential(size=600)
last_visit = rng.exponential(1.5, size=600)
time, event = np.minimum(death, last_visit), death <= last_visit
train, test = slice(0, 300), slice(300, 600)
comparable = survival_pairs(time[train], event[train]).count()
print(f"{event[train].mean():.0%} died; {comparable} of {300 * 299 // 2} pairs are comparable")

model = SurvivalSVM(lam=1e-3).fit(X[train], time[train], event[train])
print(f"relative gap {model.certificate_.relative_gap:.1e}, weights {np.round(model.coef_, 2)}")
assert model.certificate_.relative_gap < 1e-6

# %%
# Harrell's C depends on how many rows are censored, because pairs of long times are rarely
# comparable. Uno's C weights each pair by the inverse probability of being seen, up to a time
# ``tau``. Two models are compared on the same rows, so that most of the noise cancels.

judged = (time[test], event[test], model.predict(X[test]))
tau = float(np.quantile(time[test], 0.9))
found = {"Harrell": concordance_index(*judged), "Uno": uno_concordance(*judged, tau=tau)}
for name, C in found.items():
    low, high = C.interval()
    print(f"{name}'s C = {C.value:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    assert low > 0.5  # better than a coin
better = compare_models(found["Harrell"], concordance_index(*judged[:2], X[test, 0]))
print(f"better than feature 0 alone by {better.difference:.3f}, p = {better.p_value:.1g}")
assert better.difference > 0

# %%
# Exercises
# ---------
# 1. A query has :math:`a, b, c` documents of the grades 0, 1, 2. How many pairs? (:math:`ab + ac
#    + bc`.)
# 2. Show that a feature of the query has weight zero. (It is zero in every difference.)
# 3. Four patients died at 1, left at 2, died at 2, left at 3. Which pairs? (Five: 1 before the
#    three others; the third before the second and the fourth.)
# 4. Replace each time by its logarithm. (Nothing changes: only their order counts.)
