"""From data to problems and back: spaces, lifts, equal rows, large kernels, proved zeros."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import aucert.exact as ac
import aucert.exact.formulation.formulation as formulation_module
import aucert.exact.spaces.factor as factor_module
import aucert.exact.structured as structured_module
from aucert.exact import AllPairs, Certificate, Rows, solve
from aucert.exact.api import solve as solving
from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.formulation.formulation import Formulation, equal_rows, formulate
from aucert.exact.formulation.request import Request
from aucert.exact.formulation.screening import pair_spread, zeros_proved
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.problem.penalties import ElasticNet
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean, Weights
from aucert.exact.spaces import rows as row_blocks
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from aucert.exact.tools.rounding import LONG_UNIT, UNIT
from loops import each, refuses, seeds

X, Y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3 == 0
X[Y] += 0.7
KERNELS = ["linear", "rbf", "laplacian", "precomputed"]
STRUCTURES = [0.0, 0.3, 50.0]


def case(kernel: str, structure: float, sparse: bool = False) -> tuple[Formulation, object]:
    train: Any = Laplacian(0.3)(X, X) if kernel == "precomputed" else X
    train = sp.csr_matrix(train) if sparse else train
    asked = Request.of(0.02, kernel=kernel, gamma=0.4, structure=structure)
    return formulate(train, Y, asked), train


def at_work(task: Formulation, tol: float = 1e-9) -> Solution:
    """The solution of the problem that solvers see."""
    return choose_solver(task.work, "auto", tol, None).solve(task.work)


def solved(task: Formulation) -> Solution:
    return task.judge(at_work(task, 1e-10), 1e-9)


@each("sparse", [False, True])
@each("structure", STRUCTURES)
@each("kernel", KERNELS)
def test_scores_in_and_out_of_sample_agree(kernel: str, structure: float, sparse: bool) -> None:
    """Of the optimum: by the space meant, by its formula, and by the rows that solvers see."""
    task, train = case(kernel, structure, sparse)
    solution = at_work(task)
    w = task.lift(solution.w)
    inside = task.meant.space.scores(w)
    assert task.evaluate(w, train) == pytest.approx(inside, abs=1e-11)
    worked = task.work.space.scores(solution.w)
    assert worked - worked.mean() == pytest.approx(inside - inside.mean(), abs=1e-10)


@each("kernel", ["linear", "rbf", "precomputed"])
def test_new_rows_of_another_width_are_refused(kernel: str) -> None:
    task, _ = case(kernel, 0.0)
    w = np.ones(task.meant.space.dim)
    message = "40 kernel values" if kernel == "precomputed" else "3 features"
    refuses(message + ".* new rows have 5", task.evaluate, w, np.ones((2, 5)))
    refuses("not finite", task.evaluate, w, np.full((2, 3), np.nan))
    refuses("coordinates", task.evaluate, np.ones(7), np.ones((2, 3)))


@each("structure", [0.0, 3.0])
@each("sparse", [False, True])
def test_many_features_are_solved_in_the_space_of_rows(sparse: bool, structure: float) -> None:
    wide, y = np.random.default_rng(5).normal(size=(30, 200)) + 3.0, np.arange(30) % 2 == 0
    rows = sp.csr_matrix(wide) if sparse else wide
    task = formulate(rows, y, Request.of(0.5, structure=structure))
    if structure or not sparse:
        assert task.work.space.dim <= 30
    found = solved(task)
    assert found.w.shape == (200,) and found.status == Status.CERTIFIED
    kernel = solve(wide @ wide.T, y, 0.5, kernel="precomputed", structure=structure)
    assert found.certificate.primal == pytest.approx(kernel.certificate.primal, rel=1e-8)


def test_the_verdict_is_about_the_space_meant() -> None:
    """A factor of low rank solves its own problem, and the true kernel shows what is missing."""
    K = Gaussian(2.0)(X, X)
    task = formulate(K, Y, Request.of(0.001, kernel="precomputed"))
    factor = factor_module.factor_gram(K, max_rank=4)
    rows = Rows(factor.features)
    poor = replace(task, work=task.meant.over(rows), lift=factor.coefficients, factor=factor)
    solution, late = at_work(poor), at_work(task)
    assert solution.status == Status.CERTIFIED, "in its own space"
    judged = poor.judge(solution, 1e-8)
    assert judged.status == Status.STALLED
    found = task.judge(replace(late, status=Status.TIME_LIMIT), 1e-8)
    assert found.status == Status.CERTIFIED  # better than the solver thought
    assert case("linear", 0.0)[0].judge(late, 1e-8) is late  # it is its own judge
    optimum = found.certificate
    assert judged.certificate.primal > optimum.primal + 1e-3
    assert judged.certificate.dual <= optimum.primal
    # What is left out of the kernel makes the dual smaller and leaves the primal as it is.
    assert judged.certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert judged.certificate.dual < solution.certificate.dual


def repeated(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 200 rows, 50 different ones in each class at most; some are in both classes."""
    rng = np.random.default_rng([3, seed])
    kinds, which = rng.normal(size=(50, 3)), rng.integers(0, 50, 200)
    return kinds[which], rng.uniform(size=200) < 0.3


