"""Claims about cost, tuning and real data [SAUC, Sections 3.5, 4.1 and 4.2]."""

from __future__ import annotations

from ..claim import Context, Outcome, Verdict
from ..common import exponent
from ..papers import SAUC


def _products(n: int, gathered: bool) -> float:
    """Return the multiplications for the added matrix of (19), n rows, half of them positive."""
    N = (n // 2) ** 2
    kernel = 3.0 * n**3  # R (R + lam R K R)^+ R and its product with K
    if gathered:  # four entries of an n x n matrix for each pair of pairs
        return kernel + 4.0 * N**2
    return kernel + float(N) * n * n + float(N) * n * N


def _power(gathered: bool) -> float:
    sizes = (10_000, 100_000)
    return exponent(sizes, [_products(n, gathered) for n in sizes])


def _cost(measured: str, printed: str | None = None) -> Outcome:
    power = _power(gathered=True)
    return Outcome(
        Verdict.HOLDS if power <= 4.01 else Verdict.FAILS,
        f"operations grow like n^{power:.2f}{measured}",
        printed=printed,
        details={f"n = {n}": _products(n, True) for n in (100, 1000, 10_000)},
        tolerance="counted in closed form",
    )


@SAUC.theorem(
    "Section 3.5",
    "The matrix that (19) adds to AUC-SVM, lambda (K+ - K-) R (R + lambda R K R)^(-1) R (K+ - "
    "K-)', can be had in O(n^4) operations (multiplied out as printed, N x n times n x n times n x "
    "N, it takes O(n^5)).",
    formula="n^3 + 4 N^2  with  N = n+ n-",
)
def sauc_cost_of_the_added_matrix(context: Context) -> Outcome:
    return _cost(f", multiplied out like n^{_power(gathered=False):.2f}", "n^4")


@SAUC.corrected(
    "Section 3.5",
    "It costs O(n^4) if the n x n deformed kernel is formed first and its entries are gathered; "
    "the total of the paper, O(n^6), is not affected.",
    formula="n^3 + 4 N^2",
)
def sauc_cost_with_the_deformed_kernel(context: Context) -> Outcome:
    return _cost("")
