r"""
10. Ranking by query
====================

A search engine orders the documents of one query. Only pairs of that query count: a good document
of a hard query needs no higher score than a poor one of an easy query. This tutorial solves the
ranking SVM over such pairs with a proof, and shows what is lost by ignoring the queries.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import (
    certify,
    compare_models,
    concordance,
    lam_from_C,
    ordinal_pairs,
    query_pairs,
    solve,
)

# %%
# Queries that differ in difficulty
# ---------------------------------
# There are forty queries of twelve documents, each with five features and a grade 0, 1 or 2.
# Feature 4 tells how easy the query is, so it predicts the grade well and the order within a query
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
# The problem
# -----------
# .. math:: \min_w \; \frac\lambda2 |w|^2 + \frac1M \sum_{(i, j):\; q_i = q_j,\; y_i > y_j}
#           \max(0, 1 - w'(x_i - x_j))
#
# It is Joachims' ranking SVM, with the mean over the :math:`M` pairs. The pairs are one case of
# rows with a group and a key:
#
# .. literalinclude:: /../exact/pairs/ordered/kinds.py
#    :language: python
#    :pyobject: query_pairs
#
# They are never listed. A merge of each query's grades gives exact sums over them in
# :math:`O(n \log n)`.

lam = 1e-3
within = solve(X, grade, lam, qid=qid)
across = solve(X, grade, lam, qid=np.zeros(480, dtype=int))
print(fill(within.certificate.statement, 88))
assert within.certificate.relative_gap < 1e-8

# %%
# What ignoring the queries costs
# -------------------------------
# The concordance is the share of pairs in the right order. Its standard error sums what each query
# contributes, so two models on the same queries can be compared.

scores = [X @ solution.w for solution in (within, across)]
first, second = (concordance(pairs, each, units="groups") for each in scores)
difference = compare_models(first, second)
print(f"within queries {first.value:.3f}, across {second.value:.3f}, p = {difference.p_value:.1g}")
assert difference.interval[0] > 0

figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
place = np.arange(5)
axes.bar(place - 0.2, within.w, 0.4, label="pairs within queries")
axes.bar(place + 0.2, across.w, 0.4, label="queries ignored")
axes.set(xticks=place, xticklabels=[f"feature {k}" for k in place], ylabel="weight")
axes.axhline(0, color="black", linewidth=0.6)
axes.legend()
plt.show()

# %%
# The second model spends much of its norm on feature 4, which separates queries.
#
# Auditing somebody's ranker
# --------------------------
# Weights from anywhere have an objective, and the solver's dual point bounds every objective from
# below. Rounded to one digit, the weights are this far from the optimum:

rounded = certify(X, grade, lam, w=np.round(within.w, 1), qid=qid)
print(f"relative gap of the rounded weights: {rounded.relative_gap:.1e}")
assert within.certificate.relative_gap < rounded.relative_gap < 0.01

# %%
# SVM-rank's ``-c`` divides the sum over pairs by the number of queries. With forty queries,
# ``-c 20`` is ``C = 0.5`` in the sum:

print(f"SVM-rank -c 20 is lam = {lam_from_C(20 / 40, pairs.count(), 'svm-rank'):.3g}")
