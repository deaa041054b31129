"""What every solver has: its `solve`, clock, best points and stall rules, and what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from typing import ClassVar, NamedTuple

import numpy as np

from ..errors import Advised
from ..losses.registry import HINGE
from ..problem.penalties import LARGEST_LAM, Ridge
from ..problem.problem import Problem
from ..problem.risk import Alpha, Evidence, Marginals, Mean, Mix, Scores, Weights, least_margin
from ..tools.arrays import check_callback, check_count, check_number
from ..tools.compiling import drop_half_imported
from ..tools.rounding import at_least, at_most
from .certificate import Certificate, Minorant
from .evaluation import noting

Proof = Minorant | Evidence  # what proves a lower bound: a minorant, or what makes it


class Status(Advised):
    """Why a solver stopped, judged by the certificate and never by the solver's own word."""

    CERTIFIED = "certified", "The relative gap is within the tolerance: nothing more to do."
    ITERATION_LIMIT = (
        "iteration_limit", "The iterations ran out: the gap shown is valid; raise max_iter or lam."
    )  # fmt: skip
    TIME_LIMIT = "time_limit", "The time ran out: the gap shown is valid; raise max_time or lam."
    INTERRUPTED = "interrupted", "You stopped it: the gap shown is valid for the best point so far."
    STALLED = (
        "stalled",
        "The solver makes no further progress, and the relative gap is above the tolerance: the "
        "gap shown is valid; scale the features to order one, raise lam, or accept this gap.",
    )


@dataclass(frozen=True)
class Step:
    """One line of a solver's history: `n_iter`, the `seconds` since the start, and the best
    `primal` and `dual` so far, infinite or NaN where not known yet. Only the last gap is
    certified."""

    n_iter: int
    seconds: float
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        return self.primal - self.dual


