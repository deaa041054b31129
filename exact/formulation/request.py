"""What the caller asks for, and how it is to be solved: checked once and frozen."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..certificate.audit import Rival
from ..errors import InputError, brief
from ..losses.registry import ALL_LOSSES, HINGE, OURS, Loss, get_loss
from ..pairs.all_pairs import AllPairs, PairList, split_labels
from ..pairs.kinds import column_of, ordered_pairs_of, pairs_of_members, pairs_within
from ..pairs.ordered_pairs import OrderedPairs
from ..pairs.partitioned_pairs import PartitionedOrder, pairs_in
from ..problem.penalties import Penalty, Ridge, penalty_from
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..problem.scalings import convention_name, lam_from_C, objective_scale
from ..problem.tail import Tail, Worst, check_rates, tail_risk
from ..spaces.kernels import LINEAR, PRECOMPUTED, Kernel, check_kernel_name
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import partitions_of
from ..tools.arrays import check_callback, check_number, check_tolerance
from ..tools.threads import check_jobs

P = ParamSpec("P")
T = TypeVar("T")
WHOLE_CURVE = (1, 0)  # The rates `fpr_max` and `tpr_min` that leave out no part of the ROC curve.


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """How a problem is solved: parameters of `solve` that do not say which problem it is."""

    method: str = "auto"
    tol: float = 1e-9
    max_time: float | None = None
    callback: Callable[[Any], object] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str):
            raise InputError(f"method must be a name, not {brief(self.method)}")
        check_tolerance(self.tol, self.max_time)
        check_callback(self.callback)
        check_jobs(self.n_jobs)

    def after(self, seconds: float) -> Options:
        """Return the same with what is left of the time, a tenth of the limit at least."""
        limit = self.max_time
        return self if limit is None else replace(self, max_time=max(limit - seconds, limit / 10))


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """Which problem is meant, for any kind of rows."""

    penalty: Penalty
    loss: Loss = HINGE
    pairs: AllPairs | PairList | OrderedPairs = field(default_factory=AllPairs)
    positive: object = None
    kernel: str | Kernel = "linear"
    gamma: float | None = None
    structure: float = 0.0
    fpr_max: float = 1.0
    tpr_min: float = 0.0
    worst_of: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, AllPairs | PairList | OrderedPairs):
            raise InputError(
                f"pairs must be AllPairs(), a PairList or OrderedPairs, not {brief(self.pairs)}"
            )
        if not self.is_linear:
            check_kernel_name(self.kernel, self.gamma)
        structure = check_number("structure", self.structure, closed="low")
        object.__setattr__(self, "structure", structure)
        if not isinstance(self.penalty, Ridge) and not (self.is_linear and structure == 0):
            raise InputError(
                "a penalty other than lam/2 |f|^2 acts on the weights of the features: it goes "
                "with the linear kernel and no structure"
            )
        if self.is_partial:
            if structure != 0:
                raise InputError("partial AUC (fpr_max, tpr_min) goes with no structure")
            Tail.check(self.pairs, self.loss)
        if isinstance(self.pairs, OrderedPairs):
            if self.positive is not None:
                raise InputError("ordered pairs have no positive label: leave positive out")
            kinds = int(self.pairs.key.max()) + 1  # keys are ranks without gaps
            if structure != 0 and kinds != 2:
                raise InputError(
                    "the structure is the scatter of two classes, and these ordered pairs have "
                    f"{kinds} kinds of rows: leave structure out"
                )
        if self.worst_of is None:
            return
        if self.is_partial or structure != 0:
            raise InputError("worst_of cannot be combined with fpr_max, tpr_min and a structure")
        shared = isinstance(self.pairs, OrderedPairs) and self.pairs.share is not None
        if isinstance(self.pairs, PairList) or shared:
            raise InputError("worst_of makes the pairs within its groups: give no list, no share")

    @classmethod
    def of(
        cls,
        lam: float | None,
        loss: str | Loss = "hinge",
        *,
        pairs: AllPairs | PairList | OrderedPairs | None = None,
        sample_weight: Any = None,
        l1: float = 0.0,
        groups: object = None,
        sign: object = None,
        penalty: Penalty | None = None,
        y: object = None,
        qid: object = None,
        time: object = None,
        event: object = None,
        worst_of: object = None,
        **as_they_are: Any,
    ) -> Request:
        """Return the request that arguments of `solve` make; the rest are attributes."""
        for name in {"kernel", "positive"} & as_they_are.keys():
            if np.ndim(as_they_are[name]):
                raise InputError(f"{name} must be a single value, not {brief(as_they_are[name])}")
        if not (qid is None and time is None and event is None):
            if pairs is not None:
                raise InputError("qid, time and event make the pairs: leave pairs out")
            pairs = ordered_pairs_of(y, qid, time, event, sample_weight)
        elif isinstance(pairs, OrderedPairs) and y is not None:
            raise InputError("the pairs hold the order of their rows: leave y None")
        elif sample_weight is not None:
            if pairs is not None:
                raise InputError("give row weights in `pairs` or as `sample_weight`, not both")
            pairs = AllPairs(sample_weight)
        return cls(
            penalty=penalty_from(lam, l1, groups, sign, penalty),
            loss=get_loss(loss),
            pairs=AllPairs() if pairs is None else pairs,
            worst_of=None if worst_of is None else column_of(worst_of, "worst_of"),
            **as_they_are,
        )

    @property
    def lam(self) -> float:
        """The ridge's weight; `InputError` for another penalty."""
        if not isinstance(self.penalty, Ridge):
            raise InputError(f"this needs the ridge penalty, not {brief(self.penalty)}")
        return self.penalty.l2

    @property
    def is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == LINEAR

    @property
    def gives_matrix(self) -> bool:
        return self.kernel == PRECOMPUTED

    @property
    def takes_proof(self) -> bool:
        return self._is_simple and self.loss == HINGE and not isinstance(self.pairs, PairList)

    @property
    def is_plain(self) -> bool:
        """Whether this is linear over all pairs, with the ridge and no structure."""
        return self._is_simple and isinstance(self.pairs, AllPairs)

    @property
    def _is_simple(self) -> bool:
        whole = not self.is_partial and self.worst_of is None and self.structure == 0
        return whole and self.is_linear and isinstance(self.penalty, Ridge)

    @cached_property
    def is_partial(self) -> bool:
        return check_rates(self.fpr_max, self.tpr_min) != WHOLE_CURVE

    def mask(self, y: object) -> np.ndarray | None:
        """Return the positive rows, bool (n,), or None for ordered pairs, which have none."""
        return None if isinstance(self.pairs, OrderedPairs) else split_labels(y, self.positive)[0]

    def pairs_on(self, positive: np.ndarray | None) -> AllPairs | PairList | OrderedPairs:
        pairs = self._every_pair(positive)
        return pairs if self.worst_of is None else pairs_within(pairs, self.worst_of)

    def _every_pair(self, positive: Any) -> Any:
        return self.pairs if isinstance(self.pairs, OrderedPairs) else self.pairs.on(positive)

    def risk(self, positive: np.ndarray | None) -> Mean | Tail | Worst:
        pairs = self._every_pair(positive)
        if self.worst_of is not None:
            groups = pairs_of_members(pairs, self.worst_of)
            return Worst(tuple(Mean(group, self.loss) for group in groups))
        if self.is_partial:
            return tail_risk(pairs, self.loss, self.fpr_max, self.tpr_min)
        return Mean(pairs, self.loss)


