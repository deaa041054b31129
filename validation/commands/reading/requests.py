"""What a command asks for: its options as a request."""

from __future__ import annotations

from typing import Any

from ....exact.errors import InputError
from ....exact.formulation.penalty_grid import unit_penalty
from ....exact.formulation.request import Request
from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.pairs.nearest_pairs import nearest_pairs
from ....exact.spaces.kernels import PRECOMPUTED
from ...memory import check_room
from .inputs import Data
from .penalties import penalty_options

BYTES_A_PAIR = 40
"""Two rows and a weight, and a sorted copy of the rows, of a pair that is written down."""


def request_of(options: dict[str, Any], data: Data) -> Request:
    """Return the request that the options make; `certify` sets lam later where a rival gives it.

    That of a path, which has a share of l1, is at lam = 1.
    """
    if options["gamma"] is not None and options["kernel"] in ("linear", PRECOMPUTED):
        raise InputError(f"--gamma is not for the {options['kernel']} kernel")
    lam: float | None = 1.0 if options["lam"] is None else options["lam"]
    penalty: dict[str, Any] = penalty_options(options, data.columns, int(data.X.shape[1]))
    if "l1_ratio" in options:
        unit = unit_penalty(options["l1_ratio"], penalty["groups"], penalty["sign"])
        lam, penalty = None, {"penalty": unit}
    ordered = data.ordered
    pairs = ordered or read_pairs(options["pairs"], data, options["seed"])
    return Request.of(
        lam,
        options["loss"],
        pairs,
        positive=1 if data.has_classes and not data.partitioned else None,
        kernel=options["kernel"],
        gamma=options["gamma"],
        structure=options["structure"],
        **penalty,
        fpr_max=options.get("fpr_max", 1.0),
        tpr_min=options.get("tpr_min", 0.0),
        worst_of=data.member,
    )


def read_pairs(text: str, data: Data, seed: int) -> AllPairs | PairList:
    """Return the pairs that `--pairs` asks for: `all`, `nearest:K` or `drawn:B`.

    Raises
    ------
    InputError
        If the text is neither.
    """
    if text == "all":
        return AllPairs()
    if data.partitioned:
        raise InputError("rows in a folder go with --pairs all: take a sample of them as one file")
    kind, _, number = text.partition(":")
    counted = number.isdigit() and int(number) > 0
    if kind == "nearest" and counted:
        return nearest_pairs(data.X, data.positive, int(number))
    if kind == "drawn" and counted:
        from ....approx.drawn_pairs import draw_pairs

        check_room(f"--pairs {text}", BYTES_A_PAIR * int(number), "draw fewer pairs")
        return draw_pairs(data.positive, int(number), seed)
    raise InputError(f"--pairs takes all, nearest:K or drawn:B with K, B >= 1, not {text!r}")
