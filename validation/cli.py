"""The command line: `aucert validate | solve | path | certify | predict | check-solver | bench |
plot | reproduce`.

Results go to standard output, everything else to standard error. How a command ends is in
`commands.endings`. It loads nothing but click: each command imports what it runs.
"""

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


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="aucert")
def aucert() -> None:
    """Certified AUC maximization: pairwise AUC problems solved with a proof of optimality."""


Parameters = list[Callable[[Any], Any]]


def _command(name: str, runs: str, help: str, *parameters: Callable[[Any], Any]) -> None:
    """Enter a command: it calls a function of `commands`, whose status it exits with, if any."""

    def called(**given: Any) -> None:
        module, function = runs.split(".")
        try:
            with stopped_at_once():
                found = import_module(f".commands.{module}", __package__)
                status = getattr(found, function)(**given)
        except KeyboardInterrupt:
            raise click.Abort from None  # of the other, click itself says something: an empty line
        if status is not None:
            sys.exit(status)

    command: Any = called
    for parameter in reversed(parameters):
        command = parameter(command)
    aucert.command(name, help=help)(command)


def _option(name: str, default: Any = None, help: str | None = None, **more: Any) -> Any:
    """Return an option that shows its default, if it has one."""
    more |= {} if default is None else {"default": default, "show_default": True}
    return click.option(*name.split(), help=help, **more)


def _number(name: str, help: str, default: float | None = None, **more: Any) -> Any:
    return _option(name, default, help, type=float, **more)


def _flag(name: str, help: str) -> Any:
    return _option(name, help=help, is_flag=True)


def _folder(name: str, help: str, **more: Any) -> Any:
    return _option(name, help=help, type=click.Path(), **more)


def _drop(help: str) -> Any:
    def joined(context: Any, option: Any, given: tuple[str, ...]) -> str | None:
        return ",".join(given) if given else None

    return _option("--drop", help=f"{help}; repeatable.", multiple=True, callback=joined)


FIRST = "hinge squared_hinge square"  # the losses of `check-solver`
LOSSES = f"{FIRST} logistic smooth_hinge exponential"
METHODS = "auto closed-form cutting-plane descent qp lifted proximal"
KERNELS = "linear rbf laplacian precomputed"
RULES = "equal-error midpoint youden accuracy"
DATA = click.argument("name", metavar="DATA")
WRITTEN = "qp and lifted first write every pair down, which --max-time does not cut short."
METHOD = _option("--method", "auto", WRITTEN, type=Word(METHODS))
LOSS = _option("--loss", "hinge", type=Word(LOSSES))
SEED = _option("--seed", 0, type=click.IntRange(min=0))
JOBS = _option("--jobs", 1, type=click.IntRange(min=1))
JSON = _flag("--json as_json", "One JSON document, nothing else.")
LIST = "--list list_only"
REPEATED: dict[str, Any] = {"multiple": True, "metavar": "NAME"}
STANDARDISE = "Columns of mean 0 and scale 1"
LESS_TIME = "Seconds of solving, reading not counted; then it ends within one pass over the rows "
LESS_TIME += "and one certificate."
COMPILING = "Seconds inside a fit, all its runs together. First, a small run to compile may take a "
COMPILING += "minute, and so may the lower bound, or ten times as long."

# Which rows are positive.
LABELS: Parameters = [
    _option("--target", help="Label column of a file; the last by default, y in npz."),
    _option("--positive", help="Positive label; the larger one by default."),
]

# How a file is read, where it may be read in two ways.
READ: Parameters = [
    _option("--header", help="Whether the first row of a CSV holds names.", type=Word("yes no")),
    _option("--zero-based", help="Whether svmlight indices count from 0.", type=Word("yes no")),
]

# Which columns of a file are the features.
COLUMNS: Parameters = [
    _option("--columns", help="Feature columns of a file: A,B; all others by default."),
    _drop("Columns of a file to leave out: A,B"),
    *READ,
]


def _problem(l1: str, help: str, tol: float, max_time: str, *more: Any) -> Parameters:
    """Return the options of what is minimised over which rows, how long, and how it is printed."""
    return [
        *LABELS,
        LOSS,
        _option("--kernel", "linear", type=Word(KERNELS)),
        _number("--gamma", "Of the kernel, > 0.  [default: 1 / features]"),
        _number("--structure", "Weight of SAUC-SVM's structure, >= 0.", 0.0),
        _number(l1, f"{help}; linear problems only.", 0.0),
        _option("--groups", help=f"Columns in groups, A,B;C,D: with {l1}, the group lasso."),
        _option("--sign", help="nonnegative, or columns A,B whose weights are >= 0."),
        _option("--pairs", "all", "all, nearest:K or drawn:B."),
        _option("--qid", help="Column of the query: pairs are within one, larger target above."),
        _option("--time", help="Column of the time, for survival."),
        _option("--event", help="Column of 1 where the event was seen, 0 where censored."),
        *more,
        *COLUMNS,
        _option("--row-weights", help="Column of row weights, for a folder of Parquet files."),
        _flag("--standardise", f"{STANDARDISE}, kept with the model."),
        _number("--fpr-max", "Partial AUC: the largest FPR.", 1.0),
        _number("--tpr-min", "Partial AUC: the least TPR.", 0.0),
        _number("--tol", "Relative gap.", tol),
        _number("--max-time", max_time),
        SEED,
        JSON,
    ]


WORST = _option("--worst-of", help="Column of groups: the one with the largest mean loss counts.")
PROBLEM = _problem("--l1", "Weight of |w|_1 next to lam/2 |w|^2, >= 0", 1e-9, LESS_TIME, WORST)
INTERCEPT = "The rule for the intercept of the saved model."

