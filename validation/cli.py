"""The command line. Results go to standard output, everything else to standard error. How a command
ends is in `commands.endings`. It loads nothing but click: each command imports what it runs."""

# ruff: noqa: RUF009  (what `_given` returns is a field)

import sys
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from .. import __version__
from .commands.endings import run, stopped_at_once


class Word(click.Choice):
    """One of some words, which stand here so that help imports nothing; tests compare them."""

    def __init__(self, words: str):
        super().__init__(words.split())

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
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


def _joined(context: Any, option: Any, given: tuple[str, ...]) -> str | None:
    return ",".join(given) if given else None


FIRST = "hinge squared_hinge square"  # the losses of `check-solver`
LOSSES = f"{FIRST} logistic smooth_hinge exponential"
METHODS = "auto closed-form cutting-plane descent qp lifted proximal"
KERNELS = "linear rbf laplacian precomputed"
RULES = "equal-error midpoint youden accuracy"
DATA = click.Argument(["name"], metavar="DATA")
PATH = click.Path()
WRITTEN = "qp and lifted first write every pair down, which --max-time does not cut short."
LESS_TIME = "Seconds of solving, reading not counted; then it ends within one pass over the rows "
LESS_TIME += "and one certificate."
COMPILING = "Seconds inside a fit, all its runs together. First, a small run to compile may take a "
COMPILING += "minute, and so may the lower bound, or ten times as long."
LAM = "Weight of the penalty, > 0 (or 0 with --l1); 1e-3 is a start."
GRID = "Repeatable.  [default: a grid of the data]"
RIVAL = "Whose scaling --C is in, instead of --lam."
INTERCEPT = "The rule for the intercept of the saved model."
LEFT_OUT = "Columns of a file to leave out: A,B; repeatable."
STOPPED = "Seconds inside the fit, for each problem; then it is stopped."
EVIDENCE = "Folder of finished numbers, a file an experiment: used again, and added to."
CHECK = "Run a sample of the evidence again, drawn by the seed, compare, and stop."
SHARE = "Share of |w|_1 in the penalty, 0 to 1; linear problems only."
GROUPS = "Columns in groups, A,B;C,D: with {}, the group lasso."