@each("sparse", [False, True])
@each("levels", [False, True])
@each("seed", seeds(3))
def test_groups_are_the_equal_rows_of_a_class(seed: int, levels: bool, sparse: bool) -> None:
    X, y = repeated(seed)
    X = np.rint(X) if levels else X
    X[np.flatnonzero(X[:, 0] == 0)[::2], 0] *= -1  # zero all the same
    found: Any = equal_rows(sp.csr_matrix(X) if sparse else X, y)
    together = found.group[:, None] == found.group[None, :]
    equal = (X[:, None, :] == X[None, :, :]).all(axis=2) & (y[:, None] == y[None, :])
    assert np.array_equal(together, equal)
    assert np.array_equal(found.first, np.unique(found.group, return_index=True)[1])
    assert (np.diff(found.first) > 0).all()


def test_rows_with_one_hash_are_told_apart_by_their_numbers(monkeypatch) -> None:
    X, y = repeated()
    order = np.lexsort((y, *X.T))
    expected: Any = equal_rows(X[order], y[order])
    monkeypatch.setattr(formulation_module, "_hashes", lambda X: np.zeros(200))
    found: Any = equal_rows(X[order], y[order])
    assert np.array_equal(found.group, expected.group)


@each("asked", [{}, {"kernel": "rbf"}], ids=str)
def test_a_binned_dual_point_is_judged_on_all_rows(asked: dict[str, Any]) -> None:
    """As solvers make it where there are many groups: it holds weights, and no marginals."""
    X, y = repeated()
    task = formulate(X, y, Request.of(0.1, **asked), collapse=True)
    assert task.merged is not None
    best = at_work(task)
    for half in (0, 40):
        binned = task.work.risk.minorant(Weights(best.w, 1 << 14, half))
        stated = Certificate.of(task.work, best.w, binned)
        found = task.judge(replace(best, witness=binned, certificate=stated), 1e-9)
        assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-9)
        # Sorted sums at the width of the bins: within one of them, 6e-5.
        assert found.certificate.dual == pytest.approx(stated.dual, rel=1e-4)
        assert found.certificate.dual <= best.certificate.primal


@each("kernel", ["linear", "rbf"])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_an_optimum_in_groups_is_that_of_rows(loss: str, kernel: str) -> None:
    X, y = repeated(2)
    chosen: dict[str, Any] = {"kernel": kernel, "gamma": 0.5}
    plain = solved(formulate(X, y, Request.of(0.02, loss, **chosen)))
    task = formulate(X, y, Request.of(0.02, loss, **chosen), collapse=True)
    assert task.merged is not None and isinstance(task.work.space, Rows) and task.meant.n == 200
    found = solved(task)
    assert found.status == plain.status == Status.CERTIFIED and found.w.shape == plain.w.shape
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-9)
    again = Certificate.of(task.meant, found.w, found.witness, 1e-9)
    assert again.gap == found.certificate.gap, "the witness returned is the one of the rows"
    assert task.evaluate(found.w, X) == pytest.approx(task.meant.space.scores(found.w), abs=1e-9)
    if task.factor is not None:
        F = task.factor.features
        K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        assert F.shape[0] == 200 and F @ F.T == pytest.approx(K, abs=1e-12)


