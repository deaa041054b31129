"""One planted fault turns each claim that a fault can turn: by rule, or by hand.

By rule, something that the claim calls returns other numbers. By hand it makes a mistake of a kind
that is easily made, or a repair. Findings are turned by other numbers of their pages: test_effects.
"""

import dataclasses
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from importlib import import_module
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.exact import Estimate
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.validation import suite
from aucert.validation.claims.claim import REGISTRY
from aucert.validation.effects import OURS
from loops import each, first_fast, some

# What returns other numbers, the factor, and the claims that this turns.
RULES = """
bounds.experiment.theorem4_prime 0.0001 theorem-4-prime-excess-risk theorem-4-prime-losses
bounds.experiment.theorem4 0.0001 theorem-4-against-true-errors theorem-4-on-ordinary-data
bounds.experiment.theorem4 0.0001 theorem-4-five-halves-against-true-errors
scaling_up.optimum 3 nystrom-with-all-rows-is-the-kernel-machine dual-qp-by-osqp dual-qp-by-ecos
scaling_up.optimum 3 dual-qp-by-clarabel marginals-certify-all-pairs
scaling_up.Slope.fit 3 incomplete-nystrom-converges-in-the-pairs incomplete-u-loss-rate
scaling_up.highest 3 nystrom-converges-in-the-landmarks
scaling_up.highest 3 incomplete-nystrom-converges-to-the-exact-answer
scaling_up.factor_gram 3 factor-and-kernel-agree
scaling_up.solve 0.5 duality-gap-bounds-the-loss-of-any-approximation
scaling_up.differences 3 incomplete-u-is-unbiased incomplete-u-variance-with-replacement
scaling_up.optimum 0.5 incomplete-u-suboptimality-rate
scaling_up.share_for_auc 3 population-auc-of-the-linear-model
scaling_up.nystrom_map 0.0001 overall-cost-is-linear-in-n
scaling_up.two_sided 0.0001 incomplete-u-constant-at-b-equal-n
scaling_up.AllPairs.sums 3 incomplete-u-keeps-the-rate-uniformly
theorem_4.highest 3 second-term-order-as-printed second-term-order-corrected
theorem_4.Gaussian.noise 3 second-term-with-its-eigenvalues
theorem_4.pair_problem 3 cluster-instance-in-closed-form
bounds.printed.DrawnPair.N_max 0.0001 eq-18-as-printed eq-21-for-the-square-root-of-the-norms
theorem_4.optimum 0.5 eq-17-as-printed
theorem_4.optimum 1000 eq-17-for-the-objectives
theorem_4.optimum 3 norm-of-the-minimiser
theorem_4.ClusterInstance.left_side 0.5 theorem-4-under-other-readings
bounds.printed.Theorem4.terms 3 theorem-4-as-printed
sauc.nearest_pairs 3 sauc-eq-3-as-printed
sauc.answer 3 sauc-dual-equals-primal
sauc.class_scatter 3 sauc-eq-19-with-a-generalised-inverse
sauc.class_scatter 3 sauc-scatter-falls-with-the-structure sauc-eq-17-as-printed
sauc.factor_gram 3 sauc-eq-20-with-the-factor-lambda sauc-eq-17-by-the-root-of-r
sauc.means 3 sauc-eq-22-slacks-and-means sauc-prop-2-when-every-hinge-is-active
sauc.means -1 sauc-prop-2-as-printed
sauc.delong 3 sauc-eq-23-auc-of-gaussians
sauc.highest 3 sauc-eq-16-for-a-nonsingular-b
sauc.chebyshev 1.1 sauc-eq-24-chebyshev
sauc.lowest 0.5 sauc-eq-4-has-no-breakdown-point
sauc.AllPairs.sums 0.5 sauc-slacks-bound-the-misranked-pairs
sauc.hinge_problem 3 sauc-auc-svm-is-a-one-class-svm
sauc.both_sides 3 sauc-prop-1-covariance-of-differences sauc-prop-1-needs-division-by-n
sauc.both_sides 3 sauc-prop-1-needs-all-pairs
sauc.enumerate_pairs 3 sauc-covariance-of-listed-pairs
sauc.covariance 3 sauc-eq-15-structure-as-a-matrix
sht.sparse_problem 3 prop-1-pairwise-is-an-average-over-rows sht-objective-is-not-strongly-convex
sht.sparse_problem 3 sht-theorem-2-eq-13-as-printed
sht.StochasticHardThresholding.blocks 3 prop-1-in-blocks-needs-all-rows-means
sht.moments 3 hessian-with-the-factor-two
sht.StochasticHardThresholding.solve 3 sht-keeps-exactly-k-features
sht.hard_threshold 3 sht-lemma-2 sht-theorem-1-bound
sht.restricted_constants_exact 3 sht-lemma-1-with-a-set-of-each-block
bounds.sht.nu_lemma2 3 sht-theorem-1-condition-with-the-nu-of-lemma-2
sht.highest 0.0001 sht-theorem-1-in-the-experiments
sht.sht_theorem2 3 sht-theorem-2-eq-12-as-printed sht-theorem-2-eq-12-with-the-positive-part
sht.restricted_constants_exact 0.5 sht-theorem-2-by-both-classes
sht.sparse_problem 1000 sht-theorem-2-eq-13-as-its-proof-gives-it
sht.sparse_problem 1000 sht-fig-1-with-the-step-of-the-theory
sht.highest 3 sht-lemma-4 sht-smoothness-from-the-data
sht.highest -1 sht-eq-14-as-printed
bounds.sht.ratio_coefficients 3 sht-eq-14-with-the-logarithm-outside
common.make_dataset 1000 algorithm-1-map-as-printed
nonlinear.highest -1 gradient-as-printed
nonlinear.highest 3 gradient-with-the-factor-two hessian-product-cost-without-the-pairs
nonlinear.linear_problem 3 printed-gradient-solves-for-half-of-c
nonlinear.grows_like 3 sgd-step-cost-as-printed sgd-step-costs-its-nonzeros
nonlinear.nystrom_map 3 nsauc-reaches-the-optimum-where-lam-t-is-large
nonlinear.hinge_problem 3 algorithm-3-printed-step-solves-another-problem
"""
BY_RULE = {name: line.split()[:2] for line in RULES.split("\n") for name in line.split()[2:]}
FAST = """second-term-order-corrected gradient-with-the-factor-two
sauc-eq-4-has-no-breakdown-point""".split()
CLAIMS = "aucert.validation.claims"
SHIFT = 0.05


