"""Evaluations over blocks of rows: of the hinge on several threads, and of its square."""
