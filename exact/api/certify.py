"""`certify`: how far is a model from the optimum of the full pairwise problem?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

import numpy as np

from ..certificate.audit import Audit, Rival, audit_weights
from ..certificate.certificate import Minorant, dual_value
from ..certificate.solution import Status
from ..errors import InputError, brief
from ..formulation.formulation import Formulation, formulate
from ..formulation.request import Options, Request, dask_too, in_units_of
from ..formulation.scores import audit_scores
from ..losses.registry import HINGE, Loss
from ..problem.penalties import Penalty
from ..problem.problem import Problem
from ..problem.risk import Weights
from ..problem.scalings import convention_loss
from ..spaces.gram import as_meant
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import partitions_of
from ..sums.convolved import LARGEST_SCORE
from ..tools.arrays import as_float64, check_scores, frame_names
from ..tools.threads import small_in_one_thread
from .solve import can_be_held, choose_solver, loaded, solved, streamed_problem

INTERCEPTS = frozenset({"intercept", "(intercept)", "intercept_", "const", "bias", "_intercept"})
SHOWN = 5  # Names that a message shows at most.


@dask_too
@small_in_one_thread
def certify(
    X: object,
    y: object,
    lam: float | None = None,
    *,
    w: object = None,
    scores: object = None,
    norm2: float | None = None,
    rival: str | None = None,
    C: float | None = None,
    loss: str | Loss | None = None,
    penalty: Penalty | None = None,
    refine: bool = True,
    tol: float = 1e-9,
    max_time: float | None = None,
    n_jobs: int | None = None,
    **asked: Any,
) -> Audit:
    """Certify weights or scores from any source.

    Parameters
    ----------
    X, y, lam, penalty, n_jobs, **asked
        As in `solve`, like its other arguments that state a problem, and its errors. Scores are
        judged only with the ridge, and neither for partial AUC nor with `worst_of`.
    w : array (d,) or (d + 1,), optional
        Weights, matched by name if X and w have names (a frame; a Series or a dict); a number too
        many at the end is an intercept, which cancels in every pair. For kernels the coefficients
        (n,) of k(., x_i).
    scores : array (n,), optional
        f(x_i), up to one common constant, instead of w. The norm is the least one of a function
        with these scores: `Audit` says which are meant, and when a gap is missing.
    norm2 : float, optional
        |f|^2, for scores; trusted, but refused if it is impossible.
    rival, C : str, float, optional
        Instead of `lam` and `penalty`: C > 0 in the scaling of "liblinear-ranksvm", "dlib",
        "roclab" (its lambda), "svm-rank", "scikit-learn", "torch" (the weight decay), or another
        key of `aucert.exact.problem.scalings.SCALINGS`.
    loss : str or Loss, optional
        As in `solve`; by default the rival's own, or the hinge.
    refine : bool
        Solve the problem for the best lower bound; otherwise take the dual point of the scores
        themselves, which is cheap and looser.
    tol : float
        Relative accuracy of the lower bound, and the gap at which `Audit.status` is "certified".
    max_time : float, optional
        Seconds for the lower bound.
    """
    if lam is None and penalty is None and (rival is None or C is None):
        raise InputError("give lam, or rival with C")
    if (lam is not None or penalty is not None) and (rival is not None or C is not None):
        raise InputError("give either lam, or rival with C, not both")
    if rival is not None:
        its_own = convention_loss(rival, loss)
        loss = loss or its_own
        lam = 1.0  # until C gives it
    request = Request.of(lam, loss or "hinge", penalty=penalty, y=y, **asked)
    judge, options = None, Options(tol=tol, max_time=max_time, n_jobs=n_jobs)
    if rival is not None and C is not None:
        judge, request = in_units_of(rival, C, y, request, X)
    return certify_request(X, y, request, options, w, scores, norm2, judge, refine)


def certify_request(
    X: object,
    y: object,
    request: Request,
    options: Options,
    w: object = None,
    scores: object = None,
    norm2: float | None = None,
    rival: Rival | None = None,
    refine: bool = True,
) -> Audit:
    start = perf_counter()
    if (w is None) == (scores is None):
        raise InputError("give either weights (w) or scores, one of the two")
    if hasattr(w, "fit"):
        raise InputError("w is a model, not its weights: give w=model.coef_")
    if norm2 is not None and scores is None:
        raise InputError("norm2 needs scores: it is the norm of what gave them")
    if norm2 is not None and not (np.isfinite(norm2) and norm2 >= 0):
        raise InputError(f"norm2 must be finite and >= 0, not {brief(norm2)}")
    if request.is_partial and rival is not None:
        raise InputError("no rival's C is a scaling of partial AUC: give lam")
    if request.is_partial and scores is not None:
        raise InputError("partial AUC (fpr_max, tpr_min) of scores has no gap: give the weights")
    if request.worst_of is not None and (rival is not None or scores is not None):
        raise InputError("the worst of several groups needs weights and lam: no scores, no rival")
    if scores is not None and partitions_of(X) is not None:
        raise InputError("rows in partitions are certified with weights (w), not with scores")
    if scores is None:
        w = match_weights(X, w) if request.is_linear else w
        large = streamed_problem(X, y, request)
        if large is not None:
            audit = _audit_streamed(large, _weights(large, w), refine, rival, options)
            if audit is not None:
                return replace(audit, statement=audit.statement + cut_off(w, large.space.dim))
            X, y, request = loaded(cast(PartitionedRows, X), request)
            left = options.after(perf_counter() - start)
            return certify_request(X, y, request, left, w, rival=rival)
    half = None if options.max_time is None or w is None else options.max_time / 2
    task = formulate(X, y, request, max_time=half)  # scores need all features
    problem, left, note = task.meant, options.after(perf_counter() - start), ""
    if scores is None:
        weights, note = _weights(problem, w), cut_off(w, problem.space.dim)
        witness = best_witness(task, problem.space.scores(weights), refine, left)
        audit = audit_weights(problem, weights, witness, options.tol, rival)
    else:
        values = as_float64(scores, "scores")
        check_scores(values, np.empty(problem.n))
        if float(np.abs(values).max()) > LARGEST_SCORE:
            raise InputError(f"a score is larger than {LARGEST_SCORE:g}: its square overflows")
        witness = best_witness(task, values, refine, left)
        audit = audit_scores(task, values, witness, options.tol, norm2, rival)
    if request.gives_matrix:
        note += f" {as_meant(problem.space.meaning)}"
    return replace(audit, statement=audit.statement + note)


def _audit_streamed(
    problem: Problem, w: np.ndarray, refine: bool, rival: Rival | None, options: Options
) -> Audit | None:
    """Return the audit over rows in blocks, or None where sums stall and partitions can be held."""
    half = 2 if problem.loss == HINGE else 0  # others' slopes have no jump to smooth
    witness = problem.risk.minorant(Weights(w, 1 << 14, half))  # so many bins a unit of score
    if refine:
        solution = solved(problem, replace(options, method="descent"))
        apart = problem.space.apart is not None and can_be_held(problem.space)
        if apart and solution.status == Status.STALLED:
            return None
        witness = max(witness, solution.witness, key=lambda one: dual_value(problem, one).value)
    return audit_weights(problem, w, witness, options.tol, rival)


def best_witness(task: Formulation, scores: np.ndarray, refine: bool, options: Options) -> Minorant:
    """Return the better of the dual point of `scores` and, if refined, the solver's."""
    problem = task.meant
    own = Minorant.from_scores(problem, scores)
    if not refine:
        return own
    solver = choose_solver(task.work, "auto", options.tol, options.max_time)
    both = own, solver.solve(task.work).witness
    return max(both, key=lambda witness: dual_value(problem, witness).value)


