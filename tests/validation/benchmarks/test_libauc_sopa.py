"""LibAUC's loss is ours, and its optimizer comes near our optimum; only where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import certify, solve
from aucert.validation.benchmarks.problems.libauc_sopa import libauc_sopa
from aucert.validation.benchmarks.problems.pair_problem_data import labelled

TORCH: Any = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
LOSSES: Any = pytest.importorskip("libauc.losses", reason="LibAUC is not installed")

LAM, FPR = 1e-2, 0.1
X, Y = labelled(1000, 4, 3, 2.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_its_loss_at_the_best_thresholds_is_our_objective(loss: str) -> None:
    w = np.random.default_rng(0).normal(size=4)
    up, low = X[Y == 1] @ w, X[Y == 0] @ w
    losses = np.maximum(0.0, 1 - up[:, None] + low) ** (1 if loss == "hinge" else 2)
    k = low.size * FPR
    low = low[: low.size - low.size % 10]  # a whole number of negative rows is in the tail
    losses, k = losses[:, : low.size], round(low.size * FPR)
    theirs = LOSSES.pAUC_CVaR_Loss(
        data_len=up.size, pos_len=up.size, beta=FPR, eta=0.0, surr_loss=loss, device="cpu"
    )
    worst = np.sort(losses, axis=1)[:, ::-1]
    theirs.u_pos = TORCH.from_numpy((worst[:, k - 1] + worst[:, k])[:, None] / 2)
    scores, labels = np.concatenate([up, low]), np.repeat([1.0, 0.0], [up.size, low.size])
    value = theirs(
        TORCH.from_numpy(scores)[:, None],
        TORCH.from_numpy(labels)[:, None],
        TORCH.arange(scores.size),
    )
    rows = np.concatenate([X[Y == 1], X[Y == 0][: low.size]])
    audit = certify(rows, labels, w=w, lam=LAM, loss=loss, fpr_max=FPR)
    assert audit.primal == pytest.approx(float(value) + LAM / 2 * w @ w, rel=1e-6)


def test_its_head_is_certified_and_is_no_better_than_the_optimum() -> None:
    found = solve(X, Y, lam=LAM, fpr_max=FPR, tol=1e-6)
    head = libauc_sopa(X, Y, LAM, FPR, 0.1, passes=30, batch=32)
    audit = certify(X, Y, w=head, lam=LAM, fpr_max=FPR)
    assert audit.primal is not None and np.linalg.norm(head) > 0.1
    assert found.certificate.dual <= audit.primal <= 1.5 * found.certificate.primal
