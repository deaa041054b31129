"""A thousand hard problems, every claim about them judged in exact arithmetic: none is false.

`python tests/helpers/fuzzing.py SEED` reruns one; `fuzzing.py 0:1000` all, with one count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuzz_kinds
from aucert.exact import solve
from aucert.exact.api import certify as certify_module
from aucert.exact.certificate import certificate
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.proof import check_proof
from aucert.exact.spaces.blocks import Fingerprints
from aucert.exact.square_loss.convex_square import ConvexSquare
from fuzz_kinds import KINDS
from fuzzing import Claim, Found, LinearTruth, faults, one, run, seeds_of
from loops import each, first_fast

CHUNKS, SIZE = 20, 50


@pytest.mark.release
@each("chunk", range(CHUNKS))
def test_nothing_false_is_claimed_of_a_thousand_hard_problems(chunk: int) -> None:
    tally = run(range(SIZE * chunk, SIZE * (chunk + 1)), KINDS)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= SIZE  # most problems are accepted, many with several claims


FEW = range(5000, 5000 + len(KINDS))
"""One problem of each place among `KINDS`."""


@pytest.mark.parametrize("problems", [FEW[:4], pytest.param(FEW[4:], marks=pytest.mark.slow)])
def test_nothing_false_is_claimed_of_a_few_hard_problems(problems: range) -> None:
    tally = run(problems, KINDS)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= 0.7 * len(problems)


def seen(kind: str, problems: int = 40) -> bool:
    """Whether one of the problems of a kind is judged false; it stops at the first."""
    return any(one(seed, getattr(fuzz_kinds, kind)).false for seed in range(problems))


RAISED, LOWERED, EXACT = "the dual raised", "the primal lowered", "no rounding"


def with_fault(fault: str):
    """The bounds of a certificate with a fault in them."""
    honest = certificate.evaluated_with

    def evaluated(*of):
        (primal, dual), made = honest(*of)
        if fault == EXACT:
            return (replace(primal, error=0.0), replace(dual, error=0.0)), made
        up, down = (1e-9, 0.0) if fault == RAISED else (0.0, 1e-9)
        moved = replace(primal, value=primal.value * (1 - down))
        return (moved, replace(dual, value=dual.value * (1 + up))), made

    return evaluated


@each("fault", [RAISED, LOWERED, EXACT])
@each("kind", ["linear", "kernel", "structured", "precomputed", "path"])
def test_a_fault_in_the_certificate_is_seen(kind: str, fault: str, monkeypatch) -> None:
    monkeypatch.setattr(certificate, "evaluated_with", with_fault(fault))
    assert seen(kind)


def test_rows_that_change_unseen_are_seen_here(monkeypatch) -> None:
    monkeypatch.setattr(Fingerprints, "checked", lambda self, rows, block: block)
    assert seen("changing")


@each("fault", [RAISED, LOWERED, EXACT])
def test_a_fault_in_the_certificate_over_a_given_matrix_is_seen(fault: str, monkeypatch) -> None:
    monkeypatch.setattr(certificate, "evaluated_with", with_fault(fault))
    assert seen("no_kernel")


@each("fault", ["a gap too small", "a bound too high"])
def test_a_fault_in_the_gap_of_an_online_method_is_seen(fault: str, monkeypatch) -> None:
    judged, gap_of = ConvexSquare.judged, ConvexSquare.gap_of
    if fault == "a gap too small":
        monkeypatch.setattr(ConvexSquare, "gap_of", lambda *of: gap_of(*of) * 0.99 - 1e-9)
    else:

        def higher(*of):
            found = judged(*of)
            return found._replace(lower=found.lower + 1e-6)

        monkeypatch.setattr(ConvexSquare, "judged", higher)
    assert seen("online", 80)


@each("fault", ["objective too low", "bound too high"])
def test_a_fault_in_the_certificate_of_an_online_method_is_seen(fault: str, monkeypatch) -> None:
    honest = Certificate.from_bounds

    def from_bounds(primal, dual, *of):
        if fault == "objective too low":
            return honest(replace(primal, value=primal.value - 1e-6), dual, *of)
        return honest(primal, replace(dual, value=dual.value + 1e-6), *of)

    monkeypatch.setattr(Certificate, "from_bounds", from_bounds)
    assert seen("online", 80)


def test_weights_that_lose_digits_unseen_are_seen_here(monkeypatch) -> None:
    honest = certify_module.as_float64

    def blind(values, name):
        if name != "the weights":
            return honest(values, name)
        return np.asarray(np.real(np.asarray(values)), dtype=float)

    monkeypatch.setattr(certify_module, "as_float64", blind)
    assert seen("odd_weights")


def test_a_wrong_pull_in_the_checker_is_seen(monkeypatch) -> None:
    honest = check_proof.pull
    monkeypatch.setattr(check_proof, "pull", lambda *of: honest(*of) * 0.99)
    assert seen("proof_fields")


def test_a_wrong_flow_in_the_checker_is_seen(monkeypatch) -> None:
    def all_of_u(u, v, a, b, cap) -> int:
        return int(u.astype(object) @ a)

    monkeypatch.setattr(check_proof, "largest_flow", all_of_u)
    assert seen("proof_fields")


@each("field", ["n_right", "n_wrong"])
def test_a_pair_too_many_among_the_certain_ones_is_seen(field: str, monkeypatch) -> None:
    honest = fuzz_kinds.certify

    def certify(*of, **options):
        audit = honest(*of, **options)
        return replace(audit, **{field: getattr(audit, field) + 1})

    monkeypatch.setattr(fuzz_kinds, "certify", certify)
    assert seen("weights")


@each("field", first_fast(["gap", "loss_value", "primal"]))
def test_a_fault_in_an_audit_of_scores_is_seen(field: str, monkeypatch) -> None:
    honest = fuzz_kinds.certify

    def certify(*of, **options):
        audit = honest(*of, **options)
        value = getattr(audit, field)
        return audit if value is None else replace(audit, **{field: value * 0.999})

    true = [seed for seed in range(20) if not one(seed, fuzz_kinds.scores).false]
    monkeypatch.setattr(fuzz_kinds, "certify", certify)
    assert any(one(seed, fuzz_kinds.scores).false for seed in true)


def test_a_lower_bound_of_subsets_that_is_too_high_is_seen(monkeypatch) -> None:
    honest = fuzz_kinds.best_subset

    def best_subset(*of, **options):
        found = honest(*of, **options)
        return replace(found, lower=found.lower + 1e-6)

    monkeypatch.setattr(fuzz_kinds, "best_subset", best_subset)
    assert seen("subset")


@each("field", ["primal", "dual", "gap", "radius"])
def test_each_number_of_a_claim_is_judged(field: str) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3 == 0
    X, lam = rng.normal(size=(30, 2)) + 0.5 * y[:, None], 0.1
    truth, loose = LinearTruth(X, y, lam, "hinge", None), solve(X, y, lam, tol=1e-2)
    tight = solve(X, y, lam, tol=1e-12)
    honest = Claim.of(loose.w, loose.certificate)
    assert faults(honest, truth, tight.w, tight.certificate.radius) == []
    off = {"primal": honest.primal - 1e-9, "dual": honest.dual + 1.01 * honest.gap}
    off |= {"gap": 0.0, "radius": 0.0}
    false = replace(honest, **{field: off[field]})
    assert faults(false, truth, tight.w, tight.certificate.radius)


def test_what_is_raised_but_a_refusal_is_a_fault() -> None:
    def broken(rng: np.random.Generator, found: Found) -> None:
        raise ZeroDivisionError("of all things")

    assert one(0, broken).false == ["ZeroDivisionError: of all things"]


def test_seeds_are_numbers_and_ranges() -> None:
    assert seeds_of(["7", "10:13"]) == [7, 10, 11, 12]


def test_a_problem_is_the_same_whenever_it_is_run() -> None:
    assert str(run(range(3), KINDS)) == str(run(range(3), KINDS))
