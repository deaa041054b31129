"""The command line: `aucert validate | solve | path | certify | predict | check-solver | bench |
plot | reproduce`.

Results go to standard output, everything else to standard error. How a command ends is in
`commands.endings`. It loads nothing but click: each command imports what it runs.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

from .. import __version__
from .commands.endings import run, stopped_at_once


class Word(click.Choice):
    """One of some words, which stand here so that help imports nothing; tests compare them."""

    def __init__(self, words: str):
        super().__init__(words.split())

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word; of an unknown one the nearest are named."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from ..exact.errors import meant
            from ..exact.solvers.choose import OLD

            old = OLD.get(value) if param.name == "method" else None
            now = old and f"{value!r} is now called {old!r}."
            self.fail(now or f"{error.message}{meant(value, self.choices)}", param, ctx)


Decorator = Callable[[Any], Any]
FOLDER = click.Path()


def _option(name: str, default: Any = None, help: str | None = None, **more: Any) -> Decorator:
    """Return an option that shows its default, if it has one."""
    more |= {} if default is None else {"default": default, "show_default": True}
    return click.option(*name.split(), help=help, **more)


def _all(*options: Decorator) -> Decorator:
    """Return what adds options to a command, in this order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _tol(default: float) -> Decorator:
    return _option("--tol", default, "Relative gap.")


FIRST = "hinge squared_hinge square"  # the losses of `check-solver`
LOSSES = f"{FIRST} logistic smooth_hinge exponential"
METHODS = "auto closed-form cutting-plane descent qp lifted proximal"
KERNELS = "linear rbf laplacian precomputed"
RULES = "equal-error midpoint youden accuracy"


def _loss(words: str = LOSSES) -> Decorator:
    return _option("--loss", "hinge", type=Word(words))


METHOD = _option("--method", "auto", type=Word(METHODS))
SEED = _option("--seed", 0, type=click.IntRange(min=0))
JOBS = _option("--jobs", 1, type=click.IntRange(min=1))
JSON = _option("--json as_json", help="One JSON document, nothing else.", is_flag=True)


def _profile(*names: str) -> Decorator:
    return click.option("--profile", type=click.Choice(names), default="quick")


# Which rows are positive.
LABELS = _all(
    _option("--target", help="Label column of a file; the last by default, y in npz."),
    _option("--positive", help="Positive label; the larger one by default."),
)

# What is minimised.
LOSS = _all(
    LABELS,
    _loss(),
    _option("--kernel", "linear", type=Word(KERNELS)),
    _option("--gamma", help="Of the kernel, > 0.  [default: 1 / features]", type=float),
    _option("--structure", 0.0, "Weight of SAUC-SVM's structure, >= 0."),
)


def _groups(penalty: str) -> Decorator:
    return _option("--groups", help=f"Columns in groups, A,B;C,D: with {penalty}, the group lasso.")


L1 = _all(
    _option("--l1", 0.0, "Weight of |w|_1 next to lam/2 |w|^2, >= 0; linear problems only."),
    _groups("--l1"),
)
L1_RATIO = _all(
    _option("--l1-ratio", 0.0, "Share of |w|_1 in the penalty, 0 to 1; linear problems only."),
    _groups("--l1-ratio"),
)

# The sign of the weights, and over which pairs is summed.
PAIRS = _all(
    _option("--sign", help="nonnegative, or columns A,B whose weights are >= 0."),
    _option("--pairs", "all", "all, nearest:K or drawn:B."),
    _option("--qid", help="Column of the query: pairs are within one, larger target above."),
    _option("--time", help="Column of the time, for survival."),
    _option("--event", help="Column of 1 where the event was seen, 0 where censored."),
)

WORST = _option("--worst-of", help="Column of groups: the one with the largest mean loss counts.")

COLUMNS = _option("--columns", help="Feature columns of a file: A,B; all others by default.")


def _drop(help: str) -> Decorator:
    def joined(context: Any, option: Any, given: tuple[str, ...]) -> str | None:
        return ",".join(given) if given else None

    return _option("--drop", help=f"{help}; repeatable.", multiple=True, callback=joined)


DROP = _drop("Columns of a file to leave out: A,B")
YES_OR_NO = click.Choice(["yes", "no"])
# How a file is read, where it may be read in two ways.
READ = _all(
    _option("--header", help="Whether the first row of a CSV holds names.", type=YES_OR_NO),
    _option("--zero-based", help="Whether svmlight indices count from 0.", type=YES_OR_NO),
)


