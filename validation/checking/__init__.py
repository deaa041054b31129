"""Somebody's fit, run over the reference problems and judged by certified gaps."""
