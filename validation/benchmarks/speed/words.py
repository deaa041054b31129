"""The text of the page: what its tables say, in sentences made from their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ...extremes import min
from .models import LOGISTIC
from .race import OURS
from .sheets import Sheet

COMMAND = "python -m aucert.validation.benchmarks.speed --out docs"

PACKAGES = ("numpy", "scipy", "scikit-learn", "dlib-bin", "dlib", "scikit-survival", "xgboost",
            "xgboost-cpu", "lightgbm")  # fmt: skip

LEVEL = 1.1
"""Ours is level where it takes at most so many times what the best peer takes."""

HEAD = """# Speed beside peers

This page is made anew, tables, pictures and sentences, by one command; `--quick` makes a small one
in two minutes, and `--only` renews some of the tables:

```text
{command}
```

CPU seconds of one thread, the better of two runs, on a shared and busy machine: trust ratios, not
seconds. A peer's run of more than a second is made once.
Everybody minimises `lam/2 |w|^2` plus the mean over all pairs of a positive and a negative row, and
everybody is judged by the lower bound that our certificate proves: the excess is F(w) over that
bound, less one. Our own time ends when the proof is there. A peer gets, for each tolerance, the
setting that suits it best, which nobody knows beforehand; its conversion of the data is not
counted, nor is judging. A dash says that it never got there. What is not installed where the
command runs is a row that says so. Measured with {versions}.
"""

PEERS = """
dlib's trainer and ours solve the same problem; so does L-BFGS on the sums, whose n log n form is
ours too. LinearSVC and SGDClassifier see some pairs that are drawn, and cannot pass the error of
the draw. FastSurvivalSVM takes labels as times, and orders equal times at random: another
objective, as its excess says. liblinear-ranksvm's row waits for somebody who has built it.
"""

SHARES = """
Stages are told apart by watching a few functions of the library; a stage that another one calls
counts for that, so that the sums of the certificate are part of the proof. "Reading in" checks the
numbers, looks for equal rows and centres; "windows" solves for the pairs near their margin, which
the last digits of the hinge need where pairs are few.

What bounds a row that is behind is read off here. A peer is given its data checked and converted,
and proves nothing: "reading in" and "proof" are ours alone. L-BFGS on the sums takes the same sums
and products as we do, so that on wide rows, where products are most of the time, only fewer
evaluations could be ahead of it. With a thousand rows an evaluation is some tens of microseconds,
about what the calls around it cost: a loop that is compiled as a whole, as dlib's is, has no such
costs.
"""

MODELS = """
These minimise something else, so no excess can be said of them; the AUC of rows held out from all
of them can. "Ours less" is the difference of the two AUC, with the interval of DeLong, DeLong and
Clarke-Pearson.
"""

WHAT_FOR = """What the exact answer is for, where the AUC is no better: it is the optimum of a
stated objective, with a proof, so that a difference between two data sets, features or losses is
one of the data and not of a solver's last step; it bounds how far anybody else's weights are from
it; and it does not depend on a learning rate, a draw or a tolerance.
"""

ROOFLINE = """
R is one blocked reading X'(Xw) of the same rows in the same run, without a sort; for a kernel it is
one build of its matrix. No method does without reading the rows, so that R is the floor.
"""

WORK = """
Equal grids on both sides, the folds of each library's own. Ours is proved in every fold to the gap
that `ROCSVMCV` asks for, 1e-6; the others stop where their own rule says.
"""


def page(sheets: dict[str, Sheet], drawn: Sequence[str], folder: str) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    sheets : dict
        Name to table.
    drawn : sequence of str
        Names of the pictures that are there.
    folder : str
        Where they lie, as seen from the page.
    """

    def shown(name: str, alt: str = "") -> str:
        if not sheets[name].rows:
            return f"Not measured yet: `{COMMAND} --only {name}`.\n"
        text = f"```text\n{sheets[name].text}\n```\n"
        return text + (f"\n![{alt}]({folder}/{name}.svg)\n" if name in drawn else "")

    head = HEAD.format(command=COMMAND, versions=", ".join(versions()))
    text = "\n".join(
        [
            head,
            "## Peers on one objective\n",
            shown("peers", "Seconds to an excess, a panel an objective"),
            standing(sheets["peers"]),
            PEERS,
            "## What the time goes to\n",
            shown("shares"),
            SHARES,
            "## Models with another objective\n",
            shown("models"),
            MODELS,
            logistic(sheets["models"]),
            WHAT_FOR,
            "## Time in readings of the rows\n",
            shown("roofline", "Time in readings against rows, a panel a tolerance"),
            ROOFLINE,
            "## How it grows\n",
            shown("scaling", "Seconds and R as rows, features, lam and a kernel's rows grow"),
            "## Threads\n",
            shown("threads", "Seconds by the clock with one and two threads"),
            "## Whole pieces of work\n",
            shown("work"),
            WORK,
        ]
    )
    return re.sub("\n{3,}", "\n\n", text)


def versions() -> list[str]:
    """Return names and versions of the packages that are compared, as far as they are there."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def standing(sheet: Sheet) -> str:
    """Return the sentences on how ours compares with the best peer, goal by goal."""
    level, behind, cells = 0, [], 0
    rows = [dict(zip(sheet.table.titles, row, strict=True)) for row in sheet.rows]
    for mine in (row for row in rows if row["who"] == OURS):
        same = [row for row in rows if (row["data"], row["loss"]) == (mine["data"], mine["loss"])]
        for tol in ("1e-3", "1e-6", "1e-9"):
            theirs = [row for row in same if row["who"] != OURS and row[tol] is not None]
            if not theirs:
                best, ratio = None, 0.0
            else:
                best = min(theirs, key=lambda row: row[tol])
                ratio = float("inf") if mine[tol] is None else mine[tol] / best[tol]
            cells += 1
            if best is None or ratio <= LEVEL:
                level += 1
                continue
            loss = str(mine["loss"]).replace("_", " ")
            times = f"{ratio:.2g} times the {best['who']}"
            behind.append(f"- {mine['data']}, {loss}, to {tol}: {times}.")
    if not cells:
        return ""
    told = f"Ours is level with the best peer (at most {LEVEL:g} times its time) or ahead"
    text = f"{told} in {level} of {cells} goals, the proof included."
    return "\n".join([text + (" Behind:" if behind else ""), "", *behind, ""])


def logistic(sheet: Sheet) -> str:
    """Return where logistic regression is as good, in words."""
    rows = [dict(zip(sheet.table.titles, row, strict=True)) for row in sheet.rows]
    ours = {row["data"]: row for row in rows if str(row["model"]).startswith("aucert")}
    good, worse = [], []
    for row in (row for row in rows if row["model"] == LOGISTIC and row["low"] is not None):
        better = row["low"] > 0
        (worse if better else good).append((row["data"], ours[row["data"]]["s"] / row["s"]))
    if not good and not worse:
        return ""
    lines = []
    if good:
        names = "; ".join(f"{name} (ours takes {ratio:.2g} times its time)" for name, ratio in good)
        lines.append(
            f"**Logistic regression is as good in AUC on {len(good)} of {len(good) + len(worse)} "
            f"sets**, in that the interval of the difference does not lie above zero: {names}."
        )
    if worse:
        names = "; ".join(f"{name} ({ratio:.2g} times)" for name, ratio in worse)
        lines.append(f"It is behind, by more than the interval, on: {names}.")
    return "\n".join([*lines, ""])
