"""Theorem 4 as printed, on small matrices by hand, on the clusters that refute it, and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.spaces.kernels import Gaussian, Kernel, Linear
from aucert.validation.bounds.clusters import ClusterInstance, most_often
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.bounds.printed import Bound, Norms, often, theorem4
from loops import each

KERNEL = Gaussian(2.0)


def made(kernel: Kernel = KERNEL, d: int = 4, n: int = 14, p: int = 3) -> Approximation:
    """A few rows, a third of them positive, and d of them as landmarks."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, p)), rng.permutation(n) < n // 3
    return Approximation.of_landmarks(kernel, X, X[:d], positive)


# The formula.


@each("power", [1.5, 2.5])
@each("p", [0.5, 1.0])
@each("C", ["1/lam", "2/lam", "realised"])
def test_the_terms_are_those_of_the_printed_formula(C: str, p: float, power: float) -> None:
    a = made()
    pairs = draw_pairs(a.positive, 37, 3)
    norms = Norms(full=1.3, drawn=1.7, projected=9.0, drawn_projected=0.8)
    bound = theorem4(a, 0.2, pairs=pairs, C=C, norms=norms, p=p, power=power, delta=0.1)
    truth: Any = a.truth
    K, near = truth.K, a.features @ a.features.T
    n, B, lam = 14, 37, 0.2
    squares = {"1/lam": [5.0] * 3, "2/lam": [10.0] * 3, "realised": [1.69, 2.89, 0.64]}[C]
    E2 = np.abs(np.linalg.eigvalsh(K - near)).max()
    lam_min, lam_plus = np.linalg.eigvalsh(K)[0], np.linalg.eigvalsh(near)[-4]
    drawn = pairs.i.tolist() + pairs.j.tolist()
    N = max(drawn.count(row) for row in range(n))
    A1 = (1 + 2 * max(squares[0], squares[1]) ** 0.5) / 2**0.5
    A2 = (squares[2] / lam_plus) ** 0.5
    A3 = (2 / lam) ** 0.5 * ((squares[0] / lam_min) ** 0.5 + A2) ** p
    assert bound.terms["A1"] == pytest.approx(A1 * np.sqrt(np.log(40) / B))
    assert bound.terms["A2"] == pytest.approx(N / B * A2 * E2 * n**0.5)
    assert bound.terms["A3"] == pytest.approx(N / B * A3 * (N * E2 * n**power / B) ** 0.5)
    assert bound.total == pytest.approx(sum(bound.terms.values()))
    assert bound.at_least == pytest.approx(bound.total)
    assert bound.quantities["N_max"] == pytest.approx(N)


def test_without_pairs_the_largest_count_is_rarely_exceeded() -> None:
    a = made()
    bound = theorem4(a, 0.2, 50)
    t, tail = often(*a.sizes, 50)
    assert bound.quantities["N_max"] == t and tail <= 1e-3
    assert any("N_max" in note for note in bound.notes)


def test_the_chance_of_exceeding_the_largest_count_is_what_is_said() -> None:
    t, tail = often(4, 9, 50, level=0.3)
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(50, [1 / 4] * 4).max() for _ in range(2000)])
    share = (counts > t).mean()
    # a union over the rows: a little too large; five standard errors are 0.05
    assert tail <= 0.3 and tail / 3 < share < tail + 0.05


def test_a_merged_list_counts_every_draw() -> None:
    a = made()
    single = theorem4(a, 0.2, pairs=draw_pairs(a.positive, 400, 1))
    merged = theorem4(a, 0.2, 400, pairs=draw_pairs(a.positive, 400, 1, merge=True))
    assert merged.total == pytest.approx(single.total)


@each("kernel", [Linear(), Gaussian(2.0)])
def test_of_a_singular_kernel_the_bound_is_undefined(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(14, 3))
    X[3], positive = X[0], np.arange(14) % 3 == 0
    a = Approximation.of_landmarks(kernel, X, X[5:8], positive)
    bound = theorem4(a, 0.1, 1000)
    assert bound.total == bound.at_least == np.inf
    assert bound.vacuous and "singular" in bound.notes[-1]
    assert np.isfinite(bound.terms["A1"]) and np.isfinite(bound.terms["A2"])


def test_an_eigenvalue_below_rounding_leaves_a_lower_bound_of_the_bound() -> None:
    a = made(Gaussian(0.01), n=60)
    bound = theorem4(a, 0.1, 1000)
    assert a.lam_min.low == 0.0 < a.lam_min.high
    assert bound.total == np.inf
    assert 1.0 < bound.at_least < np.inf
    assert "maybe 0" in bound.notes[-1]


def test_a_bound_of_one_or_more_is_vacuous() -> None:
    assert Bound("a", {"x": 0.5, "y": 0.5}).vacuous
    assert Bound("a", {"x": float("nan")}).vacuous
    assert not Bound("a", {"x": 0.5, "y": 0.4}).vacuous
    assert not Bound("a", {"x": 1.5}, limit=2.0).vacuous