def _standardise(end: str = "") -> Decorator:
    return _option("--standardise", help=f"Columns of mean 0 and scale 1{end}.", is_flag=True)


# Which columns of a file are what.
TABLE = _all(
    COLUMNS,
    _option("--row-weights", help="Column of row weights, for a folder of Parquet files."),
    DROP,
    READ,
    _standardise(", kept with the model"),
)

# How much of the curve is meant.
CURVE = _all(
    click.option("--fpr-max", type=float, default=1.0, help="Partial AUC: the largest FPR."),
    click.option("--tpr-min", type=float, default=0.0, help="Partial AUC: the least TPR."),
)

# How long it may take, and how the answer is printed.
MAX_TIME = (
    "Seconds of solving, reading not counted; then it ends within one pass over the rows and one "
    "certificate. With --cv the folds have as many."
)
RUN = _all(_option("--max-time", help=MAX_TIME.partition(" With")[0], type=float), SEED, JSON)
PATH_RUN = _all(_option("--max-time", help=MAX_TIME, type=float), SEED, JSON)

PROBLEM = _all(LOSS, L1, PAIRS, WORST, TABLE, CURVE, _tol(1e-9), RUN)
PATH_PROBLEM = _all(LOSS, L1_RATIO, PAIRS, TABLE, CURVE, _tol(1e-6), PATH_RUN)


def _run(module: str, function: str, *words: str, **options: Any) -> None:
    """Call a function of `commands`, and exit with the status that it returns, if any."""
    with stopped_at_once():
        status = getattr(import_module(f".commands.{module}", __package__), function)(
            *words, **options
        )
        if status is not None:
            sys.exit(status)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="aucert")
def aucert() -> None:
    """Certified AUC maximization: pairwise AUC problems solved with a proof of optimality."""


@aucert.command()
@click.argument("data")
@_option(
    "--lam",
    help="Weight of the penalty, > 0 (or 0 with --l1); 1e-3 is a start.",
    type=float,
    required=True,
)
@METHOD
@_option(
    "--threshold",
    "equal-error",
    "The rule for the intercept of the saved model.",
    type=Word(RULES),
)
@_option("--out", help="Folder for model, weights, result and proof.", type=FOLDER)
@_option("--no-data", help="With --out: no data.npz for the checker of the proof.", is_flag=True)
@_option("--proof", help="With --out, of a folder of Parquet files too.", is_flag=True)
@_option("--proof-rows", help="With --proof: folder for that proof's rows.", type=FOLDER)
@PROBLEM
def solve(data: str, **options: Any) -> None:
    """Solve the full pairwise problem of DATA (a file, or a built-in name like wdbc)."""
    _run("solve_path", "run_solve", data, **options)


@aucert.command()
@click.argument("data")
@_option("--lam lams", help="Repeatable.  [default: a grid of the data]", type=float, multiple=True)
@_option("--n-lams", 20, "Length of that grid.")
@_option("--cv", help="Folds, >= 2: the AUC of held-out rows at each lam, too.", type=int)
@METHOD
@_option("--out", help="Folder for path.json and path-weights.csv.", type=FOLDER)
@PATH_PROBLEM
def path(data: str, **options: Any) -> None:
    """Solve the problem of DATA (a file, a folder, a built-in name) at many lam, with proofs."""
    _run("solve_path", "run_path", data, **options)


@aucert.command()
@click.argument("data")
@_option("--lam", help="Weight of the penalty, > 0, as in training.", type=float)
@_option("--from convention", help="Whose scaling --C is in, instead of --lam.")
@_option("--C C", help="The constant of that scaling.", type=float)
@_option("--weights", help="File of weights, or another program's model.", type=click.Path())
@_option("--model", help="Model file of solve --out, instead.", type=click.Path())
@_option("--scores", help="File of one score per row, instead.", type=click.Path())
@_option("--norm2", help="|f|^2 of the scores, if known.", type=float)
@_option("--exact", help="For linear weights: in fractions too, unrounded.", is_flag=True)
@PROBLEM
def certify(data: str, **options: Any) -> None:
    """Tell how far somebody's weights or scores are from the optimum on DATA."""
    _run("certify", "run_certify", data, **options)


