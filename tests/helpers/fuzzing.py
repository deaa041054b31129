"""The fuzzer: a kind makes one hard problem from a seed and judges every claim about it.

    python tests/helpers/fuzzing.py 17 18 500:600       reruns these seeds and prints what they do
    python tests/helpers/fuzzing.py core 0:1000         the same for the kinds of `CORE`
    python tests/helpers/fuzzing.py pairs 0:300         and for those of `PAIRS`
    python tests/helpers/fuzzing.py routes 0:1000       and for those of `ROUTES`
    python tests/helpers/fuzzing.py parted 0:200        and for those of `PARTED`

A new kind is one function in a list of `KINDS`: it takes a random generator and returns the `Found`
of what was claimed. Input that is refused with `InputError` is counted; anything else that is
raised is a fault.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

import naive
from aucert.exact import AllPairs, InputError, PairList, TooLargeError, linear_problem
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.problem.minorant import Minorant


@dataclass
class Found:
    """What one problem showed.

    Attributes
    ----------
    name : str
    made, refused : int
        Claims made, and refusals.
    false : list of str
        What is false in the claims.
    """

    name: str
    made: int = 0
    refused: int = 0
    false: list[str] = field(default_factory=list)

    def judged(self, wrong: list[str]) -> Found:
        """Count one claim and what is wrong with it."""
        self.made += 1
        self.false += wrong
        return self


Kind = Callable[[np.random.Generator, Found], object]


@dataclass
class Tally:
    """Counts of many problems, by kind."""

    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)

    def add(self, kind: str, seed: int, found: Found) -> None:
        """Count one problem."""
        self.made[kind] += found.made
        self.refused[kind] += found.refused
        self.wrong[kind] += bool(found.false)
        self.false += [f"seed {seed}, {kind}: {found.name}: {text}" for text in found.false]

    def __str__(self) -> str:
        """Return the counts, one line a kind, and every false claim with its seed."""
        kinds = sorted(self.made | self.refused | self.wrong)
        lines = [
            f"{kind:14} made {self.made[kind]:5} refused {self.refused[kind]:4} "
            f"false {self.wrong[kind]:3}"
            for kind in kinds
        ]
        lines.append(
            f"{'all':14} made {self.made.total():5} refused {self.refused.total():4} "
            f"false {self.wrong.total():3}"
        )
        return "\n".join(lines + self.false)


def run(seeds: Iterable[int], kinds: list[Kind]) -> Tally:
    """Return the tally of the problems of these seeds; seed s is of kind s modulo their number."""
    tally = Tally()
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        tally.add(kind.__name__, seed, one(seed, kind))
    return tally


def one(seed: int, kind: Kind) -> Found:
    """Return what the problem of one seed shows."""
    found = Found("not made")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)  # overflow, or something divided by 0
            kind(np.random.default_rng([1618, seed]), found)
    except (InputError, TooLargeError):
        found.refused += 1
    except Exception as error:  # of any type: nothing but a refusal may be raised
        found.false.append(f"{type(error).__name__}: {error}")
    return found


def seeds_of(arguments: list[str]) -> list[int]:
    """Return the seeds named: numbers, and ranges like 500:600."""
    ends = [argument.partition(":") for argument in arguments]
    return [seed for a, _, b in ends for seed in range(int(a), int(b) if b else int(a) + 1)]


SHAPES = (
    *("gaussian", "ties", "constant", "duplicates", "columns", "scale", "offset", "heavy"),
    *("far row", "separable", "wide", "equal", "gaussian", "ties"),
)
FORMS = (
    *("plain", "fortran", "strided", "reversed", "read-only", "float32", "float16", "int8"),
    *("int64", "bool", "list", "memory map", "longdouble", "plain"),
)
SPARSE_FORMS = ("repeated", "cancelling", "unsorted", "csc", "coo", "float32", "zeros stored")
SCALES = (-150, -139, -99, -60, -20, -8, 8, 20, 60, 98, 150)


@dataclass(frozen=True, eq=False)
class Hard:
    """One data set: what is given, and what it means.

    Attributes
    ----------
    X : object
        As a caller would give it.
    true : float array (n, d)
        The numbers meant.
    y : int array (n,)
    name : str
    """

    X: Any
    true: np.ndarray
    y: np.ndarray
    name: str

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        return self.y == 1


def hard_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return 0 and 1, now and then with one row of a class only."""
    n_pos = [1, n - 1, int(rng.integers(1, n)), max(1, n // 3), max(1, n // 3)][rng.integers(5)]
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[:n_pos]] = 1
    return y


def hard_values(rng: np.random.Generator, y: np.ndarray, d: int, shape: str) -> np.ndarray:
    """Return rows (n, d) of the given shape."""
    X = rng.normal(size=(y.size, d)) + rng.uniform(0, 1.5) * y[:, None]
    if shape == "ties":
        X = np.round(X)
    elif shape == "constant":
        X[:, rng.integers(d)] = 3.7
    elif shape == "duplicates":
        X = X[rng.integers(0, max(1, y.size // 3), y.size)]
    elif shape == "columns":
        X = X * 10.0 ** rng.integers(-30, 30, d)
    elif shape == "scale":
        X = X * 10.0 ** float(rng.choice(SCALES))
    elif shape == "offset":
        X = X + 10.0 ** rng.integers(2, 9)
    elif shape == "heavy":
        X = X * np.exp(3 * rng.normal(size=(y.size, 1)))
    elif shape == "far row":
        X[rng.integers(y.size)] *= 10.0 ** rng.integers(2, 10)
    elif shape == "separable":
        X = X + 8.0 * y[:, None]
    elif shape == "equal":
        X[:] = X[0]
    return X


def hard_rows(
    rng: np.random.Generator, largest: int = 60, shape: str | None = None, form: str | None = None
) -> Hard:
    """Return dense rows in some form; n from 2 to `largest`."""
    shape = shape or str(rng.choice(SHAPES))
    form = form or str(rng.choice(FORMS))
    n = int(np.exp(rng.uniform(np.log(2), np.log(largest + 0.99))))
    d = n + int(rng.integers(1, 9)) if shape == "wide" else int(rng.integers(1, 7))
    y = hard_labels(rng, n)
    X = hard_values(rng, y, d, shape)
    given, true = in_form(X, form)
    return Hard(given, true, y, f"{shape}, {form}, X {X.shape}")


def in_form(X: np.ndarray, form: str) -> tuple[Any, np.ndarray]:
    """Return X as a caller might have it, and the numbers that these are."""
    if form in ("float16", "int8", "bool", "int64", "float32"):
        with np.errstate(over="ignore", under="ignore"):
            small = _narrowed(X, form)
        return small, small.astype(float)
    if form == "fortran":
        return np.asfortranarray(X), X
    if form == "strided":
        wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
        wide[::2, 1::2] = X
        return wide[::2, 1::2], X
    if form == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1], X
    if form == "read-only":
        X = X.copy()
        X.flags.writeable = False
        return X, X
    if form == "list":
        return X.tolist(), X
    if form == "longdouble":
        return X.astype(np.longdouble), X
    if form == "memory map":
        with tempfile.TemporaryFile() as file:
            X.tofile(file)
            file.flush()
            return np.memmap(file, dtype=float, mode="r", shape=X.shape), X
    return X, X


def _narrowed(X: np.ndarray, form: str) -> np.ndarray:
    if form == "bool":
        return X > np.median(X)
    if form in ("int8", "int64"):
        return np.clip(np.round(2 * X), -100, 100).astype(form)
    top = 6e4 if form == "float16" else 1e38
    return np.clip(X, -top, top).astype(form)


def hard_sparse(rng: np.random.Generator, largest: int = 40) -> Hard:
    """Return sparse rows, not canonical: entries that repeat, cancel, are unsorted or zero."""
    form = str(rng.choice(SPARSE_FORMS))
    n, d = int(rng.integers(2, largest + 1)), int(rng.integers(1, 9))
    y = hard_labels(rng, n)
    X = rng.normal(size=(n, d)) + rng.uniform(0, 1.5) * y[:, None]
    X = np.round(X * 2**20) / 2**20  # so that sums of a few entries are exact
    X[rng.uniform(size=X.shape) < rng.uniform(0, 0.9)] = 0.0
    if form == "float32":
        X = X.astype(np.float32).astype(float)
    plain = sp.csr_matrix(X)
    made = {"csc": plain.tocsc, "coo": plain.tocoo}.get(form, lambda: _odd(rng, X, form))()
    return Hard(made, X, y, f"sparse {form}, X {X.shape}")


def _odd(rng: np.random.Generator, X: np.ndarray, form: str) -> sp.csr_matrix:
    """Return a CSR matrix of the rows X whose entries are stored in an odd way."""
    data, columns, ends = [], [], [0]
    for row in X:
        entries = [(k, x) for k, x in enumerate(row.tolist()) if x or form == "zeros stored"]
        if form == "repeated":
            entries = [(k, x / 2) for k, x in entries for _ in range(2)]
        if form == "cancelling":
            for k in rng.integers(0, row.size, 2).tolist():
                big = float(2 ** rng.integers(0, 31))
                entries += [(k, big), (k, -big)]
        if form in ("unsorted", "repeated", "cancelling"):
            entries = [entries[k] for k in rng.permutation(len(entries))]
        data += [x for _, x in entries]
        columns += [k for k, _ in entries]
        ends.append(len(data))
    kind = np.float32 if form == "float32" else float
    parts = (np.array(data, dtype=kind), np.array(columns, dtype=np.int32), np.array(ends))
    return sp.csr_matrix(parts, shape=X.shape)


def hard_lam(rng: np.random.Generator, X: np.ndarray) -> float:
    """Return a lam between 1e-6 and 1e2 in units of the rows' squared size."""
    apart = X - X[0]
    with np.errstate(over="ignore", under="ignore"):
        unit = float(np.median((apart**2).sum(axis=1))) or float((apart**2).max())
    unit = min(max(unit, 1e-90), 1e90) if np.isfinite(unit) and unit > 0 else 1.0
    return float(10.0 ** rng.uniform(-6, 2) * unit)


def hard_weight(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Return row weights: counts, zeros and 1e8, or numbers of far sizes."""
    kind = rng.integers(4)
    if kind == 0:
        weight = rng.integers(0, 4, y.size).astype(float)
    elif kind == 1:
        weight = rng.choice([0.0, 1e8], y.size)
    elif kind == 2:
        weight = rng.choice([0.0, 1.0, 1e8], y.size)
    else:
        weight = 10.0 ** rng.uniform(-9, 9, y.size)
    for label in (0, 1):
        weight[np.flatnonzero(y == label)[0]] = 1.5
    return weight


def hard_pairs(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> AllPairs | PairList:
    """Return all pairs, with row weights or not, or pairs drawn or nearest."""
    choice, plus, minus = rng.uniform(), np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    if choice < 0.5:
        return AllPairs()
    if choice < 0.75:
        return AllPairs(hard_weight(rng, y))
    if choice < 0.85 and float(np.abs(X).max()) < 1e100:
        return nearest_pairs(X, y == 1, int(rng.integers(1, 4)))
    m = int(rng.integers(1, 80))
    weight = 10.0 ** rng.uniform(-6, 6, m) if rng.integers(2) else None
    return PairList(rng.choice(plus, m), rng.choice(minus, m), weight)


def hard_loss(rng: np.random.Generator) -> str:
    """Return the hinge (three in five), the squared hinge or the square."""
    losses = ["hinge", "hinge", "hinge", "squared_hinge", "square"]
    return losses[rng.integers(5)]


def copied(X: Any) -> Any:
    return X.copy() if hasattr(X, "copy") else X


def rewritten(X: Any, before: Any) -> list[str]:
    """Return whether the caller's data were written to."""
    if hasattr(X, "indices"):
        parts = [(getattr(X, name), getattr(before, name)) for name in ("data", "indices")]
    else:
        parts = [(np.asarray(getattr(m, "data", m)), np.asarray(getattr(n, "data", n)))
                 for m, n in ([(X, before)] if hasattr(X, "row") else [])]  # fmt: skip
        if not parts:
            parts = [(np.asarray(X), np.asarray(before))]
    same = all(np.array_equal(a, b) for a, b in parts)
    return [] if same else ["the caller's data were written to"]


BITS = 160
"""Kernel values are whole numbers of 2^-160."""

TIGHT: Any = {"tol": 1e-12, "max_time": 2.0}
"""How a strong point is looked for; how strong it is decides what is seen, not what is true."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of weights: the fields of a `Certificate`, each true by itself."""

    w: np.ndarray
    primal: float
    dual: float
    gap: float
    radius: float
    rounding: float
    relative_gap: float | None = None

    @classmethod
    def of(cls, w: np.ndarray, certificate: Any) -> Claim:
        """Return the claim of a `Certificate` or an `Audit`."""
        bounds = (certificate.primal, certificate.dual, certificate.gap)
        more = (certificate.radius, certificate.rounding, certificate.relative_gap)
        return cls(np.asarray(w, dtype=float), *bounds, *more)


class Truth(Protocol):
    """F at any point, the squared distance of two, and lam, as fractions."""

    lam: Fraction

    def objective(self, w: np.ndarray) -> Fraction:
        """Return F(w)."""
        ...

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |f - g|^2."""
        ...


class LinearTruth:
    """The exact mode on the numbers that were meant."""

    def __init__(
        self, X: np.ndarray, positive: np.ndarray, lam: float, loss: str, pairs: Any = None
    ):
        self.problem = linear_problem(X, positive, lam, loss, pairs, positive=True)
        self.X, self.lam = X, Fraction(lam)
        self._none = Minorant.from_scores(self.problem, np.zeros(self.problem.n))

    def objective(self, w: np.ndarray) -> Fraction:
        """Return F(w)."""
        return ExactCertificate.of(self.problem, w, self._none).primal

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |w - other|^2."""
        both = zip(naive.exact(w), naive.exact(other), strict=True)
        return sum(((x - y) ** 2 for x, y in both), Fraction(0))


class NaiveTruth:
    """Double loops over the pairs, for a Gram matrix or rows in fractions, with structure.

    Parameters
    ----------
    rows : list of lists of Fraction
        The Gram matrix of a kernel, or rows of features.
    kernel : bool
        Which of the two.
    """

    def __init__(
        self,
        rows: list[list[Fraction]],
        kernel: bool,
        positive: np.ndarray,
        lam: float,
        loss: str,
        pairs: AllPairs | PairList,
        structure: float = 0.0,
        source: str = "full",
    ):
        self.rows, self.kernel, self.positive = rows, kernel, positive
        self.lam, self.loss, self.structure = Fraction(lam), loss, Fraction(structure)
        listed = naive.weighted_pairs(positive.tolist(), pairs)
        mass = sum(c for _, _, c in listed)
        self.pairs = [(i, j, c / mass) for i, j, c in listed]
        self.spread = self.pairs if source == "sampled" and isinstance(pairs, PairList) else None
        whole = pairs if isinstance(pairs, AllPairs) else AllPairs()
        self.weight = naive.exact(np.ones(positive.size) if whole.weight is None else whole.weight)

    def objective(self, w: np.ndarray) -> Fraction:
        """Return lam/2 (|f|^2 + structure f'Sigma f) + the mean loss."""
        return self.objective_of(naive.exact(w))

    def objective_of(self, w: list[Fraction]) -> Fraction:
        """Return the same of weights in fractions."""
        s = naive.products(self.rows, w)
        mean = sum(c * naive.loss_value(self.loss, s[i] - s[j]) for i, j, c in self.pairs)
        norm2 = self._norm2(w, s)
        if self.structure:
            norm2 += self.structure * self._variance(s)
        return mean + self.lam / 2 * norm2

    def _norm2(self, w: list[Fraction], s: list[Fraction]) -> Fraction:
        both = zip(w, s if self.kernel else w, strict=True)
        return sum((x * y for x, y in both), Fraction(0))

    def _variance(self, s: list[Fraction]) -> Fraction:
        if self.spread is not None:
            mean = sum((c * (s[i] - s[j]) for i, j, c in self.spread), Fraction(0))
            apart = [(s[i] - s[j] - mean, c) for i, j, c in self.spread]
            return sum((c * x * x for x, c in apart), Fraction(0))
        total = Fraction(0)
        for side in (True, False):
            rows = [k for k, label in enumerate(self.positive.tolist()) if label == side]
            mass = sum(self.weight[k] for k in rows)
            mean = sum(self.weight[k] * s[k] for k in rows) / mass
            total += sum(self.weight[k] * (s[k] - mean) ** 2 for k in rows) / mass
        return Fraction(total)

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |f - g|^2 in the norm of the penalty."""
        apart = [x - y for x, y in zip(naive.exact(w), naive.exact(other), strict=True)]
        s = naive.products(self.rows, apart)
        return self._norm2(apart, s) + self.structure * self._variance(s)


def true_gram(X: np.ndarray, kernel: str, gamma: float) -> list[list[Fraction]]:
    """Return k(x_i, x_j) to 2^-160, from the definitions."""
    rows, context = naive.exact(X), Context(prec=60)
    found = [[Fraction(1)] * len(rows) for _ in rows]
    for i, x in enumerate(rows):
        for j in range(i):
            apart = [a - b for a, b in zip(x, rows[j], strict=True)]
            far = sum((abs(a) if kernel == "laplacian" else a * a) for a in apart)
            far *= Fraction(gamma)
            value = Fraction(0)
            if far < 700:
                power = context.divide(Decimal(-far.numerator), Decimal(far.denominator))
                value = Fraction(context.exp(power))
            value = Fraction(int(value * (1 << BITS)), 1 << BITS)
            found[i][j] = found[j][i] = value
    return found


def bound_faults(
    claim: Any, value: Fraction, least: Fraction, slack: Fraction = Fraction(0)
) -> list[str]:
    """Return what is false in the bounds of a claim; nothing is added to them for rounding.

    Parameters
    ----------
    claim : Claim, Certificate or Audit
    value, least : Fraction
        F at the weights, and an upper bound of the optimum.
    slack : Fraction
        What the two may be off by.
    """
    wrong = []
    upper, lower = Fraction(claim.primal), Fraction(claim.dual)
    if value > upper + slack:
        wrong.append(f"F is {float(value - upper):.3g} above the primal {claim.primal!r}")
    if upper - Fraction(claim.rounding) > value + slack:
        low = float(upper - value)
        wrong.append(f"the primal is {low:.3g} above F, its rounding {claim.rounding:.3g}")
    if lower > least + slack:
        wrong.append(f"the dual exceeds F(best) by {float(lower - least):.3g}")
    if Fraction(claim.gap) < upper - lower:
        wrong.append(f"the gap {claim.gap!r} is below primal - dual")
    if value - least > Fraction(claim.gap) + slack:
        wrong.append(f"the gap is at least {float(value - least):.6g}, not {claim.gap:.6g}")
    share = claim.relative_gap
    if upper > 0 and (share is None or (value - least) > (Fraction(share) + slack) * value):
        wrong.append(f"the relative gap is at least {float((value - least) / value)}, not {share}")
    return wrong


def faults(claim: Claim, truth: Truth, best: np.ndarray, best_radius: float = np.inf) -> list[str]:
    """Return what is false in a claim, given the best point that is known.

    Parameters
    ----------
    best : array (dim,)
        F there is an upper bound of the optimum.
    best_radius : float
        The optimum is at most so far from it.
    """
    value = truth.objective(claim.w)
    least = min(value, truth.objective(best))
    wrong = bound_faults(claim, value, least)
    upper, lower = Fraction(claim.primal), Fraction(claim.dual)
    if Fraction(claim.radius) ** 2 * truth.lam < 2 * (upper - lower):
        wrong.append(f"the radius {claim.radius:.17g} is below sqrt(2 (primal - dual) / lam)")
    if best_radius < np.inf:
        far = Fraction(claim.radius) + Fraction(best_radius)
        if truth.distance2(claim.w, best) > far * far:
            wrong.append(f"the optimum is farther than the radius {claim.radius:.6g}")
    return wrong


if __name__ == "__main__":
    from fuzz_core import CORE, PAIRS, ROUTES
    from fuzz_kinds import KINDS
    from fuzz_partitions import PARTED

    begin = time.process_time()
    named = {"core": CORE, "pairs": PAIRS, "parted": PARTED, "routes": ROUTES}
    chosen = named.get(sys.argv[1] if len(sys.argv) > 1 else "", KINDS)
    seeds = sys.argv[1:] if chosen is KINDS else sys.argv[2:]
    tally = run(seeds_of(seeds), chosen)
    print(tally, f"{time.process_time() - begin:.1f} s", sep="\n")
    sys.exit(bool(tally.false))
