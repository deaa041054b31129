"""Claims about the number of pairs [SAUC, Section 3.2, Table 2] and their cost [Section 3.5]."""

from __future__ import annotations

import numpy as np

from ....exact.pairs.nearest_pairs import nearest_pairs
from ...data.generators import xor_train_test
from ...data.printed_numbers import printed
from ..claim import Context, Outcome, Verdict
from ..common import exponent

# Number of pairs by k, on 40 rows of one class and 80 of the other. [SAUC, Table 2]
PRINTED = {
    int(k): int(row["rows or pairs, AUC-SVM"])
    for k, row in printed("SAUC", "Table 2").items()
    if k != "80"  # all pairs
}


def counts(seeds: list[int], k: int, rule: str, anchor_filter: str = "none") -> np.ndarray:
    """Return the number of pairs in each draw of the toy problem."""
    found = []
    for seed in seeds:
        data, _ = xor_train_test(seed)
        found.append(nearest_pairs(data.X, data.is_positive, k, rule, anchor_filter).i.size)
    return np.array(found)


def _seeds(context: Context, number: int) -> list[int]:
    return [context.draw_seed(f"draw {t}") for t in range(number)]


def _text(values: np.ndarray) -> str:
    return f"{values.min()} to {values.max()}"


def sauc_pair_counts_by_the_printed_rule(context: Context) -> Outcome:
    seeds = _seeds(context, 20 if context.quick else 500)
    found = {k: counts(seeds, k, "union") for k in PRINTED}
    refuted = [k for k, count in PRINTED.items() if found[k].min() > count]
    return Outcome(
        Verdict.FAILS if refuted else Verdict.HOLDS,
        f"k = 5: {_text(found[5])}; k = 30: {_text(found[30])}",
        printed=", ".join(map(str, PRINTED.values())),
        details={f"k = {k}: range of the counts": _text(x) for k, x in found.items()}
        | {f"k = {k}: printed": count for k, count in PRINTED.items()}
        | {f"k = {k}: least possible": 80 * k for k in PRINTED}
        | {"draws": len(seeds), "seed of the first draw": seeds[0]},
        tolerance="refuted where the fewest pairs of any draw are more than printed",
    )


def sauc_pair_counts_with_anchors_of_one_class(context: Context) -> Outcome:
    divisible = all(count % k == 0 for k, count in PRINTED.items())
    seeds = _seeds(context, 1000 if context.quick else 10_000)
    some = seeds[:40]
    ranges = {k: counts(some, k, "anchor", "E") for k in PRINTED}
    whole = {k: counts(some, k, "anchor") for k in PRINTED}
    divisible &= all((x % k == 0).all() for k, x in ranges.items())
    alike = {k: float((x == PRINTED[k]).mean()) for k, x in ranges.items()}
    left = seeds
    for k, count in PRINTED.items():  # the first k is met by few draws
        hit = counts(left, k, "anchor", "E") == count
        left = [seed for seed, yes in zip(left, hit, strict=True) if yes]
        if not left:
            break
    return Outcome(
        Verdict.HOLDS if divisible and left else Verdict.FAILS,
        f"all six counts in {len(left)} of {len(seeds)} draws; k = 5: {_text(ranges[5])}",
        printed=", ".join(map(str, PRINTED.values())),
        details={f"k = {k}: range of the counts": _text(x) for k, x in ranges.items()}
        | {f"k = {k}: printed": count for k, count in PRINTED.items()}
        | {f"k = {k}: share of 40 draws with the printed count": x for k, x in alike.items()}
        | {f"k = {k}: no anchor dropped": _text(x) for k, x in whole.items()}
        | {"draws with all six counts": len(left), "a seed of these": left[0] if left else None},
        tolerance="every count divisible by k, and one draw or more with all six counts",
    )


def _products(n: int, gathered: bool) -> float:
    """Return the multiplications for the added matrix of (19), n rows, half of them positive."""
    N = (n // 2) ** 2
    kernel = 3.0 * n**3  # R (R + lam R K R)^+ R and its product with K
    if gathered:  # four entries of an n x n matrix for each pair of pairs
        return kernel + 4.0 * N**2
    return kernel + float(N) * n * n + float(N) * n * N


def sauc_cost_of_the_added_matrix(context: Context) -> Outcome:
    n = (10_000, 100_000)
    gathered, printed = (exponent(n, [_products(m, way) for m in n]) for way in (True, False))
    return Outcome(
        Verdict.HOLDS if gathered <= 4.01 else Verdict.FAILS,
        f"operations grow like n^{gathered:.2f}, multiplied out like n^{printed:.2f}",
        printed="n^4",
        details={f"n = {n}": _products(n, True) for n in (100, 1000, 10_000)},
        tolerance="counted in closed form",
    )
