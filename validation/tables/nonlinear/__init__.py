"""The tables and the figure of Nonlinear."""
