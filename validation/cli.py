"""The command line: `aucert validate | solve | path | certify | predict | check-solver | bench |
plot | reproduce`.

Results go to standard output, everything else to standard error. How a command ends is in
`commands.endings`.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence

import click

from .. import __version__
from .commands.endings import run, stopped_at_once
from .commands.options import NameOf, path_options, problem_options, read_options, table_options


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="aucert")
def aucert() -> None:
    """Certified AUC maximization: pairwise AUC problems solved with a proof of optimality."""


@aucert.command()
@click.argument("data")
@click.option(
    "--lam",
    type=float,
    required=True,
    help="Weight of the penalty, > 0 (or 0 with --l1); 1e-3 is a start.",
)
@click.option(
    "--method",
    type=NameOf("solvers.choose", "NAMES"),
    default="auto",
    show_default=True,
)
@click.option(
    "--threshold",
    type=NameOf("classifier.threshold", "RULES"),
    default="equal-error",
    show_default=True,
    help="The rule for the intercept of the saved model.",
)
@click.option("--out", type=click.Path(), help="Folder for model, weights, result and proof.")
@click.option(
    "--no-data", is_flag=True, help="With --out: no data.npz for the checker of the proof."
)
@click.option("--proof", is_flag=True, help="With --out, of a folder of Parquet files too.")
@click.option("--proof-rows", type=click.Path(), help="With --proof: folder for that proof's rows.")
@problem_options
def solve(data: str, **options: object) -> None:
    """Solve the full pairwise problem of DATA (a file, or a built-in name like wdbc)."""
    with stopped_at_once():
        from .commands.solve import run_solve

        run_solve(data, options)


@aucert.command()
@click.argument("data")
@click.option("--lam", type=float, multiple=True, help="Repeatable.  [default: a grid of the data]")
@click.option("--n-lams", type=int, default=20, show_default=True, help="Length of that grid.")
@click.option("--cv", type=int, help="Folds, >= 2: the AUC of held-out rows at each lam, too.")
@click.option(
    "--method",
    type=NameOf("solvers.choose", "NAMES"),
    default="auto",
    show_default=True,
)
@click.option("--out", type=click.Path(), help="Folder for path.json and path-weights.csv.")
@path_options
def path(data: str, **options: object) -> None:
    """Solve the problem of DATA (a file, a folder, a built-in name) at many lam, with proofs."""
    with stopped_at_once():
        from .commands.path import run_path

        run_path(data, options)


@aucert.command()
@click.argument("data")
@click.option("--lam", type=float, help="Weight of the penalty, > 0, as in training.")
@click.option("--from", "convention", help="Whose scaling --C is in, instead of --lam.")
@click.option("--C", "C", type=float, help="The constant of that scaling.")
@click.option("--weights", type=click.Path(), help="File of weights, or another program's model.")
@click.option("--model", type=click.Path(), help="Model file of solve --out, instead.")
@click.option("--scores", type=click.Path(), help="File of one score a row, instead.")
@click.option("--norm2", type=float, help="|f|^2 of the scores, if known.")
@click.option("--exact", is_flag=True, help="For linear weights: in fractions too, unrounded.")
@problem_options
def certify(data: str, **options: object) -> None:
    """Tell how far somebody's weights or scores are from the optimum on DATA."""
    with stopped_at_once():
        from .commands.certify import run_certify

        run_certify(data, options)


@aucert.command()
@click.argument("model")
@click.argument("data")
@click.option("--out", type=click.Path(), help="File for the scores and labels, CSV.")
@click.option("--drop", help="Columns to leave out where the columns have no names: 3,5.")
@read_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else.")
def predict(model: str, data: str, **options: object) -> None:
    """Score the rows of DATA with MODEL, a file that solve --out or save_model wrote."""
    with stopped_at_once():
        from .commands.predict import run_predict

        run_predict(model, data, options)


