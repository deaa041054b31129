"""Draw README's picture: how far five usual linear models are from the best AUC objective.

python docs/how_far.py docs/_static/how-far.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from aucert.exact import ROCSVM, certify

LAM = 1e-2
SCALES = np.geomspace(1e-3, 1e3, 121)
"""AUC does not see the length of w, the objective does: each model gets its best one of these."""

Row = tuple[str, float, float]


def rows() -> list[Row]:
    """Return name, training AUC and certified relative distance from the optimum of each model."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    best = ROCSVM(lam=LAM, tol=1e-9).fit(X, y)
    found = [("aucert: ROCSVM", best.coef_.ravel(), np.ones(1))]
    for model in (
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        LinearDiscriminantAnalysis(),
        SGDClassifier(random_state=0),
    ):
        found.append((type(model).__name__, model.fit(X, y).coef_.ravel(), SCALES))
    return [
        (name, float(roc_auc_score(y, X @ w)), gap(X, y, w, scales)) for name, w, scales in found
    ]


def gap(X: np.ndarray, y: np.ndarray, w: np.ndarray, scales: np.ndarray) -> float:
    """Return F(s w) / dual - 1, rounding included, at the best of the lengths."""
    proofs = [certify(X, y, w=scale * w, lam=LAM) for scale in scales]
    best = min(proofs, key=lambda proof: proof.primal if proof.primal is not None else np.inf)
    assert best.gap is not None and best.dual > 0
    return best.gap / best.dual


def draw(found: list[Row], path: Path) -> None:
    """Draw one line a model: its distance on a logarithmic axis, its AUC next to it."""
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    settings: dict[str, object] = {"svg.hashsalt": "aucert", "svg.fonttype": "none"}
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7.2, 2.6), layout="constrained")
        at = np.arange(len(found))[::-1]
        gaps = np.array([gap for _, _, gap in found])
        axes.hlines(at, 1e-14, gaps, color="#7f7f7f", linewidth=1)
        axes.plot(gaps, at, "o", color="#0072b2")
        for place, (_, area, distance) in zip(at, found, strict=True):
            axes.annotate(
                f"AUC {area:.4f}",
                (distance, place),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.set_yticks(at, [name for name, _, _ in found])
        axes.set_xscale("log")
        axes.set_xlim(1e-14, 3e4)
        axes.set_xlabel("proved distance above the optimum, relative (wdbc, lam = 0.01)")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def main(arguments: list[str]) -> None:
    """Print the table, and draw it where a path is given."""
    found = rows()
    for name, area, distance in found:
        print(f"{name:28} AUC {area:.4f}   {distance:8.1e} above the optimum")
    for path in arguments:
        draw(found, Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
