"""The one list of losses by name."""

from __future__ import annotations

from ..errors import InputError
from .exponential import Exponential
from .hinge import Hinge
from .logistic import Logistic
from .loss import Loss, check_loss
from .smooth_hinge import SmoothHinge
from .square import Square
from .squared_hinge import SquaredHinge

HINGE = Hinge()
SQUARED_HINGE = SquaredHinge()
SQUARE = Square()
LOGISTIC = Logistic()
SMOOTH_HINGE = SmoothHinge()
EXPONENTIAL = Exponential()

# The losses that are quadratic in pieces, or linear: their sums can be had in whole numbers.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, SQUARE)}

# The other losses. For a new one, write a file and add it here.
SMOOTH_LOSSES: dict[str, Loss] = {loss.name: loss for loss in (LOGISTIC, SMOOTH_HINGE, EXPONENTIAL)}

ALL_LOSSES: dict[str, Loss] = LOSSES | SMOOTH_LOSSES  # Every loss by its name.

# The classes of these losses; a loss of any other class is held to its contract.
OURS: tuple[type, ...] = tuple(type(loss) for loss in ALL_LOSSES.values())


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or a loss of one's own that keeps the contract."""
    if isinstance(loss, str):
        if loss not in ALL_LOSSES:
            raise InputError(f"unknown loss {loss!r}: choose one of {', '.join(ALL_LOSSES)}")
        return ALL_LOSSES[loss]
    if type(loss) in OURS:
        return loss
    if isinstance(loss, OURS):
        raise InputError(
            f"the loss {loss!r} is a child of one of ours, whose sums over all pairs it would "
            "inherit: write it as a class of its own"
        )
    return check_loss(loss)
