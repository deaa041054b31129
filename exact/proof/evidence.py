"""What a proof file holds of a dual point: generating weights, or whole-number marginals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..problem.evidence import Alpha, Weights
from ..problem.minorant import Minorant
from ..tools.lossless import as_float64

LARGEST_REPETITION = 1 << 26  # Row weights in a proof file are whole numbers below this.


def evidence_of(
    witness: Minorant, mask: np.ndarray, repeats: np.ndarray
) -> tuple[str, dict[str, Any]]:
    """Return the kind of evidence and its fields."""
    evidence = witness.evidence
    if isinstance(evidence, Alpha):
        raise InputError("a proof file is for all pairs: this solution is one of a pair list")
    if isinstance(evidence, Weights):
        return "weights", {
            "w_dual": np.asarray(evidence.w, dtype=float),
            "bins": np.int64(evidence.bins),
            "half": np.int64(evidence.half),
            "scale": np.float64(evidence.scale),
        }
    if witness.c.shape != mask.shape:
        raise InputError(
            f"a witness of {witness.c.size} rows does not belong to data of {mask.size}"
        )
    u, v, cap = integer_marginals(witness.c, mask, repeats)
    return "marginals", {"u": u, "v": v, "cap": np.int64(cap), "scale": np.float64(1.0)}


def integer_marginals(
    c: np.ndarray, mask: np.ndarray, repeats: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return whole-number marginals of each copy of a row, and the cap of a pair of copies.

    Row i has mass c_i, so each of its r_i copies has c_i / r_i, which is rounded down to a whole
    number of units 1 / (cap n_pos n_neg), n_pos and n_neg counting copies. The units are so small
    (2^61 of them fill the cap of all pairs of one copy) that only the rounding already in `c` is
    left to see.
    """
    sums = [int(repeats[side].sum()) for side in (mask, ~mask)]
    cap = 1 << max(61 - max(sums).bit_length(), 0)
    units = np.longdouble(cap) * np.longdouble(sums[0]) * np.longdouble(sums[1])
    whole = []
    for side, sign, others in ((mask, 1, sums[1]), (~mask, -1, sums[0])):
        mass = np.maximum(sign * c[side], 0.0).astype(np.longdouble)
        copies = np.maximum(repeats[side], 1)
        number = np.floor(mass / copies * units)
        whole.append(np.minimum(number, np.longdouble(cap * others)).astype(np.int64))
    return whole[0], whole[1], cap


def repetitions(weight: object, n: int) -> np.ndarray:
    """Return whole row weights, or ones."""
    if weight is None:
        return np.ones(n, dtype=np.int64)
    r = as_float64(weight, "the weights")
    if r.shape != (n,):
        raise InputError(f"{n} rows, but weights of shape {r.shape}")
    fine = (r >= 0) & (r < LARGEST_REPETITION) & (r == np.floor(r))
    if not fine.all():
        row = int(np.flatnonzero(~fine)[0])
        raise InputError(
            f"the weight of row {row} is {r[row]}: a proof file takes whole numbers "
            f"from 0 to {LARGEST_REPETITION - 1}, how often each row counts"
        )
    return r.astype(np.int64)