def in_units_of(
    rival: str, C: float, y: object, request: Request, X: object = None
) -> tuple[Rival, Request]:
    """Return a rival with its scale, and the request at the lam that its constant C means."""
    name, C, rows = convention_name(rival), check_number("C", C), partitions_of(X)
    pairs: Any = request.pairs_on(request.mask(y)) if rows is None else pairs_of_parts(rows)
    if isinstance(pairs, OrderedPairs | PartitionedOrder):
        if isinstance(pairs, OrderedPairs) and pairs.weights.shared:
            raise InputError("groups with a share have no number of pairs for C: give lam")
        count, share = float(pairs.mass), None
    elif isinstance(pairs, PairList):
        if float(np.ptp(pairs.c)) > 1e-12 * float(pairs.c.max()):
            raise InputError("pairs with unequal weights have no number for C: give lam")
        count, share = pairs.i.size, pairs.n_pos / pairs.n
    else:
        a, b = (float(side.sum()) for side in pairs.sides)
        count, share = a * b, a / (a + b)
    _ = request.lam  # raises for another penalty
    at_lam = replace(request, penalty=Ridge(lam_from_C(C, count, name, share)))
    return Rival(name, C, objective_scale(C, count, name, share)), at_lam


def partitioned_problem(X: object, y: object, request: Request) -> Problem | None:
    """Return the problem over rows in partitions, or None if `X` is anything else."""
    rows = partitions_of(X)
    if rows is None:
        return None
    check_request(request)
    assert isinstance(request.pairs, AllPairs)
    beside_rows(y, request.positive, request.pairs.weight)
    return Problem(rows, Mean(pairs_of_parts(rows), request.loss), request.penalty)


