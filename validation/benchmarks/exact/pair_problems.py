"""What the other pair problems cost: survival, queries, partial AUC, logistic loss, lasso.

As multiples of one X@w + one argsort + one X'g of the same rows in the same run, or in seconds of
CPU time; each against its goal. Rivals are run on the same rows where they are installed.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ....exact.api.certify import certify
from ....exact.api.solve import solve
from ....exact.certificate.solution import Solution
from ....exact.errors import InputError
from ....exact.losses.registry import HINGE
from ....exact.pairs.ordered.kinds import survival_pairs
from ....exact.pairs.pair_list import PairList
from ....exact.problem.penalties.ridge import Ridge
from ....exact.problem.problem import Problem
from ....exact.problem.risk import Mean
from ....exact.solvers.general.pair_newton import in_bins
from ....exact.spaces.rows import Rows
from ..harness import Lines, Table, benchmark
from ..measuring.timing import best_cpu, timed, yardstick
from ..problems.libauc_sopa import has_libauc, libauc_sopa
from ..problems.pair_problem_data import graded, labelled, sopa, survival

LAM = 1e-3

WARM = 400_000
"""Rows of a solve before the first that is timed: it loads or compiles every loop of many rows."""

APART = 2.0
"""How far apart the classes of partial AUC are: nearer ones have the optimum zero."""

Row = tuple[str, float, float | None, str]


@dataclass(frozen=True)
class Sizes:
    """Rows of each part; `small` is for a look at whether everything runs."""

    survival: int = 1_000_000
    rivals: int = 100_000
    ranking: int = 1_200_000
    tail: int = 1_000_000
    sopa: int = 100_000
    logistic: int = 10_000_000
    listed: int = 50_000
    lasso: int = 20_000

    @classmethod
    def small(cls) -> Sizes:
        """Return sizes of a few seconds."""
        return cls(20_000, 2_000, 20_000, 20_000, 5_000, 20_000, 2_000, 2_000)


def told(found: Solution, spent: float) -> str:
    """Return what a solution reached and its CPU seconds."""
    bounds = found.certificate
    gap = float("nan") if bounds.relative_gap is None else bounds.relative_gap
    return f"{found.status}, proved {gap:.1e}, {found.method}, {found.n_iter} steps, {spent:.2f} s"


def of_survival(sizes: Sizes) -> Iterator[Row]:
    """Yield the hinge over comparable pairs, one evaluation of it, and the squared hinge."""
    n = sizes.survival
    X, time, event = survival(n, 10)
    unit = best_cpu(yardstick(X), 3)
    some = slice(WARM)
    solve(X[some], None, lam=LAM, tol=1e-6, time=time[some], event=event[some])
    found, spent = timed(lambda: solve(X, None, lam=LAM, tol=1e-6, time=time, event=event))
    yield f"hinge survival n={n:.0e}, gap 1e-6 / unit", spent / unit, 60, told(found, spent)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), HINGE), Ridge(LAM))
    width = 1e-4

    def evaluate() -> np.ndarray:
        return problem.space.pull(problem.sums(problem.space.scores(found.w), width).c)

    spent = best_cpu(evaluate, 3)
    name = f"hinge survival n={n:.0e}, one evaluation / unit"
    yield name, spent / unit, 15, f"{spent:.2f} s, width 1e-4 on the finest grid"
    problem, width = in_bins(problem), found.minorant.width
    spent = best_cpu(evaluate, 3)
    rest = f"{spent:.2f} s, as the solve made its last one: width {width:.1e}"
    yield "  one evaluation on the grid of its width / unit", spent / unit, 15, rest
    X, time, event = survival(sizes.rivals, 10, 1)
    squared: dict[str, Any] = {"loss": "squared_hinge", "time": time, "event": event}
    found, spent = timed(lambda: solve(X, None, lam=LAM, tol=1e-9, **squared), 3)
    name = f"squared-hinge survival n={sizes.rivals:.0e}"
    yield f"{name}, gap 1e-9: s", spent, None, told(found, spent)
    yield from _of_scikit_survival(name, X, time, event, found, spent)


def _of_scikit_survival(
    name: str, X: np.ndarray, time: np.ndarray, event: np.ndarray, found: Solution, ours: float
) -> Iterator[Row]:
    if importlib.util.find_spec("sksurv") is None:
        yield f"{name}: FastSurvivalSVM / ours", float("nan"), None, "scikit-survival not installed"
        return
    from sksurv.svm import FastSurvivalSVM  # type: ignore[import-not-found]
    from sksurv.util import Surv  # type: ignore[import-not-found]

    alpha = 2 / (LAM * survival_pairs(time, event).mass)
    outcome = Surv.from_arrays(event, time)
    rival = FastSurvivalSVM(alpha=alpha, rank_ratio=1.0, max_iter=200, tol=1e-9, random_state=0)
    _, spent = timed(lambda: rival.fit(X, outcome))
    kept = certify(X, None, lam=LAM, w=-rival.coef_, loss="squared_hinge", time=time, event=event)
    assert kept.primal is not None
    inside = found.certificate.dual <= kept.primal
    excess = (kept.primal - found.certificate.dual) / kept.primal
    text = f"{spent:.2f} s, excess at most {excess:.1e}, {'above' if inside else 'BELOW'} our bound"
    yield f"{name}: FastSurvivalSVM / ours", spent / ours, 10, text


def of_ranking(sizes: Sizes) -> Iterator[Row]:
    """Yield a large set of queries and one of the shape of LightGBM's ranking example."""
    X, grade, qid = graded(sizes.ranking, 136, 120)
    found, spent = timed(lambda: solve(X, grade, lam=LAM, tol=1e-6, qid=qid))
    yield f"queries, {sizes.ranking:.1e} x 136, gap 1e-6: s", spent, 10, told(found, spent)
    del X
    X, grade, qid = graded(3005, 300, 15, 1, dense=False)
    found, spent = timed(lambda: solve(X, grade, lam=LAM, tol=1e-9, qid=qid))
    gap = found.certificate.relative_gap or 0.0
    yield "shape of LightGBM's example (synthetic): gap", gap, 1e-9, told(found, spent)