def test_a_bound_stands_beside_the_true_error() -> None:
    bound = Bound("a", {"x": 0.3, "y": 0.3}, left_side=0.2)
    assert bound.ratio == pytest.approx(3.0) and bound.violated is False
    assert replace(bound, left_side=0.7).violated
    assert replace(bound, left_side=0.0).ratio == np.inf
    unknown = replace(bound, left_side=None)
    assert unknown.ratio is None and unknown.violated is None
    assert str(bound) == "a: 0.2 <= 0.6 = 0.3 (x) + 0.3 (y)"


# The clusters on which the printed theorem is false.


@each("share", [1.0, 7.0])
def test_beyond_floats_the_largest_count_has_chernoffs_bound(share: float) -> None:
    """Of rows so many that counts are Poisson's; below, where the tail is exact, it is larger."""
    n = 2e12
    t, bound = most_often(n, share * n)
    assert n * stats.poisson.sf(t, 2 * share) <= bound <= 0.1
    near, exact = most_often(1e12, share * 1e12)
    assert near <= t <= near + 3 and exact <= 0.1


@each(("n", "B", "low", "high"), [(4e6, 4e9, 0.0, 0.45), (1e7, 1e10, 0.4, 0.42)])
def test_the_printed_theorem_is_violated_with_one_uniform_landmark(
    n: float, B: float, low: float, high: float
) -> None:
    instance = ClusterInstance(n=n, m=20, q=0.5, eta_mixed=0.05, eta_pure=0.1, lam=0.1)
    N_max, tail = most_often(n, B)
    left, missed = instance.left_side(B)
    printed = instance.theorem4(B, N_max).bound()
    assert low < printed < high
    if n == 1e7:  # the landmark lies in the mixed cluster with probability q = 0.5
        assert left > printed and instance.q * (1 - tail - missed) > 0.05
        assert left == pytest.approx(0.45, abs=0.001)
    assert instance.theorem4(B, N_max).bound(2.5) > 1 > left


@pytest.mark.slow
def test_a_kernel_in_memory_violates_the_printed_theorem() -> None:
    """1000 rows, two pure clusters and ten single rows, which are the landmarks."""
    n, lam, B = 1000, 1.24, 50_000
    cluster = np.concatenate([np.zeros(495), np.ones(495), 2 + np.arange(10)]).astype(int)
    positive = np.where(cluster < 2, cluster == 0, cluster % 2 == 0)
    K = 0.5 * (cluster[:, None] == cluster[None, :]) + 0.5 * np.eye(n)
    V = K[:, -10:]  # K of the landmarks is the identity
    a = Approximation.of_matrices(K, V @ V.T, positive)
    pairs = draw_pairs(positive, B, 0)
    f = solve(K, positive, lam, kernel="precomputed", tol=1e-7)
    drawn = solve(K, positive, lam, kernel="precomputed", pairs=pairs, tol=1e-7)
    near = solve(V, positive, lam, pairs=pairs, tol=1e-7)
    norms = Norms(
        full=float(np.sqrt(f.w @ K @ f.w)),
        drawn=float(np.sqrt(drawn.w @ K @ drawn.w)),
        drawn_projected=float(np.linalg.norm(near.w)),
    )
    U = f.certificate.primal - lam / 2 * float(f.w @ K @ f.w)
    U_B = near.certificate.primal - lam / 2 * float(near.w @ near.w)
    printed = theorem4(a, lam, pairs=pairs, C="realised", norms=norms, left_side=abs(U - U_B))
    assert printed.left_side == pytest.approx(0.792, abs=0.005)
    assert printed.total == pytest.approx(0.666, abs=0.02)
    assert printed.violated and not printed.vacuous
    repaired = theorem4(
        a, lam, pairs=pairs, C="realised", norms=norms, power=2.5, left_side=abs(U - U_B)
    )
    assert not repaired.violated and repaired.vacuous


# Bad input.


@each(
    ("arguments", "match"),
    [
        ({"lam": 0.0}, "lam must be > 0"),
        ({"lam": float("nan")}, "lam must be > 0"),
        ({"delta": 0.0}, "delta must be > 0 and < 1"),
        ({"delta": 1.0}, "delta must be > 0 and < 1"),
        ({"B": 0}, "B must be a whole number >= 1"),
        ({"B": None}, "give B"),
        ({"C": "3/lam"}, "C must be one of"),
        ({"C": "realised"}, "needs the norms"),
        ({"C": "realised", "norms": Norms(1.0, 1.0)}, "needs the norms"),
        ({"p": -1.0}, "p must be > 0"),
        ({"N_max": 0.0}, "N_max must be > 0"),
    ],
)
def test_bad_numbers_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        theorem4(made(), **({"lam": 0.1, "B": 10} | arguments))


def test_pairs_of_other_rows_are_refused() -> None:
    a = made()
    wrong = np.flatnonzero(a.positive)[:1]
    with pytest.raises(InputError, match="not a positive row"):
        theorem4(a, 0.1, pairs=PairList(wrong, wrong))
    with pytest.raises(InputError, match="weights of their own"):
        theorem4(a, 0.1, pairs=draw_pairs(a.positive, 400, 1, merge=True))
