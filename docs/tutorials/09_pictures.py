r"""
9. Pictures, one call each
==========================

What the library returns can be looked at. Each function takes solutions, fitted models, a budget
or the draws of an experiment, and returns a matplotlib ``Figure``:
a notebook shows it as it is, ``figure.savefig("name.svg")`` writes it. With ``axes=`` they draw
into axes of yours, as here.
"""

from functools import partial

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline

from aucert.approx import IncompleteROCSVM, Nystrom
from aucert.exact import ROCSVM, SAUCSVM, solve
from aucert.exact.estimators.thresholds import RULES, threshold_for_sensitivity
from aucert.exact.spaces.kernels import Gaussian
from aucert.validation import (
    bound_against_error,
    budget_bars,
    decision_surface,
    error_budget,
    gap_curves,
    margin_distribution,
    roc_with_thresholds,
)
from aucert.validation.bounds.experiment import approximation_errors
from aucert.validation.data.datasets import load


def axes(width=6.4, height=3.8):
    """Return new axes, and make pyplot show them."""
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


data = load("linear:600", seed=0)
model = ROCSVM(lam=1e-3).fit(data.X, data.y)

# %%
# Gap curves
# ----------
# The relative gap against seconds or steps. What a solver knew on the way is a claim of its own;
# the dots are certified.

methods = ("cutting-plane", "lifted")
solutions = {name: solve(data.X, data.y, 1e-3, method=name) for name in methods}
gap_curves(solutions, by="seconds", axes=axes())
plt.show()

# %%
# ROC curve with the threshold rules
# ----------------------------------

rules = {**RULES, "sensitivity 0.95": partial(threshold_for_sensitivity, sensitivity=0.95)}
roc_with_thresholds(model, data.X, data.y, rules=rules, axes=axes(4.8, 4.6))
plt.show()

# %%
# Margins, and what the certificate decides about them
# ----------------------------------------------------
# The certificate bounds the distance of the model from the optimum, :math:`|f - f^*| \le r`. The
# margin of a pair is then at most :math:`r\,|k_i - k_j|` off, so most pairs are proved to be on the
# same side of 1 for the exact optimum. A model with a gap left decides fewer:

rough = ROCSVM(lam=1e-3, tol=0.05).fit(data.X, data.y)
figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 7.2), layout="constrained")
margin_distribution(model, data.X, data.y, axes=above)
margin_distribution(rough, data.X, data.y, axes=below)
plt.show()
print(f"radius {model.certificate_.radius:.2g} and {rough.certificate_.radius:.2g}")

# %%
# Decision surface
# ----------------

toy = load("xor:120", seed=0)
kernel_machine = SAUCSVM(1e-2, structure=1.0, kernel="rbf", gamma=1.0).fit(toy.X, toy.y)
decision_surface(kernel_machine, toy.X, toy.y, axes=axes(5.6, 4.4))
plt.show()

# %%
# Error budget
# ------------
# What stopping early, drawn pairs and a few landmarks cost a model, what Theorem 4' allows each,
# and what a finite test set could see of it. A hatched bar is a gain.

train, test = load("radial:200", seed=0), load("radial:400", seed=1)
cheap = make_pipeline(
    Nystrom(gamma=1.0, n_landmarks=12, random_state=0),
    IncompleteROCSVM(1e-2, n_pairs=2000, random_state=1),
).fit(train.X, train.y)
budget_bars(error_budget(cheap, train.X, train.y, test.X, test.y), axes=axes(7.2, 3.2))
plt.show()

# %%
# Bounds beside the true error
# ----------------------------
# Theorem 4 as printed, and Theorem 4', over several numbers of drawn pairs.

few = load("radial:80", seed=0)
draws = approximation_errors(
    few.X, few.y, Gaussian(2.0), 0.5, landmarks=30, B=[80, 800, 8000], n_draws=3
)
bound_against_error(draws, axes=axes(7.2, 4.0))
plt.show()