def _weights(problem: Problem, w: object) -> np.ndarray:
    vector, d = np.ravel(as_float64(w, "the weights")), problem.space.dim
    return problem.check_weights(vector[:-1] if vector.size == d + 1 else vector)


def in_column_order(
    values: np.ndarray, names: Sequence[str], columns: Sequence[str], what: str = "the weights"
) -> np.ndarray:
    """Return the weights of the columns by name; an intercept must be a column to count."""
    known = set(columns)
    kept = [k for k, n in enumerate(names) if n in known or n.strip().lower() not in INTERCEPTS]
    place = {names[k]: k for k in kept}
    if len(place) < len(kept):
        twice = next(n for n in place if [names[k] for k in kept].count(n) > 1)
        raise InputError(f"{what}: two are called '{twice}': rename one")
    missing = [name for name in columns if name not in place]
    unknown = [name for name in place if name not in known]
    if missing or unknown:
        parts = [f"no weight for {_listed(missing)}"] if missing else []
        parts += [f"the data have no {_listed(unknown)}"] if unknown else []
        raise InputError(
            f"{what}: their names are not those of the columns: {', and '.join(parts)}; rename "
            "them, or give plain numbers in the order of the columns"
        )
    return values[[place[name] for name in columns]]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more


def match_weights(X: object, w: object) -> object:
    columns = text_names(frame_names(X))
    if isinstance(w, Mapping):
        if columns is None:
            raise InputError("weights by name need data with names: X is not a frame")
        return in_column_order(as_float64([*w.values()], "the weights"), [*map(str, w)], columns)
    shape: Any = getattr(w, "shape", ())
    by_column = len(shape) == 2 and shape[0] == 1 and shape[1] > 1  # a frame of one row
    names = text_names(getattr(w, "columns" if by_column else "index", None))
    if columns is None or names is None or len(names) != int(np.prod(shape)):
        return w
    return in_column_order(np.ravel(as_float64(w, "the weights")), names, columns)


def cut_off(w: Any, d: int) -> str:
    if np.size(w) != d + 1:
        return ""
    return f" The last of the {d + 1} numbers was taken as an intercept, which no pair sees."


def text_names(names: object) -> list[str] | None:
    some = hasattr(names, "__iter__") and getattr(names, "ndim", 1)  # a 0-d array has the method
    found = list(names) if some else []  # type: ignore[call-overload]
    return found if found and all(isinstance(name, str) for name in found) else None
