"""The papers, each with the decorators that enter its claims.

    @SAUC.theorem("eq. (19)", "The dual of ... is ...", formula="max 1'a - a'Q a / 2")
    def sauc_eq_19_as_printed(context: Context) -> Outcome: ...

A claim is called as its function is, with hyphens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .claim import Run, claim
from .verdicts import PAPERS, Kind

Enter = Callable[[Run], Run]


@dataclass(frozen=True)
class Paper:
    """A paper, by its key; arguments of its decorators as the attributes of `Claim`."""

    key: str

    def theorem(
        self, place: str, statement: str, formula: str = "", needs: tuple[str, ...] = ()
    ) -> Enter:
        """Enter what the paper states, as printed."""
        return self._enter("theorem", place, statement, formula, needs)

    def corrected(self, place: str, statement: str, formula: str = "") -> Enter:
        """Enter what the paper should have stated, by our derivation."""
        return self._enter("corrected", place, statement, formula)

    def suite(self, place: str, statement: str, formula: str = "") -> Enter:
        """Enter what this project states about its own solvers and figures."""
        return self._enter("suite", place, statement, formula)

    def _enter(
        self, kind: Kind, place: str, statement: str, formula: str, needs: tuple[str, ...] = ()
    ) -> Enter:
        def enter(run: Run) -> Run:
            name = run.__name__.replace("_", "-")
            made = claim(
                name,
                paper=self.key,
                place=place,
                kind=kind,
                statement=statement,
                formula=formula,
                needs=needs,
            )
            return made(run)

        return enter


SCALING_UP, SAUC, SHT, NONLINEAR = map(Paper, PAPERS)
