"""Claims about the Gaussian lemmas behind Theorem 2 [SHT, Lemma 3, Lemma 4, eq. (17), eq. (18)]."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy import stats

from ...extremes import above, max, min
from ..claim import Context, Outcome, Verdict
from ..common import LEVEL

# Features, and k of Lemma 3, whose vectors have 2k nonzeros: 495 supports can be tried.
D, K = 12, 2


def _supports(size: int) -> np.ndarray:
    return np.array(list(combinations(range(D), size)))


def _least_stretch(X: np.ndarray, size: int) -> float:
    """Return the least |Xv| / (sqrt(n) |v|) over all v with that many nonzeros, exactly."""
    gram, chosen = X.T @ X / len(X), _supports(size)
    blocks = gram[chosen[:, :, None], chosen[:, None, :]]
    return math.sqrt(max(float(np.linalg.eigvalsh(blocks)[:, 0].min()), 0.0))


def sht_lemma_3(context: Context) -> Outcome:
    count, details, surest, useful = 20 if context.quick else 400, {}, 1.0, []
    for n in (100, 4000):
        rng, bound = context.rng(f"{n}"), 0.5 - 6 * math.sqrt(2 * K * math.log(D) / n)
        found = [_least_stretch(rng.standard_normal((n, D)), 2 * K) for _ in range(count)]
        hits = sum(above(bound, stretch) for stretch in found)
        surest = min(surest, float(stats.binom.sf(hits - 1, count, math.exp(-n / 72))))
        details[f"n = {n}: right side, least left side"] = [bound, min(found)]
        details[f"n = {n}: violated"] = hits
        useful.append(bound > 0)
    needed = 288 * K * math.log(D)
    return Outcome(
        Verdict.FAILS if surest < LEVEL else Verdict.HOLDS if any(useful) else Verdict.VACUOUS,
        f"violated in none of {2 * count} draws; negative, and empty, for n below {needed:,.0f}"
        if surest == 1.0
        else f"violated more often than exp(-n/72) allows: level {surest:.1e}",
        details=details | {"draws of each n": count},
        tolerance=f"exact binomial test at level {LEVEL:g}; the left side by trying all supports",
    )


def _tail(kind: str, d: int, k: int, t: float) -> float:
    """Return the probability of (18) where it has a closed form, sigma = 1."""
    limit = t * math.log(2 * d / k)
    if kind == "all equal":  # one variable d times: any k
        return float(stats.chi2.sf(limit, 1))
    if k == d:
        return float(stats.chi2.sf(k * limit, d))
    return float(-np.expm1(d * np.log1p(-stats.chi2.sf(limit, 1))))  # k = 1: the largest


def sht_lemma_4(context: Context) -> Outcome:
    worst, cases = 0.0, 0
    for d in (2, 10, 100, 1000):
        for kind, k in (("independent", 1), ("independent", d), ("all equal", max(d // 5, 1))):
            for t in (0.25, 1.0, 2.0, 8 / 3, 3.0, 4.0, 16 / 3, 8.0):
                worst = max(worst, _tail(kind, d, k, t) / (2 * d / k) ** (1 - 3 * t / 8))
                cases += 1
    d, k, count = 50, 5, 20_000 if context.quick else 1_000_000
    rows = np.sort(np.square(context.rng().standard_normal((count, d))), axis=1)[:, -k:]
    means, chance, shares = rows.mean(axis=1), 1.0, {}
    for t in (2.7, 3.0, 3.5, 4.0):
        allowed = (2 * d / k) ** (1 - 3 * t / 8)
        hits = int(above(means, t * math.log(2 * d / k)).sum())
        chance = min(chance, float(stats.binom.sf(hits - 1, count, allowed)))
        shares[f"d = 50, k = 5, t = {t:g}: share of draws, bound"] = [hits / count, allowed]
    return Outcome(
        Verdict.HOLDS if worst <= 1 and chance >= LEVEL else Verdict.FAILS,
        f"probability / bound at most {worst:.3f} in {cases} closed forms",
        details=shares | {"largest probability / bound, closed forms": worst, "draws": count},
        tolerance=f"closed forms exact; the draws by a binomial test at level {LEVEL:g}",
    )


def sht_eq_21_cross_term_of_the_means(context: Context) -> Outcome:
    s, count, rng = 3, 500 if context.quick else 20_000, context.rng()
    chosen, bound = _supports(s), 32 / 3 * s * math.log(D)
    found = np.empty(count)
    for at in range(count):
        # Means times the roots of the class sizes; on a support the largest 2 (v'a)(v'b) for
        # |v| = 1 is a'b + |a||b|.
        a, b = rng.standard_normal((2, D))
        inside = (a[chosen] * b[chosen]).sum(axis=1)
        lengths = np.sqrt(np.square(a[chosen]).sum(axis=1) * np.square(b[chosen]).sum(axis=1))
        found[at] = (inside + lengths).max()
    hits = int(above(found, bound).sum())
    chance = float(stats.binom.sf(hits - 1, count, s / D))
    return Outcome(
        Verdict.FAILS if chance < LEVEL else Verdict.HOLDS,
        f"violated in {hits} of {count} draws; the bound is {bound / found.max():.1f} times the "
        "largest value",
        details={
            "draws": count,
            "violated": hits,
            "in units of 1 / sqrt(n+ n-): bound": bound,
            "in units of 1 / sqrt(n+ n-): median and largest left side": [
                float(np.median(found)),
                float(found.max()),
            ],
        },
        tolerance=f"exact binomial test of s/d = {s / D:g} at level {LEVEL:g}",
    )
