"""The squared hinge from moments of bins."""
