r"""
11. Survival
============

Of some patients we know when they died, of others only that they lived until their last visit. Two
rows can be compared if the earlier of them died. This tutorial solves the survival SVM over the
comparable pairs with a proof, and gives its concordance with an interval.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import (
    SurvivalSVM,
    compare_models,
    concordance_index,
    lam_from_C,
    survival_pairs,
    uno_concordance,
)

# %%
# Times and events
# ----------------
# Half of the rows train the model and the other half judge it. The fourth feature is noise.

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
death = np.exp(-X @ np.array([0.8, -0.5, 0.3, 0.0])) * rng.exponential(size=600)
last_visit = rng.exponential(1.5, size=600)
time, event = np.minimum(death, last_visit), death <= last_visit
train, test = slice(0, 300), slice(300, 600)

pairs = survival_pairs(time[train], event[train])
print(f"{event[train].mean():.0%} died; {pairs.count()} of {300 * 299 // 2} pairs are comparable")

# %%
# Which pairs
# -----------
# A row that died at :math:`t` is above the rows of a later time, and above those that left at
# :math:`t`. These are the pairs of Harrell's C, and scikit-survival counts the same:
#
# .. literalinclude:: /../exact/pairs/ordered/kinds.py
#    :language: python
#    :pyobject: survival_pairs
#
# The machine minimises :math:`\frac\lambda2 |w|^2` plus the mean hinge over them. Larger scores
# mean a higher risk.

models = {lam: SurvivalSVM(lam=lam).fit(X[train], time[train], event[train]) for lam in (1e-3, 1.0)}
for lam, model in models.items():
    gap = model.certificate_.relative_gap
    print(f"lam = {lam:g}: relative gap {gap:.1e}, weights {np.round(model.coef_, 2)}")
    assert gap < 1e-6

# %%
# Concordance with an interval
# ----------------------------
# Harrell's C depends on how many rows are censored, because pairs of long times are rarely
# comparable. Uno's C weighs each pair by the inverse chance of being seen, up to a time ``tau``.

model = models[1e-3]
judged = (time[test], event[test], model.predict(X[test]))
tau = float(np.quantile(time[test], 0.9))
found = {"Harrell": concordance_index(*judged), "Uno": uno_concordance(*judged, tau=tau)}
for name, C in found.items():
    low, high = C.interval()
    print(f"{name}'s C = {C.value:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    assert low > 0.5  # better than a coin

# %%
# Two models are compared on the same rows, where most of the chance cancels:

single = concordance_index(*judged[:2], X[test, 0])
difference = compare_models(found["Harrell"], single)
print(f"better than feature 0 alone by {difference.difference:.3f}, p = {difference.p_value:.1g}")
assert difference.difference > 0

# %%
# The picture shows the two halves of the test rows by their score, as Kaplan and Meier draw them.


def survival_curve(time, event):
    """Return the times of death and the estimated share that is alive after each."""
    order = np.argsort(time)
    at_risk = np.arange(time.size, 0, -1)
    return time[order], np.cumprod(1 - event[order] / at_risk)


high = judged[2] > np.median(judged[2])
figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
for rows, label in ((high, "score above the median"), (~high, "score below")):
    axes.step(*survival_curve(time[test][rows], event[test][rows]), where="post", label=label)
axes.set(xlabel="time", ylabel="alive", xlim=(0, 4), ylim=(0, 1))
axes.legend()
plt.show()

# %%
# The same model in scikit-survival
# ---------------------------------
# ``FastSurvivalSVM(alpha, rank_ratio=1)`` sums squared hinges with a factor :math:`\alpha / 2`:

lam = lam_from_C(0.05, pairs.count(), "scikit-survival")
print(f"alpha = 0.05 over {pairs.count()} pairs is lam = {lam:.3g}")
