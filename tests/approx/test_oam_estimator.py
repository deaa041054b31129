"""The certificate of OAM: of the objective that it starts from, against the naive forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import OAM
from aucert.exact import solve
from loops import each

RNG = np.random.default_rng(4)
Y = np.arange(60) % 3 == 0
X = np.round(RNG.normal(size=(60, 3)) + 0.8 * Y[:, None], 1)


def naive(w: np.ndarray, C: float) -> float:
    """Return |w|^2 / 2 + C sum of the hinge, over C n_pos n_neg."""
    margins = (X[Y] @ w)[:, None] - (X[~Y] @ w)
    return (w @ w / 2 + C * np.maximum(0.0, 1 - margins).sum()) / (C * margins.size)


@each("kind", [np.asarray, sp.csr_matrix])
@each("given", [{}, {"C": 1.0}, {"average": True}, {"radius": 0.1}], ids=str)
def test_the_certificate_is_of_the_objective_that_the_page_states(given, kind) -> None:
    model = OAM(random_state=0, **given).fit(kind(X), Y)
    held, lam = model.certificate_, 1 / (model.C * int(Y.sum()) * int((~Y).sum()))
    assert held.primal == pytest.approx(naive(model.coef_[0], model.C), rel=1e-12)
    best = solve(X, Y, lam, tol=1e-9)
    assert held.dual <= best.certificate.primal
    assert held.primal >= best.certificate.dual
    apart = float(np.linalg.norm(model.coef_[0] - best.w))
    assert apart <= held.radius + best.certificate.radius
    assert held.statement.startswith(
        f"Proved on the training rows: of the mean hinge over all pairs + {lam!r} |w|^2 / 2, the"
    )


def test_more_rows_take_the_certificate_away() -> None:
    model = OAM(random_state=0).fit(X, Y)
    assert not hasattr(model.partial_fit(X, Y), "certificate_")