def of_lightgbm(folder: Path) -> Iterator[Row]:
    """Yield LightGBM's ranking example at several lam and losses.

    Raises
    ------
    InputError
        If the folder does not hold it.
    """
    try:
        X, grade = load_svmlight_file(str(folder / "rank.train"))[:2]
        sizes = np.loadtxt(folder / "rank.train.query", dtype=int, ndmin=1)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: LightGBM's ranking example is not there: {error}") from None
    if sizes.min() < 0 or sizes.sum() != grade.size:
        raise InputError(f"{folder}: queries of {sizes.sum()} rows for a table of {grade.size}")
    X, qid = X.toarray(), np.repeat(np.arange(sizes.size), sizes)
    for loss in ("hinge", "squared_hinge", "logistic"):
        for lam in (1e-2, LAM, 1e-4):
            asked: dict[str, Any] = {"lam": lam, "loss": loss, "tol": 1e-9, "qid": qid}
            found, spent = timed(lambda asked=asked: solve(X, grade, **asked))
            gap = found.certificate.relative_gap or 0.0
            yield f"LightGBM's example, {loss}, {lam:g}: gap", gap, 1e-9, told(found, spent)


def of_tails(sizes: Sizes) -> Iterator[Row]:
    """Yield one-way and two-way partial AUC, and SOPA on the same objective."""
    n = sizes.tail
    X, y = labelled(n, 10, shift=APART)
    unit = best_cpu(yardstick(X), 3)
    found, spent = timed(lambda: solve(X, y, lam=LAM, fpr_max=0.1, tol=1e-6))
    yield f"one-way partial AUC n={n:.0e}, gap 1e-6 / unit", spent / unit, 60, told(found, spent)
    found, spent = timed(
        lambda: solve(X, y, lam=LAM, fpr_max=0.1, tpr_min=0.5, tol=1e-5, max_time=300)
    )
    yield f"two-way partial AUC n={n:.0e}, gap 1e-5: s", spent, 30, told(found, spent)
    X, y = labelled(sizes.sopa, 10, 1, APART)
    best, spent = timed(lambda: solve(X, y, lam=LAM, fpr_max=0.1, tol=1e-6))
    yield f"one-way partial AUC n={sizes.sopa:.0e}: s", spent, None, told(best, spent)
    rivals: dict[str, Callable[..., np.ndarray]] = {"own": sopa}
    if has_libauc():
        rivals["LibAUC"] = libauc_sopa
    for name, rival in rivals.items():
        for step in (1e-2, 1e-1, 1.0):
            w, spent = timed(lambda rival=rival, step=step: rival(X, y, LAM, 0.1, step))
            kept = certify(X, y, lam=LAM, w=w, fpr_max=0.1)
            assert kept.primal is not None
            excess = (kept.primal - best.certificate.dual) / best.certificate.dual
            text = f"{spent:.2f} s, ten passes"
            yield f"  SOPA ({name}), step {step:g}: excess", excess, None, text


