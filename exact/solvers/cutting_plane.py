"""Cutting planes: the best combination of planes below the risk, for the hinge and partial AUC.

An evaluation at scores s gives a plane below the risk, U >= V_k - c_k's. The best combination theta
of planes proves a lower bound, since any combination of minorants is one, and its function

    f = sum_k theta_k pull(c_k) / lam

is where its maximum plus the ridge is least. The next cut is at the best point on the way there.
Scores along the way are combinations of scores that are known, so that a cut takes one product to
add it and, over rows, one for the target. The line search keeps the primal from jumping about.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..certificate.solution import INSIDE, STALL, Proof, Recorder, Solver, Status
from ..errors import InputError, OverflowingError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.near import solved
from ..problem.problem import Functions, Problem, best_share
from ..problem.risk import Alpha, Mix, Scores
from ..problem.tail import Tail
from ..sums.swept import PairSums
from .finish import ActivePairs, clipped_minorant, offer_hard_margin


@dataclass(frozen=True)
class CuttingPlane(Solver):
    tol: float = 1e-9
    max_iter: int = 1000
    max_time: float | None = None
    name = "cutting-plane"

    def check(self, problem: Problem) -> None:
        _ = problem.lam  # refuses other penalties than the ridge
        if not isinstance(problem.risk, Tail) and problem.loss != HINGE:
            raise InputError(f"cutting planes solve the hinge, not {problem.loss.name}")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        if not isinstance(problem.risk, Tail):
            offer_hard_margin(problem, recorder)
            if recorder.near(INSIDE * self.tol):
                return None
        return Cuts(self, problem, recorder).run()


class Place(NamedTuple):
    """A function with its scores (n,) and squared norm, the sums there and the objective."""

    f: np.ndarray
    scores: np.ndarray
    norm2: float
    sums: PairSums
    primal: float

    @classmethod
    def of(cls, problem: Problem, f: np.ndarray, scores: np.ndarray, norm2: float) -> Place:
        sums = problem.sums(scores)
        return cls(f, scores, norm2, sums, float(sums.value + problem.lam / 2 * norm2))


class Cuts:
    """One run: the planes' functions, the weights of their best combination, and the best place."""

    def __init__(self, solver: CuttingPlane, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        self.functions = Functions(problem.space, solver.tol, lambda: recorder.out_of_time)
        self.pairs = None if isinstance(problem.risk, Tail) else problem.pairs
        self.held, self.size = np.zeros((64, *self.functions.zero.shape)), 1  # the first: U >= 0
        self.made: list[Any] = [None]  # what each plane is made of
        self.masses, self.gram = np.zeros(1), np.zeros((1, 1))
        self.weights, self.idle = np.ones(1), np.zeros(1, dtype=int)
        hinge_rows = problem.space.held is not None and self.pairs is not None
        self.finish_at = 1e-2 if hinge_rows else 0.0  # the gap from which `ActivePairs` tries
        self.best = self._recorded()

    def add(self, place: Place) -> None:
        f, size = self.functions.pull(place.sums.c), self.size
        if not float(np.abs(f).max(initial=0.0)) <= 1e60:  # of no use, and squares may overflow
            return
        if size == len(self.held):
            self.held = np.concatenate([self.held, np.zeros_like(self.held)])
        self.held[size], self.size = f, size + 1
        # Divided by lam, so that half the quadratic form in the weights is their penalty.
        products = self.functions.products(self.held[: size + 1], f) / self.problem.lam
        self.gram = np.pad(self.gram, (0, 1))
        self.gram[size] = self.gram[:, size] = products
        made = place.scores  # or alpha of listed pairs, or row weights
        if isinstance(self.pairs, PairList):
            made = self.problem.loss.alpha(self.pairs.margins(place.scores)) > 0
        elif isinstance(self.pairs, AllPairs):
            made = place.sums.c
        self.made.append(made)
        self.masses = np.append(self.masses, place.sums.conjugate)
        self.weights, self.idle = np.append(self.weights, 0.0), np.append(self.idle, 0)

    def combine(self, gap: float) -> tuple[np.ndarray, float, float]:
        """Find the best combination; return its function, the squared norm and the dual value."""
        # 1e-3: the combination is found to this share of the gap: the next cut changes it
        self.weights = best_weights(self.gram, self.masses, self.weights, 1e-3 * gap)
        self.idle = np.where(self.weights > 1e-9, 0, self.idle + 1)  # below, it is out of use
        lam, used = self.problem.lam, np.flatnonzero(self.weights)
        f = np.tensordot(self.weights[used] / lam, self.held[used], 1)
        norm2 = max(self.functions.inner(f, f), 0.0)
        return f, norm2, float(self.masses @ self.weights) - lam / 2 * norm2

    @property
    def full(self) -> bool:
        """Whether the row weights of all planes take more than 1 GB."""
        return self.size * self.problem.n > 2**27

    def drop_idle(self) -> None:
        """Forget planes out of use for thirty cuts, or at once where memory is full."""
        stays = self.idle < (1 if self.full else 30)
        stays[0] = True
        stays |= self.weights > 0  # without them the weights would no longer add up to one
        kept = np.flatnonzero(stays)
        self.held[: kept.size], self.size = self.held[kept], kept.size
        self.made = [self.made[k] for k in kept]
        self.masses, self.gram = self.masses[kept], self.gram[np.ix_(kept, kept)]
        self.weights, self.idle = self.weights[kept], self.idle[kept]

    def _recorded(self) -> Place:
        """Return the place of the recorder's best point."""
        w, functions = self.recorder.best_w, self.functions
        assert w is not None
        f = functions.of(w)
        scores = functions.scores(f) if w.any() else np.zeros(self.problem.n)  # no product
        return Place.of(self.problem, f, scores, max(functions.inner(f, f), 0.0))

    def run(self) -> Status | None:
        solver, recorder, goal = self.solver, self.recorder, INSIDE * self.solver.tol
        before, point = np.inf, self.best
        for k in range(1, solver.max_iter + 1):
            point = self._improved(point, k)
            recorder.step()
            if recorder.near(goal):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            look = k % STALL.cuts.patience == 0
            if look or self.full:
                self.drop_idle()
            if not look:
                continue
            slow, before = recorder.gap > STALL.cuts.shares[0] * before, recorder.gap
            # A run is left to `ActivePairs` before it has stalled, and what that gains counts.
            if self.finish_at:
                reason = None
                # A gap above F means that nothing is proved yet: too early for a window of pairs.
                if recorder.near(self.finish_at) or recorder.gap <= recorder.best_primal:
                    # 12: rounds of `ActivePairs` in one try
                    reason = ActivePairs(solver.tol, max_rounds=12).run(self.problem, recorder)
                    if recorder.near(self.finish_at):  # the next try is at a tenth of it
                        self.finish_at = max(0.1 * self.finish_at, 10.0 * solver.tol)
                    if recorder.best_w is not self.best.f:  # a better point, to go on from
                        self.best = self._recorded()
                if recorder.near(solver.tol) or recorder.out_of_time:
                    return reason
                point = self.best
            if slow and not recorder.gap <= STALL.cuts.shares[0] * before:
                return Status.STALLED
        return Status.ITERATION_LIMIT

    def _improved(self, point: Place, k: int) -> Place:
        """Cut at `point`, offer what follows, and return the place of the next cut: best, or nearer
        to the target, now and then and where best has not moved and its plane is held already."""
        recorder = self.recorder
        self.add(point)
        f, norm2, dual = self.combine(min(recorder.gap, recorder.best_primal))
        both = zip(self.weights, self.made, strict=True)
        # 1e-14: shares below it are rounding. Most mixtures are overtaken and never added up.
        parts = [(float(x), made) for x, made in both if made is not None and x > 1e-14]
        recorder.offer(witness=partial(combined, self.problem, parts), dual=dual)
        start, scores = self.best, self.functions.scores(f)
        inner = self.functions.inner(start.f, f)
        # With d = f - start these are <start, d> and |d|^2: the whole way from three numbers.
        cross, length2 = inner - start.norm2, max(start.norm2 + norm2 - 2 * inner, 0.0)
        share, primal, sums = best_share(
            self.problem, start.scores, scores, (start.norm2, cross, length2), start.sums,
            0.1, 6, accept_any=True, stop=self.functions.stop,
        )  # fmt: skip

        def at(t: float) -> tuple[np.ndarray, np.ndarray, float]:
            if t == 1.0:
                return f, scores, norm2
            length = max(start.norm2 + 2 * t * cross + t**2 * length2, 0.0)
            return start.f + t * (f - start.f), start.scores + t * (scores - start.scores), length

        if share > 0:
            self.best = Place(*at(share), sums, primal)
            recorder.offer(self.functions.weights(self.best.f), primal)
        t = 0.9 * share + 0.1  # a tenth of the way from best to target, less where F overflows
        while share == 0 or k % 3 == 0:
            try:
                return Place.of(self.problem, *at(t))
            except OverflowingError:
                t /= 10
        return self.best


def combined(problem: Problem, parts: list[tuple[float, np.ndarray]]) -> Proof:
    """Return the combination of planes that are made of these, with shares that add up to one at
    most, or its evidence, where the certificate goes through every part again."""
    pairs = None if isinstance(problem.risk, Tail) else problem.pairs
    if not isinstance(pairs, AllPairs | PairList):
        # 4e-16: shares of a mixture are made smaller by this times their number: sums round
        less = 1 - 4e-16 * len(parts)
        return Mix(tuple((less * x, Scores(s)) for x, s in parts))
    total = np.zeros(pairs.i.size if isinstance(pairs, PairList) else problem.n)
    for x, made in parts:
        total += x * made
    if isinstance(pairs, PairList):
        return problem.risk.minorant(Alpha(total))
    return clipped_minorant(problem, total)


def best_weights(H: np.ndarray, m: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
    """Return x >= 0, sum x = 1, that minimises x'H x / 2 - m'x, to about `tol`, from the active set
    of the last answer. Nothing relies on how good x is: any such point gives a valid bound."""
    x, inside = start.copy(), start > 0
    for _ in range(300):  # changes of the support in one call of `best_weights`
        at = np.flatnonzero(inside)
        y = _on_support(H[np.ix_(at, at)], m[at])
        if y is None:
            break
        if y.min() >= 0:
            x[:] = 0.0
            x[at] = y
            slope = H @ x - m
            enters = int(slope.argmin())
            # A weight outside gains what its slope lies below x'slope, that of all inside.
            if inside[enters] or float(x @ slope) - slope[enters] <= tol:
                break
            inside[enters] = True
            continue
        now, falls = x[at], y < 0
        ways = now[falls] / (now[falls] - y[falls])
        way = float(ways.min())
        leaves = at[falls][ways <= way]
        x[at] = np.maximum(now + way * (y - now), 0.0)
        x[leaves] = 0.0
        inside[leaves] = False
        if way == 0.0 and x[at].sum() > 0 and leaves[-1] == at[-1] == m.size - 1:
            break  # rounding alone lets the newest one in
    return x / x.sum()


def _on_support(H: np.ndarray, m: np.ndarray) -> np.ndarray | None:
    """Return the optimum with sum one and any signs; None where the system is singular."""
    if m.size == 1:
        return np.ones(1)
    top = float(H.diagonal().max())
    if not top > 0:
        return None
    # On the plane sum x = 1 a constant added to all of H changes nothing but its rank.
    right = np.column_stack([np.ones(m.size), m])
    for ridge in (1e-15, 1e-12, 1e-9):  # nearly equal planes are singular
        shifted = H + top
        shifted.flat[:: m.size + 1] += ridge * top
        try:
            even, found = solved(shifted, right).T
        except np.linalg.LinAlgError:
            continue
        # The part along `even` is free: it makes the sum one.
        y = found + (1 - found.sum()) / even.sum() * even
        return y if np.isfinite(y).all() else None
    return None