def wrong(value: Any, factor: float) -> Any:
    """Return the value with its numbers scaled, arrays unevenly; all else as it is."""
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float | np.floating):
        return float(value) * factor + SHIFT
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        uneven = 1 + (factor - 1) * np.linspace(0, 1, max(value.size, 1)).reshape(value.shape)
        return value * uneven
    if isinstance(value, tuple | list):
        made: Any = [wrong(part, factor) for part in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {name: wrong(part, factor) for name, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = [field.name for field in dataclasses.fields(value) if field.init]
        parts: dict[str, Any] = {name: wrong(getattr(value, name), factor) for name in given}
        return replace(value, **parts)
    return value


def of_result(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes a function, a property or a class method return something else."""

    def change_of(right: Any) -> Any:
        if isinstance(right, classmethod | staticmethod):
            return type(right)(change_of(right.__func__))
        if isinstance(right, property):
            return property(change_of(right.fget))
        return lambda *given, **named: change(right(*given, **named))

    return change_of


@contextmanager
def planted(faults: dict[str, Callable[[Any], Any]]) -> Iterator[None]:
    """Within, names stand for something else; what claims keep from each other is forgotten."""
    with ExitStack() as stack:
        stack.callback(forget)
        for what, change in faults.items():
            target, last = owner(what)
            right = inspect.getattr_static(target, last)
            stack.callback(setattr, target, last, right)
            setattr(target, last, change(right))
        forget()
        yield


def owner(what: str) -> tuple[Any, str]:
    """Return what has the attribute, and its name; of `claims`, `validation` or the library."""
    *path, last = what.split(".")
    for base in (CLAIMS, "aucert.validation", "aucert"):
        for size in range(len(path), 0, -1):
            with suppress(ModuleNotFoundError):
                target = import_module(".".join([base, *path[:size]]))
                return reduce(getattr, path[size:], target), last
    raise AssertionError(what)


def forget() -> None:
    """Forget what claims keep from each other."""
    for name, module in list(sys.modules.items()):
        if name.startswith(CLAIMS):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def verdict(name: str, faults: dict[str, Callable[[Any], Any]]) -> str:
    with planted(faults), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return suite.run_claim(REGISTRY[name], 0, "quick").verdict


RULED = first_fast([*FAST, *some(sorted(set(BY_RULE) - set(FAST)), 20)], len(FAST))


@each("name", RULED)
def test_a_fault_turns_its_claim(name: str) -> None:
    what, factor = BY_RULE[name]
    found = verdict(name, {what: of_result(lambda value: wrong(value, float(factor)))})
    assert found not in ("error", REGISTRY[name].expected_verdict)


# By hand: the claim that is turned, what is changed, and how.


def of(**parts: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes a function return its value with some parts changed."""
    return of_result(lambda x: replace(x, **{k: f(getattr(x, k)) for k, f in parts.items()}))


def times(factor: float) -> Callable[[Any], Any]:
    return of_result(lambda value: factor * value)


def instead(new: Any) -> Callable[[Any], Any]:
    return lambda right: new


def with_work(right: Any) -> Any:
    """Return a method that does work of no use first."""

    def made(self: Any, values: np.ndarray) -> Any:
        for _ in range(4):
            _ = self.X.T @ (self.X @ values)
        return right(self, values)

    return made


def more(value: Any) -> Any:
    return value + 1e-3


def overrated(right: Any) -> Any:
    """Return a penalty that the dual overrates."""

    class Overrated(right):
        def residual(self, g: np.ndarray) -> np.ndarray:
            return right.residual(replace(self, l1=1.1 * self.l1), g)

        def shrink(self, g: np.ndarray, error: float) -> float:
            return min(1.0, 1.1 * right.shrink(self, g, error))

    return Overrated


def biased_variance(value: float, influence: np.ndarray) -> Estimate:
    return Estimate(value, influence * np.sqrt((influence.size - 1) / influence.size))


SIZES = count(1.0)
LOSSES, PENALTIES = "exact.losses.registry", "exact.problem.penalties"
SMALL = {  # of the grid of Theorem 4 and 4'
    "theorem_4.bound_data": of_result(lambda sets: sets[:1]),
    "theorem_4.LAMS": instead((1.0,)),
    "scaling_up.bound_data": of_result(lambda sets: sets[:1]),
}

# fmt: off
BY_HAND: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("theorem-4-prime-nystrom-loss", "bounds.prime._loss",
     of_result(lambda loss: (loss[0] / 2, loss[1]))),
    ("theorem-4-prime-over-a-wide-grid", "bounds.kernel.Approximation.error_interval",
     of_result(lambda found: found._replace(high=0.01 * found.high))),
    ("theorem-4-with-exponent-five-halves", "theorem_4.FIVE_HALVES", instead(1.5)),
    ("theorem-4-first-term", "theorem_4.two_atoms",
     of_result(lambda pair: (pair[0], 2 * pair[1]))),
    ("theorem-4-hoeffding-step", "theorem_4.hoeffding", of(right=lambda x: x / 50)),
    ("eq-19-strong-convexity", "theorem_4.eq_19", of(left=lambda x: 10 * x)),
    ("eq-20-with-the-penalties", "theorem_4.eq_20",
     of_result(lambda step: replace(step, corrected=step.right))),
    ("eq-20-as-printed", "theorem_4.eq_20",
     of_result(lambda step: replace(step, right=step.corrected))),
    ("nystrom-error-order", "theorem_4.uniform",
     lambda right: lambda X, d, seed: right(X, 1, seed)),
    ("n-max-under-the-printed-condition", "theorem_4.largest_count",
     lambda right: lambda n, n_pos, *rest: right(n, 10, *rest)),
    ("adamax-is-the-published-update", "scaling_up.Adamax",
     lambda right: lambda **rest: right(beta2=0.99, **rest)),
    ("population-auc-of-the-radial-model", "scaling_up.PRINTED",
     lambda right: {**right, "radial": 96.471}),
    ("population-auc-by-monte-carlo", "data.datasets.Dataset.is_positive",
     instead(property(lambda self: self.y != 1))),
    ("incomplete-u-variance-without-replacement", "scaling_up.draw_pairs",
     lambda right: lambda positive, B, rng, replace: right(positive, B, rng, not replace)),
    ("sauc-eq-20-as-printed", "sauc.sauc_scores",
     lambda right: lambda *given: right(*given[:5], paper_literal=False)),
    ("protein-is-linearly-separable", "nonlinear.TABLE_2",
     lambda right: {**right, "protein": (80.97, 77.6, 85.0, 58.43, 84.33)}),
    ("full-newton-steps-converge", "nonlinear.C", instead(Fraction(1, 1000))),
    ("sauc-table-3-gain-over-svm", "sauc.PRINTED_GAIN", instead(2.17)),
    ("sauc-pair-counts-by-the-printed-rule", "sauc.nearest_pairs",
     instead(lambda X, positive, k, *rest: nearest_pairs(X, positive, k, "anchor", "E"))),
    ("sauc-pair-counts-with-anchors-of-one-class", "sauc.nearest_pairs",
     instead(lambda X, positive, k, *rest: nearest_pairs(X, positive, k, "anchor", "none"))),
    ("sauc-diagonal-is-the-best-compromise", "sauc.worse_rate",
     instead(lambda cuts: cuts.sensitivity + cuts.specificity)),
    ("hessian-as-printed", "sht.moments",
     of(delta=lambda x: x * np.sqrt(2), sigma=lambda x: x * 2)),
    ("eq-6-keeps-k-entries", "sht.hard_threshold",
     lambda right: lambda w, k, literal=False: right(w, k)),
    ("published-sht-is-mean-difference-screening", "sht.StochasticHardThresholding",
     lambda right: lambda k, mode, **rest: right(k - 1, **rest)),
    ("sht-lemma-3", "sht.least_stretch", times(0.1)),
    ("sht-eq-21-cross-term-of-the-means", "bounds.sht.supports",
     of_result(lambda found: np.tile(found, (1, 40)))),
    ("sht-eq-14-falls-with-the-share", "sht.denominator",
     instead(lambda *sizes: (9.0, -np.arange(10.0)))),
    ("sht-tolerance-grows-with-the-imbalance", "bounds.sht.sht_theorem1",
     instead(lambda *a, **r: SimpleNamespace(terms={"tolerance": next(SIZES)}))),
    ("sht-gradient-costs-o-bd", "exact.square_loss.row_average.RowAverage.gradient",
     with_work),
    ("sht-jaccard-column", "sht.JACCARD", lambda right: dict.fromkeys(right, (1.0,) * 4)),
    ("newton-with-a-line-search-converges", "nonlinear.certified",
     instead(lambda p, tol: TruncatedNewton(tol=tol, max_iter=100, line_search=False).solve(p))),
    ("nbauc-reaches-its-optimum", "nonlinear.NBAUC",
     lambda right: lambda lam, **rest: right(lam, **{**rest, "tol": 1e-3})),
    ("algorithm-1-map-transposed", "nonlinear.map_error",
     lambda right: lambda c, printed: right(c, True)),
    ("nystrom-cost-is-linear-in-the-rows", "nonlinear.kmeans",
     instead(lambda X, size, seed: SimpleNamespace(rows=X[: len(X) // 8]))),
    ("nbauc-outperforms-by-table-2", "nonlinear.TABLE_2",
     lambda right: {name: (*row[:4], 50.0) for name, row in right.items()}),
    ("nbauc-orders-of-magnitude-faster-by-table-3", "nonlinear.TABLE_3",
     lambda right: {**right, "ijcnn1": (99 * right["ijcnn1"][1], right["ijcnn1"][1])}),
    ("ordered-pairs-interval-holds-the-optimum", "exact.pairs.kinds.survival_key",
     # without the censored rows of the same time
     instead(lambda times, seen: -2.0 * np.unique(times, return_inverse=True)[1])),
    ("partial-auc-interval-holds-the-optimum", "exact.problem.tail.highest",
     lambda right: lambda scores, *rest: right(-scores, *rest)),
    ("logistic-interval-holds-the-optimum", f"{LOSSES}.Logistic.dual", of_result(more)),
    ("smooth-hinge-interval-holds-the-optimum", f"{LOSSES}.SmoothHinge.dual", of_result(more)),
    ("exponential-interval-holds-the-optimum", f"{LOSSES}.exponential_sums",
     of(value=lambda x: 1.001 * x)),
    ("worst-group-interval-holds-the-optimum", "exact.problem.tail.group_weights", times(1.01)),
    ("penalty-interval-holds-the-optimum", f"{PENALTIES}.ElasticNet", overrated),
    ("sign-interval-holds-the-optimum", f"{PENALTIES}.Sign.residual",
     lambda right: lambda self, g: right(self, 0.9 * g)),
    ("proof-file-of-ordered-pairs-holds-the-optimum", "exact.proof.write.claims_of",
     of_result(lambda claims: (claims[0], 1.001 * claims[1], claims[2]))),
    ("delong-variance-is-that-of-the-pairs", "exact.pairs.concordance.Estimate",
     instead(biased_variance)),
]
# fmt: on


@each("fault", BY_HAND, ids=lambda fault: f"{fault[0]}, {fault[1]}")
def test_a_mistake_or_a_repair_turns_its_claim(fault: tuple[str, str, Any]) -> None:
    name, what, change = fault
    assert verdict(name, {**SMALL, what: change}) != REGISTRY[name].expected_verdict


def test_every_claim_is_turned_or_arithmetic() -> None:
    """Neither findings, arithmetic nor re-runs of evidence can be turned by the library."""
    assert {
        entry.name
        for entry in suite.claims()
        if entry.kind != "finding" and not entry.arithmetic and not entry.name.endswith("-repeats")
    } <= {*BY_RULE, *(name for name, *_ in BY_HAND), *OURS}