_command(
    "solve",
    "problems.run_solve",
    "Solve the full pairwise problem of DATA (a file, or a built-in name like wdbc).",
    DATA,
    _number(
        "--lam", "Weight of the penalty, > 0 (or 0 with --l1); 1e-3 is a start.", required=True
    ),
    METHOD,
    _option("--threshold", "equal-error", INTERCEPT, type=Word(RULES)),
    _folder("--out", "Folder for model, weights, result and proof."),
    _flag("--no-data", "With --out: no data.npz for the checker of the proof."),
    _flag("--proof", "With --out, of a folder of Parquet files too."),
    _folder("--proof-rows", "With --proof: folder for that proof's rows."),
    *PROBLEM,
)

_command(
    "path",
    "problems.run_path",
    "Solve the problem of DATA (a file, a folder, a built-in name) at many lam, with proofs.",
    DATA,
    _number("--lam lams", "Repeatable.  [default: a grid of the data]", multiple=True),
    _option("--n-lams", 20, "Length of that grid."),
    _option("--cv", help="Folds, >= 2: the AUC of held-out rows at each lam, too.", type=int),
    METHOD,
    _folder("--out", "Folder for path.json and path-weights.csv."),
    *_problem(
        "--l1-ratio",
        "Share of |w|_1 in the penalty, 0 to 1",
        1e-6,
        f"{LESS_TIME} With --cv the folds have as many.",
    ),
)

_command(
    "certify",
    "problems.run_certify",
    "Tell how far somebody's weights or scores are from the optimum on DATA.",
    DATA,
    _number("--lam", "Weight of the penalty, > 0, as in training."),
    _option("--from convention", help="Whose scaling --C is in, instead of --lam."),
    _number("--C C", "The constant of that scaling."),
    _folder("--weights", "File of weights, or another program's model."),
    _folder("--model", "Model file of solve --out, instead."),
    _folder("--scores", "File of one score per row, instead."),
    _number("--norm2", "|f|^2 of the scores, if known."),
    _flag("--exact", "For linear weights: in fractions too, unrounded."),
    *PROBLEM,
)

_command(
    "predict",
    "predict.run_predict",
    "Score the rows of DATA with MODEL, a file that solve --out or save_model wrote.",
    click.argument("path", metavar="MODEL"),
    DATA,
    _folder("--out", "File for the scores and labels, CSV."),
    _drop("Columns to leave out where the columns have no names: 3,5"),
    _option("--keep", help="Columns of DATA to carry over to the output: ID,NAME."),
    *READ,
    JSON,
)

_command(
    "validate",
    "others.run_validate",
    "Check the papers' claims against exact answers: a table, and a report.",
    _option("--profile", "quick", type=Word("quick full")),
    _option("--only", help="Run this claim only; repeatable.", **REPEATED),
    _flag(LIST, "List the claims and stop."),
    _folder("--out", "Folder of the report; verdicts in it are kept.  [default: aucert-report]"),
    JOBS,
    SEED,
    JSON,
)

_command(
    "check-solver",
    "others.run_check_solver",
    """Run somebody's fit(X, y, lam) -> w over problems whose optima are proved.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too. For
    data of your own there is `aucert bench`.
    """,
    click.argument("solver", metavar="MODULE:FUNCTION", required=False),
    _option("--loss", "hinge", type=Word(FIRST)),
    _number("--tol", "Relative excess.", 1e-3),
    _number("--max-time", "Seconds inside the fit, for each problem; then it is stopped.", 60.0),
    SEED,
    _option("--only", help="One of --list; repeatable.", **REPEATED),
    _flag(LIST, "List the problems and stop."),
    _folder("--out", "Folder for check-solver.json and .txt."),
    JSON,
)

_command(
    "bench",
    "others.run_bench",
    """Run fits (X, y, lam) -> w next to ours: proved gaps against time.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too.

    A fit with an argument `callback` is asked for its weights on the way: it calls callback(w). One
    with `max_iter` is run with 1, 2, 4, ... of them, one with `tol` at 0.1, 0.01, ...; any other
    runs once, which is one point.
    """,
    click.argument("solvers", metavar="MODULE:FUNCTION...", nargs=-1, required=True),
    _option("--data", ["wdbc"], "Built-in name or file; repeatable.", multiple=True),
    _option("--lam", [1e-3], "Repeatable.", type=float, multiple=True),
    LOSS,
    _number("--max-time", COMPILING, 10.0),
    *LABELS,
    *COLUMNS,
    _flag("--standardise", f"{STANDARDISE}."),
    SEED,
    _folder("--out", "Folder for bench.json, bench.txt and bench.svg."),
    JSON,
)

_command(
    "plot",
    "others.run_plot",
    "Draw RESULT: the folder of solve, path or bench --out, or a file of certify --json.",
    click.argument("result"),
    _folder("--out", "Picture: .svg, .png or .pdf.", required=True),
)

_command(
    "reproduce",
    "others.run_reproduce",
    "Run the papers' tables and figures again: what is printed next to what comes out.",
    click.argument("names", metavar="[NAME]...", nargs=-1),
    _flag(LIST, "List the tables and stop."),
    _folder("--data-dir", "Real data.  [default: $AUCERT_DATA]"),
    _option("--profile", "quick", type=Word("quick full printed")),
    _folder("--out", "Folder of the pages.  [default: aucert-tables]"),
    JOBS,
    _number(
        "--max-time",
        "Seconds after which nothing more is begun.  [default: 12 hours for full, else none]",
    ),
    _folder(
        "--evidence", "Folder of finished numbers, a file an experiment: used again, and added to."
    ),
    _flag("--estimate estimate_only", "Say how long it takes and stop."),
    _flag(
        "--check check_only",
        "Run a sample of the evidence again, drawn by the seed, compare, and stop.",
    ),
    SEED,
    JSON,
)


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
