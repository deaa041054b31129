"""LibAUC's one-way partial AUC on a linear model: its own loss and optimizer, where installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np


def has_libauc() -> bool:
    """Whether LibAUC and PyTorch are installed here."""
    return find_spec("libauc") is not None and find_spec("torch") is not None


def libauc_sopa(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    fpr: float,
    step: float,
    passes: int = 10,
    batch: int = 64,
    seed: int = 0,
) -> np.ndarray:
    """Return the weights of LibAUC's `SOPA` on its `pAUC_CVaR_Loss` of the hinge.

    Weight decay lam makes its objective ours. Batches, passes and the fall of the step are those of
    `pair_problem_data.sopa`; `step` is that of the thresholds, too. There is no momentum, and
    gradients are clipped to one, as its default is.

    Parameters
    ----------
    X : array (n, p)
    y : array (n,)
        0 and 1.
    lam, fpr, step : float
    passes : int
        Over the positive rows.
    batch : int
        Rows of either class.
    seed : int
    """
    torch: Any = import_module("torch")
    losses: Any = import_module("libauc.losses")
    optimizers: Any = import_module("libauc.optimizers")
    rng = np.random.default_rng(seed)
    up, low = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    model = torch.nn.Linear(X.shape[1], 1, bias=False, dtype=torch.float64)
    torch.nn.init.zeros_(model.weight)
    words: dict[str, Any] = {"beta": fpr, "eta": step, "surr_loss": "hinge", "device": "cpu"}
    loss = losses.pAUC_CVaR_Loss(data_len=y.size, pos_len=up.size, **words)
    loss.u_pos = loss.u_pos.double()
    words = {"mode": "sgd", "lr": step, "momentum": 0.0, "weight_decay": lam, "device": "cpu"}
    optimizer = optimizers.SOPA(model.parameters(), **words)
    rows, labels = torch.from_numpy(X), torch.from_numpy(np.asarray(y, dtype=float))
    for k in range(passes):
        rate = step * (0.1 if k >= passes // 2 else 1.0) * (0.1 if k >= 3 * passes // 4 else 1.0)
        loss.eta = optimizer.param_groups[0]["lr"] = rate
        rng.shuffle(up)
        for start in range(0, up.size - batch + 1, batch):
            rows_drawn = np.concatenate([up[start : start + batch], rng.choice(low, batch)])
            at = torch.from_numpy(rows_drawn)
            optimizer.zero_grad()
            loss(model(rows[at]), labels[at][:, None], at).backward()
            optimizer.step()
    return model.weight.detach().numpy()[0].copy()
