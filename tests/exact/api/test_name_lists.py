"""Every name that a caller may write stands in one list; what the docstrings say follows it."""

from __future__ import annotations

import re

from aucert.approx import nystrom
from aucert.exact import ROCSVM, solve
from aucert.exact.losses.registry import ALL_LOSSES, OURS
from aucert.exact.solvers.choose import NAMES
from aucert.exact.spaces.kernels import KERNELS, kernel_names
from loops import each


def written(of: object, parameter: str) -> tuple[str, ...]:
    """Return the names in braces that a docstring gives for a parameter."""
    # Python 3.13 takes the indentation out of docstrings.
    found = re.search(rf"^ *{parameter} : \{{([^}}]*)\}}", str(of.__doc__), re.MULTILINE)
    assert found, f"no names for {parameter}"
    return tuple(re.findall(r'"([^"]+)"', found[1]))


@each("of", [solve, ROCSVM])
def test_docstrings_name_every_loss_and_kernel(of: object) -> None:
    assert written(of, "loss") == tuple(ALL_LOSSES)
    assert written(of, "kernel") == kernel_names()


def test_the_docstring_of_solve_names_every_method() -> None:
    assert written(solve, "method") == NAMES


def test_every_loss_has_a_class_and_a_name_of_its_own() -> None:
    assert len(set(OURS)) == len(ALL_LOSSES)
    assert all(name == loss.name for name, loss in ALL_LOSSES.items())


def test_the_features_of_nystrom_have_the_kernels_of_the_one_list() -> None:
    assert nystrom.KERNELS is KERNELS