@aucert.command()
@click.argument("model")
@click.argument("data")
@_option("--out", help="File for the scores and labels, CSV.", type=click.Path())
@_drop("Columns to leave out where the columns have no names: 3,5")
@_option("--keep", help="Columns of DATA to carry over to the output: ID,NAME.")
@READ
@JSON
def predict(model: str, data: str, **options: Any) -> None:
    """Score the rows of DATA with MODEL, a file that solve --out or save_model wrote."""
    _run("predict", "run_predict", model, data, **options)


@aucert.command()
@_profile("quick", "full")
@_option("--only", help="Run this claim only; repeatable.", multiple=True, metavar="NAME")
@_option("--list list_only", help="List the claims and stop.", is_flag=True)
@_option(
    "--out",
    help="Folder of the report; verdicts in it are kept.  [default: aucert-report]",
    type=FOLDER,
)
@JOBS
@SEED
@JSON
def validate(**options: Any) -> None:
    """Check the papers' claims against exact answers: a table, and a report."""
    _run("others", "run_validate", **options)


@aucert.command("check-solver")
@click.argument("solver", metavar="MODULE:FUNCTION", required=False)
@_loss(FIRST)
@_option("--tol", 1e-3, "Relative excess.")
@_option("--max-time", 60.0, "Seconds a problem.")
@SEED
@_option("--only", help="One of --list; repeatable.", multiple=True, metavar="NAME")
@_option("--list list_only", help="List the problems and stop.", is_flag=True)
@_option("--out", help="Folder for check-solver.json and .txt.", type=FOLDER)
@JSON
def check_solver(**options: Any) -> None:
    """Run somebody's fit(X, y, lam) -> w over problems whose optima are proved.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too. For
    data of your own there is `aucert bench`.
    """
    _run("others", "run_check_solver", **options)


@aucert.command()
@click.argument("solvers", metavar="MODULE:FUNCTION...", nargs=-1, required=True)
@_option("--data", ["wdbc"], "Built-in name or file; repeatable.", multiple=True)
@_option("--lam", [1e-3], "Repeatable.", type=float, multiple=True)
@_loss()
@_option(
    "--max-time",
    10.0,
    "Seconds inside a fit, all its runs together. First, a small run to compile may take a minute, "
    "and so may the lower bound, or ten times as long.",
)
@_all(LABELS, COLUMNS, DROP, READ, _standardise())
@SEED
@_option("--out", help="Folder for bench.json, bench.txt and bench.svg.", type=FOLDER)
@JSON
def bench(**options: Any) -> None:
    """Run fits (X, y, lam) -> w next to ours: proved gaps against time.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too.

    A fit with an argument `callback` is asked for its weights on the way: it calls callback(w). One
    with `max_iter` is run with 1, 2, 4, ... of them, one with `tol` at 0.1, 0.01, ...; any other
    runs once, which is one point.
    """
    _run("others", "run_bench", **options)


@aucert.command()
@click.argument("result")
@_option("--out", help="Picture: .svg, .png or .pdf.", type=click.Path(), required=True)
def plot(result: str, out: str) -> None:
    """Draw RESULT: the file or folder that solve, certify or bench wrote, or a path's."""
    _run("others", "run_plot", result, out)


@aucert.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@_option("--list list_only", help="List the tables and stop.", is_flag=True)
@_option("--data-dir", help="Real data.  [default: $AUCERT_DATA]", type=FOLDER)
@_profile("quick", "full", "printed")
@_option("--out", help="Folder of the pages.  [default: aucert-tables]", type=FOLDER)
@JOBS
@_option(
    "--max-time",
    help="Seconds after which nothing more is begun.  [default: 12 hours for full, else none]",
    type=float,
)
@_option(
    "--evidence",
    help="Folder of finished numbers, a file an experiment: used again, and added to.",
    type=FOLDER,
)
@_option("--estimate estimate_only", help="Say how long it takes and stop.", is_flag=True)
@_option(
    "--check check_only",
    help="Run a sample of the evidence again, drawn by the seed, compare, and stop.",
    is_flag=True,
)
@SEED
@JSON
def reproduce(**options: Any) -> None:
    """Run the papers' tables and figures again: what is printed next to what comes out."""
    _run("others", "run_reproduce", **options)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line within Python; what was done at an interrupt is done again after it."""
    if threading.current_thread() is not threading.main_thread():
        run(aucert, arguments)
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        run(aucert, arguments)
    finally:
        signal.signal(signal.SIGINT, before)


def run_arguments(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; never a traceback for bad input."""
    run(aucert, arguments)
