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


LABELS = (
    click.option("--target", help="Label column of a file; the last by default, y in npz."),
    click.option("--positive", help="Positive label; the larger one by default."),
)
"""Which rows are positive."""

LOSS = (
    *LABELS,
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
)
"""What is minimised."""

GROUPS = "Columns in groups, A,B;C,D: with {}, the group lasso."

L1 = (
    click.option(
        "--l1",
        type=float,
        default=0.0,
        show_default=True,
        help="Weight of |w|_1 beside lam/2 |w|^2, >= 0; linear problems only.",
    ),
    click.option("--groups", help=GROUPS.format("--l1")),
)

L1_RATIO = (
    click.option(
        "--l1-ratio",
        type=float,
        default=0.0,
        show_default=True,
        help="Share of |w|_1 in the penalty, 0 to 1; linear problems only.",
    ),
    click.option("--groups", help=GROUPS.format("--l1-ratio")),
)

PAIRS = (
    click.option("--sign", help="nonnegative, or columns A,B whose weights are >= 0."),
    click.option("--pairs", default="all", show_default=True, help="all, nearest:K or drawn:B."),
    click.option("--qid", help="Column of the query: pairs are within one, larger target above."),
    click.option("--time", help="Column of the time, for survival."),
    click.option("--event", help="Column of 1 where the event was seen, 0 where censored."),
)
"""The sign of the weights, and over which pairs is summed."""

WORST = (
    click.option("--worst-of", help="Column of groups: the one with the largest mean loss counts."),
)

COLUMNS = click.option("--columns", help="Feature columns of a file: A,B; all others by default.")
DROP = click.option("--drop", help="Columns of a file to leave out: A,B.")
YES_OR_NO = click.Choice(["yes", "no"])
READ = (
    click.option("--header", type=YES_OR_NO, help="Whether the first row of a CSV holds names."),
    click.option("--zero-based", type=YES_OR_NO, help="Whether svmlight indices count from 0."),
)
"""How a file is read, where it may be read in two ways."""

SCALED = "Columns of mean 0 and scale 1"

TABLE = (
    COLUMNS,
    click.option("--row-weights", help="Column of row weights, for a folder of Parquet files."),
    DROP,
    *READ,
    click.option("--standardise", is_flag=True, help=f"{SCALED}, kept with the model."),
)
"""Which columns of a file are what."""

CURVE = (
    click.option("--fpr-max", type=float, default=1.0, help="Partial AUC: the largest FPR."),
    click.option("--tpr-min", type=float, default=0.0, help="Partial AUC: the least TPR."),
)
"""How much of the curve is meant."""

RUN = (
    click.option("--max-time", type=float, help="Seconds."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else."),
)
"""How long it may take, and how the answer is printed."""

Command = Callable[..., object]


def _tol(default: float) -> Callable[[Any], Any]:
    return click.option(
        "--tol", type=float, default=default, show_default=True, help="Relative gap."
    )


def problem_options(command: Command) -> Command:
    """Add the options that say which problem is meant."""
    return _with(command, (*LOSS, *L1, *PAIRS, *WORST, *TABLE, *CURVE, _tol(1e-9), *RUN))


def table_options(command: Command) -> Command:
    """Add the options that say what is read of a file, where nothing is kept of it."""
    scaled = click.option("--standardise", is_flag=True, help=f"{SCALED}.")
    return _with(command, (*LABELS, COLUMNS, DROP, *READ, scaled))


def read_options(command: Command) -> Command:
    """Add the options that say how a file is read."""
    return _with(command, READ)


def path_options(command: Command) -> Command:
    """Add the options that say which problems of a path are meant."""
    return _with(command, (*LOSS, *L1_RATIO, *PAIRS, *TABLE, *CURVE, _tol(1e-6), *RUN))


def _with(command: Command, options: tuple[Callable[[Any], Any], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
