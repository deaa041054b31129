"""A request checks its matrix once: a check reads all of it."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

import pytest

from aucert.exact import solve
from aucert.exact.tools import lossless
from aucert.validation.data.datasets import load


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_matrix_is_checked_once(kernel: str) -> None:
    data = load("wdbc", 0)
    calls: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1

    sys.setprofile(seen)
    try:
        solve(data.X, data.is_positive, 1e-2, kernel=kernel)
    finally:
        sys.setprofile(None)
    assert calls[lossless.check_matrix.__name__] == 1
