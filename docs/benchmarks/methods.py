"""Every method on the real sets, each next to its counterparts, and what approximations cost.

    python docs/benchmarks/methods.py --page docs/benchmarks.md

CPU seconds, one thread. `sets` fits each method to each of the papers' sets of at most 100,000 rows
(AUCERT_DATA names their folder), columns standardised, rows with missing values left out, at most
`--max-time` seconds per fit; the gap is the one that the method proves, the AUC that of its rows.
`counterparts` judges everybody by F(w) / F* - 1 over all pairs, F* the certified optimum.
`landmarks` compares drawn pairs with the optimum over all of them, with and without structure.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import scale

import common as c
import peers
from aucert import approx, exact
from aucert.validation.data.datasets import TASKS, Task, load, load_npz, load_real, real_data_folder

MOST_ROWS = 100_000
SPARSE_K = 8  # nonzeros of the sparse methods that have no default
KERNEL_ROWS = 20_000  # for the exact kernel machines, whose proof reads n x n values
SECONDS = {"best_subset": 20.0, "ROCSVM rbf": 300.0, "SAUCSVM rbf": 300.0}  # below `--max-time`

OTHERS = {
    "colon-libsvm": Task("colon_libsvm", (-1,), "tumour; the standardised version"),
    "protein": Task("protein_val", (0,), "class 0 against the rest; a part of the rows"),
    "arrhythmia": Task("arrhythmia", (1,), "normal; J has hardly a value", drop=("J",)),
    "automobile": Task("automobile", (1, 2, 3), "risky, symboling above zero"),
    "hepatitis": Task("hepatitis", (1,), "died; PROTIME has hardly a value", drop=("PROTIME",)),
}
"""Sets that the papers' tasks leave out, or that only serve here."""


