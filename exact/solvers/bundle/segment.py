"""The best point on a segment between two functions whose scores are known: sums, no product."""

from __future__ import annotations

from dataclasses import dataclass

from ...curvature.line_search import root_of_slope
from ...problem.problem import Problem
from ...sums.assembled import PairSums
from .images import Images, Place

# The search ends at this share of the first slope, after so many trials, or at this bracket.
FLAT, TRIALS, NARROW = 0.1, 6, 1e-3


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A function, the sums at its scores, and its objective."""

    place: Place
    sums: PairSums
    primal: float

    @classmethod
    def of(cls, problem: Problem, place: Place) -> Evaluated:
        """Return the evaluation of a ridge problem at `place`."""
        sums = problem.sums(place.scores)
        return cls(place, sums, sums.value + problem.lam / 2 * place.norm2)


class Segment:
    """The way from an evaluated function to another one."""

    def __init__(self, problem: Problem, images: Images, start: Evaluated, target: Place):
        self.problem, self.start, self.target = problem, start, target
        a, b = start.place.norm2, target.norm2
        inner = images.inner(start.place, target)
        # With d = target - start these are <start, d> and |d|^2: the whole way from three numbers.
        self.cross, self.length2 = inner - a, max(a + b - 2 * inner, 0.0)
        self.shift = target.scores - start.place.scores

    def at(self, t: float) -> Evaluated:
        """Return the evaluation at the share t of the way."""
        if t == 1.0:
            return Evaluated.of(self.problem, self.target)
        a = self.start.place
        w = a.w + t * (self.target.w - a.w)
        norm2 = max(a.norm2 + 2 * t * self.cross + t**2 * self.length2, 0.0)
        return Evaluated.of(self.problem, Place(w, a.scores + t * self.shift, norm2))

    def best(self) -> tuple[float, Evaluated]:
        """Return the best share of the way that was tried, 0 included, and its evaluation."""
        lam, best = self.problem.lam, (0.0, self.start)

        def slope_at(t: float, sums: PairSums) -> float:
            return lam * (self.cross + t * self.length2) - float(sums.c @ self.shift)

        def slope(t: float) -> float:
            nonlocal best
            now = self.at(t)
            if now.primal < best[1].primal:
                best = t, now
            return slope_at(t, now.sums)

        first = slope_at(0.0, self.start.sums)
        if first < 0:
            root_of_slope(slope, first, FLAT, TRIALS, limit=1.0, narrow=NARROW)
        else:
            slope(1.0)  # near the optimum the sign may be rounding
        return best
