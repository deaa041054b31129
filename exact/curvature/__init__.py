"""Matrices of pairs, and the line search."""