@pytest.fixture
def column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of more than 20 rows are large."""
    for module in (factor_module, formulation_module):
        monkeypatch.setattr(module, "DENSE_LIMIT", 20)


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, (X[:, 0] + rng.normal(size=80) > 0.3).astype(int)


@each("structure", [0.0, 1.0])
@each("loss", ["hinge", "squared_hinge", "square"])
@pytest.mark.usefixtures("column_by_column")
def test_features_cut_short_by_time_bound_the_same_optimum(loss, structure, monkeypatch) -> None:
    clock = SimpleNamespace(monotonic=map(float, count()).__next__)  # one second a column
    monkeypatch.setattr(factor_module, "time", clock)
    X, y = rows()
    shape = {"kernel": "rbf", "gamma": 0.5, "structure": structure, "loss": loss}
    whole, gaps = solve(X, y, lam=1e-2, **shape).certificate, []
    for seconds in (2.0, 20.0, 60.0, 400.0):
        cut = solve(X, y, lam=1e-2, max_time=seconds, **shape)
        found = cut.certificate
        assert found.dual <= whole.primal and found.primal >= whole.dual
        assert (cut.status == Status.CERTIFIED) == found.reaches(1e-9)
        gaps.append(found.gap)
    assert gaps[0] > 1e-3 * whole.primal and gaps[-1] < 1e-8


@each("structure", [0.0, 1.0])
@pytest.mark.usefixtures("column_by_column")
def test_features_that_do_not_fit_are_refused_or_cut(structure: float, monkeypatch) -> None:
    X, y = rows()
    shape = {"kernel": "rbf", "gamma": 0.5, "structure": structure}
    whole, match = solve(X, y, lam=1e-2, **shape).certificate, "and 15 is the most"
    if structure:
        for module in (factor_module, structured_module):
            monkeypatch.setattr(module, "SQUARE_LIMIT", 15)
    else:
        monkeypatch.setattr(factor_module, "FEATURE_NUMBERS", 80 * 12 + 5)
        match = r"80 rows needs more than 12 features.*Nystrom"
        narrow = solve(X[:, :1].round(0), y, lam=1e-2, **shape)  # few different rows: they fit
        assert narrow.status == Status.CERTIFIED
    refuses(match, solve, X, y, error=ac.TooLargeError, lam=1e-2, **shape)
    found = solve(X, y, lam=1e-2, max_time=60.0, **shape)
    assert structure or found.status == Status.STALLED  # not for want of time
    assert found.certificate.dual <= whole.primal and found.certificate.primal >= whole.dual
    assert found.certificate.gap > whole.gap


LARGE_CALLS: dict[str, dict[str, Any]] = {
    "hinge": {},
    "squared hinge": {"loss": "squared_hinge"},
    "cutting planes": {"method": "cutting-plane"},
    "logistic": {"loss": "logistic"},
    "kernel": {"kernel": "rbf"},
}


@pytest.fixture(params=["held", "blocks"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rows that are held, their products made in parts, or rows read in blocks."""
    monkeypatch.setattr(row_blocks, "SHARED", 1)
    if request.param == "blocks":
        monkeypatch.setattr(solving, "STREAM_FROM_ROWS", 10)
    return request.param


