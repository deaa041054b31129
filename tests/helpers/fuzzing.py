"""The fuzzer: a kind makes one hard problem from a seed and judges every claim about it.

    python tests/helpers/fuzzing.py 17 18 500:600       reruns these seeds and prints what they do
    python tests/helpers/fuzzing.py core 0:1000         the same for `CORE`; pairs, routes, parted

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
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

import naive
from aucert.exact import AllPairs, InputError, Minorant, PairList, TooLargeError, linear_problem
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from decimal_losses import mean_of, true_kernel


@dataclass
class Found:
    """What one problem showed: claims made, refusals, and what is false in the claims."""

    name: str
    made: int = 0
    refused: int = 0
    false: list[str] = field(default_factory=list)

    def judged(self, wrong: list[str]) -> None:
        self.made += 1
        self.false += wrong

    def solved(self, truth: Truth, solution: Any, tight: Any) -> None:
        self.judged(faults_next_to(truth, solution.w, solution.certificate, tight))


Kind = Callable[[np.random.Generator, Found], object]


@dataclass
class Tally:
    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = sorted(self.made | self.refused | self.wrong)
        counts = [(k, self.made[k], self.refused[k], self.wrong[k]) for k in kinds]
        counts.append(("all", self.made.total(), self.refused.total(), self.wrong.total()))
        lines = [f"{k:14} made {m:5} refused {r:4} false {f:3}" for k, m, r, f in counts]
        return "\n".join(lines + self.false)


def run(seeds: Iterable[int], kinds: list[Kind]) -> Tally:
    """Return the tally of the problems of these seeds; seed s is of kind s modulo their number."""
    tally = Tally()
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        name, found = kind.__name__, one(seed, kind)
        tally.made[name] += found.made
        tally.refused[name] += found.refused
        tally.wrong[name] += bool(found.false)
        tally.false += [f"seed {seed}, {name}: {found.name}: {text}" for text in found.false]
    return tally


def one(seed: int, kind: Kind) -> Found:
    found = Found("")
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
    """One data set: X as a caller gives it, the numbers meant (n, d), labels, and a name."""

    X: Any
    true: np.ndarray
    y: np.ndarray
    name: str

    @property
    def positive(self) -> np.ndarray:
        return self.y == 1


def hard_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return 0 and 1, now and then with one row of a class only."""
    n_pos = [1, n - 1, int(rng.integers(1, n)), max(1, n // 3), max(1, n // 3)][rng.integers(5)]
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[:n_pos]] = 1
    return y


def hard_values(rng: np.random.Generator, y: np.ndarray, d: int, shape: str) -> np.ndarray:
    X = rng.normal(size=(y.size, d)) + rng.uniform(0, 1.5) * y[:, None]
    changed: dict[str, Callable[[], Any]] = {
        "ties": lambda: np.round(X),
        "constant": lambda: np.where(np.arange(d) == rng.integers(d), 3.7, X),
        "duplicates": lambda: X[rng.integers(0, max(1, y.size // 3), y.size)],
        "columns": lambda: X * 10.0 ** rng.integers(-30, 30, d),
        "scale": lambda: X * 10.0 ** float(rng.choice(SCALES)),
        "offset": lambda: X + 10.0 ** rng.integers(2, 9),
        "heavy": lambda: X * np.exp(3 * rng.normal(size=(y.size, 1))),
        "separable": lambda: X + 8.0 * y[:, None],
        "equal": lambda: np.tile(X[0], (y.size, 1)),
    }
    if shape == "far row":
        X[rng.integers(y.size)] *= 10.0 ** rng.integers(2, 10)
    return changed.get(shape, lambda: X)()


def hard_rows(rng: Any, largest: int = 60, shape: Any = None, form: Any = None) -> Hard:
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
    narrow: dict[str, Callable[[], np.ndarray]] = {
        "bool": lambda: X > np.median(X),
        "int8": lambda: np.clip(np.round(2 * X), -100, 100).astype(form),
        "int64": lambda: np.clip(np.round(2 * X), -100, 100).astype(form),
        "float16": lambda: np.clip(X, -6e4, 6e4).astype(form),
        "float32": lambda: np.clip(X, -1e38, 1e38).astype(form),
    }
    if form in narrow:
        with np.errstate(over="ignore", under="ignore"):
            small = narrow[form]()
        return small, small.astype(float)
    if form == "strided":
        wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
        wide[::2, 1::2] = X
        return wide[::2, 1::2], X
    if form == "read-only":
        X = X.copy()
        X.flags.writeable = False
    if form == "memory map":
        with tempfile.TemporaryFile() as file:
            X.tofile(file)
            file.flush()
            return np.memmap(file, dtype=float, mode="r", shape=X.shape), X
    same: dict[str, Callable[[], Any]] = {
        "fortran": lambda: np.asfortranarray(X),
        "reversed": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
        "list": X.tolist,
        "longdouble": lambda: X.astype(np.longdouble),
    }
    return same.get(form, lambda: X)(), X


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
    kinds: list[Callable[[], np.ndarray]] = [
        lambda: rng.integers(0, 4, y.size).astype(float),
        lambda: rng.choice([0.0, 1e8], y.size),
        lambda: rng.choice([0.0, 1.0, 1e8], y.size),
        lambda: 10.0 ** rng.uniform(-9, 9, y.size),
    ]
    weight = kinds[rng.integers(4)]()
    weight[[np.flatnonzero(y == label)[0] for label in (0, 1)]] = 1.5
    return weight


def hard_pairs(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> AllPairs | PairList:
    """Return all pairs, with row weights or not, or pairs drawn or nearest."""
    choice = rng.uniform()
    if choice < 0.5:
        return AllPairs()
    if choice < 0.75:
        return AllPairs(hard_weight(rng, y))
    if choice < 0.85 and float(np.abs(X).max()) < 1e100:
        return nearest_pairs(X, y == 1, int(rng.integers(1, 4)))
    return listed_pairs(rng, y, int(rng.integers(1, 80)), bool(rng.integers(2)))


def listed_pairs(rng: Any, y: np.ndarray, m: int, weighted: bool = False) -> PairList:
    i, j = (rng.choice(np.flatnonzero(y == label), m) for label in (1, 0))
    return PairList(i, j, 10.0 ** rng.uniform(-6, 6, m) if weighted else None)


def hard_loss(rng: np.random.Generator) -> str:
    return pick(rng, "hinge", "hinge", "hinge", "squared_hinge", "square")


def pick(rng: np.random.Generator, *of: str) -> str:
    return str(rng.choice(of))


def power(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def unit_of(X: np.ndarray) -> float:
    return float(np.abs(X - X[0]).max()) or 1.0


def stored(X: Any) -> list[np.ndarray]:
    names = ("data", "indices") if hasattr(X, "indices") else ("data",) if hasattr(X, "row") else ()
    return [np.array(getattr(X, name)) for name in names] or [np.array(X)]


def rewritten(X: Any, before: list[np.ndarray]) -> list[str]:
    same = all(np.array_equal(a, b) for a, b in zip(stored(X), before, strict=True))
    return ["the caller's data were written to"] * (not same)


BITS = 160  # kernel values are whole numbers of 2^-160
# How a strong point is looked for; how strong it is decides what is seen, not what is true.
TIGHT: Any = {"tol": 1e-12, "max_time": 2.0}


class LinearTruth:
    """The exact mode on the numbers that were meant."""

    def __init__(self, X: Any, positive: Any, lam: float, loss: str, pairs: Any = None):
        self.problem = linear_problem(X, positive, lam, loss, pairs, positive=True)
        self.X, self.lam = X, Fraction(lam)
        self._none = Minorant.from_scores(self.problem, np.zeros(self.problem.n))

    def objective(self, w: np.ndarray) -> Fraction:
        return ExactCertificate.of(self.problem, w, self._none).primal

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        return Fraction(naive.norm2(differences(w, other)))

    def radius(self, tight: Any) -> float:
        return ExactCertificate.of(self.problem, tight.w, tight.witness).radius


def differences(w: np.ndarray, other: np.ndarray) -> list[Fraction]:
    return [x - y for x, y in zip(naive.exact(w), naive.exact(other), strict=True)]


@dataclass(frozen=True, eq=False)
class NaiveTruth:
    """Double loops over the pairs, for a Gram matrix (`kernel`) or rows, with structure."""

    rows: list[list[Fraction]]
    kernel: bool
    positive: np.ndarray
    lam: float
    loss: str
    pairs: AllPairs | PairList
    structure: float = 0.0

    def objective(self, w: np.ndarray) -> Fraction:
        s = naive.products(self.rows, naive.exact(w))
        listed = naive.weighted_pairs(self.positive.tolist(), self.pairs)
        return mean_of(self.loss, s, listed) + Fraction(self.lam) / 2 * self._norm2(naive.exact(w))

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        return self._norm2(differences(w, other))

    def radius(self, tight: Any) -> float:
        return tight.certificate.radius

    def _norm2(self, w: list[Fraction]) -> Fraction:
        """Return |f|^2 + structure f'Sigma f, Sigma being that of both classes."""
        s = naive.products(self.rows, w)
        norm2 = sum((x * y for x, y in zip(w, s if self.kernel else w, strict=True)), Fraction(0))
        given = self.pairs.weight if isinstance(self.pairs, AllPairs) else None
        weight = naive.exact(np.ones(len(s)) if given is None else given)
        for side in (True, False) if self.structure else ():
            held = [(x, c) for x, c, p in zip(s, weight, self.positive, strict=True) if p == side]
            mass = sum(c for _, c in held)
            mean = sum(c * x for x, c in held) / mass
            norm2 += Fraction(self.structure) * sum(c * (x - mean) ** 2 for x, c in held) / mass
        return norm2


Truth = LinearTruth | NaiveTruth


def true_gram(X: np.ndarray, kernel: str, gamma: float) -> list[list[Fraction]]:
    """Return k(x_i, x_j) to 2^-160, from the definitions."""
    K = true_kernel({"rbf": Gaussian, "laplacian": Laplacian}[kernel](gamma), X)
    return [[Fraction(int(Fraction(x) * (1 << BITS)), 1 << BITS) for x in row] for row in K]


def over(what: str, small: Any, large: Any) -> list[str]:
    """Return `what`, and by how much, if `small` exceeds `large`."""
    apart = Fraction(small) - Fraction(large)
    return [f"{what} by {float(apart):.6g}"] if apart > 0 else []


def bound_faults(claim: Any, value: Any, least: Any, l2: Any, slack: Any = 0) -> list[str]:
    """Return what is false in a claim: F at the weights is `value`, the optimum at most `least`.

    Nothing is added to the claim's bounds for rounding; `slack` is what the two may be off by.
    """
    upper, lower, share = Fraction(claim.primal), Fraction(claim.dual), claim.relative_gap
    wrong = [
        *over("F is above the primal", value, upper + slack),
        *over("primal - rounding is above F", upper - Fraction(claim.rounding), value + slack),
        *over("the dual is above F(best)", lower, least + slack),
        *over("primal - dual is above the gap", upper - lower, claim.gap),
        *over("F - F(best) is above the gap", value - least, Fraction(claim.gap) + slack),
    ]
    if upper > 0 and share is not None:
        held = (Fraction(share) + slack) * value
        wrong += over("F - F(best) is above the relative gap of F", value - least, held)
    if (claim.radius is None) != (l2 == 0) or (upper > 0 and share is None):
        wrong.append("a radius without l2, or none with it, or no relative gap")
    elif l2:
        square = Fraction(claim.radius) ** 2 * Fraction(l2)
        wrong += over("2 (primal - dual) is above l2 radius^2", 2 * (upper - lower), square)
    return wrong


def faults(truth: Truth, w: Any, claim: Any, best: Any, best_radius: float = np.inf) -> list[str]:
    """Return what is false in a claim about w, given the best point, and how far that is off."""
    w = np.asarray(w, dtype=float)
    value = truth.objective(w)
    wrong = bound_faults(claim, value, min(value, truth.objective(best)), truth.lam)
    if best_radius < np.inf:
        far = Fraction(claim.radius) + Fraction(best_radius)
        wrong += over("the optimum is off the radius", truth.distance2(w, best), far * far)
    return wrong


def faults_next_to(truth: Truth, w: np.ndarray, certificate: Any, tight: Any) -> list[str]:
    return faults(truth, w, certificate, tight.w, truth.radius(tight))


if __name__ == "__main__":
    from fuzz_kinds import CORE, KINDS, PAIRS, PARTED, ROUTES

    begin = time.process_time()
    named = {"core": CORE, "pairs": PAIRS, "parted": PARTED, "routes": ROUTES}
    chosen = named.get(sys.argv[1] if len(sys.argv) > 1 else "", KINDS)
    seeds = sys.argv[1:] if chosen is KINDS else sys.argv[2:]
    tally = run(seeds_of(seeds), chosen)
    print(tally, f"{time.process_time() - begin:.1f} s", sep="\n")
    sys.exit(bool(tally.false))
