"""Tables and pictures of the draws that the claims about Theorem 4' judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ....bounds.experiment import POSTERIOR, PRINTED, PRIOR, REPAIRED, Draw
from ....bounds.figure import bound_figure, part_figure
from ....data.labelled_data import Dataset
from ....extremes import min
from ....plots import Figure


@dataclass(frozen=True, eq=False)
class Cell:
    """Draws with everything fixed but the drawn pairs: the setting of the theorems."""

    data: Dataset
    lam: float
    d: int
    B: int
    draws: list[Draw]

    @property
    def all_rows(self) -> bool:
        """Whether all rows are landmarks: then there is no Nystrom error."""
        return self.d == self.data.X.shape[0]

    @property
    def label(self) -> str:
        """What is fixed, for a table."""
        return f"{self.data.name}, lam = {self.lam:g}, d = {self.d}, B = {self.B}"

    def median(self, value: Callable[[Draw], float]) -> float:
        """Return the median of a number over the draws."""
        return float(np.median([value(draw) for draw in self.draws]))


def without_draws(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return a cell with one draw for each data set, lam and landmarks: what no draw changes."""
    first = {(cell.data.name, cell.lam, cell.d): cell for cell in reversed(tuple(cells))}
    return tuple(replace(cell, draws=cell.draws[:1]) for cell in reversed(first.values()))


def sandwiched(cells: list[Cell], name: str) -> dict[str, list[float]]:
    """Return left side and bound of what does not depend on the draw."""
    first = {f"{c.data.name}, lam = {c.lam:g}, d = {c.d}": c.draws[0].bounds[name] for c in cells}
    return {f"{case}: p*_P - p*, bound": [b.left_side or 0.0, b.total] for case, b in first.items()}


def part_picture(cells: tuple[Cell, ...], name: str, prior: str) -> Figure:
    """Return a part's bounds against B, of the first data set."""
    lam, first = min(cell.lam for cell in cells), cells[0].data
    shown = [cell for cell in cells if cell.data is first and cell.lam == lam]
    middle = sorted({cell.d for cell in shown})[1]
    draws = [draw for cell in shown if cell.d == middle for draw in cell.draws]
    title = f"{first.name}: lam = {lam:g}, {middle} landmarks"
    left = "|U(f^) - U_B(f~_B)|" if name == POSTERIOR else "F(f~_B) - p*"
    part = 2 if name == POSTERIOR else 1
    return part_figure(draws, (name, prior), left, title, f"theorem-4-prime-part-{part}")


def table(cells: tuple[Cell, ...]) -> dict[str, list[float]]:
    """Return the true error and the bounds on it, a row a cell."""
    values: list[Callable[[Draw], float]] = [
        lambda draw: draw.loss_difference,
        lambda draw: draw.bounds[POSTERIOR].total,
        lambda draw: draw.bounds[PRIOR].total,
        lambda draw: draw.bounds[PRINTED].at_least,
        lambda draw: draw.bounds[REPAIRED].at_least,
    ]
    return {cell.label: [cell.median(value) for value in values] for cell in cells}


def pictures(cells: tuple[Cell, ...]) -> tuple[Figure, ...]:
    """Return bounds and errors against B, one picture a data set."""
    figures, lam = [], min(cell.lam for cell in cells)
    for k, name in enumerate(dict.fromkeys(cell.data.name for cell in cells)):
        shown = [c for c in cells if c.data.name == name and c.lam == lam]
        middle = sorted({cell.d for cell in shown})[1]
        draws = [draw for cell in shown if cell.d == middle for draw in cell.draws]
        title = f"{name}: lam = {lam:g}, {middle} landmarks"
        figures.append(bound_figure(draws, title, f"bound-against-error-{k + 1}"))
    return tuple(figures)