@aucert.command()
@click.option("--profile", type=click.Choice(["quick", "full"]), default="quick")
@click.option("--only", multiple=True, metavar="NAME", help="Run this claim only; repeatable.")
@click.option("--list", "list_only", is_flag=True, help="List the claims and stop.")
@click.option(
    "--out",
    type=click.Path(),
    help="Folder of the report; verdicts in it are kept.  [default: aucert-report]",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else.")
def validate(**options: object) -> None:
    """Check the papers' claims against exact answers: a table, and a report."""
    with stopped_at_once():
        from .commands.validate import run_validate

        sys.exit(run_validate(options))


@aucert.command("check-solver")
@click.argument("solver", metavar="MODULE:FUNCTION", required=False)
@click.option("--loss", type=NameOf("losses.registry", "LOSSES"), default="hinge")
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Relative excess.")
@click.option("--max-time", type=float, default=60.0, show_default=True, help="Seconds a problem.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--only", multiple=True, metavar="NAME", help="One of --list; repeatable.")
@click.option("--list", "list_only", is_flag=True, help="List the problems and stop.")
@click.option("--out", type=click.Path(), help="Folder for check-solver.json and .txt.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else.")
def check_solver(**options: object) -> None:
    """Run somebody's fit(X, y, lam) -> w over problems whose optima are proved.

    The labels y are 1 and 0, and w has one number a feature. FILE.py:FUNCTION is taken, too. For
    data of your own there is `aucert bench`.
    """
    with stopped_at_once():
        from .commands.check_solver import run_check_solver

        sys.exit(run_check_solver(options))


@aucert.command()
@click.argument("solvers", metavar="MODULE:FUNCTION...", nargs=-1, required=True)
@click.option("--data", multiple=True, help="Built-in name or file; repeatable.  [default: wdbc]")
@click.option("--lam", type=float, multiple=True, help="Repeatable.  [default: 1e-3]")
@click.option("--loss", type=NameOf("losses.registry", "ALL_LOSSES"), default="hinge")
@click.option(
    "--max-time",
    type=float,
    default=10.0,
    show_default=True,
    help="Seconds a solver, after a first small run of at most a minute.",
)
@table_options
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(), help="Folder for bench.json, bench.txt and bench.svg.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else.")
def bench(**options: object) -> None:
    """Run fits (X, y, lam) -> w beside ours: proved gaps against time.

    The labels y are 1 and 0, and w has one number a feature. FILE.py:FUNCTION is taken, too.

    A fit with an argument `callback` is asked for its weights on the way: it calls callback(w). One
    with `max_iter` is run with 1, 2, 4, ... of them, one with `tol` at 0.1, 0.01, ...; any other
    runs once, which is one point.
    """
    with stopped_at_once():
        from .commands.bench import run_bench

        run_bench(options)


@aucert.command()
@click.argument("result")
@click.option("--out", type=click.Path(), required=True, help="Picture: .svg, .png or .pdf.")
def plot(result: str, out: str) -> None:
    """Draw RESULT: the file or folder that solve, certify or bench wrote, or a path's."""
    with stopped_at_once():
        from .commands.plot import run_plot

        run_plot(result, out)


@aucert.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "list_only", is_flag=True, help="List the tables and stop.")
@click.option("--data-dir", type=click.Path(), help="Real data.  [default: $AUCERT_DATA]")
@click.option("--profile", type=click.Choice(["quick", "full"]), default="quick")
@click.option("--out", type=click.Path(), help="Folder of the pages.  [default: aucert-tables]")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--max-time",
    type=float,
    help="Seconds after which nothing more is begun.  [default: 12 hours for full, else none]",
)
@click.option(
    "--evidence",
    type=click.Path(),
    help="Folder of finished numbers, a file an experiment: used again, and added to.",
)
@click.option("--estimate", "estimate_only", is_flag=True, help="Say how long it takes and stop.")
@click.option(
    "--check",
    "check_only",
    is_flag=True,
    help="Run a sample of the evidence again, drawn by the seed, compare, and stop.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document, nothing else.")
def reproduce(**options: object) -> None:
    """Run the papers' tables and figures again: what is printed beside what comes out."""
    with stopped_at_once():
        from .commands.reproduce import run_reproduce

        sys.exit(run_reproduce(options))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line within Python; what was done at an interrupt is done again after it.

    Parameters
    ----------
    arguments : words, optional
        Those of the process by default.

    Raises
    ------
    SystemExit
        With any status but 0.
    """
    if threading.current_thread() is not threading.main_thread():
        run_arguments(arguments)
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        run_arguments(arguments)
    finally:
        signal.signal(signal.SIGINT, before)


def run_arguments(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; never a traceback for bad input."""
    run(aucert, arguments)
