r"""
7. Auditing somebody else's model
=================================

A colleague sends weights, or only scores, and says: "trained for AUC". How far are they from the
best? A lower bound of the optimum holds for every model of the class, so the question has an answer
for any weights. This tutorial audits five models, and shows what an audit cannot say.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from aucert.approx import IncompleteROCSVM
from aucert.exact import certify, lam_from_C, solve
from aucert.exact.pairs.auc import auc

X, target = load_breast_cancer(return_X_y=True)
X, y = scale(X)[:, :10], (target == 0).astype(int)
n_pairs = int(y.sum() * (1 - y).sum())

# %%
# The problem must be stated first
# --------------------------------
# "How far from the optimum" means: of which objective? Ours is
# :math:`F(w) = \frac\lambda2 |w|^2 + \text{mean hinge over all pairs}`. A colleague who minimises
# :math:`\frac12 |w|^2 + C \sum_{ij} \max(0, 1 - w'(x_i - x_j))` has the same problem in other
# units: divide by :math:`C n_+ n_-` and read off :math:`\lambda = 1 / (C n_+ n_-)`.
#
# .. literalinclude:: /../exact/problem/scalings.py
#    :language: python
#    :pyobject: lam_from_C

lam = lam_from_C(C=0.002, n_pairs=n_pairs, convention="auc-svm")
print(f"C = 0.002 over {n_pairs} pairs is lam = {lam:.3g}")

# %%
# Five linear models
# ------------------

models = {
    "aucert solve": solve(X, y, lam).w,
    "B = n pairs, Adamax": IncompleteROCSVM(lam, random_state=0).fit(X, y).coef_[0],
    "linear SVM": LinearSVC(C=0.01).fit(X, y).coef_[0],
    "logistic regression": LogisticRegression(C=0.01).fit(X, y).coef_[0],
    "discriminant analysis": LinearDiscriminantAnalysis().fit(X, y).coef_[0],
}
print(f"{'model':22} {'AUC':>8} {'F(w)':>10} {'at least':>10} {'relative gap':>13}")
audits = {name: certify(X, y, lam, w=w) for name, w in models.items()}
for name, audit in audits.items():
    row = f"{name:22} {auc(X @ models[name], y == 1):8.5f} {audit.primal:10.6f}"
    print(f"{row} {audit.dual:10.6f} {audit.relative_gap:13.2e}")
assert audits["aucert solve"].relative_gap < 1e-8

# %%
# The lower bound is one number for all of them: it belongs to the problem. These are the lines that
# make it. The better of two dual points is taken, one from the model's own scores and one from a
# solver, and both are evaluated by code that neither shares:
#
# .. literalinclude:: /../exact/api/certify.py
#    :language: python
#    :pyobject: best_witness
#
# Direction or length?
# --------------------
# A rival minimises another objective, so its :math:`w` may have a good *direction* and the wrong
# *length*. AUC sees the direction only. :math:`F(sw)` is convex in the number :math:`s`, so the
# best length is a search on a line, and the audit can be split in two:


def best_length(w):
    """Return w times the number s > 0 that makes F least, by a search over log s."""
    found = minimize_scalar(
        lambda log_s: certify(X, y, lam, w=np.exp(log_s) * w, refine=False).primal,
        bounds=(-8, 8),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return np.exp(found.x) * w


optimum = audits["aucert solve"].dual
as_is = np.array([audit.primal for audit in audits.values()]) / optimum - 1
lengths = [certify(X, y, lam, w=best_length(w), refine=False).primal for w in models.values()]
rescaled = np.array(lengths) / optimum - 1

figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
place = np.arange(len(models))
axes.barh(place + 0.2, np.maximum(as_is, 1e-10), 0.4, label="as sent")
axes.barh(place - 0.2, np.maximum(rescaled, 1e-10), 0.4, label="at its best length")
axes.set(yticks=place, yticklabels=list(models), xscale="log", title="F(w) / optimum - 1")
axes.invert_yaxis()
axes.legend()
plt.show()
assert (rescaled <= as_is + 1e-9).all()

# %%
# What is left after rescaling is the price of another objective: the AUCs differ in the third
# digit, the objectives by more. A gap is a statement about the *problem*. Whether a smaller one
# gives better predictions on new rows is another question.
#
# Scores only, and a model of another class
# -----------------------------------------
# Scores that are linear in the features (up to a constant) give themselves away:
# least squares finds the weights of least norm that have these scores.

hidden = certify(X, y, lam, scores=X @ models["linear SVM"] - 3.0)
assert hidden.residual < 1e-8 and np.isclose(hidden.primal, audits["linear SVM"].primal)
print(fill(hidden.statement, 88))

# %%
# A forest is not a linear function. It has no norm in this space, and so no objective value to
# compare. The audit says so instead of making up a number. The lower bound is still valid.

forest = RandomForestClassifier(50, random_state=0).fit(X, y).predict_proba(X)[:, 1]
outside = certify(X, y, lam, scores=forest)
assert outside.gap is None
print(fill(outside.statement, 88))

# %%
# The same from the command line
# ------------------------------
# ``aucert certify data.csv --lam 1e-3 --weights w.npy`` and ``--scores s.npy`` do this on files;
# with ``--from auc-svm --C 0.002`` instead of ``--lam`` the conversion is done too.
#
# Exercises
# ---------
# 1. Add 5 to all scores. What changes in the audit? (Nothing: a constant cancels in every pair.)
# 2. Show that scaling :math:`w` to its best length never raises :math:`F`, and that a subgradient
#    there has :math:`w'g = 0`. (:math:`s \mapsto F(sw)` is convex with slopes :math:`w'g`.)
# 3. Multiply the weights by ten. What becomes of the ROC curve, the margins, the penalty? (The
#    curve stays; the margins grow tenfold and the penalty a hundredfold.)