Callback = Callable[[Step], object]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The best point of a solver, its dual point, and the certificate made from both.

    Attributes
    ----------
    w : array (dim,), coordinates in the problem's space
    witness, minorant : Minorant, that the certificate was made with
    certificate : Certificate
    status : Status
    n_iter : int
    seconds : float
    history : list of Step
    method : str
    zeros_proved : bool array (dim,) or None
        Which weights are zero in every optimal model, proved (`formulation.screening`). None where
        the penalty makes no zeros, or no rule is known for the loss and the pairs.
    """

    w: np.ndarray
    witness: Minorant
    certificate: Certificate
    status: Status
    n_iter: int
    seconds: float
    history: list[Step] = field(default_factory=list)
    method: str = ""
    zeros_proved: np.ndarray | None = None

    def __repr__(self) -> str:
        held, size = self.certificate, np.size(self.w)
        return (
            f"Solution({self.status}: objective {at_most(held.primal, 6)}, "
            f"at most {at_most(held.gap, 2)} "
            f"above the optimum; {size} {'weight' if size == 1 else 'weights'}, "
            f"{self.method or 'no method named'}, {self.n_iter} steps, {self.seconds:.3g} s)"
        )

    def _repr_html_(self) -> str:
        held = self.certificate
        relative = "undefined" if held.relative_gap is None else at_most(held.relative_gap)
        rows = {
            "status": str(self.status), "objective": at_most(held.primal, 10),
            "lower bound": at_least(held.dual, 10), "gap": at_most(held.gap),
            "relative gap": relative, "rounding": at_most(held.rounding),
            "weights": str(np.size(self.w)), "method": self.method,
            "steps": str(self.n_iter), "seconds": f"{self.seconds:.3g}",
        }  # fmt: skip
        row = "<tr><th style='text-align: left'>{}</th><td>{}</td></tr>"
        cells = "".join(row.format(name, escape(value)) for name, value in rows.items())
        return f"<table><caption>{escape(held.statement)}</caption><tbody>{cells}</tbody></table>"

    @property
    def message(self) -> str:
        """What the status means and what to do, as in the JSON."""
        return self.status.advice

    @property
    def minorant(self) -> Minorant:
        return self.witness


@dataclass(eq=False)
class Recorder:
    """Keeps the history, the clock and the best points of one run."""

    max_time: float | None = None
    callback: Callback | None = None
    method: str = ""
    history: list[Step] = field(default_factory=list)
    w0: np.ndarray | None = None  # where to start; None for the solver's own choice
    best_primal: float = np.inf
    best_dual: float = -np.inf
    best_w: np.ndarray | None = None
    best_witness: Proof | Callable[[], Proof] | None = None
    start: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        check_callback(self.callback)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start

    @property
    def out_of_time(self) -> bool:
        return self.max_time is not None and self.seconds > self.max_time

    @property
    def time_left(self) -> float | None:
        # 1e-3: seconds that are left at least, as solvers need a positive limit
        return None if self.max_time is None else max(self.max_time - self.seconds, 1e-3)

    @property
    def gap(self) -> float:
        """The uncertified gap between the best points so far."""
        return float(self.best_primal - self.best_dual)

    def part(self) -> Recorder:
        """Return a recorder for a part of the work: the same deadline, and no callback."""
        return Recorder(self.time_left)

    def offer(
        self, w: np.ndarray | None = None, primal: float = np.inf,
        witness: Proof | Callable[[], Proof] | None = None, dual: float = -np.inf,
    ) -> None:  # fmt: skip
        """Keep a point if it is better than the best so far on its side. A function may stand for a
        witness that is expensive to make."""
        if w is not None and primal < self.best_primal:
            self.best_primal, self.best_w = primal, w
        if witness is not None and dual > self.best_dual:
            self.best_dual, self.best_witness = dual, witness

    def step(self, n_iter: int | None = None) -> None:
        if n_iter is None:
            n_iter = self.history[-1].n_iter + 1 if self.history else 1
        line = Step(n_iter, self.seconds, float(self.best_primal), float(self.best_dual))
        self.history.append(line)
        if self.callback is not None:
            self.callback(line)

    def near(self, tol: float) -> bool:
        """Whether the uncertified gap is known, and at most `tol` of the best primal."""
        return self.gap < np.inf and self.gap <= tol * self.best_primal

    def finish(self, problem: Problem, tol: float, reason: Status | None) -> Solution:
        """Return the solution, certified anew; `reason` counts where it is not within `tol`."""
        # A run that was interrupted before its first point has these to show: zero, and its scores.
        w = np.zeros(problem.space.dim) if self.best_w is None else self.best_w
        witness = self.best_witness
        if callable(witness):
            witness = witness()
        if witness is None and problem.space.apart is not None:
            # 1 << 10: bins per unit for the dual point of a run that ended before it made one
            witness = Weights(w, 1 << 10, 1 if problem.loss == HINGE else 0)
        elif witness is None:
            witness = Minorant.from_scores(problem, problem.space.scores(w))
        held, made = Certificate.with_minorant(problem, w, witness, tol)
        status = Status.CERTIFIED if held.reaches(tol) else reason or Status.STALLED
        n_iter = self.history[-1].n_iter if self.history else 0
        return Solution(w, made, held, status, n_iter, self.seconds, self.history, self.method)


def _scaled(evidence: Evidence, share: float) -> Evidence:
    """Return the evidence of `share` times each alpha."""
    if isinstance(evidence, Scores | Weights):
        return replace(evidence, scale=evidence.scale * share)
    if isinstance(evidence, Alpha):
        return Alpha(evidence.alpha * share)
    if isinstance(evidence, Marginals):
        return Marginals(evidence.u * share, evidence.v * share)
    return Mix(tuple((part * share, one) for part, one in evidence.parts))


class Rule(NamedTuple):
    """So many rounds in a row without progress end a run. Progress is a value below its share of
    what it was at the last progress."""

    patience: int
    shares: tuple[float, ...] = (0.9,)


class STALL:
    """The rules, by what they are for; values are the gap unless said otherwise."""

    rows = Rule(30, (0.9, 0.25, 0.99))  # gap, |gradient|^2, F; 12 stopped healthy runs
    tails = Rule(12, (0.9, 0.25, 0.99))  # partial AUC has mixtures to go on with
    kernels = Rule(100, (0.9, 0.25, 0.99))  # more patience replaces cuts, which cost more
    window = Rule(6)  # changes of multipliers
    finish = Rule(3, (0.5,))  # windows: each should gain much
    cuts = Rule(60)  # the gap falls in bursts
    proximal = Rule(3000, (0.99,))  # a step costs little, and acceleration oscillates
    pivots = Rule(3, (1.0,))  # rows to move; afterwards one at a time


class Idle:
    """Counts the rounds since the last progress."""

    def __init__(self, rule: Rule):
        self.rule, self.rounds = rule, 0
        self.least = [np.inf for _ in rule.shares]

    def after(self, *values: float) -> bool:
        """Return whether the run has stalled after a round with these values."""
        self.rounds += 1
        rows = list(zip(self.rule.shares, values, self.least, strict=True))
        if any(value < share * least for share, value, least in rows):
            self.rounds, self.least = 0, [min(value, least) for _, value, least in rows]
        return self.rounds >= self.rule.patience


INSIDE = 0.5  # solvers aim at this share of the tolerance: the certificate adds rounding

RunMethod = Callable[[Problem, Recorder], Status | None]


class Solver(ABC):
    """Parameters of a method, and the one `solve` around its `run`."""

    name: ClassVar[str] = ""
    tol: float
    max_iter: int = 1
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol, closed="low")
        check_count("max_iter", self.max_iter)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    @property
    def method(self) -> str:
        return self.name

    @abstractmethod
    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless the method is one for `problem`."""

    @abstractmethod
    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's points; return why it stopped."""

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Offer the first point: the caller's, or zero. Override it for a better one."""
        if recorder.w0 is None:
            recorder.w0 = np.zeros(problem.space.dim)
        recorder.offer(recorder.w0, problem.objective(recorder.w0))

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        return recorder.finish(problem, self.tol, reason)

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None,
        run: RunMethod | None = None,
    ) -> Solution:  # fmt: skip
        """Return the certified solution; `run` replaces `self.run` where a method carries on."""
        self.check(problem)
        recorder = Recorder(self.max_time, callback, self.method)
        recorder.w0 = None if w0 is None else problem.check_weights(w0)
        return self._from_larger_lam(problem, recorder, self._once(run, problem, recorder))

    def _once(self, run: RunMethod | None, problem: Problem, recorder: Recorder) -> Solution:
        """Start, run and conclude, also where an interrupt ends the run."""
        with noting():
            try:
                self.start(problem, recorder)
                reason = (run or self.run)(problem, recorder)
            except KeyboardInterrupt:
                drop_half_imported()
                reason = Status.INTERRUPTED
            # Still within `noting`: the certificate may look up what was evaluated on the way.
            return self.conclude(problem, recorder, reason)

    def _from_larger_lam(self, problem: Problem, recorder: Recorder, best: Solution) -> Solution:
        """Return the better of a stalled solution and that of a larger lam, scaled down."""
        space, tol = problem.space, self.tol
        hinge = isinstance(problem.risk, Mean) and problem.loss == HINGE
        rows = space.given is not None and isinstance(problem.penalty, Ridge)
        if best.status != Status.STALLED or not (hinge and rows):
            return best
        with np.errstate(over="ignore", invalid="ignore"):
            norm2, primal = space.norm2(best.w), problem.objective(best.w)
            penalty = problem.lam / 2 * norm2
        # 1e-6: above this objective rounding does not stop a solver
        if not (penalty > 0 and primal < 1e-6):
            return best
        w0 = best.w
        for level in (1e-3, 1e-5, 1e-7, 1e-9):  # objectives at which the hard margin is looked for
            lam = 2 * level / norm2
            if lam > LARGEST_LAM:
                continue
            if not 4 * problem.lam < lam:
                break
            part = recorder.part()
            part.w0 = w0
            found = self._once(None, replace(problem, penalty=Ridge(lam)), part)
            scores = space.scores(found.w)
            margin = least_margin(problem.pairs, scores, scores)
            if margin > 0.5:
                # 1e-11: w is made longer by this part, so that rounding leaves no margin below one
                w, evidence = found.w * ((1 + 1e-11) / margin), found.witness.evidence
                assert evidence is not None
                evidence = _scaled(evidence, problem.lam / lam)
                held, made = Certificate.with_minorant(problem, w, evidence, tol)
                if held.gap < best.certificate.gap:
                    status = Status.CERTIFIED if held.reaches(tol) else Status.STALLED
                    best = replace(best, w=w, witness=made, certificate=held, status=status)
            over = found.status in (Status.INTERRUPTED, Status.TIME_LIMIT)
            if over or best.status == Status.CERTIFIED:
                break
        return best
