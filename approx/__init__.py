"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""

from .adamax import Adamax, GradientDescent
from .estimators import IncompleteROCSVM
from .incomplete_u import draw_pairs

__all__ = ["Adamax", "GradientDescent", "IncompleteROCSVM", "draw_pairs"]
