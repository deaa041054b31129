"""What `certify --exact` adds: the interval of the weights in fractions, as decimal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exact.api.solve import solve_request
from ...exact.certificate.exact_certificate import ExactCertificate, check_exact
from ...exact.errors import InputError
from ...exact.formulation.request import Request
from ...exact.pairs.ordered.ordered_pairs import OrderedPairs
from ...exact.problem.problem import linear_problem
from ...exact.spaces.kernel import name_of
from .reading.inputs import Data


def check_exact_options(options: dict[str, Any]) -> None:
    """Raise `InputError` where the options ask for what the exact mode does not know."""
    if options["scores"] is not None:
        raise InputError("--exact goes with --weights: scores have no exact norm")
    if options["kernel"] != "linear":
        raise InputError(
            "--exact is for linear weights: the "
            f"{name_of(options['kernel'])} kernel's values are rounded"
        )
    if options["structure"] != 0:
        raise InputError("--exact is for linear weights: leave --structure out")
    if options.get("qid") is not None or options.get("time") is not None:
        raise InputError("--exact is for two classes: leave --qid, --time and --event out")
    if options.get("worst_of") is not None:
        raise InputError("--exact is for all pairs: leave --worst-of out")
    if options["fpr_max"] != 1 or options["tpr_min"] != 0:
        raise InputError("--exact is for all pairs: leave --fpr-max and --tpr-min out")


def exact_interval(
    data: Data, w: np.ndarray, request: Request, options: dict[str, Any]
) -> dict[str, str]:
    """Return the exact primal, dual and gap of the weights, rounded outward in print.

    The dual point is that of the solved problem, which is solved for it once more.
    """
    pairs = request.pairs
    if isinstance(pairs, OrderedPairs):
        raise InputError("--exact is for two classes: leave --qid, --time and --event out")
    problem = linear_problem(data.X, data.y, request.lam, request.loss, pairs, positive=1)
    check_exact(problem)
    limits = {"tol": options["tol"], "max_time": options["max_time"]}
    found = solve_request(data.X, data.y, request, **limits)
    return ExactCertificate.of(problem, w[: problem.space.dim], found.witness).in_digits()