def read(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised rows and labels; where a set is too large, those of its training part."""
    if name == "wdbc":
        data = load("wdbc")
    elif name in OTHERS:
        task, path = OTHERS[name], folder / f"{OTHERS[name].file}.npz"
        data = load_npz(path, positive=task.positive, drop=task.drop, missing="drop-rows")
    else:
        data = load_real(name, folder)
        if len(data.X) > MOST_ROWS:
            with contextlib.suppress(exact.InputError):
                data = load_real(name, folder, "train")
        if len(data.X) > MOST_ROWS:
            raise exact.InputError(f"{name}: {len(data.X)} rows, more than {MOST_ROWS}")
    return scale(data.X), data.is_positive


def weights(call: Callable[..., Any]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the function that scores rows by the weights that a call makes of them."""
    return lambda X, y: X @ call(X, y)


METHODS: dict[str, Any] = {
    "ROCSVM": exact.ROCSVM(),
    "SAUCSVM": exact.SAUCSVM(),
    "ROCSVM squared": exact.ROCSVM(loss="squared_hinge"),
    "ROCSVM square": exact.ROCSVM(loss="square"),
    "ROCSVM rbf": exact.ROCSVM(kernel="rbf"),
    "SAUCSVM rbf": exact.SAUCSVM(kernel="rbf"),
    "ROCSVMCV": exact.ROCSVMCV(random_state=0),
    "best_subset": exact.best_subset,
    "Nystrom, ROCSVM": make_pipeline(approx.Nystrom(random_state=0), exact.ROCSVM()),
    "Nystrom, SAUCSVM": make_pipeline(approx.Nystrom(random_state=0), exact.SAUCSVM()),
    "RankSVM": approx.RankSVM(),
    **{kind.__name__: kind(random_state=0) for kind in (
        approx.IncompleteROCSVM, approx.IncompleteSAUCSVM, approx.NBAUC, approx.SubsampledRankSVM,
        approx.NSAUC, approx.NSVMSGD2, approx.OAM, approx.SOLAM, approx.SPAM, approx.FSAUC,
        approx.SHTAUC)},
    **{make.__name__: make(seed=0) for make in (
        approx.incomplete_sauc, approx.rfauc, approx.noam, approx.nsolam, approx.linear_svm)},
    "kernel_svm": approx.kernel_svm(),
    "stoiht": weights(lambda X, y: approx.stoiht(X, y, SPARSE_K).w),
    "hsg_ht": weights(lambda X, y: approx.hsg_ht(X, y, SPARSE_K).w),
    "mean_difference": weights(approx.mean_difference),
    "top_mean_difference": weights(lambda X, y: approx.top_mean_difference(X, y, SPARSE_K)),
    "top_fisher": weights(lambda X, y: approx.top_fisher(X, y, SPARSE_K)),
}  # fmt: skip


def fitted(make: Any, X: np.ndarray, y: np.ndarray, limit: float) -> tuple[np.ndarray, Any, bool]:
    """Return scores, the relative gap that is proved or None, and whether time was up."""
    if make is exact.best_subset:
        found = exact.best_subset(X, y, k=min(SPARSE_K, X.shape[1]), max_time=limit)
        return X @ found.w, found.gap / max(found.upper, 1e-300), found.status == "time_limit"
    if not isinstance(make, BaseEstimator):
        return make(X, y), None, False
    model: Any = clone(make)
    limits = {key: limit for key in model.get_params() if key.split("__")[-1] == "max_time"}
    model.set_params(**limits).fit(X, y)
    last = model[-1] if isinstance(model, Pipeline) else model
    gap = None
    if held := getattr(last, "certificate_", None):
        gap = held.gap if held.relative_gap is None else held.relative_gap
    elif hasattr(last, "gap_"):
        gap = last.gap_ / max(last.objective_, 1e-300)
    return model.decision_function(X), gap, getattr(last, "status_", "") == "time_limit"


def sets(quick: bool, names: tuple[str, ...], methods: tuple[str, ...], max_time: float) -> Any:
    """Yield a row for each method: gaps, AUC on its own rows and seconds over the sets."""
    folder, data = real_data_folder(), dict[str, tuple[np.ndarray, np.ndarray]]()
    known = names or ("wdbc", *OTHERS, *TASKS)
    for name in ("wdbc",) if folder is None or quick else known:
        try:
            data[name] = read(name, folder or Path())
        except exact.InputError as reason:
            click.echo(f"left out: {reason}", err=True)
    for method in methods or METHODS:
        limit = min(max_time, SECONDS.get(method, max_time), 1.0 if quick else max_time)
        fits, late, wrong = [], 0, []
        for name, (X, y) in data.items():
            if method.endswith(" rbf") and len(y) > KERNEL_ROWS:
                continue
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                try:
                    fit = partial(fitted, METHODS[method], X, y, limit)
                    (scores, gap, up), seconds = c.once(fit)
                except Exception as error:  # the table goes on and says so
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
                    continue
            late += up
            wrong += [f"{name}: {heard[0].message}"] if heard and not up else []
            fits.append((np.nan if gap is None else gap, roc_auc_score(y, scores), seconds))
        gaps, scored, seconds = np.transpose(fits or [(np.nan,) * 3])
        yield {"method": method, "sets": len(fits), "median gap": float(np.median(gaps)),
               "largest gap": float(np.max(gaps)), "median AUC": float(np.median(scored)),
               "median s": float(np.median(seconds)), "most s": float(np.max(seconds)),
               "timeouts": late, "wrong": "; ".join(wrong)}  # fmt: skip


# Counterparts on one objective

Fit = Callable[[exact.Problem, np.ndarray], np.ndarray]


def elsewhere(points: Any) -> Fit:
    """Return the fit of scikit-learn on as many drawn pairs as there are rows."""
    return lambda problem, X: next(points(X, problem.pairs.positive, problem, 1, 0.0))[1]


def on_drawn(solver: approx.Adamax) -> Fit:
    """Return the fit of a descent on as many drawn pairs as there are rows."""
    return lambda problem, X: (
        solver.solve(problem.with_pairs(approx.draw_pairs(problem.pairs.positive, len(X), 0))).w
    )


OURS: dict[str, dict[str, Fit]] = {
    "hinge": {
        "ROCSVM (exact)": lambda problem, X: exact.solve(X, problem.pairs.positive, problem.lam).w,
        "NSAUC, 20 epochs": lambda problem, X: approx.PairSGD(20).solve(problem).w,
        "  SGDClassifier, n drawn pairs": elsewhere(peers.sgd),
    },
    "squared_hinge": {
        "RankSVM, NBAUC": lambda problem, X: approx.TruncatedNewton().solve(problem).w,
    },
}

ROCLAB = approx.Adamax(step=0.002, variant="scalar-norm", tol=0.0, keep="last", max_iter=50_000)

DRAWN: dict[str, Fit] = {
    "IncompleteROCSVM, n pairs, Adamax": on_drawn(approx.Adamax(step=0.05, max_iter=5000)),
    "  roclab's recipe, n pairs": on_drawn(ROCLAB),
    "  LinearSVC, n drawn pairs": elsewhere(peers.linear_svc),
}


def objectives(rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield wdbc and Nyström features."""
    data = load("wdbc")
    yield "wdbc", scale(data.X), data.is_positive
    radial = load(f"radial:{max(rows // 10, 300)}")
    features = approx.Nystrom(gamma=0.5, n_landmarks=40, landmarks="kmeans", random_state=0)
    yield "radial, 40 landmarks", features.fit_transform(radial.X), radial.is_positive


def counterparts(quick: bool, **_: Any) -> Iterator[c.Row]:
    """Yield seconds, excess and AUC of each method and of its counterparts elsewhere."""
    for name, X, y in objectives(c.fewer(quick)(10_000)):
        for loss, own in OURS.items():
            problem = exact.linear_problem(X, y, 1e-2, loss)
            lower = exact.solve(X, y, 1e-2, loss=loss, tol=1e-12, max_time=60).certificate.dual
            for who, fit in {**own, **DRAWN}.items():
                row: c.Row = {"data": name, "loss": loss, "n": len(y), "fit": who}
                w, seconds = c.once(partial(fit, problem, X))
                excess = max(problem.objective(w) / lower - 1, 0.0)  # never below rounding
                yield row | {"s": seconds, "excess": excess, "AUC": roc_auc_score(y, X @ w)}


# What landmarks, drawn pairs and structure cost and gain


def landmarks(quick: bool, **_: Any) -> Iterator[c.Row]:
    """Yield d = 300, n = 1e5, the size of [ScalingUp, Table 2]: the optimum and drawn pairs."""
    n = c.fewer(quick)(100_000)
    radial = load(f"radial:{n}")
    Z = approx.Nystrom(gamma=0.5, n_landmarks=300, random_state=0).fit_transform(radial.X)
    y = radial.is_positive
    for weight in (0.0, 10.0):
        best, seconds = c.once(partial(exact.solve, Z, y, 1e-3, structure=weight, tol=1e-9))
        lower = best.certificate.dual
        head: c.Row = {"n": n, "d": Z.shape[1], "structure": weight}
        yield head | {"fit": "optimum, certified", "s": seconds, "steps": best.n_iter,
                      "excess": best.certificate.gap / lower,
                      "AUC": roc_auc_score(y, Z @ best.w)}  # fmt: skip
        for times in (1, 10):
            model = approx.IncompleteSAUCSVM(1e-3, weight, n_pairs=times * n, random_state=0,
                                             max_time=1.0 if quick else 60.0)  # fmt: skip
            _, seconds = c.once(partial(model.fit, Z, y))
            yield head | {"fit": f"{times} n pairs, Adamax", "s": seconds, "steps": model.n_iter_,
                          "excess": model.certificate_.primal / lower - 1,
                          "AUC": roc_auc_score(y, model.decision_function(Z))}  # fmt: skip


main = c.command(
    {"sets": sets, "counterparts": counterparts, "landmarks": landmarks},
    __doc__,
    click.option("--set", "names", multiple=True, help="A set; all by default."),
    click.option("--method", "methods", multiple=True, type=click.Choice(list(METHODS))),
    click.option("--max-time", default=900.0, show_default=True, help="Seconds of a fit."),
)

if __name__ == "__main__":
    main()
