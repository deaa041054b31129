"""The dual over a window of pairs as a sparse QP, for solvers of other people."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...problem.problem import Problem
from ...spaces.rows import Rows
from .window import Window

LEAST_PRIMAL = 1e-300  # The QP is divided by F, or by this where F is zero.


def window_qp(
    problem: Problem, window: Window, primal: float
) -> tuple[sp.csc_matrix, np.ndarray, sp.csc_matrix, np.ndarray, np.ndarray]:
    """Return P, q, A, low, high of the lifted dual over the window, scaled to order one.

    Variables are alpha (m,), the window's marginals of the rows that it touches (divided by the
    largest pair weight and by `spread`), and v = g / sqrt(lam F):

        min |v|^2 / 2 - sum c alpha / F   s.t.  u = A'(c alpha),  v sqrt(lam F) = X'u + g_frozen.
    """
    space = problem.space
    if not isinstance(space, Rows):
        raise InputError("the QP over pairs needs rows: factor the kernel first")
    m = window.i.size
    touched, place = np.unique(np.concatenate([window.i, window.j]), return_inverse=True)
    top = float(window.c.max())
    ratio = window.c / top
    # The most that the pairs of one row can carry: divided by it marginals are of order one.
    spread = max(float(np.bincount(place, weights=np.tile(ratio, 2)).max()), 1.0)
    signs = np.concatenate([ratio, -ratio]) / spread
    incidence = sp.csr_matrix((signs, (place, np.tile(np.arange(m), 2))), shape=(touched.size, m))
    rows = space.rows(touched)
    unit = np.sqrt(problem.lam * max(primal, LEAST_PRIMAL))
    gain = top * spread / unit
    d, r = space.dim, touched.size
    A = sp.bmat(
        [
            [incidence, -sp.identity(r), None],
            [None, sp.csr_matrix(rows.T * gain), -sp.identity(d)],
            [sp.identity(m), None, None],
        ],
        format="csc",
    )
    fixed = space.pull(window.frozen) / unit
    low = np.concatenate([np.zeros(r), -fixed, np.zeros(m)])
    high = np.concatenate([np.zeros(r), -fixed, np.ones(m)])
    P = sp.block_diag([sp.csc_matrix((m + r, m + r)), sp.identity(d)], format="csc")
    q = np.concatenate([-window.c / max(primal, LEAST_PRIMAL), np.zeros(r + d)])
    return P, q, A, low, high
