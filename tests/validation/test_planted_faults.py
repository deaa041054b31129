"""One planted mistake turns each claim that a mistake can turn: by rule, or by a test of its own.

By rule, something that the claim calls returns other numbers. Findings are turned in
tests/validation/test_effects.py by other numbers of their pages.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from aucert.validation import suite
from aucert.validation.claims.claim import REGISTRY
from loops import each, some

# What returns other numbers, the factor, and the claims that this turns.
RULES = """
bounds.experiment.theorem4_prime 0.0001 theorem-4-prime-excess-risk theorem-4-prime-losses
bounds.experiment.theorem4 0.0001 theorem-4-against-true-errors theorem-4-on-ordinary-data
bounds.experiment.theorem4 0.0001 theorem-4-five-halves-against-true-errors
scaling_up.optimum 3 nystrom-with-all-rows-is-the-kernel-machine dual-qp-by-osqp dual-qp-by-ecos
scaling_up.optimum 3 dual-qp-by-clarabel marginals-certify-all-pairs
scaling_up.Slope.fit 3 incomplete-nystrom-converges-in-the-pairs
scaling_up.max 3 nystrom-converges-in-the-landmarks
scaling_up.max 3 incomplete-nystrom-converges-to-the-exact-answer
scaling_up.factor_gram 3 factor-and-kernel-agree duality-gap-bounds-the-loss-of-any-approximation
scaling_up.small_problem 3 incomplete-u-is-unbiased incomplete-u-variance-with-replacement
scaling_up.Slope.fit 3 incomplete-u-loss-rate
scaling_up.optimum 0.5 incomplete-u-suboptimality-rate
scaling_up.share_for_auc 3 population-auc-of-the-linear-model
scaling_up.nystrom_map 0.0001 overall-cost-is-linear-in-n
scaling_up.two_sided 0.0001 incomplete-u-constant-at-b-equal-n
scaling_up.AllPairs.sums 3 incomplete-u-keeps-the-rate-uniformly
theorem_4.max 3 second-term-order-as-printed second-term-order-corrected
theorem_4.Gaussian.noise 3 second-term-with-its-eigenvalues
theorem_4.pair_problem 3 eq-21-for-the-square-root-of-the-norms cluster-instance-in-closed-form
theorem_4.optimum 0.5 eq-17-as-printed
theorem_4.optimum 1000 eq-17-for-the-objectives
theorem_4.optimum 3 norm-of-the-minimiser
theorem_4.ClusterInstance.left_side 0.5 theorem-4-under-other-readings
bounds.clusters.Theorem4.terms 3 theorem-4-as-printed
sauc.nearest_pairs 3 sauc-eq-3-as-printed
sauc.solved 3 sauc-dual-equals-primal
sauc.class_scatter 3 sauc-eq-19-with-a-generalised-inverse sauc-prop-2-when-every-hinge-is-active
sauc.class_scatter 3 sauc-scatter-falls-with-the-structure sauc-eq-17-as-printed
sauc.factor_gram 3 sauc-eq-20-with-the-factor-lambda sauc-eq-17-by-the-root-of-r
sauc.means 3 sauc-eq-22-slacks-and-means
sauc.direction 3 sauc-prop-2-as-printed
sauc.delong 3 sauc-eq-23-auc-of-gaussians
sauc.max 3 sauc-eq-24-chebyshev sauc-eq-16-for-a-nonsingular-b
sauc.min 0.5 sauc-eq-4-has-no-breakdown-point
sauc.AllPairs.sums 0.5 sauc-slacks-bound-the-misranked-pairs
sauc.hinge_problem 3 sauc-auc-svm-is-a-one-class-svm
sauc.both_sides 3 sauc-prop-1-covariance-of-differences sauc-prop-1-needs-division-by-n
sauc.both_sides 3 sauc-prop-1-needs-all-pairs
sauc.enumerate_pairs 3 sauc-covariance-of-listed-pairs
sauc.printed_R 3 sauc-eq-15-structure-as-a-matrix
sht.sparse_problem 3 prop-1-pairwise-is-an-average-over-rows sht-objective-is-not-strongly-convex
sht.sparse_problem 3 sht-theorem-2-eq-13-as-printed
sht.StochasticHardThresholding.blocks 3 prop-1-in-blocks-needs-all-rows-means
sht.moments 3 hessian-with-the-factor-two
sht.StochasticHardThresholding.solve 3 sht-keeps-exactly-k-features
sht.sparse_mean_shift 3 published-sht-is-mean-difference-screening
sht.hard_threshold 3 sht-lemma-2 sht-theorem-1-bound
sht.restricted_constants_exact 3 sht-lemma-1-with-a-set-of-each-block
sht.nu_lemma2 3 sht-theorem-1-condition-with-the-nu-of-lemma-2
sht.max 0.0001 sht-theorem-1-in-the-experiments
sht.sht_theorem2 3 sht-theorem-2-eq-12-as-printed sht-theorem-2-eq-12-with-the-positive-part
sht.restricted_constants_exact 0.5 sht-theorem-2-by-both-classes
sht.sparse_problem 1000 sht-theorem-2-eq-13-as-its-proof-gives-it
sht.sparse_problem 1000 sht-fig-1-with-the-step-of-the-theory
sht.max 3 sht-lemma-4 sht-smoothness-from-the-data
sht.max -1 sht-eq-14-as-printed
sht.ratio_coefficients 3 sht-eq-14-with-the-logarithm-outside
common.make_dataset 1000 algorithm-1-map-as-printed
common.make_dataset 3 gradient-as-printed
nonlinear.max 3 gradient-with-the-factor-two hessian-product-cost-without-the-pairs
nonlinear.pair_problem 3 printed-gradient-solves-for-half-of-c
nonlinear.Growth.counted 3 sgd-step-cost-as-printed sgd-step-costs-its-nonzeros
nonlinear.nystrom_map 3 nsauc-reaches-the-optimum-where-lam-t-is-large
nonlinear.hinge_problem 3 algorithm-3-printed-step-solves-another-problem
nonlinear.load_npz 3 protein-is-linearly-separable
scaling_up.delong 3 population-auc-by-monte-carlo
"""
BY_RULE = {name: line.split()[:2] for line in RULES.split("\n") for name in line.split()[2:]}

# Those that a test turns by hand.
BY_HAND = """
theorem-4-prime-nystrom-loss
incomplete-u-variance-without-replacement population-auc-of-the-radial-model
n-max-under-the-printed-condition nystrom-error-order theorem-4-hoeffding-step eq-18-as-printed
eq-19-strong-convexity eq-20-as-printed eq-20-with-the-penalties theorem-4-first-term
theorem-4-with-exponent-five-halves theorem-4-prime-over-a-wide-grid sauc-eq-20-as-printed
sauc-pair-counts-by-the-printed-rule sauc-pair-counts-with-anchors-of-one-class
sauc-diagonal-is-the-best-compromise hessian-as-printed eq-6-keeps-k-entries
sht-gradient-costs-o-bd sht-tolerance-grows-with-the-imbalance sht-lemma-3
sht-eq-21-cross-term-of-the-means algorithm-1-map-transposed newton-with-a-line-search-converges
nbauc-reaches-its-optimum nystrom-cost-is-linear-in-the-rows
all-pairs-take-less-time-than-drawn-pairs all-pairs-are-feasible-beyond-10000
all-pairs-take-less-time-on-real-sets delong-variance-is-that-of-the-pairs
sht-fig-1-with-one-step-for-all-shares ordered-pairs-interval-holds-the-optimum
partial-auc-interval-holds-the-optimum worst-group-interval-holds-the-optimum
penalty-interval-holds-the-optimum sign-interval-holds-the-optimum
proof-file-of-ordered-pairs-holds-the-optimum logistic-interval-holds-the-optimum
smooth-hinge-interval-holds-the-optimum exponential-interval-holds-the-optimum
"""
FAST = (
    "second-term-order-corrected",
    "gradient-with-the-factor-two",
    "sauc-eq-4-has-no-breakdown-point",
)
PLACE = "aucert.validation.claims"
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
    if type(value) in (tuple, list):
        made = [wrong(part, factor) for part in value]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, dict):
        return {name: wrong(part, factor) for name, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = [field.name for field in dataclasses.fields(value) if field.init]
        parts: dict[str, Any] = {name: wrong(getattr(value, name), factor) for name in given}
        return dataclasses.replace(value, **parts)
    return value


def faulty(right: Callable[..., Any], factor: float) -> Callable[..., Any]:
    """Return the function with wrong results."""
    return lambda *given, **named: wrong(right(*given, **named), factor)


@contextmanager
def planted(what: str, factor: float) -> Iterator[None]:
    """Within, a name of a module of claims stands for something that gives wrong results."""
    module, *path, last = what.split(".")
    if module == "bounds":
        module = f"aucert.validation.bounds.{path.pop(0)}"
    else:
        module = f"{PLACE}.{module}"
    target: Any = sys.modules[module]
    for part in path:
        target = getattr(target, part)
    right = inspect.getattr_static(target, last)
    if isinstance(right, classmethod | staticmethod):
        changed: Any = type(right)(faulty(right.__func__, factor))
    elif isinstance(right, property):
        changed = property(faulty(right.fget, factor))  # type: ignore[arg-type]
    else:
        changed = faulty(right, factor)
    forget()
    setattr(target, last, changed)
    try:
        yield
    finally:
        setattr(target, last, right)
        forget()


def forget() -> None:
    """Forget what claims keep from each other."""
    for name, module in list(sys.modules.items()):
        if name.startswith(PLACE):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def test_every_claim_is_turned_or_arithmetic() -> None:
    """Neither findings, arithmetic nor re-runs of evidence can be turned by the library."""
    assert set(BY_RULE) | set(BY_HAND.split()) == {
        entry.name
        for entry in suite.claims()
        if entry.kind != "finding" and not entry.arithmetic and not entry.name.endswith("-repeats")
    }


def turned(name: str) -> None:
    what, factor = BY_RULE[name]
    with planted(what, float(factor)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = suite.run_claim(REGISTRY[name], 0, "quick").verdict
    assert found not in ("error", REGISTRY[name].expected_verdict)


@each("name", FAST)
def test_a_fault_turns_a_claim(name: str) -> None:
    turned(name)


@pytest.mark.slow
@each("name", some(sorted(set(BY_RULE) - set(FAST)), 20))
def test_each_fault_turns_its_claim(name: str) -> None:
    turned(name)