def _given(help: str | None = None, default: Any = None, **more: Any) -> Any:
    """Return a field of `Options`, with what click gets of it."""
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True, kw_only=True)
class Options:
    """Every option of every command. A loss and a kernel may be objects of one's own, and a model
    file gives groups and a sign as lists of columns."""

    target: str | None = _given("Label column of a file; the last by default, y in npz.")
    positive: str | None = _given("Positive label; the larger one by default.")
    lam: float | None = _given(LAM, type=float)
    lams: tuple[float, ...] = _given(GRID, (), named="--lam lams", type=float, multiple=True)
    n_lams: int = _given("Length of that grid.", 20)
    cv: int | None = _given("Folds, >= 2: the AUC of held-out rows at each lam, too.", type=int)
    method: str = _given(WRITTEN, "auto", type=Word(METHODS))
    loss: Any = _given(None, "hinge", type=Word(LOSSES))
    kernel: Any = _given(None, "linear", type=Word(KERNELS))
    gamma: float | None = _given("Of the kernel, > 0.  [default: 1 / features]", type=float)
    structure: float = _given("Weight of SAUC-SVM's structure, >= 0.", 0.0)
    l1: float = _given("Weight of |w|_1 next to lam/2 |w|^2, >= 0; linear problems only.", 0.0)
    l1_ratio: float | None = _given(SHARE, type=float)
    groups: str | list[int] | None = _given(GROUPS.format("--l1"))
    sign: str | list[int] | None = _given("nonnegative, or columns A,B whose weights are >= 0.")
    pairs: str = _given("all, nearest:K or drawn:B.", "all")
    qid: str | None = _given("Column of the query: pairs are within one, larger target above.")
    time: str | None = _given("Column of the time, for survival.")
    event: str | None = _given("Column of 1 where the event was seen, 0 where censored.")
    worst_of: str | None = _given("Column of groups: the one with the largest mean loss counts.")
    columns: str | None = _given("Feature columns of a file: A,B; all others by default.")
    drop: str | None = _given(LEFT_OUT, multiple=True, callback=_joined)
    header: str | None = _given("Whether the first row of a CSV holds names.", type=Word("yes no"))
    zero_based: str | None = _given("Whether svmlight indices count from 0.", type=Word("yes no"))
    row_weights: str | None = _given("Column of row weights, for a folder of Parquet files.")
    standardise: bool = _given("Columns of mean 0 and scale 1, kept with the model.", False)
    fpr_max: float = _given("Partial AUC: the largest FPR.", 1.0)
    tpr_min: float = _given("Partial AUC: the least TPR.", 0.0)
    tol: float = _given("Relative gap.", 1e-9)
    max_time: float | None = _given(LESS_TIME, type=float)
    seed: int = _given(None, 0, type=click.IntRange(min=0))
    as_json: bool = _given("One JSON document, nothing else.", False, named="--json as_json")
    threshold: str = _given(INTERCEPT, "equal-error", type=Word(RULES))
    out: str | None = _given(type=PATH)
    no_data: bool = _given("With --out: no data.npz for the checker of the proof.", False)
    proof: bool = _given("With --out, of a folder of Parquet files too.", False)
    proof_rows: str | None = _given("With --proof: folder for that proof's rows.", type=PATH)
    convention: str | None = _given(RIVAL, named="--from convention")
    C: float | None = _given("The constant of that scaling.", named="--C C", type=float)
    weights: str | None = _given("File of weights, or another program's model.", type=PATH)
    model: str | None = _given("Model file of solve --out, instead.", type=PATH)
    scores: str | None = _given("File of one score per row, instead.", type=PATH)
    norm2: float | None = _given("|f|^2 of the scores, if known.", type=float)
    exact: bool = _given("For linear weights: in fractions too, unrounded.", False)
    keep: str | None = _given("Columns of DATA to carry over to the output: ID,NAME.")
    data: tuple[str, ...] = _given("Built-in name or file; repeatable.", ("wdbc",), multiple=True)
    profile: str = _given(None, "quick", type=Word("quick full"))
    only: tuple[str, ...] = _given("One of --list; repeatable.", (), multiple=True, metavar="NAME")
    list_only: bool = _given("List the tables and stop.", False, named="--list list_only")
    jobs: int = _given(None, 1, type=click.IntRange(min=1))
    data_dir: str | None = _given("Real data.  [default: $AUCERT_DATA]", type=PATH)
    evidence: str | None = _given(EVIDENCE, type=PATH)
    estimated: bool = _given("Say how long it takes and stop.", False, named="--estimate estimated")
    checked: bool = _given(CHECK, False, named="--check checked")


def _command(
    name: str, module: str, help: str, options: str, *arguments: click.Argument, **changed: Any
) -> None:
    """Enter a command: it calls a function of this module of `commands`, whose status it exits
    with, if any. Of some options another help is given here, or more is changed."""

    def called(**given: Any) -> None:
        try:
            with stopped_at_once():
                found = import_module(f".commands.{module}", __package__)
                status = getattr(found, f"run_{name.replace('-', '_')}")(**given)
        except KeyboardInterrupt:
            raise click.Abort from None  # of the other, click itself says something: an empty line
        if status is not None:
            sys.exit(status)

    parameters: list[click.Parameter] = [*arguments]
    for key in options.split():
        option, new = Options.__dataclass_fields__[key], changed.get(key, {})
        given = {"named": f"--{key.replace('_', '-')}", "default": option.default}
        given |= {**option.metadata, **({"help": new} if isinstance(new, str) else new)}
        default = given.pop("default")
        if default is False:
            given["is_flag"] = True
        elif default not in (None, ()):
            given |= {"default": default, "show_default": True}
        parameters.append(click.Option(given.pop("named").split(), **given))
    aucert.add_command(click.Command(name, None, called, parameters, cleandoc(help)))


# How a file is read, where it may be read in two ways; which columns are labels and features.
READ = "header zero_based"
COLUMNS = f"columns drop {READ}"
MODEL, ORDER = "target positive loss kernel gamma structure", "groups sign pairs qid time event"
REST = f"{COLUMNS} row_weights standardise fpr_max tpr_min tol max_time seed as_json"
PROBLEM = f"{MODEL} l1 {ORDER} worst_of {REST}"