def pairs_of_parts(rows: PartitionedRows) -> Any:
    return pairs_in(rows.facts) if rows.grouped is None else PartitionedOrder(rows.grouped)


def check_request(request: Request) -> None:
    if not request.is_plain:
        raise InputError(
            "rows in partitions are for linear problems over all pairs, or those within a query, "
            "with the ridge: take a sample of the rows for anything else"
        )
    if type(request.loss) not in OURS:
        raise InputError(
            f"rows in partitions have no sums of the loss {request.loss.name!r}: choose one of "
            f"{', '.join(ALL_LOSSES)}"
        )


def beside_rows(*given: object) -> None:
    if any(one is not None for one in given):
        raise InputError(
            "labels and weights lie with the rows in their partitions: leave y, positive and "
            "sample_weight out"
        )


def refuse_method(X: object, method: str) -> None:
    if partitions_of(X) is not None:
        raise InputError(f"rows in partitions are solved by descent, not by {method!r}")


def is_dask(X: object) -> bool:
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def rows_of_dask(
    X: Any, y: Any, weight: Any, positive: object, qid: Any = None, graded: bool = False
) -> tuple[PartitionedRows, Any]:
    """Return the rows of a dask collection, and both labels: the negative and the positive one.
    With `qid` pairs are within a query; `graded` says that y are grades."""
    try:
        from ..spaces.dask_rows import dask_rows
    except ImportError as error:
        raise InputError(f"dask collections need aucert[dask]: {error}") from None
    split = None if graded else lambda labels: split_labels(labels, positive)[1:]
    return dask_rows(X, y, weight, split, qid)


def dask_too(work: Callable[P, T]) -> Callable[P, T]:
    """Let `work`, a function of X, y and more, take dask collections as rows in partitions; unknown
    arguments are refused in its name."""
    names = list(inspect.signature(work).parameters)
    passed_on = {*inspect.signature(Request.of).parameters, *Request.__dataclass_fields__}
    known = {*names, *passed_on} - {"asked", "as_they_are"}
    known -= {"lam", "penalty"} - {*names}  # what `work` makes itself

    @wraps(work)
    def taken(*args: Any, **kwargs: Any) -> T:
        if unknown := kwargs.keys() - known:
            name = getattr(work, "__name__", "it")
            raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
        given = dict(zip(names, args, strict=False)) | kwargs
        if not is_dask(given.get("X")):
            return work(*args, **kwargs)
        weight, positive, qid = (given.pop(k, None) for k in ("sample_weight", "positive", "qid"))
        if qid is not None and positive is not None:
            raise InputError("ordered pairs have no positive label: leave positive out")
        rows, _ = rows_of_dask(given["X"], given.get("y"), weight, positive, qid, qid is not None)
        try:
            given |= {"X": rows, "y": None}
            if "callback" in names and "lams" not in names:  # those of a path hear of each lam
                given["callback"] = rows.engine.telling(given.get("callback"))
            return work(**given)  # type: ignore[call-arg]
        finally:
            rows.engine.close()

    return taken
