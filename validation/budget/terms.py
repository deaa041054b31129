"""The error budget of a fitted model: what its approximations cost, one by one.

Between the model f and the optimum f^ of the full problem lie f~_B, the optimum of the problem that
f was fitted to (drawn pairs, approximate kernel), and f^_P (all pairs, approximate kernel). With F
the full objective, lam/2 |f|^2 + mean loss over all pairs,

    F(f) - F(f^)  =  F(f) - F(f~_B)   +  F(f~_B) - F(f^_P)   +  F(f^_P) - F(f^),
                     optimisation        pair sampling          kernel approximation

each optimum solved with proof. The last two are >= 0; stopping early can help, so the first can be
negative. Theorem 4' (I) bounds F(f~) - p*; a finite test set leaves the AUC open. [ScalingUp,
Theorem 4; Section 3.2]
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...approx import IncompleteROCSVM, Nystrom, draw_pairs
from ...approx.newton.truncated_newton import NewtonClassifier
from ...exact import AllPairs, Gram, InputError, PairList, Problem, Ridge, Rows, Solution, Status
from ...exact.api.solve import choose_solver
from ...exact.formulation.formulation import Formulation
from ...exact.losses.registry import HINGE, SQUARED_HINGE, get_loss
from ...exact.pairs.concordance import Estimate, compare_models
from ...exact.problem.problem import pair_problem, split_labels
from ...exact.spaces.factor import DENSE_LIMIT
from ...exact.spaces.kernels import Linear
from ...exact.spaces.rows import check_matrix
from ...exact.tools.arrays import check_number, check_scores
from ...exact.tools.rounding import above, gamma
from ..bounds.experiment import kernel_problem
from ..bounds.experiment import solved as answered
from ..bounds.kernel import Approximation
from ..bounds.prime import Projected, theorem4_prime
from ..bounds.printed import Bound
from ..plots import as_svg

OPTIMISATION, SAMPLING, KERNEL = "optimisation", "pair sampling", "kernel approximation"
# The terms that Theorem 4' (I) has for each.
BOUND_TERMS = {OPTIMISATION: "inexact", SAMPLING: "sampling", KERNEL: "nystrom"}


@dataclass(frozen=True)
class Term:
    name: str
    value: float
    bound: float | None = None
    auc_lost: float | None = None
    auc_error: float | None = None


@dataclass(frozen=True)
class FiniteTest:
    """What the test rows say about the model, each number with its standard error."""

    auc: float
    auc_error: float
    loss: float
    loss_error: float
    auc_lost: float
    auc_lost_error: float


@dataclass(frozen=True)
class ErrorBudget:
    """What the approximations behind one model cost."""

    terms: tuple[Term, ...]
    objective: float
    optimum: float
    slack: float
    own_gap: float
    bound: Bound | None = None
    test: FiniteTest | None = None

    @property
    def total(self) -> float:
        return self.objective - self.optimum

    @property
    def lines(self) -> tuple[Term, ...]:
        """The terms, and their total as one more. Theorem 4' is about the total only where an eps
        was fixed before the draw."""
        allowed = None
        if self.bound is not None and self.terms[0].bound is not None:
            allowed = self.bound.total
        lost = () if self.test is None else (self.test.auc_lost, self.test.auc_lost_error)
        return (*self.terms, Term("total", self.total, allowed, *lost))

    @property
    def table(self) -> str:
        row = "{:>22} {:>11} {:>16} {:>20}".format
        text = [row("", "F - p*", "Theorem 4 prime", "test AUC lost")]
        for term in self.lines:
            allowed = "-" if term.bound is None else f"{term.bound:.2e}"
            lost = "" if term.auc_lost is None else f"{term.auc_lost:+.5f} +- {term.auc_error:.5f}"
            text.append(row(term.name, f"{term.value:.2e}", allowed, lost))
        if self.test is not None:
            shown = f"AUC {self.test.auc:.5f} +- {self.test.auc_error:.5f}"
            text.append(row("finite test set", f"{self.test.loss_error:.2e}", "", shown))
        best = f"p* = {self.optimum:.8g} +- {self.slack:.1g}"
        return "\n".join([*text, f"F(f) = {self.objective:.8g}, {best}"])

    def __str__(self) -> str:
        return self.table


BLOCK_PAIRS = 4_000_000  # Pairs held at a time.


def in_order(differences: np.ndarray) -> np.ndarray:
    """Return 1 for a pair in the right order, one half for a tie: its mean is the AUC."""
    return (differences > 0) + 0.5 * (differences == 0)


def pair_mean(scores: np.ndarray, positive: np.ndarray, h: Callable[[Any], Any]) -> Estimate:
    """Return the mean of h(s_i - s_j) over the pairs, positive rows first. Its variance is that of
    its projection, var(h_i) / n_pos + var(h_j) / n_neg, with h_i and h_j the means over each row's
    partners; NaN for a class of one row."""
    check_scores(scores, positive)
    s, r = scores[positive], scores[~positive]
    plus, minus = np.empty(s.size), np.zeros(r.size)
    step = max(1, BLOCK_PAIRS // max(r.size, 1))
    for start in range(0, s.size, step):
        values = h(s[start : start + step, None] - r)
        plus[start : start + step] = values.mean(axis=1)
        minus += values.sum(axis=0)
    mean = float(plus.mean())
    both = (plus, minus / s.size)
    sides = [(x - mean) / (np.sqrt(x.size * (x.size - 1)) or np.nan) for x in both]
    return Estimate(mean, np.concatenate(sides))


class FittedModel:
    """The parts of a fitted linear or Nyström classifier, or of a pipeline that ends in one."""

    def __init__(self, model: Any, positive: np.ndarray):
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        before, last = [one for one in steps[:-1] if one not in (None, "passthrough")], steps[-1]
        check_is_fitted(last)
        if not (hasattr(last, "coef_") and hasattr(last, "lam")):
            kind = type(last).__name__
            raise InputError(f"no error budget for {kind}: it needs a model with coef_ and lam")
        maps = [step for step in before if isinstance(step, Nystrom)]
        if maps and (len(maps) > 1 or before[-1] is not maps[0]):
            where = "right before the model: its norm is the kernel's"
            raise InputError(f"Nystrom must stand once, {where}")
        self._before = [step for step in before if step not in maps]
        maps += [last.nystrom_] if hasattr(last, "nystrom_") else []
        if len(maps) > 1:
            raise InputError("two Nystrom maps in a row: the kernel that is meant is not defined")
        self._map = maps[0].map_ if maps else None
        self.kernel = None if self._map is None else self._map.kernel
        self.w, self.lam = np.asarray(last.coef_[0], dtype=float), float(last.lam)
        squared = isinstance(last, NewtonClassifier)
        self.loss = SQUARED_HINGE if squared else get_loss(getattr(last, "loss", None) or "hinge")
        self.pairs: PairList | None = None
        if isinstance(last, IncompleteROCSVM):
            seed = last.random_state
            if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
                raise InputError("the drawn pairs are not kept: fit with a number as random_state")
            self.pairs = draw_pairs(positive, last.n_pairs_, int(seed), last.replace)
        self.replaced = bool(getattr(last, "replace", True))
        certified = getattr(last, "status_", None) == Status.CERTIFIED
        self.eps = promised(float(last.tol)) if certified else None
        self.stated = last.certificate_.primal if hasattr(last, "certificate_") else None

    def inputs(self, X: Any) -> Any:
        """Return the rows that the kernel, or without one the model, is given."""
        for step in self._before:
            X = step.transform(X)
        return check_matrix(X)

    def features(self, X: Any) -> Any:
        return self.inputs(X) if self._map is None else self._map.transform(self.inputs(X))


def promised(tol: float) -> float | None:
    """Return the absolute eps >= F_B(f) - p~_B that a relative tolerance promises before the draw.
    What is certified is primal - dual <= tol primal, and dual <= p~_B <= F_B(0) = 1 for every draw
    and each of the losses, so that primal <= 1 / (1 - tol): eps = tol / (1 - tol)."""
    return above(tol / (1 - tol) * (1 + gamma(4))) if tol < 1 else None


def error_budget(
    model: object, X: object, y: object, X_test: object = None, y_test: object = None,
    *, tol: float = 1e-9, delta: float = 0.05, max_time: float | None = None,
) -> ErrorBudget:  # fmt: skip
    """Return what each approximation behind a fitted model costs, next to Theorem 4'.

    Parameters
    ----------
    model : estimator
        `RankSVM`, `NBAUC`, `NSAUC`, `IncompleteROCSVM` and their like, alone or in a pipeline
        behind scalers and `Nystrom`. `IncompleteROCSVM` needs a number as `random_state`.
    X, y : array (n, d), array (n,)
        The rows of its fit, all with the same weight; a few thousand at most with a kernel.
    X_test, y_test : arrays, optional
        Other rows; without them the budget has no test part.
    tol, max_time : float, float or None
        Relative gap to which the optima between are solved, and the seconds for each of them.
    delta : float in (0, 1)
        The bound fails with this probability, over the draw of the pairs.

    Raises
    ------
    InputError
        If the model cannot be read, the rows are not those of its fit or are too many for its
        kernel, or the fit had row weights or a structure.
    RuntimeError
        If an optimum is not certified to `tol`: no term would be known.
    """
    check_number("tol", tol)
    check_number("delta", delta, 0.0, 1.0)
    positive, _, _ = split_labels(y)
    fitted = FittedModel(model, positive)

    def solved(problem: Problem, task: Formulation | None = None) -> Solution:
        solution = answered(choose_solver(problem, "auto", tol, max_time), problem)
        solution = solution if task is None else task.judge(solution, tol)
        if not solution.certificate.reaches(max(tol, 1e-6)):
            raise RuntimeError(f"an optimum is not certified: {solution.status.advice}")
        return solution

    rows = Rows(fitted.features(X))
    if rows.dim != fitted.w.size or rows.n != positive.size:
        raise InputError(f"the model has {fitted.w.size} weights, the rows {rows.dim} features")
    full = pair_problem(rows, positive, AllPairs(), fitted.loss, Ridge(fitted.lam))
    stated, objective = fitted.stated, full.objective(fitted.w)
    # Row weights are not kept by a model, nor are the rows: what they were shows only here.
    if stated is not None and abs(objective - stated) > 1e-6 * abs(stated):
        differ = f"own objective is {stated:.6g}, on these rows it is {objective:.6g}"
        why = "it was fitted to other rows, with row weights or with a structure"
        raise InputError(f"the model's {differ}: {why}, and the budget supports none of these")
    own = full if fitted.pairs is None else full.with_pairs(fitted.pairs)
    f_P = solved(full)
    f_B = f_P if fitted.pairs is None else solved(own)
    best, task, gram = f_P, None, None
    if fitted.kernel is not None:
        if full.n > DENSE_LIMIT:
            large = f"the kernel problem of {full.n} rows is too large"
            raise InputError(f"{large}: take {DENSE_LIMIT}")
        gram = Gram.of_kernel(fitted.kernel, fitted.inputs(X))
        task = kernel_problem(gram, positive, fitted.lam, fitted.loss)
        best = solved(task.work, task)
    values = [objective, full.objective(f_B.w), full.objective(f_P.w)]
    values.append(values[2] if task is None else best.certificate.primal)
    lost: list[tuple[float, ...]] = [()] * 4  # test AUC and its error, of each term and in all
    finite = None
    if X_test is not None:
        if y_test is None:
            raise InputError("test rows need their labels, y_test")
        new, mask = fitted.features(X_test), split_labels(y_test)[0]
        scores = [np.asarray(new @ w).ravel() for w in (fitted.w, f_B.w, f_P.w)]
        scores.append(scores[2] if task is None else task.evaluate(best.w, fitted.inputs(X_test)))
        tested = [pair_mean(s, mask, in_order) for s in scores]
        steps = (compare_models(b, a) for a, b in (*pairwise(tested), (tested[0], tested[3])))
        lost = [(step.difference, step.standard_error) for step in steps]
        own_part = (tested[0], pair_mean(scores[0], mask, fitted.loss.value))
        measured = [x for part in own_part for x in (part.value, part.standard_error)]
        finite = FiniteTest(*measured, *lost[3])
    bound = _bound(fitted, gram, full, f_P, delta)
    allowed = {} if bound is None else dict(bound.terms)
    if fitted.eps is None or fitted.pairs is None:
        allowed.pop("inexact", None)  # the theorem asks for an eps that was fixed before the draw
    if fitted.kernel is None:
        allowed.pop("nystrom", None)
    terms = tuple(
        Term(name, values[k] - values[k + 1], allowed.get(of_bound), *lost[k])
        for k, (name, of_bound) in enumerate(BOUND_TERMS.items())
    )
    slack = max(solution.certificate.gap for solution in (f_B, f_P, best))
    own_gap = max(own.objective(fitted.w) - f_B.certificate.primal, 0.0)
    return ErrorBudget(terms, values[0], values[3], slack, own_gap, bound, finite)


def _bound(
    fitted: FittedModel, gram: Gram | None, full: Problem, f_P: Solution, delta: float
) -> Bound | None:
    """Return Theorem 4', a posteriori, where it applies."""
    if fitted.loss != HINGE or full.n > DENSE_LIMIT or not fitted.replaced:
        return None
    rows = full.space.held
    assert rows is not None
    features = rows.dense()
    truth = Gram.of_kernel(Linear(), features) if gram is None else gram
    approximation = Approximation(truth, features, full.pairs.positive)
    given: dict[str, Any] = {"part": "A", "projected": Projected.of(f_P)}
    if fitted.pairs is not None:
        B, eps = fitted.pairs.on(full.pairs.positive).count(), fitted.eps or 0.0
        given |= {"part": "I", "B": B, "delta": delta, "eps": eps}
    return theorem4_prime(approximation, fitted.lam, **given)


