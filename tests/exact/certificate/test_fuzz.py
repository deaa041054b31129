"""Hard problems, every claim about them judged in exact arithmetic: none is false, faults are seen.
`tests/helpers/fuzzing.py SEED` reruns one; `[core | pairs | routes | parted] 0:1000` many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import fuzz_kinds
from aucert.exact import Certificate, solve
from aucert.exact.api import certify as certify_module
from aucert.exact.api import cross_validation
from aucert.exact.certificate import certificate, evaluation
from aucert.exact.proof import check_proof
from aucert.exact.spaces import partitions
from aucert.exact.spaces.blocks import Fingerprints
from aucert.exact.square_loss.convex_square import Judged
from fuzz_kinds import CORE, KINDS, PAIRS, PARTED, ROUTES, folds, partitioned
from fuzzing import Kind, LinearTruth, faults, one, run, seeds_of
from loops import each

SETS = {"kinds": KINDS, "core": CORE, "pairs": PAIRS, "routes": ROUTES, "parted": PARTED}
FIRST, OVERFLOWING = 5000, 2166  # the second: the square of a trial step's pull overflowed
FEW = {
    "kinds": range(FIRST, FIRST + 4),
    "core": range(FIRST, FIRST + 20),
    "pairs": range(FIRST, FIRST + 10),
    "parted": [OVERFLOWING, 5001, 5003, 5004],
}
MORE = {
    "kinds": range(FIRST + 4, FIRST + 4 * len(KINDS)),
    "core": range(FIRST + 20, FIRST + 80),
    "pairs": range(FIRST + 10, FIRST + 60),
    "parted": range(FIRST + 5, FIRST + 21),
    "routes": range(24),
}
MANY = {"kinds": 1000, "core": 1000, "pairs": 300, "routes": 600, "parted": 400}


def nothing_is_false(name: str, problems: Any, least: float = 0.6) -> None:
    tally = run(problems, SETS[name])
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= least * len(problems)  # most problems are accepted


@pytest.mark.parametrize("name", FEW)
def test_nothing_false_is_claimed_of_a_few_hard_problems(name: str) -> None:
    nothing_is_false(name, FEW[name])


@pytest.mark.slow
@each("name", MORE)
def test_nothing_false_is_claimed_of_more_hard_problems(name: str) -> None:
    nothing_is_false(name, MORE[name])


@pytest.mark.release
@each("name, start", [(name, k) for name, n in MANY.items() for k in range(0, n, 100)])
def test_nothing_false_is_claimed_of_many_hard_problems(name: str, start: int) -> None:
    nothing_is_false(name, range(start, start + 100))


def seen(kind: Kind, problems: Any = range(40)) -> bool:
    """Whether one of the problems of a kind is judged false; it stops at the first."""
    return any(one(seed, kind).false for seed in problems)


FAULTY: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "the dual raised": lambda primal, dual: (primal, replace(dual, value=dual.value * (1 + 1e-9))),
    "the primal lowered": lambda primal, dual: (up(primal, -1e-9 * primal.value), dual),
    "no rounding": lambda *both: tuple(replace(side, error=0.0) for side in both),
}


@each("fault", FAULTY)
@each("kind", ["linear", "kernel", "structured", "precomputed", "path", "no_kernel"])
def test_a_fault_in_the_certificate_is_seen(kind: str, fault: str, monkeypatch) -> None:
    faulty = returning(lambda found: (FAULTY[fault](*found[0]), found[1]))
    monkeypatch.setattr(certificate, "evaluated_with", faulty(certificate.evaluated_with))
    assert seen(getattr(fuzz_kinds, kind))


Fault = Callable[[Any], Any]


def returning(change: Callable[[Any], Any]) -> Fault:
    return lambda honest: lambda *of, **how: change(honest(*of, **how))


def field(name: str, change: Callable[[Any], Any]) -> Fault:
    """Change a number of what a function returns, if it has it."""

    def changed(found: Any) -> Any:
        value = getattr(found, name)
        return found if value is None else replace(found, **{name: change(value)})

    return returning(changed)


def up(side: Any, by: float) -> Any:
    return replace(side, value=side.value + by)


def real_parts(honest: Any) -> Any:
    """Weights lose what float64 does not hold."""
    plain = lambda values: np.asarray(np.real(np.asarray(values)), dtype=float)  # noqa: E731
    return lambda values, name: plain(values) if name == "the weights" else honest(values, name)


def short_pull(honest: Any) -> Any:
    return lambda self, w, bins, half, sums, pull: honest(
        self, w, bins, half, sums, (0.9 * pull[0], *pull[1:])
    )


def first_row_too(honest: Any) -> Any:
    return lambda *of: np.union1d(honest(*of), np.arange(min(of[-1], 1)))


# Problems among which one must be false; by name, where a fault is planted and what it does there.
ANY, IN_BLOCKS = range(40), range(4, 120, len(ROUTES))
Faults = dict[str, tuple[Any, str, Fault]]
PLANTED: list[tuple[Any, Any, Faults]] = [
    (fuzz_kinds.changing, ANY, {
        "rows that change": (Fingerprints, "checked", lambda _: lambda self, rows, block: block),
    }),
    (fuzz_kinds.online, range(80), {
        "a gap of an online method": (
            Judged, "gap", lambda old: property(lambda at: old.fget(at) * 0.99 - 1e-9)),
        "a bound too high": (
            Certificate, "from_bounds", lambda made: lambda a, b, *of: made(a, up(b, 1e-6), *of)),
    }),
    (fuzz_kinds.odd_weights, ANY, {"lost digits": (certify_module, "as_float64", real_parts)}),
    (fuzz_kinds.proof_fields, ANY, {
        "a pull in the checker": (check_proof, "pull", returning(lambda x: x * 0.99)),
        "a flow in the checker": (
            check_proof, "largest_flow", lambda _: lambda u, v, a, *_: int(u.astype(object) @ a)),
    }),
    (fuzz_kinds.weights, ANY, {
        **{f"{name} of weights": (fuzz_kinds, "certify", field(name, lambda n: n + 1))
           for name in ("n_sure_right", "n_sure_wrong")},
    }),
    (fuzz_kinds.scores, range(20), {
        **{f"{name} of scores": (fuzz_kinds, "certify", field(name, lambda x: x * 0.999))
           for name in ("gap", "loss_value", "primal")},
    }),
    (fuzz_kinds.subset, ANY, {
        "a bound of subsets": (fuzz_kinds, "best_subset", field("lower", lambda x: x + 1e-6)),
    }),
    (None, IN_BLOCKS, {"a pull in bins": (evaluation.Evaluator, "_of_lines", short_pull)}),
    (partitioned, ANY, {
        "a dual over partitions": (
            evaluation.Evaluation, "dual", returning(lambda x: x * (1 + 1e-6))),
    }),
    (folds, ANY, {
        "no range of an AUC": (
            cross_validation, "auc_within", lambda old: lambda rows, w, _: old(rows, w, 0.0)),
        "rows in two folds": (partitions, "rows_of_fold", first_row_too),
    }),
]  # fmt: skip
NAMES = {name: (kind, of, *fault) for kind, of, faults in PLANTED for name, fault in faults.items()}
EXPENSIVE = (  # those of online methods compile FSAUC
    *("no range of an AUC", "rows in two folds", "a flow in the checker", "a pull in bins"),
    *("a bound too high", "a gap of an online method", "n_sure_wrong of weights"),
    *("loss_value of scores", "primal of scores"),
)


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=pytest.mark.slow) if k in EXPENSIVE else k for k in NAMES]
)
def test_a_planted_fault_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, problems, where, part, faulty = NAMES[name]
    monkeypatch.setattr(where, part, faulty(getattr(where, part)))
    if kind is None:
        assert run(problems, ROUTES).false
    else:
        assert seen(kind, problems)


@each("field", ["primal", "dual", "gap", "radius"])
def test_each_number_of_a_claim_is_judged(field: str) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3 == 0
    X, lam = rng.normal(size=(30, 2)) + 0.5 * y[:, None], 0.1
    truth, loose = LinearTruth(X, y, lam, "hinge", None), solve(X, y, lam, tol=1e-2)
    tight, honest = solve(X, y, lam, tol=1e-12), loose.certificate
    off = {"primal": honest.primal - 1e-9, "dual": honest.dual + 1.01 * honest.gap}
    false = replace(honest, **{field: (off | {"gap": 0.0, "radius": 0.0})[field]})
    for claim, true in ((honest, True), (false, False)):
        found = faults(truth, loose.w, claim, tight.w, tight.certificate.radius)
        assert (found == []) == true


def test_what_is_raised_but_a_refusal_is_a_fault() -> None:
    broken = Mock(side_effect=ZeroDivisionError("of all things"))
    assert one(0, broken).false == ["ZeroDivisionError: of all things"]


def test_a_problem_is_the_same_whenever_it_is_run() -> None:
    assert seeds_of(["7", "10:13"]) == [7, 10, 11, 12]
    assert str(run(range(3), KINDS)) == str(run(range(3), KINDS))