_command(
    "solve",
    "problems",
    "Solve the full pairwise problem of DATA (a file, or a built-in name like wdbc).",
    f"lam method threshold out no_data proof proof_rows {PROBLEM}",
    DATA,
    lam={"required": True},
    out="Folder for model, weights, result and proof.",
)

_command(
    "path",
    "problems",
    "Solve the problem of DATA (a file, a folder, a built-in name) at many lam, with proofs.",
    f"lams n_lams cv method out {MODEL} l1_ratio {ORDER} {REST}",
    DATA,
    out="Folder for path.json and path-weights.csv.",
    l1_ratio={"default": 0.0},
    groups=GROUPS.format("--l1-ratio"),
    tol={"default": 1e-6},
    max_time=f"{LESS_TIME} With --cv the folds have as many.",
)

_command(
    "certify",
    "problems",
    "Tell how far somebody's weights or scores are from the optimum on DATA.",
    f"lam convention C weights model scores norm2 exact {PROBLEM}",
    DATA,
    lam="Weight of the penalty, > 0, as in training.",
)

_command(
    "predict",
    "predict",
    "Score the rows of DATA with MODEL, a file that solve --out or save_model wrote.",
    f"out drop keep {READ} as_json",
    click.Argument(["path"], metavar="MODEL"),
    DATA,
    out="File for the scores and labels, CSV.",
    drop="Columns to leave out where the columns have no names: 3,5; repeatable.",
)

_command(
    "validate",
    "others",
    "Check the papers' claims against exact answers: a table, and a report.",
    "profile only list_only out jobs seed as_json",
    only="Run this claim only; repeatable.",
    list_only="List the claims and stop.",
    out="Folder of the report; verdicts in it are kept.  [default: aucert-report]",
)

_command(
    "check-solver",
    "others",
    """Run somebody's fit(X, y, lam) -> w over problems whose optima are proved.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too. For
    data of your own there is `aucert bench`.
    """,
    "loss tol max_time seed only list_only out as_json",
    click.Argument(["solver"], metavar="MODULE:FUNCTION", required=False),
    loss={"type": Word(FIRST)},
    tol={"default": 1e-3, "help": "Relative excess."},
    max_time={"default": 60.0, "help": STOPPED},
    list_only="List the problems and stop.",
    out="Folder for check-solver.json and .txt.",
)

_command(
    "bench",
    "others",
    """Run fits (X, y, lam) -> w next to ours: proved gaps against time.

    The labels y are 1 and 0, and w has one number per feature. FILE.py:FUNCTION is taken, too.

    A fit with an argument `callback` is asked for its weights on the way: it calls callback(w). One
    with `max_iter` is run with 1, 2, 4, ... of them, one with `tol` at 0.1, 0.01, ...; any other
    runs once, which is one point.
    """,
    f"data lam loss max_time target positive {COLUMNS} standardise seed out as_json",
    click.Argument(["solvers"], metavar="MODULE:FUNCTION...", nargs=-1, required=True),
    lam={"default": [1e-3], "help": "Repeatable.", "multiple": True},
    max_time={"default": 10.0, "help": COMPILING},
    standardise="Columns of mean 0 and scale 1.",
    out="Folder for bench.json, bench.txt and bench.svg.",
)

_command(
    "plot",
    "others",
    "Draw RESULT: the folder of solve, path or bench --out, or a file of certify --json.",
    "out",
    click.Argument(["result"]),
    out={"help": "Picture: .svg, .png or .pdf.", "required": True},
)

_command(
    "reproduce",
    "others",
    "Run the papers' tables and figures again: what is printed next to what comes out.",
    "list_only data_dir profile out jobs max_time evidence estimated checked seed as_json",
    click.Argument(["names"], metavar="[NAME]...", nargs=-1),
    profile={"type": Word("quick full printed")},
    out="Folder of the pages.  [default: aucert-tables]",
    max_time="Seconds after which nothing more is begun.  [default: 12 hours for full, else none]",
)


main = partial(run, aucert)  # within Python; in a process of its own it is `__main__`
