"""Options that several commands share; it loads nothing but click."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click


class NameOf(click.Choice):
    """A name out of a list of `aucert.exact`, which is imported only where a name is looked up."""

    case_sensitive = True

    def __init__(self, module: str, names: str):
        self.module, self.names = module, names

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names."""
        names = getattr(import_module(f"...exact.{self.module}", __package__), self.names)
        found: Any = names() if callable(names) else names
        return tuple(found)


PAIRS = (
    click.option("--target", help="Label column of a file; the last by default, y in npz."),
    click.option("--positive", help="Positive label; the larger one by default."),
    click.option(
        "--loss",
        type=NameOf("losses.registry", "ALL_LOSSES"),
        default="hinge",
        show_default=True,
    ),
    click.option(
        "--kernel",
        type=NameOf("spaces.kernels", "kernel_names"),
        default="linear",
        show_default=True,
    ),
    click.option("--gamma", type=float, help="Of the kernel, > 0.  [default: 1 / features]"),
    click.option(
        "--structure",
        type=float,
        default=0.0,
        show_default=True,
        help="Weight of SAUC-SVM's structure, >= 0.",
    ),
    click.option(
        "--l1",
        type=float,
        default=0.0,
        show_default=True,
        help="Weight of |w|_1 beside lam/2 |w|^2, >= 0; linear problems only.",
    ),
    click.option("--groups", help="Columns in groups, A,B;C,D: with --l1, the group lasso."),
    click.option("--sign", help="nonnegative, or columns A,B whose weights are >= 0."),
    click.option("--pairs", default="all", show_default=True, help="all, nearest:K or drawn:B."),
    click.option("--qid", help="Column of the query: pairs are within one, larger target above."),
    click.option("--time", help="Column of the time, for survival."),
    click.option("--event", help="Column of 1 where the event was seen, 0 where censored."),
)
"""What is minimised, and over which pairs."""

TABLE = (
    click.option("--columns", help="Feature columns of a file: A,B; all others by default."),
    click.option("--row-weights", help="Column of row weights, for a folder of Parquet files."),
    click.option("--drop", help="Columns of a file to leave out: A,B."),
    click.option(
        "--standardise",
        is_flag=True,
        help="Columns of mean 0 and scale 1, kept with the model.",
    ),
)
"""Which columns of a file are what."""

RUN = (
    click.option("--fpr-max", type=float, default=1.0, help="Partial AUC: the largest FPR."),
    click.option("--tpr-min", type=float, default=0.0, help="Partial AUC: the least TPR."),
    click.option("--tol", type=float, default=1e-9, show_default=True, help="Relative gap."),
    click.option("--max-time", type=float, help="Seconds."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else."),
)
"""How much of the curve is meant, how accurate the answer is to be, and how it is printed."""


def problem_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that say which problem is meant."""
    for option in reversed(PAIRS + TABLE + RUN):
        command = option(command)
    return command
