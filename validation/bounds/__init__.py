"""Error bounds, callable on anybody's data, and experiments that hold them to the truth."""

from .kernel import Approximation
from .prime import theorem4_prime
from .printed import Bound, Norms, theorem4
from .sht import sht_theorem1

__all__ = ["Approximation", "Bound", "Norms", "sht_theorem1", "theorem4", "theorem4_prime"]
