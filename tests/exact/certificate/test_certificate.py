"""What a certificate and a solution say is true: of hard arithmetic too, and in words."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from aucert import approx, exact
from aucert.exact import SurvivalSVM
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.certificate.solution import Recorder, Solution, Solver, Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.estimators.base import shortfall_of
from aucert.exact.losses.registry import HINGE, LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from aucert.exact.tools.rounding import Bound
from loops import each, first_fast
from naive import exact as fractions_of
from naive import primal_value, weighted_pairs

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)
SURVIVAL = np.array(
    list(zip(Y == 1, RNG.exponential(size=30), strict=True)), dtype=[("e", bool), ("t", float)]
)

PUBLIC = (getattr(part, name) for part in (exact, approx) for name in part.__all__)
ESTIMATORS = sorted(
    {
        kind
        for kind in PUBLIC
        if inspect.isclass(kind)
        and issubclass(kind, BaseEstimator)
        and not issubclass(kind, TransformerMixin)  # `Nystrom` minimises nothing
    },
    key=lambda kind: kind.__name__,
)


@each("loss", LOSSES)
@each("n", [10, 1000])
@pytest.mark.long_digits
def test_rounding_is_small_on_ordinary_data(n: int, loss: str) -> None:
    rng = np.random.default_rng(1)
    problem = linear_problem(rng.normal(size=(n, 3)), np.arange(n) % 3 == 0, 0.1, loss)
    witness = Minorant.from_scores(problem, rng.normal(size=n))
    assert Certificate.of(problem, rng.normal(size=3), witness).rounding < 1e-10


@each("loss", LOSSES)
def test_the_best_scale_is_the_best(loss: str) -> None:
    rng = np.random.default_rng(4)
    problem = linear_problem(rng.normal(size=(12, 2)), np.arange(12) % 2 == 0, 0.05, loss)
    scores, w = rng.normal(size=12), np.zeros(2)
    chosen = Certificate.of(problem, w, Minorant.from_scores(problem, scores)).dual
    for scale in np.linspace(0, 1, 101):
        other = Minorant.from_scores(problem, scores, scale=float(scale))
        assert Certificate.of(problem, w, other).dual <= chosen + 1e-12


@each("loss", ["squared_hinge", "square"])
def test_at_its_own_slope_the_gap_is_the_squared_gradient(loss: str) -> None:
    """F(w) - D(alpha(w)) = |lam w - pull(c)|^2 / (2 lam): Fenchel holds with equality there."""
    rng = np.random.default_rng(6)
    problem = linear_problem(rng.normal(size=(20, 3)), np.arange(20) % 4 == 0, 0.3, loss)
    w = rng.normal(size=3)
    scores = problem.space.scores(w)
    own = Minorant.from_scores(problem, scores, scale=1.0)
    primal, dual = evaluated_with(problem, w, own)[0]
    gradient = 0.3 * w - problem.space.pull(problem.sums(scores).c)
    apart = primal.value - dual.value
    assert apart == pytest.approx(float(gradient @ gradient) / 0.6, rel=1e-10)


def test_a_primal_that_is_lost_in_rounding_reaches_nothing() -> None:
    found = Certificate.from_bounds(Bound(1e-20, 1e-15), Bound(0.0, 0.0), 1.0)
    assert found.relative_gap == 1.0 and not found.reaches(1e-6)
    nothing = Certificate.from_bounds(Bound(0.0, 0.0), Bound(0.0, 0.0), 1.0)
    assert nothing.relative_gap is None and nothing.gap == 0.0 and nothing.reaches(0.0)


def test_a_tolerance_below_the_rounding_is_not_reached() -> None:
    found = Certificate.from_bounds(Bound(1.0, 1e-6), Bound(1.0 - 1e-12, 0.0), 1.0)
    assert not found.reaches(1e-9) and found.reaches(1e-5)


@each(("primal", "dual", "rounding"), [(1.0, 1.5, 0.1), (np.nan, 0.0, 1.0), (1.0, 0.0, np.nan)])
def test_a_gap_below_its_rounding_is_an_error(primal: float, dual: float, rounding: float) -> None:
    with pytest.raises(CertificateError, match="false"):
        Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), 1.0)


def test_the_radius_is_never_less_than_the_bounds_prove() -> None:
    """In fractions: lam/2 radius^2 >= primal - dual, and no number is inside the raw ones."""
    rng = np.random.default_rng(0)
    for _ in range(4000):
        primal = float(10.0 ** rng.uniform(-12, 3))
        dual = primal * float(1 - 10.0 ** rng.uniform(-16, 0))
        rounding, lam = float(10.0 ** rng.uniform(-20, -3)), float(10.0 ** rng.uniform(-9, 3))
        found = Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), lam)
        proved = Fraction(primal) - Fraction(dual) + Fraction(rounding)
        assert Fraction(lam) / 2 * Fraction(found.radius) ** 2 >= proved
        assert Fraction(found.primal) >= Fraction(primal) + Fraction(rounding)
        assert Fraction(found.gap) >= Fraction(found.primal) - Fraction(found.dual) >= proved
        assert found.radius <= float(np.sqrt(2 * found.gap / lam)) * (1 + 1e-15)


class Moved(Rows):
    """One pair whose margin seems to be 1 and is 1 - z, with scores that may be off by e."""

    z, e = 2.0**-66, 1e-9

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([1.0, self.z], dtype=np.longdouble), np.full(2, self.e)

    def norm2(self, w: np.ndarray) -> float:
        return 0.0


@each("loss", ["square", "squared_hinge"])
def test_errors_of_scores_act_on_the_loss_as_it_is_and_not_as_it_is_computed(loss: str) -> None:
    """The computed loss is 0, the true one (z + 2e)^2: 4 z e of that the loss at 0 cannot see."""
    space = Moved(np.array([[0.0], [1.0]]))
    pairs = PairList(np.array([0]), np.array([1]))
    problem = pair_problem(space, np.array([True, False]), pairs, LOSSES[loss], Ridge(1.0))
    witness = Minorant.from_scores(problem, np.zeros(2))
    found, _ = evaluated_with(problem, np.zeros(1), witness)[0]
    true = (Fraction(Moved.z) + 2 * Fraction(Moved.e)) ** 2
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


# Hard arithmetic: what is called certified is so in exact arithmetic, or is not called so.


GRID = np.array([[0.5], [-0.25], [1.0], [0.125]])
LABELS = np.array([1, 0, 1, 0])


@each("offset", first_fast([1e10, 1e8]))
@each("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_certified_is_true_on_sparse_rows_far_from_the_origin(seed: int, offset: float) -> None:
    """Sparse rows are centred only implicitly, so that their scores lose digits.

    The dense form of the same rows gives a lower bound that is good to 1e-12.
    """
    X, y = np.random.default_rng(seed).normal(size=(20, 3)) + offset, np.arange(20) % 3 == 0
    solution = solve(sp.csr_matrix(X), y, 1e-2, tol=1e-9, max_time=5)
    pairs = weighted_pairs(y.tolist(), AllPairs())
    value = primal_value(fractions_of(X), pairs, "hinge", Fraction(1e-2), fractions_of(solution.w))
    lower = solve(X, y, 1e-2, tol=1e-11).certificate
    short = float(value) - lower.primal
    assert solution.certificate.gap >= short
    if solution.status == Status.CERTIFIED:
        assert short <= 1e-9 * float(value)


@each("size", [1e-170, 1e160, 1e308])
@each("listed", [False, True])
def test_only_ratios_of_weights_matter(size: float, listed: bool) -> None:
    """A common factor of all weights changes nothing, be it 1e308: or it is refused."""
    i, j = np.array([0, 2]), np.array([1, 3])
    plain = PairList(i, j) if listed else AllPairs()
    expected = solve(GRID, LABELS, 1.0, pairs=plain).certificate
    try:
        scaled = PairList(i, j, np.full(2, size)) if listed else AllPairs(np.full(4, size))
        found = solve(GRID, LABELS, 1.0, pairs=scaled).certificate
    except InputError as error:
        assert "weight" in str(error)
        return
    assert found.primal == pytest.approx(expected.primal, rel=1e-9)


def test_underflow_of_the_penalty_makes_no_bound() -> None:
    """w'w is zero in floating point, lam / 2 w'w is 1.1e-13 at lam = 1e308: or it is refused."""
    X, w = np.zeros((2, 1000)), np.full(1000, 1.5e-162)
    X[0] = 1.0
    for lam in (1e100, 1e308):
        try:
            problem = linear_problem(X, [True, False], lam)
        except InputError as error:
            assert "lam = 1e+308 is above 1e+100" in str(error)
            continue
        found = Certificate.of(problem, w, Minorant.from_scores(problem, problem.space.scores(w)))
        value = 1 - sum(fractions_of(w)) + Fraction(lam) / 2 * sum(x**2 for x in fractions_of(w))
        assert value <= Fraction(found.primal)


def test_underflow_makes_no_bound() -> None:
    """x = +-0.6e-162 and lam = 1e-323: with d = 1.2e-162, d^2 / lam is about 0.146.

    The optimum 1 - d^2 / (2 lam) is about 0.927, yet d^2 is zero in floating point.
    """
    X = np.array([[0.6e-162], [-0.6e-162]])
    lam = 1e-323
    difference = Fraction(X[0, 0]) - Fraction(X[1, 0])
    optimum = 1 - difference**2 / (2 * Fraction(lam))
    try:
        problem = linear_problem(X, [1, 0], lam)
    except InputError:
        return
    witness = Minorant.from_marginals(problem, np.ones(1), np.ones(1))
    found = Certificate.of(problem, np.zeros(1), witness)
    assert found.dual <= float(optimum)


@each("negative", [1e-9, 3e-9])
def test_a_kernel_matrix_with_a_negative_eigenvalue_makes_no_false_claim(negative: float) -> None:
    """With k(x_4, x_4) < 0 its score is free: F(w) = 0 at no cost, below any dual bound.

    Refused as a kernel matrix, or charged for; never a library error over the user's data.
    """
    K = np.diag([1.0, 1.0, 1.0, -negative])
    positive = np.array([True, True, False, False])
    try:
        problem = pair_problem(Gram(K), positive, AllPairs(), HINGE, Ridge(1.0))
    except InputError:
        return
    w = np.array([0.0, 0.0, 0.0, 10.0 / negative])
    found = Certificate.of(problem, w, Minorant.from_scores(problem, np.zeros(4)))
    assert found.gap >= 0


def test_a_gap_includes_its_rounding_and_so_does_what_is_said_of_it() -> None:
    """Bounds 1.8e-10 apart are not certified to 1e-9 where their rounding is 2e-9."""
    problem = linear_problem(GRID, LABELS, 1.0)
    w = np.zeros(1)
    certificate = Certificate.from_bounds(Bound(1.0, 2e-9), Bound(1.0 - 1.8e-10, 0.0), 1.0)
    witness = Minorant.from_scores(problem, problem.space.scores(w))
    solution = Solution(w, witness, certificate, Status.STALLED, 1, 0.0)
    assert not certificate.reaches(1e-9)
    said = shortfall_of(solution, 1e-9)
    assert said is not None and shortfall_of(replace(solution, status=Status.CERTIFIED), 1) is None
    number = float(said.split("the gap is ")[1].split(" ")[0])
    assert certificate.gap <= number < 2.3e-9


# The skeleton that all solvers share, shown on a solver of a few lines.


@dataclass(frozen=True)
class Descent(Solver):
    """Gradient steps on the square loss; `word` is what `run` returns."""

    tol: float = 1e-6
    max_iter: int = 1000
    word: Status | None = None
    max_time: float | None = None

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        if problem.loss.name != "square":
            raise InputError("the square loss only")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        w = recorder.best_w
        assert w is not None
        for _ in range(self.max_iter):
            scores = problem.space.scores(w)
            w = w - 0.1 * (problem.lam * w - problem.space.pull(problem.sums(scores).c))
            recorder.offer(w, problem.objective(w))
            recorder.step()
            if recorder.out_of_time:
                return Status.TIME_LIMIT
        return self.word


PROBLEM = linear_problem(X, Y, 0.1, "square")


def test_the_certificate_decides_where_a_solver_gives_no_reason() -> None:
    arrived = Descent().solve(PROBLEM)
    assert arrived.status == Status.CERTIFIED and arrived.method == "descent"
    assert Descent(max_iter=1).solve(PROBLEM).status == Status.STALLED


def test_a_reason_stands_only_where_the_gap_is_open() -> None:
    assert Descent(word=Status.STALLED).solve(PROBLEM).status == Status.CERTIFIED
    stopped = Descent(max_iter=1, word=Status.ITERATION_LIMIT).solve(PROBLEM)
    assert stopped.status == Status.ITERATION_LIMIT


def test_problems_and_parameters_are_checked_before_the_run() -> None:
    with pytest.raises(InputError, match="square loss only"):
        Descent().solve(linear_problem(X, Y, 0.1, "hinge"))
    bad = [{"tol": -1.0}, {"tol": np.nan}, {"max_iter": 0}, {"max_time": 0.0}]
    for wrong in bad:
        with pytest.raises(InputError, match=next(iter(wrong))):
            Descent(**wrong)  # type: ignore[arg-type]


def test_a_deadline_holds_for_the_parts_too() -> None:
    assert Descent(max_time=1e-9).solve(PROBLEM).status == Status.TIME_LIMIT
    assert Recorder().time_left is None and Recorder().part().max_time is None
    recorder = Recorder(10.0)
    time.sleep(0.01)
    left = recorder.part().max_time
    assert left is not None and 5 < left <= 9.99
    assert Recorder(1e-9).time_left == 1e-3


# Words for people.


def test_a_statement_has_bounds_rounded_to_the_side_on_which_they_hold() -> None:
    held = Certificate.from_bounds(Bound(1 / 3, 1e-9), Bound(1 / 4, 0.0), 0.1)
    assert "0.333334 at most" in held.statement and "less than 0.25," in held.statement
    assert "at most 0.084 (26 % of it) above" in held.statement
    object.__setattr__(held, "as_saved", True)
    assert held.statement.startswith("The model file says, of data that were not looked at again")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_public_estimator_states_what_is_proved(kind: type) -> None:
    given = {"lams": [0.1, 1.0], "cv": 2, "k": 2, "n_landmarks": 10, "max_epochs": 20, "lam": 0.1}
    known = inspect.signature(kind).parameters
    model = kind(**{name: value for name, value in given.items() if name in known})
    y = SURVIVAL if kind is SurvivalSVM else Y
    statement = model.fit(X, y).certificate_.statement
    assert statement.count(". ") == 0 and statement.endswith("above the optimum.")
    assert statement.startswith("Proved on the training rows")


def test_a_notebook_shows_a_table_without_anybody_elses_markup() -> None:
    shown = replace(solve(X, Y, 0.1), method="<b>mine</b>")._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == shown.count("</tr>") == 10
    assert "<b>" not in shown and "&lt;b&gt;" in shown and "Proved on the training rows" in shown


def test_broken_constraints_prove_nothing_of_the_distance() -> None:
    broken = Certificate.from_bounds(
        Bound(np.inf, 0.0), Bound(0.25, 0.0), 0.0, "something in a ball"
    )
    assert broken.relative_gap is None and not broken.reaches(1.0)
    assert "no model of this problem has less than 0.25" in broken.statement
    assert "at most inf above" in broken.statement