def test_many_tied_rows_are_solved_to_the_last_digits() -> None:
    """Bins alone stall on them, and a second solve would begin anew."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2))
    y = X @ [1.0, 0.5] + rng.normal(size=len(X)) > 0.8
    found = solve(X.round(), y, 1e-3, tol=1e-9 if LONG_UNIT < UNIT else 1e-8)
    assert found.status == Status.CERTIFIED


def test_many_rows_of_objects_become_numbers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "STREAM_FROM_ROWS", 10)
    made: Any = solving.streamed_problem(X.astype(object), Y, Request.of(0.1))
    assert made.space.source.dtype == float


@each("name", LARGE_CALLS)
def test_answers_are_the_same_for_any_number_of_threads(name: str, form: str) -> None:
    if form == "blocks" and "hinge" not in name:
        pytest.skip("only these read rows in blocks")
    rng, y = np.random.default_rng(0), np.arange(400) % 3 == 0
    X = rng.normal(size=(400, 12)) + 0.5 * y[:, None]
    found, w = [], np.linspace(0, 1, X.shape[1])
    for jobs in (1, 2, 4):
        with threadpool_limits(min(jobs, 2), user_api="blas"):  # for any setting of the user
            made = solve(X, y, 0.1, tol=1e-5, n_jobs=jobs, **LARGE_CALLS[name])
            found.append([made.w.tolist(), made.certificate])
            if name == "hinge":
                audit = ac.certify(X, y, 0.1, w=w, n_jobs=jobs)
                path = ac.regularization_path(X, y, [1.0, 0.1], tol=1e-4, n_jobs=jobs)
                model = ac.ROCSVM(lam=0.1, tol=1e-4, n_jobs=jobs).fit(X, y)
                found[-1] += [audit.primal, audit.dual, path.gaps.tolist(), model.coef_.tolist()]
    assert found[0] == found[1] == found[2]


LOSSES = ["squared_hinge", "square", "logistic", "smooth_hinge", "hinge"]
KINDS: dict[str, dict[str, Any]] = {
    "l1": {},
    "groups": {"groups": np.arange(9) // 3},
    "sign": {"sign": "nonnegative"},
    "both": {"groups": np.arange(9) // 2, "sign": np.arange(4)},
}


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of unequal features, of which the first tell the labels."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(12, 50))
    X = rng.normal(size=(n, 9)) * 10.0 ** rng.uniform(-0.5, 0.5, size=9) + 3.0
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n) > np.median(X[:, 0] - X[:, 1])).astype(int)
    return X, y


def proved_zeros(loss: str, kind: str, sparse: bool = False, ordered: bool = False) -> int:
    """Return how many zeros are proved, all of which are true."""
    proved = 0
    for seed in range(3):
        X, y = drawn(seed)
        lam = [0.01, 0.1, 0.0][seed] or (0.05 if loss == "hinge" else 0.0)
        more = {**KINDS[kind], "loss": loss, "lam": lam, "l1": 0.05 * 3**seed}
        more |= {"qid": np.arange(y.size) % 2} if ordered else {}
        rows = sp.csr_matrix(X) if sparse else X
        tols = (1e-2, 1e-3) if loss == "hinge" else (1e-4, 1e-8)
        both: list[Any] = [solve(rows, y, tol=tol, **more) for tol in tols]
        nonzero = np.abs(both[1].w) > 1e-3 * np.abs(both[1].w).max()
        for found in both:
            assert not (found.zeros_proved & nonzero).any()
            proved += int(found.zeros_proved.sum())
    return proved


@each("kind", KINDS)
@each("loss", LOSSES)
def test_what_is_proved_is_zero(loss: str, kind: str) -> None:
    assert proved_zeros(loss, kind) > 0 or loss == "hinge"


@pytest.mark.slow
def test_sparse_rows_and_ordered_pairs_have_zeros_too() -> None:
    for sparse, ordered in ((True, False), (False, True), (True, True)):
        assert proved_zeros("squared_hinge", "l1", sparse, ordered) > 0


def test_the_ball_of_the_hinge_is_no_smaller_than_it_must_be() -> None:
    """At shrunk weights the pull looks as if weights were zero that are not; the radius says no."""
    false: Counter[float] = Counter()
    for seed in range(4):
        X, y = drawn(seed)
        problem = Problem(Rows(X / 3), Mean(AllPairs().on(y == 1), ac.HINGE), ElasticNet(1.0, 0.1))
        best = ac.solve_problem(problem, tol=1e-9)
        nonzero = np.abs(best.w) > best.certificate.radius
        for share in (0.0, 0.7, 1.3, 2.0):
            w = share * best.w
            found = Certificate.of(problem, w, best.witness, 1e-9)
            for part in (1.0, 0.1):
                ball = replace(found, radius=part * found.radius)
                zeros: Any = zeros_proved(problem, w, best.witness, ball)
                false[part] += int((zeros & nonzero).sum())
    assert false[1.0] == 0 and false[0.1] > 0


@each("weighted", [False, True])
def test_the_spread_is_at_least_that_of_the_pairs(weighted: bool) -> None:
    X, y = drawn(0)
    weight = np.random.default_rng(0).uniform(0, 2, y.size) if weighted else None
    pairs, penalty = AllPairs(weight).on(y == 1), ElasticNet(1.0, 1.0)
    apart = (X[y == 1][:, None] - X[y == 0][None]) ** 2
    true = np.einsum("i,j,ijk->k", *pairs.normalised(), apart)
    for rows in (X, sp.csr_matrix(X)):
        stated = pair_spread(Problem(Rows(rows), Mean(pairs, SQUARED_HINGE), penalty))
        assert (true <= stated).all() and np.allclose(stated, true, rtol=1e-9)
    stated = pair_spread(Problem(Rows(X), Mean(ac.ordinal_pairs(y), SQUARED_HINGE), penalty))
    plain = np.einsum("ijk->k", apart) / apart.shape[0] / apart.shape[1]
    assert (plain <= stated).all() and (stated <= 8 * plain).all()


def test_where_no_rule_is_known_nothing_is_said() -> None:
    X, y = drawn(0)
    every: list[Any] = [{"tol": 1e-4}, {"l1": 0.1, "loss": "exponential", "tol": 1e-4}]
    for asked in (*every, {"l1": 0.01, "fpr_max": 0.5, "loss": "logistic", "tol": 1e-2}):
        assert solve(X, y, lam=0.1, **asked).zeros_proved is None
