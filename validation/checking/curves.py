"""What `gap_curves` found: a curve a solver, a table, a picture, and a JSON document."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..report import pictures

ONE_POINT = "one point; with an argument callback, max_iter or tol it would be a curve"


@dataclass(frozen=True)
class Curve:
    """One solver: when it had weights, and how far they were from the optimum at most."""

    name: str
    seconds: tuple[float, ...]
    gap: tuple[float, ...]
    relative_gap: tuple[float, ...]
    ended: str
    way: str


@dataclass(frozen=True)
class GapCurves:
    """The curves of several solvers on one problem."""

    data: str
    n: int
    d: int
    lam: float
    loss: str
    max_time: float
    dual: float
    curves: tuple[Curve, ...]
    isolation: str

    @property
    def table(self) -> str:
        """One line a solver: its best proved gap, F there, when that was, and how it ended."""
        lines = [f"{self.data}: {self.n} x {self.d}, lam {self.lam:g}, {self.loss}"]
        width = max(len(curve.name) for curve in self.curves)
        head = f"  {'solver':{width}}  {'gap / F':>9}  {'F(w)':>11}  {'seconds':>9}  {'points':>6}"
        lines.append(f"{head}  ended")
        for curve in self.curves:
            if curve.seconds:
                k = int(np.argmin(curve.relative_gap))
                F = f"{self.dual + curve.gap[k]:11.6g}"
                best = f"{curve.relative_gap[k]:9.2e}  {F}  {curve.seconds[k]:9.3g}"
            else:
                best = f"{'-':>9}  {'-':>11}  {'-':>9}"
            ended = f"{len(curve.seconds):6}  {curve.ended}"
            lines.append(f"  {curve.name:{width}}  {best}  {ended}")
        once = [c.name for c in self.curves if c.way == "once" and c.seconds]
        if once:
            lines.append(f"  {', '.join(once)}: {ONE_POINT}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table

    def plot(self, axes: Any = None) -> Any:
        """Return a matplotlib Figure of relative gap against seconds, drawn on `axes` if given.

        The line is the best gap that a run of at most so many seconds proved; runs that took
        longer and proved less are dots beside it.
        """
        figure, axes = pictures.canvas(axes)
        for k, curve in enumerate(c for c in self.curves if c.seconds):
            color, marker, dashes = pictures.STYLES[k % len(pictures.STYLES)]
            at = np.argsort(curve.seconds, kind="stable")
            x, y = np.array(curve.seconds)[at], np.maximum(curve.relative_gap, 1e-16)[at]
            best = y == np.minimum.accumulate(y)
            how = {"color": color, "marker": marker, "ms": 3}
            axes.plot(x[best], y[best], **how, linestyle=dashes, label=curve.name)
            axes.plot(x[~best], y[~best], **how, linestyle="none", alpha=0.35)
        drawn = [s for curve in self.curves for s in curve.seconds if s > 0]
        if drawn:
            axes.set(xscale="log", yscale="log")
        axes.set(xlabel="seconds", ylabel="relative gap, proved", title=self.table.split("\n")[0])
        axes.grid(alpha=0.3)
        if drawn:
            pictures.legend_below(axes)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> GapCurves:
        """Return what `to_dict` took apart."""
        numbers = ("seconds", "gap", "relative_gap")
        curves = tuple(
            Curve(**{**curve, **{key: tuple(map(float, curve[key])) for key in numbers}})
            for curve in held["curves"]
        )
        return cls(**{**held, "curves": curves})


def picture(figure: Any, kind: str) -> bytes:
    """Return a figure as the bytes of an svg, png or pdf file, the same for the same figure."""
    import matplotlib

    held = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "aucert"}):
        figure.savefig(held, format=kind, metadata=dated)
    return held.getvalue()