def of_logistic(sizes: Sizes) -> Iterator[Row]:
    """Yield the logistic loss over all pairs, and scikit-learn on listed pairs."""
    n = sizes.logistic
    X, y = labelled(n, 10)
    unit = best_cpu(yardstick(X), 2)
    solve(X[:WARM], y[:WARM], lam=LAM, loss="logistic")
    for tol, goal in ((1e-8, 2), (1e-10, 4)):
        found, spent = timed(lambda X=X, tol=tol: solve(X, y, lam=LAM, loss="logistic", tol=tol))
        name = f"logistic n={n:.0e}, gap {tol:g} / unit"
        yield name, spent / unit, goal, told(found, spent)
    del X
    yield from _of_listed_pairs(sizes.listed)


def _of_listed_pairs(m: int) -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression

    X, y = labelled(2_000, 10, 2)
    rng = np.random.default_rng(0)
    i, j = rng.choice(np.flatnonzero(y == 1), m), rng.choice(np.flatnonzero(y == 0), m)
    found = solve(X, y, lam=LAM, loss="logistic", pairs=PairList(i, j), tol=1e-9)
    D, side = X[i] - X[j], np.arange(m) % 2
    rival = LogisticRegression(C=1 / (LAM * m), fit_intercept=False, tol=1e-10, max_iter=1000)
    w = rival.fit(np.where(side[:, None] == 1, D, -D), side).coef_[0]
    value = float(np.logaddexp(0.0, -(D @ w)).mean()) + LAM / 2 * float(w @ w)
    bounds = found.certificate
    off = max(bounds.dual - value, value - bounds.primal - 1e-8, 0.0)
    text = f"scikit-learn {value:.12f}, ours {bounds.dual:.12f} .. {bounds.primal:.12f}"
    yield f"logistic, {m:.0e} listed pairs: outside by", off, 0.0, text


def of_lasso(sizes: Sizes) -> Iterator[Row]:
    """Yield the lasso of the squared hinge, and how many of its zeros are proved."""
    rng = np.random.default_rng(3)
    n, p = sizes.lasso, 1_000
    X = rng.normal(size=(n, p))
    y = (X[:, :10] @ np.linspace(1, 0.2, 10) + rng.normal(size=n) > 0.5).astype(int)
    options: dict[str, Any] = {"lam": 0.0, "l1": 0.05, "loss": "squared_hinge", "tol": 1e-6}
    found, spent = timed(lambda: solve(X, y, **options))
    yield f"lasso n={n:.0e}, p={p}, gap 1e-6: s", spent, 6, told(found, spent)
    proved = 0 if found.zeros_proved is None else int(found.zeros_proved.sum())
    zeros = int((np.abs(found.w) < 1e-9).sum())
    yield (
        "  zeros proved, of those that the model has",
        proved / max(zeros, 1),
        None,
        (f"{proved} proved, {zeros} in the model, of {p}"),
    )


PARTS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "survival": of_survival,
    "ranking": of_ranking,
    "tails": of_tails,
    "logistic": of_logistic,
    "lasso": of_lasso,
}

AT_LEAST = ("FastSurvivalSVM / ours",)
"""Rows whose goal is to be at least so much; that of the others is at most."""


@benchmark(
    parts=f"of {', '.join(PARTS)}; all by default",
    size="large or small",
    lightgbm="folder examples/lambdarank of LightGBM's sources, to solve that too",
)
def main(parts: tuple[str, ...] = (), size: str = "large", lightgbm: Path | None = None) -> Lines:
    """Yield the table."""
    yield Table(
        "CPU time; unit = one X@w + one argsort + one X'g of the same rows in the same run",
        *("problem:<50", "measured:9.3g", "goal:>7", "met:>4", "what:"),
    )
    sizes = Sizes.small() if size == "small" else Sizes()
    asked = [] if lightgbm is None else [of_lightgbm(lightgbm)]
    for rows in (*asked, *(PARTS[name](sizes) for name in parts or PARTS)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a trivial surrogate is not the subject
            for what, measured, goal, text in rows:
                least = what.endswith(AT_LEAST)
                met = None
                if goal is not None and measured == measured:
                    met = "yes" if (measured >= goal if least else measured <= goal) else "no"
                yield what, measured, None if goal is None else f"{goal:g}", met, text


if __name__ == "__main__":
    raise SystemExit(main())