def budget_picture(budget: ErrorBudget, title: str = "Error budget") -> str:
    """Return a budget of `error_budget` as SVG with a title; equal ones give equal text.

    A bar is a term's part of F(f) - p*, hatched where it is negative (a gain); a diamond what
    Theorem 4' allows it. Below them the total, and one standard error of the mean loss on the test
    rows: differences well below it are not seen there.
    """

    def put(canvas: Any) -> None:
        canvas.set_layout_engine("constrained")
        draw_budget(canvas.subplots(), budget, title)

    return as_svg(put, title, (7.2, 3.2), **{"font.size": 10})


def draw_budget(axes: Any, budget: ErrorBudget, title: str = "Error budget") -> None:
    rows = [*budget.lines]
    if budget.test is not None:
        rows.append(Term("finite test set, 1 s.e.", budget.test.loss_error))
    sizes = [abs(row.value) for row in rows]
    seen = [size for size in sizes if size > budget.slack] or [max(*sizes, 1e-16)]
    floor, names = max(budget.slack, min(seen) / 10, 1e-17), []
    for at, row in enumerate(rows):
        gain, known = row.value < 0, abs(row.value) > budget.slack
        size = max(abs(row.value), floor) if known else floor
        style = {"color": "#ffffff", "hatch": "///"} if gain else {"color": "#0072b2"}
        axes.barh(at, size, edgecolor="#0072b2", **style)
        names.append(f"{row.name}  {row.value:.1e}" if known else f"{row.name}  0")
        if row.bound is not None and row.bound > floor:
            axes.plot([row.bound], [at], "D", color="#d55e00", markersize=6)
    if budget.bound is not None:
        axes.plot([], [], "D", color="#d55e00", label="allowed by Theorem 4'")
    axes.axvline(1.0, color="#555555", linewidth=1, linestyle=":", label="F(0) = 1")
    axes.set(xscale="log", xlim=(floor, None), xlabel="part of F(f) - p* on the training rows")
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_title(title, fontsize=11)
    axes.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
