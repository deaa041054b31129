"""Load the installed package before pytest meets the `__init__.py` at the repository root.

pytest imports that file for its own bookkeeping. In a clone whose folder is named `aucert` it
would register it as `aucert`, and every later import would silently test the checkout.
"""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Before numpy is loaded: threads gain nothing for small matrices, and where the cores are busy
# with other work they wait for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Until all tests are collected: hardly any of what is made so far is garbage, and looking for it
# again and again takes half of the time.
gc.disable()

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402

import aucert  # noqa: E402
import loops  # noqa: E402
from aucert.exact.tools import compiling  # noqa: E402
from command import Command  # noqa: E402

# The slow tests compile every loop at its first call; `test_compiling` shows that the plain forms
# return the same bits. The fast ones walk these loops, as they are written, until one of them has
# taken twelve seconds: hardly any ever does, and compiling `hinge` takes about ten.
LOOPS = "hinge squared_hinge square counters laplacian _merge_halves _squared_merge _listed_range"
LOOPS += " _take_lower _add_upper _enter _below _walk _running _count placements"
WALKED = (
    *("aucert.approx.spam.", "aucert.approx.logistic_thresholding.", "aucert.approx.oam."),
    *("aucert.approx.solam.", "aucert.exact.subsets.branch_and_bound."),
    *(f"aucert.exact.sums.loops.{name}" for name in LOOPS.split()),
)
MANY = 5_000  # rows of an argument: so many are not walked
FAST = "not slow and not release"
called = compiling.Loop.__call__
walking: set[compiling.Loop] = set()


def walked(loop: compiling.Loop, *args: Any) -> Any:
    """Call a loop: as it is written, silent as its compiled form, where that is quick enough."""
    if loop.plain is None and f"{loop.__module__}.{loop.function.__name__}".startswith(WALKED):
        loop.plain = np.errstate(all="ignore")(loop.function)
        walking.add(loop)
    if loop in walking and any(x.shape[0] > MANY for x in args if getattr(x, "ndim", 0)):
        return loop.compiled(*args)
    return called(loop, *args)


# A drawn example that is late says that the machine is busy, not that the code is wrong.
hypothesis.settings.register_profile("no clock", deadline=None)
hypothesis.settings.load_profile("no clock")

# Under nohup, and in the background of a script, an interrupt is ignored: tests of it need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


SMOKE = 120  # about so many fast tests, from all over, run on the other interpreters


def left_out(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "release"))


def mark_smoke(items: list[pytest.Item]) -> None:
    """Mark the first fast test of files from all over."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        if not left_out(item):
            first.setdefault(item.nodeid.partition("::")[0], item)
    for item in list(first.values())[:: 1 + len(first) // SMOKE]:
        item.add_marker(pytest.mark.smoke)


def pytest_report_header() -> str:
    return f"aucert: {aucert.__version__} from {aucert.__file__}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=0, help="at least so many seeds in each loop")
    parser.addoption("--first-seed", type=int, default=0, help="the seed that loops begin with")


def pytest_configure(config: pytest.Config) -> None:
    loops.ask(config.getoption("--seeds") or 0, config.getoption("--first-seed") or 0)
    compiling.compile_at_once()
    if config.getoption("markexpr") == FAST:
        compiling.COMPILE_PRICE, compiling.Loop.__call__ = 12.0, walked  # type: ignore[method-assign]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if hasattr(metafunc.function, "cases"):
        slow = left_out(metafunc.definition)
        cases = metafunc.function.cases
        chosen = [pytest.param(cases, id="all")] if slow else loops.parts(cases)
        metafunc.parametrize("part", chosen)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_smoke(items)
    for item in items:
        if any("seed" in case.values for case in getattr(getattr(item, "obj", None), "cases", [])):
            item.add_marker(pytest.mark.seeds)
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        return
    reason = "asks for digits that only a long double beyond double has; bounds are wider here"
    for item in items:
        if item.get_closest_marker("long_digits"):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()  # what there is by now stays to the end


@pytest.fixture(autouse=True)
def interrupts_are_heard(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves the process deaf to Ctrl-C, as a compiled solver can.

    Those marked `alone` send signals of their own, which may still be under way.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if request.node.get_closest_marker("alone"):
        return
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return
    pytest.fail(f"an interrupt is not heard any more: {signal.getsignal(signal.SIGINT)!r}")


@pytest.fixture
def command(capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(capsys)
