"""Squared hinge by truncated Newton [Nonlinear 4.1]."""
