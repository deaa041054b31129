"""[SHT, Fig. 1] as a page."""

from __future__ import annotations

import numpy as np

from ...data.printed_numbers import printed
from ...plots import Series
from ..pictures import Panel, Picture
from ..sheet import Sheet
from ..statistics import mean_error
from ..table import Page, Results, Table
from .convergence import COMMON, EXPERIMENT, PUBLISHED, SHARES
from .printed import PAPER, STARS

EPOCHS = printed(PAPER, "Fig. 1")


def render(results: Results) -> Page:
    """Show epochs to nearly all of the descent, and the curves."""
    sheet = Sheet()
    for k in STARS:
        for name in (PUBLISHED, COMMON):
            for r in SHARES:
                values = results.values(f"epochs {name}", k_star=k, r=r)
                text = EPOCHS.get(f"r = {r:g}", {}).get("epochs") if name == PUBLISHED else None
                sheet.mean(f"k* = {k}", f"epochs, r = {r:g}, {name}", values, text, 0)
    names = ("epochs at r = 0.05", "at r = 0.5")
    for name in (PUBLISHED, COMMON):
        sheet.paired(_ends(results, name), names, "", 0, name)
    notes = (*_NOTES, _held_out(results)) if results.done else _NOTES
    return sheet.page(notes, pictures=_pictures(results))


_NOTES = (
    "The figure has no numbers; 150 and over 300 epochs are the text's. It plots training AUC over "
    "its largest value, though a footnote says test; both are drawn here for k* = 20.",
    "Counted is the training objective, which the method minimises: epochs until 95 % of all the "
    "descent of the run. A run that has not settled after 300 epochs counts as settled there.",
    "The one step for all r is that of the programs at r = 0.05; with the step 1/rho+ of the "
    "theorem few positives are slower again (docs/errata.md).",
)


def _held_out(results: Results) -> str:
    """Return how far the AUC on the test rows ends below its highest mean, at the least share."""
    curves = [record[f"test {PUBLISHED}"] for record in results.select(r=SHARES[0])]
    mean = np.mean(curves, axis=0)
    top = int(mean.argmax())
    falls = [curve[top] - curve[-1] for curve in curves]
    fall, error = mean_error(falls)
    cannot = fall is not None and error is not None and fall > 2 * error
    return (
        f"At r = {SHARES[0]:g} the mean AUC on the test rows ends {fall or 0.0:.3f} ± "
        f"{error or 0.0:.3f} below its highest value: it {'cannot' if cannot else 'could'} show "
        "convergence."
    )


def _ends(results: Results, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the epochs at the smallest and at the largest share, of the same trials."""
    sides = [
        results.matched(
            "trial",
            (f"epochs {name}", {"k_star": k, "r": SHARES[0]}),
            (f"epochs {name}", {"k_star": k, "r": SHARES[-1]}),
        )
        for k in STARS
    ]
    rare, even = (np.concatenate(side) for side in zip(*sides, strict=True))
    return rare, even


def _pictures(results: Results) -> tuple[Picture, ...]:
    gap = results.budget["epochs between looks"]
    panels = []
    for k in STARS:
        panels.append(_panel(results, f"k* = {k}, published step", k, f"train {PUBLISHED}", gap))
    panels.append(_panel(results, "k* = 20, one step", STARS[0], f"train {COMMON}", gap))
    panels.append(_panel(results, "k* = 20, test rows", STARS[0], f"test {PUBLISHED}", gap))
    kept = tuple(panel for panel in panels if panel.series)
    caption = (
        "Mean AUC over the trials, divided by the largest value of the curve; training rows, but "
        "for the last panel."
    )
    return (Picture("sht-fig-1", "SHT-AUC by epochs and share of positives", kept, caption),)


def _panel(results: Results, title: str, k: int, name: str, gap: int) -> Panel:
    series = []
    for r in SHARES:
        curves = [record[name] for record in results.select(k_star=k, r=r)]
        if curves:
            mean = np.mean(curves, axis=0)
            x = tuple(float(gap * (at + 1)) for at in range(mean.size))
            series.append(Series(f"r = {r:g}", x, tuple((mean / mean.max()).tolist())))
    return Panel(title, "epochs", "AUC / its maximum", tuple(series), log_x=False)


FIG_1 = Table(
    "sht-fig-1",
    PAPER,
    "Fig. 1",
    "Convergence of SHT-AUC by the share of positives",
    EXPERIMENT,
    render,
)
