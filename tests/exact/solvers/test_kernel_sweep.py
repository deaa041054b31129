"""Kernel and structured problems against CVXPY in explicit features, on a random family."""

from __future__ import annotations

import pytest

from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.spaces.gram import Gram
from aucert.exact.structured import Structured
from loops import each, seeds
from sauc_reference import kernel_case, reference_value


def check_case(seed: int) -> None:
    """Solve the problem of that seed twice, independently, and compare the two optima."""
    case = kernel_case(seed)
    task = formulate(
        case.X,
        case.y,
        Request.of(
            case.lam,
            case.loss,
            pairs=case.pairs,
            kernel=case.kernel,
            gamma=case.gamma,
            structure=case.structure,
            structure_source=case.source,
        ),
    )
    space = task.meant.space
    base = space.base if isinstance(space, Structured) else space
    assert case.kernel == "linear" or isinstance(base, Gram), "certified on the true kernel"
    solver = choose_solver(task.work, "auto", 1e-9, 60.0)
    solution = task.judge(solver.solve(task.work), 1e-8)
    certificate, expected = solution.certificate, reference_value(case)
    assert solution.status == Status.CERTIFIED, f"{case.name}: {certificate}"
    assert certificate.reaches(1e-8), f"{case.name}: {certificate}"
    allowed = 1e-9 if expected < 1e-6 else 1e-7 * expected
    assert abs(certificate.primal - expected) <= allowed, f"{case.name}: {certificate}, {expected}"
    assert certificate.dual <= expected, case.name


def test_kernel_and_structured_optima_agree_with_cvxpy() -> None:
    for seed in range(10):
        check_case(seed)


@pytest.mark.slow
@each("seed", seeds(60))
def test_kernel_and_structured_optima_agree_with_cvxpy_on_the_whole_family(seed: int) -> None:
    check_case(seed)
